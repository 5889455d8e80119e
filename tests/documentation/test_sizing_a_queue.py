"""The guide to the queue of a terminal says what its campaigns measure."""

from __future__ import annotations

import re
import runpy
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import leobench
from leobench import sweep
from leobench.campaign import Campaign
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PAGE = (ROOT / "docs" / "reports" / "sizing-a-queue.md").read_text(encoding="utf-8")
SCENARIO = ROOT / "scenarios" / "queue-sizing.toml"
GOODPUT, P95 = "flows.file.goodput_bps", "flows.call.delay_ms.p95"
LATE = "flows.call.streams.voice.late_messages"
# From each metric to what the tables show: Mbit/s, ms, and the share of 2,750 messages in per cent.
FACTORS = {GOODPUT: 1e-6, P95: 1.0, LATE: 100 / 2_750}


def table(heading: str) -> tuple[list[str], dict[str, list[str]]]:
    """The columns of a section's table after the first, and the cells by the words of the first."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if line.startswith("|")
    ]
    return cells[0][1:], {row[0]: row[1:] for row in cells[2:]}


def agree(text: str, mean: float) -> bool:
    """Whether a number of a cell is the mean, give or take what a change of the transport may move it."""
    shown = text.replace(",", "")
    digit = 10.0 ** -len(shown.partition(".")[2])
    return abs(float(shown) - mean) <= 0.1 * abs(mean) + 2 * digit


def queue_of(name: str) -> dict[str, Any]:
    """The queue that a row of a table names, such as `1 BDP (50 ms)` or the name of a discipline."""
    if name.startswith("`"):
        return {"kind": name.strip("`")}
    return {"kind": "fifo", "limit": name.partition(" (")[0].replace(",", "")}


def transport_of(name: str) -> dict[str, str]:
    kind, congestion = name.lower().split()
    return {"kind": kind, "congestion": congestion}


def means(name: str, folder: Path) -> dict[tuple[str, str], float]:
    """The mean of each metric of a campaign as tables show it, by variant; runs it at most once."""
    runs = sweep(ROOT / "campaigns" / f"{name}.toml", folder / "results" / name, resume=True).runs
    grouped = runs.group_by("variant", "metric", maintain_order=True).agg(pl.col("value").mean())
    return {
        (variant, metric): FACTORS.get(metric, 1.0) * value for variant, metric, value in grouped.iter_rows()
    }


def load(name: str) -> Campaign:
    return Campaign.load(ROOT / "campaigns" / f"{name}.toml")


def variant(campaign: Campaign, wanted: Mapping[str, object]) -> str:
    """The variant with these values at places that end so."""
    (found,) = [
        each.name
        for each in campaign.variants
        if all(
            any(place.endswith(end) and value == given for place, given in each.overrides.items())
            for end, value in wanted.items()
        )
    ]
    return found


def check(cell: str, expected: list[float]) -> None:
    for text, value in zip(cell.split(", "), expected, strict=True):
        assert agree(text, value), (cell, expected)


# Each table of queues: its section, its campaign, and the metrics of a cell.
TABLES = (
    ("A steady link", "queue-sizing", (GOODPUT, P95)),
    ("Fading", "queue-sizing-fading", (GOODPUT, LATE)),
    ("Another satellite every 15 s", "queue-sizing-reconfigured", (GOODPUT, LATE)),
)


def test_every_table_shows_the_variants_of_its_campaign() -> None:
    for heading, name, metrics in TABLES:
        campaign = load(name)
        columns, rows = table(heading)
        assert len(rows) <= 15
        assert len(rows) * len(columns) == len(campaign.variants)
        for row, cells in rows.items():
            for column, cell in zip(columns, cells, strict=True):
                assert variant(campaign, {"queue": queue_of(row), "transport": transport_of(column)})
                assert len(cell.split(", ")) == len(metrics)
    for heading, name in (
        ("Handover", "queue-sizing-handover"),
        ("The target of fq_codel", "queue-sizing-targets"),
    ):
        columns, rows = table(heading)
        assert len(rows) <= 15
        assert len(rows) * len(columns) == len(load(name).variants)
    named = set(re.findall(r"leobench sweep campaigns/(.*)\.toml", PAGE))
    assert named == {file.stem for file in (ROOT / "campaigns").glob("queue-sizing*.toml")}


def quick(queue: dict[str, object], congestion: str = "cubic", **more: object) -> tuple[float, float, float]:
    """Goodput in Mbit/s, the call's 95 % delay in ms, and its late messages in per cent, of 20 s."""
    transport = {"kind": "quic" if congestion == "bbr" else "tcp", "congestion": congestion}
    overrides = {"links.leo.queue": queue, "flows.file.transport": transport, "duration": "20 s", **more}
    file, call, _ = leobench.run(SCENARIO, 1, overrides).summary["flows"]
    late = call["streams"][0]["late_messages"] / call["messages"]
    return file["goodput_bps"] / 1e6, call["delay_ms"]["p95"], 100 * late


