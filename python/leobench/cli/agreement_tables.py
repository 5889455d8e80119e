"""A report of agreement as text tables for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    rows = [
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
    return table(head, rows, words=2 if several else 1)


def _cells(report: Report) -> str:
    judged = {
        (finding.flow, finding.measure.name): None
        for cell in report.cells
        for finding in cell.findings
        if finding.measure.limit is not None
    }
    flows = {flow for flow, _ in judged}
    several = len({cell.target for cell in report.cells}) > 1
    head = [
        *([("", "scenario or campaign")] if several else []),
        ("", "variant"),
        ("", "seeds"),
        *((name, flow if len(flows) > 1 else "/".join(report.sides)) for flow, name in judged),
        ("", "verdict"),
    ]
    rows = []
    for cell in report.cells:
        found = {(finding.flow, finding.measure.name): finding for finding in cell.findings}
        rows.append(
            [
                *([cell.target] if several else []),
                cell.name,
                str(len(cell.seeds)),
                *(_short(found.get(key)) for key in judged),
                cell.verdict,
            ]
        )
    return table(head, rows, words=2 if several else 1)


def _total(report: Report) -> str:
    counts = [f"{report.count(verdict)} {verdict}" for verdict in ("agree", "differ", "cannot tell")]
    if len(report.cells) > 1:
        return f"{len(report.cells)} variants: {', '.join(counts)}"
    (cell,) = report.cells
    return f"{cell.target}, {len(cell.seeds)} seeds, stacks {' and '.join(report.sides)}: {cell.verdict}"


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


def _short(finding: Finding | None) -> str:
    """The number that is judged, with its interval, and `?` or `!` where it is not within the limit."""
    if finding is None or finding.verdict is None:
        return NONE
    mark = {"agree": " ", "differ": "!", "cannot tell": "?"}[finding.verdict]
    judged = finding.ratio if finding.by == "ratio" else finding.difference
    if judged is None:
        return f"{NONE} {mark}"
    form = ".3f" if finding.by == "ratio" else "+.1f"
    ends = "".join(
        f" {sign}{NONE if value is None else format(value, form)}"
        for sign, value in (("[", judged.low), ("", judged.high))
    )
    return f"{judged.value:{form}}{ends}]{mark}"


def _number(value: float | None, scale: float) -> str:
    return NONE if value is None else f"{value / scale:,.5g}"
