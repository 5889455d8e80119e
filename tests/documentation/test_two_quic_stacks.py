"""The page on the two QUIC stacks says what `leobench agree` finds."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

import polars as pl
import pytest

import leobench
from leobench import agreement
from leobench.agreement import MEASURES, Report, Target, rows
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "reports" / "two-quic-stacks.md").read_text(encoding="utf-8")
CELLS = (ROOT / "docs" / "reports" / "two-quic-stacks-cells.md").read_text(encoding="utf-8")

# Cells that five seeds decide, and that take a second or two.
PART = {
    "two-quic-stacks-loss": "limit=1-BDP,congestion=newreno,streams=4",
    "two-quic-stacks-s": "limit=unlimited,congestion=cubic,streams=1",
    "two-quic-stacks-steady": "limit=1-BDP,congestion=cubic,streams=1",
}


def listed() -> dict[tuple[str, str], list[str]]:
    """The columns after the name of every cell, by campaign and cell."""
    found: dict[tuple[str, str], list[str]] = {}
    for section in CELLS.split("\n## ")[1:]:
        for line in section.splitlines():
            if line.startswith("| limit="):
                name, *rest = [cell.strip() for cell in line.strip("|").split("|")]
                found[section.splitlines()[0], name] = rest
    return found


def test_the_page_counts_the_cells_that_are_listed() -> None:
    found = listed()
    assert len(found) == 90
    for campaign in {campaign for campaign, _ in found}:
        verdicts = [rest[-1] for (each, _), rest in found.items() if each == campaign]
        counts = [verdicts.count(verdict) for verdict in ("agree", "differ", "cannot tell")]
        assert f"`{campaign}` | {' | '.join(map(str, counts))} |" in PAGE


def test_the_limits_are_those_of_the_page() -> None:
    limits = dict(re.findall(r"^\| ([a-z ]+) \| (\d+) %", PAGE, re.MULTILINE))
    assert limits == {each.name: f"{100 * each.limit:.0f}" for each in MEASURES if each.limit is not None}


def drops(stack: str, congestion: str, **transport: int) -> tuple[int, list[int]]:
    """Drops of the first 150 ms after the start, and packets sent by 40, 60, 80 and 100 ms."""
    place = {"kind": "quic", "stack": stack, "congestion": congestion, **transport}
    overrides = {
        "duration": "1 s",
        "until": "time",
        "record.packets": True,
        "flows.main.transport": place,
        "links.uplink.channel": {"kind": "steady", "rate": "45 Mbps"},
        "links.uplink.queue.limit": "15 packets",
    }
    result = leobench.run(ROOT / "scenarios" / "khan2023-ka.toml", 1, overrides)
    packets = result.tables.packets.filter(link="uplink/client->server")
    sent = packets.filter(pl.col("event").is_in(["enqueue", "drop"]))
    until = [sent.filter(pl.col("t_ns") <= at * 1_000_000).height for at in (40, 60, 80, 100)]
    return packets.filter(event="drop").height, until


@pytest.mark.parametrize("stack", ["own", "noq"])
def test_the_stacks_differ_in_the_first_acknowledgement(stack: str) -> None:
    """The table of the first round trip, and what is left of it if every packet is acknowledged."""
    column = 1 + ["own", "noq"].index(stack)
    section = PAGE.partition("## The first round trip")[2]
    table = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
    dropped = {name: drops(stack, name) for name in ("newreno", "cubic")}
    (shown,) = (row[column] for row in table if row[0].startswith("packets sent by"))
    assert [int(each) for each in shown.split(", ")] == dropped["newreno"][1]
    (shown,) = (row[column] for row in table if row[0].startswith("drops as slow start"))
    assert [int(each) for each in shown.split(", ")] == [each for each, _ in dropped.values()]
    every = [drops(stack, name, ack_eliciting_threshold=0) for name in ("newreno", "cubic")]
    assert [each for each, _ in every] == [93, 136]
    assert every[0][1] == [12, 30, 66, 138]


@pytest.mark.slow
def test_a_part_of_the_grid_comes_out_as_listed(tmp_path: Path) -> None:
    sides = agreement.stacks("own,noq")
    targets = []
    for name, cell in PART.items():
        target = Target.load(ROOT / "campaigns" / f"{name}.toml", sides)
        targets.append(dataclasses.replace(target, cells={cell: target.cells[cell]}))
    report: Report = agreement.compare(targets, tmp_path / "out", seeds=5)
    columns, table = rows.judged(report), listed()
    for found in report.cells:
        _, *now = rows.of_cell(found, columns)
        then = table[found.target, found.name]
        assert (now[0], now[-1]) == (then[0], then[-1]) == ("5", "agree")
        for new, old in zip(now[1:-1], then[1:-1], strict=True):
            # Give or take what a change of the transport may move it.
            assert float(new.split()[0]) == pytest.approx(float(old.split()[0]), abs=0.01)