def test_the_guide_in_short() -> None:
    """Drop tail trades goodput for delay, and `fq_codel` protects the call, from single runs."""
    short, one, long = (
        quick({"kind": "fifo", "limit": limit}, "newreno") for limit in ("0.25 BDP", "1 BDP", "4 BDP")
    )
    assert short[0] < 0.92 * one[0]
    assert long[0] < 1.03 * one[0]
    assert short[1] < one[1] < 90
    assert long[1] > 150
    goodput, delay, late = quick({"kind": "fq_codel"})
    assert goodput > 0.9 * one[0]
    assert delay == pytest.approx(27, abs=1)
    assert late == 0
    # BBR of version 1 ignores marks, and the call, which is not ECN-capable, loses packets in its place.
    assert quick({"kind": "codel"}, "bbr")[2] > 5
    assert quick({"kind": "fq_codel"}, "bbr")[2] == 0


@pytest.mark.slow
def test_the_guide_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table holds what its campaign measures, and the figure is drawn from them."""
    of: dict[str, object]
    for heading, name, metrics in TABLES:
        found = means(name, tmp_path)
        columns, rows = table(heading)
        for row, cells in rows.items():
            for column, cell in zip(columns, cells, strict=True):
                of = {"queue": queue_of(row), "transport": transport_of(column)}
                check(cell, [found[variant(load(name), of), metric] for metric in metrics])
    found = means("queue-sizing-targets", tmp_path)
    columns, rows = table("The target of fq_codel")
    for row, cells in rows.items():
        target, interval = row.split(", ")
        for column, cell in zip(columns, cells, strict=True):
            queue = {"kind": "fq_codel", "target": target, "interval": interval}
            of = {"queue": queue, "transport": transport_of(column)}
            check(cell, [found[variant(load("queue-sizing-targets"), of), each] for each in (GOODPUT, P95)])
    found = means("queue-sizing-handover", tmp_path)
    columns, rows = table("Handover")
    for row, cells in rows.items():
        for column, cell in zip(columns, cells, strict=True):
            queue_name, transport = column.split(", ")
            of = {
                "old_packets": row.strip("`"),
                "leo-1.queue": queue_of(queue_name),
                "transport": transport_of(transport),
            }
            check(cell, [found[variant(load("queue-sizing-handover"), of), each] for each in (GOODPUT, LATE)])
    found = means("queue-sizing", tmp_path)
    (marked, dropped) = re.findall(r"make ([\d.]+) % late with ECN.*and ([\d.]+) % over TCP", PAGE)[0]
    for shown, transport in ((marked, "QUIC BBR"), (dropped, "TCP BBR")):
        of = {"queue": {"kind": "codel"}, "transport": transport_of(transport)}
        check(shown, [found[variant(load("queue-sizing"), of), LATE]])
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "tools" / "figures" / "sizing_a_queue.py"))
    assert (tmp_path / "sizing-a-queue.png").stat().st_size > 10_000
