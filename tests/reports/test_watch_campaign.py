"""A campaign that is watched in the browser from before its first run to its last, and a view that waits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

import leobench
from leobench import cli, unfinished
from leobench.campaign import Campaign, run_campaign
from tests.support.quick import QUICK

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from leobench.campaign import Status
    from tests.reports.browser import Opened

METRIC = "flows.main.goodput_bps"


class Stepped:
    """A campaign of two variants and three replicates that goes on when it is told to.

    Attributes:
        folder: Its result folder.
    """

    def __init__(self, place: Path) -> None:
        self.folder = place / "stepped"
        (place / "quick.toml").write_text(QUICK, encoding="utf-8")
        file = place / "stepped.toml"
        file.write_text(
            f'name = "stepped"\nscenario = "quick.toml"\nreplicates = 3\nmetrics = ["{METRIC}"]\n'
            'tables = ["messages"]\n[[grid]]\n"links.uplink.rate" = ["10 Mbps", "4 Mbps"]\n',
            encoding="utf-8",
        )
        self._reached, self._goes_on = threading.Semaphore(0), threading.Semaphore(0)
        self._held = True
        self._campaign = threading.Thread(
            target=run_campaign,
            args=(Campaign.load(file), self.folder),
            kwargs={"workers": 1, "progress": self._progress},
        )

    def _progress(self, _status: Status) -> None:
        self._reached.release()
        if self._held:
            assert self._goes_on.acquire(timeout=300)

    def start(self) -> None:
        """Starts it, and waits until it stands before its first run."""
        self._campaign.start()
        assert self._reached.acquire(timeout=60)

    def step(self) -> None:
        """Lets it finish one more run."""
        self._goes_on.release()
        assert self._reached.acquire(timeout=60)

    def finish(self) -> None:
        """Lets it go on to its end."""
        self._held = False
        self._goes_on.release()
        if self._campaign.ident is not None:
            self._campaign.join()


@contextmanager
def viewing(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """The command `view` on a folder."""
    with subprocess.Popen(
        [sys.executable, "-m", "leobench", "view", folder, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as view:
        try:
            yield view
        finally:
            os.kill(view.pid, signal.SIGINT)
            assert view.wait(30) == 0


def test_a_campaign_is_followed_from_before_its_first_run_to_its_end(tmp_path: Path, opened: Opened) -> None:
    campaign = Stepped(tmp_path)
    with viewing(campaign.folder) as view:
        assert view.stdout is not None
        assert view.stderr is not None
        said = view.stderr.readline()
        assert said == f"{campaign.folder}: nothing is there yet; waiting up to 60 s for a result to begin\n"
        try:
            campaign.start()
            address = view.stdout.readline().strip()
            page = opened.open(address)
            progress, table = page.locator(".progress"), page.locator("#table-of-campaign-0-results")
            expect(progress).to_have_text("The campaign is running.0 of 6 runs")
            expect(table.get_by_text("no run yet")).to_have_count(2)
            assert page.locator("#series").count() == 0
            campaign.step()
            expect(progress).to_contain_text("1 of 6 runs")
            expect(table.get_by_text("no run yet")).to_have_count(1)
            expect(page.locator('[data-panel="delay"]')).to_be_visible()
            assert page.locator(".progress progress").evaluate("each => each.value") == pytest.approx(1 / 6)
            for _ in range(3):
                campaign.step()
            expect(progress).to_contain_text("4 of 6 runs")
            expect(table.get_by_text("no run yet")).to_have_count(0)
        finally:
            campaign.finish()
        expect(progress).to_contain_text("Finished.")
        means = leobench.stats.mean_intervals(
            leobench.CampaignResult.open(campaign.folder).runs.filter(metric=METRIC), "variant"
        )
        for mean in means["mean"]:
            expect(table).to_contain_text(f"{mean / 1e6:.2f}")
        assert all(each.startswith(address) for each in opened.wanted)
        opened.wanted.clear()


def test_a_view_waits_for_a_result_and_gives_up_in_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty" / "fig1" / "campaign").mkdir(parents=True)
    for name in ("absent", "empty"):
        assert cli.main(["view", str(tmp_path / name), "--wait", "0.1"]) == 2
        first, second = capsys.readouterr().err.splitlines()
        assert first == f"{tmp_path / name}: nothing is there yet; waiting up to 0.1 s for a result to begin"
        assert f"{tmp_path / name}: is not a result folder, and none is being written there" in second


def test_a_run_that_was_interrupted_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = tmp_path / "endless.toml"
    scenario.write_text(QUICK.replace('"2 s"', '"100 h"'), encoding="utf-8")
    folder = tmp_path / "killed"
    with subprocess.Popen(
        [sys.executable, "-m", "leobench", "run", scenario, "--out", folder, "--quiet"]
    ) as run:
        while not unfinished.partials(folder) and run.poll() is None:
            time.sleep(0.05)
        os.kill(run.pid, signal.SIGKILL)
    said = f"leobench: {folder}: was interrupted before it had a result; run the scenario again"
    for words in (["report"], ["view", "--wait", "0"]):
        assert cli.main([*words, str(folder)]) == 2
        assert capsys.readouterr().err.splitlines() == [said]


def test_a_folder_of_something_else_is_refused_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    for name in (tmp_path, tmp_path / "notes.txt"):
        assert cli.main(["view", str(name), "--wait", "600"]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert f"{name}: is not a result folder" in said
    assert cli.main(["view", str(tmp_path), "--wait", "-1"]) == 2
    assert capsys.readouterr().err == "leobench: --wait = -1: is no time to wait; allowed: 0 s or more\n"


def test_a_view_that_waits_ends_by_an_interrupt(tmp_path: Path) -> None:
    with viewing(tmp_path / "absent") as view:
        assert view.stderr is not None
        assert "nothing is there yet" in view.stderr.readline()
