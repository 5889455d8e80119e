"""A report of agreement as text tables for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.agreement import judge, rows
from leobench.cli.columns import NONE, table

if TYPE_CHECKING:
    from leobench.agreement import Cell, Finding, Report
    from leobench.stats import Estimate


def render(report: Report) -> str:
    """One cell: a row per flow and measure. Several: a row per cell, with the ratios that are judged."""
    parts = [_cell(report, report.cells[0]) if len(report.cells) == 1 else _cells(report), _total(report)]
    notes = [
        f"{_named(cell, report)}{finding.flow}, {finding.measure.name}: {finding.note}"
        for cell in report.cells
        for finding in cell.findings
        if finding.note is not None
    ]
    return "\n\n".join([*parts, *(["\n".join(notes)] if notes else [])])


def _cell(report: Report, cell: Cell) -> str:
    first, second = report.sides
    several = len({finding.flow for finding in cell.findings}) > 1
    head = [
        *([("", "flow")] if several else []),
        ("", "measure"), (first, "mean"), (second, "mean"), (f"{first}/{second}", "ratio"), ("95 %", "from"),
        ("", "to"), ("", "limit"), ("", "verdict"),
    ]  # fmt: skip
    lines = [
        [
            *([finding.flow] if several else []),
            f"{finding.measure.name} {finding.measure.unit}".rstrip(),
            *(_number(mean, finding.measure.scale) for mean in finding.means),
            *_ratio(finding.ratio),
            _limit(finding),
            finding.verdict or NONE,
        ]
        for finding in cell.findings
    ]
    return table(head, lines, words=2 if several else 1)


def _cells(report: Report) -> str:
    columns = rows.judged(report)
    flows = {flow for flow, _ in columns}
    several = len({cell.target for cell in report.cells}) > 1
    head = [
        *([("", "scenario or campaign")] if several else []),
        ("", "variant"),
        ("", "seeds"),
        *((name, flow if len(flows) > 1 else "/".join(report.sides)) for flow, name in columns),
        ("", "verdict"),
    ]
    lines = [[*([cell.target] if several else []), *rows.of_cell(cell, columns)] for cell in report.cells]
    return table(head, lines, words=2 if several else 1)


def _total(report: Report) -> str:
    if len(report.cells) == 1:
        (cell,) = report.cells
        compared = f"{report.axis}s {' and '.join(report.sides)}"
        return f"{cell.target}, {len(cell.seeds)} seeds, {compared}: {cell.verdict}"
    counts = ", ".join(f"{report.count(verdict)} {verdict}" for verdict in judge.VERDICTS)
    total = f"{len(report.cells)} variants: {counts}"
    found = rows.totals(report)
    if len(found) == 1:
        return total
    head = [("", "scenario or campaign"), ("", "variants"), *(("", verdict) for verdict in judge.VERDICTS)]
    return f"{table(head, found, words=1)}\n\n{total}"


def _named(cell: Cell, report: Report) -> str:
    return f"{cell.target}, {cell.name}, " if len(report.cells) > 1 else ""


def _limit(finding: Finding) -> str:
    if finding.bound is None:
        return NONE
    return f"{finding.bound:.0%}" if finding.by == "ratio" else f"±{finding.bound:g}"


def _ratio(estimate: Estimate | None) -> list[str]:
    if estimate is None:
        return [NONE] * 3
    return [
        NONE if value is None else f"{value:.4f}" for value in (estimate.value, estimate.low, estimate.high)
    ]


def _number(value: float | None, scale: float) -> str:
    return NONE if value is None else f"{value / scale:,.5g}"
