"""The ratios of two sides with their intervals: a row per cell, a panel per measure, the limits shaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from leobench.plots import style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from leobench.agreement import Cell, Finding, Report

# Inches of a row, of what is above and below all rows, and of a panel; letters of the longest name of a row.
_ROW, _FRAME, _PANEL, _NAME = 0.15, 1.3, 1.75, 60

# A panel shows ratios up to so many limits from 1; an arrow stands for what lies outside.
_REACH = 4.0

_COLOURS = {"agree": style.BLUE, "differ": style.VERMILION, "cannot tell": style.FAINT}
_MARKERS = {"agree": "o", "differ": "D", "cannot tell": "s"}


def draw(report: Report) -> Figure:
    """Draws the measures with a limit, of every cell and flow."""
    rows = [
        (cell, flow)
        for cell in report.cells
        for flow in dict.fromkeys(finding.flow for finding in cell.findings)
    ]
    judged = list(
        dict.fromkeys(
            finding.measure
            for cell in report.cells
            for finding in cell.findings
            if finding.measure.limit is not None
        )
    )
    names = _names(report, rows)
    width = style.LETTER * 0.9 * max(map(len, names), default=10) + _PANEL * max(1, len(judged))
    figure = Figure(figsize=(width, _FRAME + _ROW * max(4, len(rows))), layout="constrained")
    if not judged:
        style.say(figure.subplots(), "no measure to compare")
        return figure
    panels = list(figure.subplots(1, len(judged), sharey=True, squeeze=False)[0])
    for measure, axes in zip(judged, panels, strict=True):
        findings = [_of(cell, flow, measure.name) for cell, flow in rows]
        _panel(axes, findings, measure.name, measure.limit or 0.0)
    axes = panels[0]
    axes.set_yticks(range(len(rows)), names)
    axes.tick_params(axis="y", labelsize=style.SMALL, length=0)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    _separate(panels, rows)
    _key(figure)
    first, second = report.sides
    style.note(
        figure,
        f"{report.axis} {first} over {second}: ratio of the means, 95 % interval over seeds; shaded: limits; "
        "hollow: counts so small that their difference is judged; arrows: beyond the panel",
    )
    return figure


def _names(report: Report, rows: Sequence[tuple[Cell, str]]) -> list[str]:
    """The name of each row: what tells it from the others."""
    targets = len({cell.target for cell in report.cells}) > 1
    flows = len({flow for _, flow in rows}) > 1
    cells = len(report.cells) > 1
    names = [
        ", ".join(
            [
                *([cell.target] if targets or not cells else []),
                *([cell.name] if cells and cell.name != "base" else []),
                *([flow] if flows else []),
            ]
        )
        for cell, flow in rows
    ]
    return [name if len(name) <= _NAME else f"{name[: _NAME - 1]}…" for name in names]


def _of(cell: Cell, flow: str, name: str) -> Finding | None:
    return next((each for each in cell.findings if each.flow == flow and each.measure.name == name), None)


def _panel(axes: Axes, findings: Sequence[Finding | None], name: str, limit: float) -> None:
    from matplotlib.ticker import MaxNLocator

    reach = _REACH * limit
    axes.axvspan(1 - limit, 1 + limit, color="#dddddd", zorder=0)
    axes.axvline(1, color=style.FAINT, linewidth=0.6, zorder=1)
    for row, finding in enumerate(findings):
        if finding is not None and finding.verdict is not None and finding.ratio is not None:
            _point(axes, row, finding, reach)
    style.dress(axes, f"{name} (±{limit:.0%})", "", zero=False)
    axes.set_xlim(1 - reach, 1 + reach)
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.tick_params(axis="x", labelsize=style.SMALL)


def _point(axes: Axes, row: int, finding: Finding, reach: float) -> None:
    """A ratio with its interval; an arrow at the edge if the ratio is beyond."""
    assert finding.ratio is not None and finding.verdict is not None  # noqa: S101, PT018 (the caller checked)
    ratio, colour = finding.ratio, _COLOURS[finding.verdict]
    low = 1 - reach if ratio.low is None else max(ratio.low, 1 - reach)
    high = 1 + reach if ratio.high is None else min(ratio.high, 1 + reach)
    if low < high:
        axes.plot([low, high], [row, row], color=colour, linewidth=1.0, zorder=2)
    if abs(ratio.value - 1) > reach:
        edge, arrow = (1 + reach, ">") if ratio.value > 1 else (1 - reach, "<")
        axes.plot(edge, row, arrow, color=colour, markersize=4, zorder=3, clip_on=False)
        return
    axes.plot(
        ratio.value,
        row,
        _MARKERS[finding.verdict],
        color=colour,
        markerfacecolor="white" if finding.by == "difference" else colour,
        markersize=3.5,
        markeredgewidth=0.8,
        zorder=3,
    )


def _separate(panels: Sequence[Axes], rows: Sequence[tuple[Cell, str]]) -> None:
    """Lines between targets."""
    for row in range(1, len(rows)):
        if rows[row][0].target != rows[row - 1][0].target:
            for axes in panels:
                axes.axhline(row - 0.5, color=style.FAINT, linewidth=0.5)


def _key(figure: Figure) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=_COLOURS[verdict], marker=_MARKERS[verdict], markersize=3.5, linewidth=1.0)
        for verdict in _COLOURS
    ]
    style.key_of(figure, handles, list(_COLOURS))
