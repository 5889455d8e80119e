"""A report as rows of text, for terminals and Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.agreement import judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leobench.agreement.judge import Finding
    from leobench.agreement.runner import Cell, Report

NONE = "-"

# Behind a number that is not within its limit.
_MARKS = {judge.AGREE: "", judge.DIFFER: "!", judge.CANNOT_TELL: "?"}


def judged(report: Report) -> list[tuple[str, str]]:
    """The flow and the measure of everything that has a verdict, in order."""
    found = (
        (finding.flow, finding.measure.name)
        for cell in report.cells
        for finding in cell.findings
        if finding.measure.limit is not None
    )
    return list(dict.fromkeys(found))


def of_cell(cell: Cell, columns: Sequence[tuple[str, str]]) -> list[str]:
    """The name of a cell, its seeds, what is judged with its interval, and the verdict."""
    found = {(finding.flow, finding.measure.name): finding for finding in cell.findings}
    return [cell.name, str(len(cell.seeds)), *(short(found.get(key)) for key in columns), cell.verdict]


def short(finding: Finding | None) -> str:
    """The number that is judged, with its interval; `?` or `!` behind it unless it is within the limit."""
    if finding is None or finding.verdict is None:
        return NONE
    judged_by = finding.ratio if finding.by == "ratio" else finding.difference
    if judged_by is None:
        return f"{NONE}{_MARKS[finding.verdict]}"
    form = ".3f" if finding.by == "ratio" else "+.1f"
    low, high = (NONE if end is None else format(end, form) for end in (judged_by.low, judged_by.high))
    return f"{judged_by.value:{form}} [{low} {high}]{_MARKS[finding.verdict]}"


def totals(report: Report) -> list[list[str]]:
    """A row per target: its name, its cells, and how many have each verdict."""
    rows = []
    for target in dict.fromkeys(cell.target for cell in report.cells):
        verdicts = [cell.verdict for cell in report.cells if cell.target == target]
        rows.append(
            [target, *map(str, (len(verdicts), *(verdicts.count(verdict) for verdict in judge.VERDICTS)))]
        )
    return rows


def markdown(report: Report) -> str:
    """All cells, a table per target."""
    columns = judged(report)
    flows = {flow for flow, _ in columns}
    heads = [f"{name} of {flow}" if len(flows) > 1 else name for flow, name in columns]
    lines = [
        f"# {report.axis.capitalize()}s {report.sides[0]} and {report.sides[1]}: "
        "ratios and differences with 95 % intervals",
        "",
    ]
    lines += _table(["", "cells", *judge.VERDICTS], totals(report))
    for target, *_ in totals(report):
        lines += ["", f"## {target}", ""]
        rows = [of_cell(cell, columns) for cell in report.cells if cell.target == target]
        lines += _table(["variant", "seeds", *heads, "verdict"], rows)
    return "\n".join([*lines, ""])


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]
