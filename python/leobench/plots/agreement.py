"""The ratios of two sides with their intervals: a row per cell, a panel per measure, the limits shaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leobench.plots import style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.agreement import Cell, Finding, Report

# Inches of a row, of what is above and below all rows, and of a panel; letters of the longest name of a row.
_ROW, _FRAME, _PANEL, _NAME = 0.15, 1.3, 1.75, 60

# A panel shows ratios up to so many limits from 1; an arrow stands for what lies outside.
_REACH = 4.0

_COLOURS = {"agree": style.BLUE, "differ": style.VERMILION, "cannot tell": style.FAINT}
_MARKERS = {"agree": "o", "differ": "D", "cannot tell": "s"}


def draw(report: Report) -> Figure:
    """Draws the measures with a limit, of every cell and flow."""
    rows = _rows(report)
    judged = list(
        dict.fromkeys(
            finding.measure
            for cell in report.cells
            for finding in cell.findings
            if finding.measure.limit is not None
        )
    )
    width = style.LETTER * 0.9 * max(len(row.name) for row in rows) + _PANEL * max(1, len(judged))
    figure = style.figure(width, _FRAME + _ROW * max(4, len(rows)))
    if not judged:
        style.say(figure.subplots(), "no measure to compare")
        return figure
    panels = list(figure.subplots(1, len(judged), sharey=True, squeeze=False)[0])
    for measure, axes in zip(judged, panels, strict=True):
        _panel(axes, [row.finding(measure.name) for row in rows], measure.name, measure.limit or 0.0)
        axes.tick_params(axis="y", length=0)
    panels[0].set_yticks(range(len(rows)), [row.name for row in rows], fontsize=style.SMALL)
    for row, label in zip(rows, panels[0].get_yticklabels(), strict=True):
        label.set_fontweight("bold" if row.cell is None else "normal")
    panels[0].set_ylim(len(rows) - 0.4, -0.6)
    _key(figure)
    first, second = report.sides
    style.note(
        figure,
        f"{report.axis} {first} over {second}: ratio of the means, 95 % interval over seeds; shaded: limits; "
        "hollow: counts so small that their difference is judged; arrows: beyond the panel",
    )
    return figure


@dataclass(frozen=True)
class _Row:
    """A row: a cell and flow, or the name of the target that the following rows belong to."""

    name: str
    cell: Cell | None = None
    flow: str = ""

    def finding(self, measure: str) -> Finding | None:
        """The finding of the row's flow in a measure."""
        found = () if self.cell is None else self.cell.findings
        return next((each for each in found if (each.flow, each.measure.name) == (self.flow, measure)), None)


def _rows(report: Report) -> list[_Row]:
    """All rows, targets of several cells with a heading."""
    targets = [cell.target for cell in report.cells]
    rows: list[_Row] = []
    for cell in report.cells:
        alone = targets.count(cell.target) == 1
        if not alone and all(row.cell is None or row.cell.target != cell.target for row in rows):
            rows.append(_Row(_cut(cell.target)))
        flows = list(dict.fromkeys(finding.flow for finding in cell.findings))
        name = cell.target if alone else cell.name
        rows += [_Row(_cut(f"{name}, {flow}" if len(flows) > 1 else name), cell, flow) for flow in flows]
    return rows or [_Row("")]


def _cut(name: str) -> str:
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"


def _panel(axes: Axes, findings: Sequence[Finding | None], name: str, limit: float) -> None:
    from matplotlib.ticker import MaxNLocator

    reach = _REACH * limit
    axes.axvspan(1 - limit, 1 + limit, color=style.GRID, zorder=0)
    axes.axvline(1, color=style.FAINT, linewidth=0.6, zorder=1)
    for row, finding in enumerate(findings):
        if finding is not None and finding.verdict is not None:
            _point(axes, row, finding, reach)
    style.dress(axes, f"{name} (±{limit:.0%})", "", zero=False)
    axes.set_xlim(1 - reach, 1 + reach)
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.tick_params(axis="x", labelsize=style.SMALL)


def _point(axes: Axes, row: int, finding: Finding, reach: float) -> None:
    """A ratio with its interval; an arrow at the edge if the ratio is beyond. Nothing over nothing is 1."""
    colour = _COLOURS[finding.verdict or "cannot tell"]
    ratio = finding.ratio
    value, low, high = (1.0, None, None) if ratio is None else (ratio.value, ratio.low, ratio.high)
    if ratio is None and finding.means != (0.0, 0.0):
        value = 1 + 2 * reach
    elif ratio is not None:
        ends = (
            1 - reach if low is None else max(low, 1 - reach),
            1 + reach if high is None else min(high, 1 + reach),
        )
        if ends[0] < ends[1]:
            axes.plot(ends, [row, row], color=colour, linewidth=1.0, zorder=2)
    fill = "white" if finding.by == "difference" else colour
    point: dict[str, Any] = {"color": colour, "markerfacecolor": fill, "markeredgewidth": 0.8, "zorder": 3}
    if abs(value - 1) > reach:
        edge, arrow = (1 + reach, ">") if value > 1 else (1 - reach, "<")
        axes.plot(edge, row, arrow, markersize=4, clip_on=False, **point)
    else:
        axes.plot(value, row, _MARKERS[finding.verdict or "cannot tell"], markersize=3.5, **point)


def _key(figure: Figure) -> None:
    handles = [
        style.line_entry(verdict, colour, marker=_MARKERS[verdict], markersize=3.5, linewidth=1.0)
        for verdict, colour in _COLOURS.items()
    ]
    style.key_of(figure, handles)
