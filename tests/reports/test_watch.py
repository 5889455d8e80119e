"""Folders that are being written: completed tables, and the page that `leobench view` serves."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import polars as pl
import pytest
from playwright.sync_api import expect

import leobench
from leobench import cli, running, unfinished
from leobench.errors import InputError
from leobench.folder import TABLES
from leobench.report import prefix
from leobench.report.server import Server
from leobench.report.thrift import Reader, encoded
from leobench.report.watch import Watch
from leobench.scenario import load
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.reports.browser import Opened


class Held:
    """A run that waits at a time of its own, so that its unfinished folder can be looked at.

    Attributes:
        folder: Its result folder, which is not there yet.
        partial: Its unfinished folder.
    """

    def __init__(self, folder: Path, duration: str, at_s: float) -> None:
        self.folder = folder
        self._at_s = at_s
        self._waits, self._goes_on = threading.Event(), threading.Event()
        overrides = {"duration": duration, "record.interval": "1 ms"}
        self._run = threading.Thread(
            target=leobench.run,
            args=(ROOT / "scenarios" / "ka.toml", 1, overrides, folder),
            kwargs={"progress": self._progress},
        )
        self._run.start()
        assert self._waits.wait(60)
        (self.partial,) = unfinished.partials(folder)

    def _progress(self, now_s: float, _end_s: float, _packets: int) -> None:
        if now_s >= self._at_s and not self._waits.is_set():
            self._waits.set()
            self._goes_on.wait(120)

    def finish(self) -> None:
        self._goes_on.set()
        self._run.join()


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    """A run of a minute, held after more than 20 s of it; it says at every call how far it is."""
    monkeypatch.setattr(running, "_EVERY_S", 0.0)
    made = Held(tmp_path / "held", "60 s", 20.0)
    try:
        yield made
    finally:
        made.finish()


@pytest.fixture
def serving(held: Held) -> Iterator[Server]:
    with Server(Watch(held.folder)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_the_beginning_of_a_file_is_the_beginning_of_its_table(ka: Path) -> None:
    empties = prefix.empties()
    assert set(empties) == set(TABLES)
    for name, empty in empties.items():
        file = ka / f"{name}.parquet"
        data, whole = file.read_bytes(), pl.read_parquet(file)
        for share in (0.0, 0.3, 0.7, 0.99):
            table = prefix.completed(data[: int(share * len(data))], empty)
            assert pl.read_parquet(io.BytesIO(table.data)).equals(whole.head(table.rows)), name
        assert prefix.completed(data, empty).rows == whole.height
    messages = prefix.completed((ka / "messages.parquet").read_bytes()[:-20], empties["messages"])
    rows = leobench.open(ka).tables.messages.height
    assert messages.rows == rows // prefix.BATCH_ROWS * prefix.BATCH_ROWS > 0


def test_batches_are_those_of_the_recorder() -> None:
    source = (ROOT / "crates" / "sim" / "src" / "record" / "rows.rs").read_text(encoding="utf-8")
    found = re.search(r"const BATCH_ROWS: usize = ([\d_]+);", source)
    assert found is not None
    assert int(found[1]) == prefix.BATCH_ROWS


def test_metadata_are_written_as_they_were_read(ka: Path) -> None:
    for file in ka.glob("*.parquet"):
        data = file.read_bytes()
        footer = data[-8 - int.from_bytes(data[-8:-4], "little") : -8]
        assert encoded(Reader(footer).struct()) == footer


def test_a_run_that_goes_on_has_series_and_progress(held: Held) -> None:
    content = Watch(held.folder).look()
    (run,) = content.runs
    assert content.live is not None
    assert run.summary is None
    assert 0 < content.live["done"] < content.live["total"] == 60.0
    assert {"messages", "transport", "queues"} <= set(run.tables)
    with pytest.raises(InputError, match=r"is still being written; watch it with `leobench view"):
        leobench.report.write([held.folder], held.folder.with_suffix(".html"))
    held.finish()
    assert not (held.folder / running.RUNNING).exists()
    result = leobench.open(held.folder)
    for name, table in run.tables.items():
        assert pl.read_parquet(io.BytesIO(table.data)).equals(result.tables[name].head(table.rows)), name


def test_the_page_follows_a_run_to_its_end(held: Held, serving: Server, opened: Opened) -> None:
    page = opened.open(serving.address)
    expect(page.locator(".progress")).to_contain_text("The run is running.")
    opened.draw_all()
    expect(page.locator('[data-panel="queue"]')).to_be_visible()
    assert page.locator("#summary").count() == 0
    held.finish()
    expect(page.locator(".progress")).to_contain_text("Finished.")
    flow = leobench.open(held.folder).summary["flows"][0]
    expect(page.locator(".cards")).to_contain_text(f"{flow['goodput_bps'] / 1e6:.1f} Mbit/s")
    assert {each.partition("?")[0].removeprefix(serving.address) for each in opened.wanted} >= {
        "content",
        "table/0-queues",
    }
    assert all(each.startswith(serving.address) for each in opened.wanted)
    opened.wanted.clear()


def test_only_this_machine_is_answered(serving: Server) -> None:
    assert serving.server_address[0] == "127.0.0.1"
    with pytest.raises(HTTPError) as refused:
        urlopen(Request(serving.address, headers={"Host": "example.org"}))  # noqa: S310
    assert refused.value.code == 403
    refused.value.close()
    for path in ("part/versions.json", "table/../manifest.json", "part/..%2Ftemplate.html", "etc/passwd"):
        with pytest.raises(HTTPError) as missing:
            urlopen(serving.address + path)  # noqa: S310
        assert missing.value.code == 404
        missing.value.close()


def test_a_campaign_so_far_has_the_means_of_its_finished_runs(buffers: Path, tmp_path: Path) -> None:
    done = buffers / "results" / "buffers"
    folder = tmp_path / "campaign"
    (folder / "runs").mkdir(parents=True)
    manifest = json.loads((done / "manifest.json").read_text(encoding="utf-8"))
    (folder / "manifest.json").write_text(json.dumps({**manifest, "complete": False}), encoding="utf-8")
    finished = sorted((done / "runs").glob("*.json"))[:6]
    for file in finished:
        (folder / "runs" / file.name).write_bytes(file.read_bytes())
    content = Watch(folder).look()
    assert content.live is not None
    assert (content.live["done"], content.live["total"]) == (6, 36)
    (campaign,) = content.campaigns
    metric = "flows.main.goodput_bps"
    runs = leobench.CampaignResult.open(done).runs.filter(metric=metric)
    names = {
        (record["variant"], record["replicate"])
        for record in (json.loads(file.read_text("utf-8")) for file in finished)
    }
    for row in campaign["rows"]:
        own = runs.filter(pl.col("variant") == row["variant"])
        values = [
            value
            for replicate, value in own.select("replicate", "value").iter_rows()
            if (row["variant"], replicate) in names
        ]
        assert row["metrics"].get(metric, {"n": 0})["n"] == len(values)
        if values:
            assert row["metrics"][metric]["mean"] == pytest.approx(sum(values) / len(values))


def test_a_run_that_dies_is_told(tmp_path: Path) -> None:
    held = Held(tmp_path / "dies", "60 s", 1.0)
    watch = Watch(held.folder)
    first = watch.look()
    held.finish()
    for file in held.folder.iterdir():
        file.unlink()
    held.folder.rmdir()
    last = watch.look()
    assert first.live is not None
    assert last.live is not None
    assert last.live["complete"]
    assert "without a result" in last.live["state"]
    assert last.live["version"] > first.live["version"]


def test_progress_is_known_and_passed_on(tmp_path: Path, quick: Path) -> None:
    told: list[tuple[float, float, int]] = []
    progress = running.Running(tmp_path, load(quick), lambda *values: told.append(values))
    first = running.read(tmp_path)
    assert first is not None
    assert (first["scenario"]["name"], first["reached_s"]) == ("quick", 0.0)
    progress(1.0, 2.0, 3)
    assert told == [(1.0, 2.0, 3)]
    progress.end()
    assert running.read(tmp_path) is None


def test_the_command_serves_until_it_is_interrupted(ka: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "leobench", "view", ka],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as view:
        assert view.stdout is not None
        address = view.stdout.readline().strip()
        with urlopen(f"{address}content") as answer:  # noqa: S310
            assert json.load(answer)["live"]["complete"]
        os.kill(view.pid, signal.SIGINT)
        assert view.wait(30) == 0


def test_what_is_no_result_is_refused(tmp_path: Path) -> None:
    said = "is not a result folder, and none is being written there; allowed: a folder of `leobench run`"
    with pytest.raises(InputError, match=said):
        Watch(tmp_path / "nothing")
    with pytest.raises(InputError, match=r"--port = 99999999: cannot be used .*; allowed: a free port, or 0"):
        Server(Watch.__new__(Watch), 99_999_999)


@pytest.mark.parametrize("command", ["report", "view"])
@pytest.mark.parametrize("kind", ["run", "campaign"])
def test_a_damaged_manifest_is_told_by_name(
    command: str, kind: str, ka: Path, buffers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(ka if kind == "run" else buffers / "results" / "buffers", folder)
    file = folder / "manifest.json"
    for text, what in (("{\n", "no JSON from line 2, column 1 on"), ("", "no JSON from line 1, column 1 on")):
        file.write_text(text, encoding="utf-8")
        assert cli.main([command, str(folder)]) == 2
        assert capsys.readouterr().err == f"leobench: {file}: is damaged: {what}; make the result again\n"


def test_a_damaged_summary_is_told_before_anything_is_served(
    ka: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(ka, folder)
    (folder / "summary.json").write_text("{", encoding="utf-8")
    assert cli.main(["view", str(folder)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "summary.json: is damaged: no JSON from line 1, column 2 on" in said.err
