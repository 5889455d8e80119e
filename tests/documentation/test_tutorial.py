"""The tutorial, command by command: they run in its order, and give the numbers and figures that it names."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import leobench
from leobench import cli
from tests.support.paths import ROOT
from tools import gallery

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "tutorial" / "ten-minutes.md").read_text(encoding="utf-8")
TEXT = " ".join(PAGE.split())
FILES = gallery.tutorial_files()
COMMANDS = [shlex.split(line) for line in re.findall(r"^\$ leobench (.*)$", PAGE, re.MULTILINE)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which somebody has done the whole tutorial."""
    folder = tmp_path_factory.mktemp("tutorial")
    for name, block in FILES.items():
        (folder / f"{name}.toml").write_text(block, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for words in COMMANDS:
            assert cli.main(words) == 0, words
    return folder


def goodput(folder: Path) -> float:
    (flow,) = leobench.open(folder).summary["flows"]
    return float(flow["goodput_bps"]) / 1e6


def said(pattern: str) -> float:
    (number,) = re.findall(pattern, TEXT)
    return float(number)


def test_the_figures_are_there(folder: Path) -> None:
    assert set(FILES) == {"mine", "controllers"}
    drawn = [folder / "results" / "ka-1" / "timeline.png", folder / "mine.png", folder / "controllers.png"]
    assert all(file.stat().st_size > 10_000 for file in drawn)


def test_a_run_gives_the_numbers_of_the_page(folder: Path) -> None:
    cubic, bbr = folder / "results" / "mine-1", folder / "results" / "mine-bbr"
    assert goodput(cubic) == pytest.approx(said(r"CUBIC gets ([\d.]+) Mbit/s"), rel=0.1)
    assert goodput(bbr) == pytest.approx(said(r"BBR gets ([\d.]+) Mbit/s"), rel=0.1)
    link = leobench.open(cubic).summary["links"][0]
    assert link["mean_rate_bps"] / 1e6 == pytest.approx(said(r"offers ([\d.]+) on average"), abs=0.05)


def test_the_campaign_gives_the_means_of_the_page(folder: Path) -> None:
    runs = leobench.CampaignResult.open(folder / "results" / "controllers").runs
    means = runs.filter(metric="flows.upload.goodput_bps").group_by("variant").agg(pl.col("value").mean())
    found = {variant: value / 1e6 for variant, value in means.iter_rows()}
    assert found["congestion=cubic"] == pytest.approx(said(r"five seeds is ([\d.]+) Mbit/s"), rel=0.1)
    assert found["congestion=bbr"] == pytest.approx(said(r"BBR's is ([\d.]+)\."), rel=0.1)


def test_the_program_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(program, names)  # noqa: S102
    assert names["result"].summary["seed"] == 2


def test_the_mistake_is_refused_by_its_place(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / "mine.toml"
    wrong.write_text((folder / "mine.toml").read_text().replace('delay = "5 ms"', 'delay = "5"'))
    assert cli.main(["check", str(wrong)]) == 2
    assert "links.sky.delay" in capsys.readouterr().err
