"""The guide to schedulers says what its campaigns measure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl
import pytest

from leobench import CampaignResult, sweep
from leobench.campaign import Campaign
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "reports" / "stream-schedulers.md").read_text(encoding="utf-8")
NAMES = re.findall(r"leobench sweep campaigns/(schedulers-.*)\.toml", PAGE)
NUMBER = r"([\d,]+(?:\.\d+)?)"


def measured(name: str, folder: Path) -> CampaignResult:
    return sweep(ROOT / "campaigns" / f"{name}.toml", folder / "results" / name)


def rows(heading: str) -> dict[str, list[str]]:
    """The cells of the section's table by the words of its first column."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if "|" in line
    ]
    return {row[0]: row[1:] for row in cells[2:]}


def agree(cell: str, mean: float) -> bool:
    """Whether a cell shows the mean, give or take what a change of the transport may move it."""
    match = re.match(NUMBER, cell)
    assert match is not None, cell
    shown = match[1].replace(",", "")
    digit = 10.0 ** -len(shown.partition(".")[2])
    return abs(float(shown) - mean) <= 0.02 * abs(mean) + digit


def means(result: CampaignResult) -> dict[tuple[str, str], float]:
    grouped = result.runs.group_by("variant", "metric", maintain_order=True).agg(pl.col("value").mean())
    return {(variant, metric): value for variant, metric, value in grouped.iter_rows()}


def test_the_guide_names_campaigns_that_are_sound() -> None:
    assert len(NAMES) == 3
    for name in NAMES:
        assert Campaign.load(ROOT / "campaigns" / f"{name}.toml").plan()


@pytest.mark.slow
def test_a_call_beside_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = means(measured("schedulers-call", tmp_path))
    factors = {
        "streams.voice.late_messages": 100 / 1_500,
        "streams.voice.delay_ms.p95": 1.0,
        "streams.video.late_messages": 100 / 938,
        "streams.video.delay_ms.p95": 1.0,
        "streams.file.delay_ms.mean": 1e-3,
    }
    table = rows("A call beside a file")
    assert len(table) == 8
    for name, cells in table.items():
        scheduler = name.strip("`").replace("wfq", "wfq-weights-4-40-10")
        for cell, (metric, factor) in zip(cells, factors.items(), strict=True):
            assert agree(cell, factor * found[f"scheduler={scheduler}", f"flows.call.{metric}"]), (
                name,
                metric,
            )
    (snippet,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(snippet, {})  # noqa: S102


@pytest.mark.slow
def test_a_web_page(tmp_path: Path) -> None:
    found = means(measured("schedulers-web", tmp_path))
    metrics = ("objects.style-8.delivered_s", "objects.font-4.delivered_s", "completion_s")
    table = rows("A web page")
    shown = {name: cells for names, cells in table.items() for name in re.findall(r"`(\w+)`", names)}
    assert len(shown) == 7
    for name, cells in shown.items():
        for cell, metric in zip(cells, metrics, strict=True):
            assert agree(cell, found[f"scheduler={name}", f"flows.web.page.{metric}"]), (name, metric)


@pytest.mark.slow
def test_two_streams_of_different_rates(tmp_path: Path) -> None:
    runs = measured("schedulers-two-streams", tmp_path).runs
    keys = ("flows.main.transport.scheduler", "flows.main.streams[0].source.rate", "metric")
    grouped = runs.group_by(keys).agg(pl.col("value").mean())
    found = {tuple(key): value for *key, value in grouped.iter_rows()}
    spelled = {
        "fq, surplus none": '{ "kind" = "fq", "surplus" = "none" }',
        "wfq, 2:1": '{ "kind" = "wfq", "weights" = [2, 1] }',
        "wfq, 2:1, surplus none": '{ "kind" = "wfq", "weights" = [2, 1], "surplus" = "none" }',
        "stbp, per batch": '{ "kind" = "stbp", "per" = "batch" }',
    }
    table = rows("Two streams of different rates")
    assert len(table) == 9
    for name, cells in table.items():
        scheduler = spelled.get(name.replace("`", ""), name.replace("`", ""))
        for place, rate in enumerate(("15 Mbps", "24 Mbps", "30 Mbps")):
            fast, slow = (
                found[scheduler, rate, f"flows.main.streams.{stream}.delay_ms.mean"]
                for stream in ("fast", "slow")
            )
            shown = cells[3 * place : 3 * place + 3]
            for cell, value in zip(shown, (fast, slow, fast / slow), strict=True):
                assert agree(cell, value), (name, rate, cell, value)
