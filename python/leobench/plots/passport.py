"""The checks of a passport: a row each, its value and interval between the thresholds, coloured by verdict.

Checks have different units, so the axis is the way between their thresholds: a check fails left of 0, warns
between 0 and 1, and passes right of 1.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from leobench.plots import style

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Check = Mapping[str, Any]

# Inches of a row, and of what is above and below all rows.
_ROW, _FRAME = 0.155, 1.25

# The axis shows so many widths of the range between the thresholds on either side of it.
_LEFT, _RIGHT = -1.0, 3.0

_COLOURS = {"pass": style.BLUE, "warn": style.ORANGE, "fail": style.VERMILION}
_MARKERS = {"pass": "o", "warn": "s", "fail": "D"}


def draw(described: Mapping[str, Any]) -> Figure:
    """Draws a passport from its JSON; the controller that it is compared with is hollow."""
    from leobench.passport import tables

    checks, against = described["checks"], described["against"]
    figure = style.figure(style.PAGE, _FRAME + _ROW * len(checks))
    axes = figure.subplots()
    axes.axvspan(_LEFT, 0, color=style.VERMILION, alpha=0.07, linewidth=0, zorder=0)
    axes.axvspan(0, 1, color=style.ORANGE, alpha=0.12, linewidth=0, zorder=0)
    for row, check in enumerate(checks):
        if against is not None:
            _point(axes, row, against["checks"][row], hollow=True)
        _point(axes, row, check)
        text = tables.value(check, interval=True) if check["value"] is not None else check["verdict"]
        axes.annotate(
            text, (1.01, row), xycoords=("axes fraction", "data"), va="center", fontsize=style.SMALL,
            color=_COLOURS.get(check["verdict"], style.FAINT) if check["verdict"] != "pass" else style.INK,
        )  # fmt: skip
    style.dress(axes, _title(described), "", zero=False)
    _rows(axes, checks)
    axes.set_xlim(_LEFT, _RIGHT)
    axes.set_xticks([0, 1], ["threshold to fail", "threshold to warn"], fontsize=style.SMALL)
    _key(figure, described)
    style.note(
        figure,
        "means with 95 % intervals over seeds; rows are scaled by their thresholds, and right is better; "
        "arrows: beyond the panel",
    )
    return figure


def _title(described: Mapping[str, Any]) -> str:
    suite, controller = described["suite"], described["controller"]
    quick = ", quick" if suite["quick"] else ""
    return f"{controller['name']} over {controller['transport'].upper()}, suite {suite['version']}{quick}"


def _rows(axes: Axes, checks: Sequence[Check]) -> None:
    axes.set_yticks(range(len(checks)), [check["id"] for check in checks], fontsize=style.SMALL)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(checks) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    for row, (before, check) in enumerate(itertools.pairwise(checks)):
        if before["group"] != check["group"]:
            axes.axhline(row + 0.5, color=style.GRID, linewidth=0.8, zorder=1)


def _place(check: Check, value: float) -> float:
    """The place of a value on the axis. A check without a threshold to fail warns at 1 and has no 0."""
    warn, fail = float(check["warn"]), check["fail"]
    if fail is None or fail == warn:
        width = (abs(warn) or 1.0) / 2 * (1 if check["better"] == "higher" else -1)
    else:
        width = warn - float(fail)
    return 1 + (value - warn) / width


def _point(axes: Axes, row: int, check: Check, *, hollow: bool = False) -> None:
    if check["value"] is None:
        return
    colour = style.FAINT if hollow else _COLOURS[check["verdict"]]
    ends = sorted(
        min(max(_place(check, check["value"] if end is None else end), _LEFT), _RIGHT)
        for end in (check["low"], check["high"])
    )
    place = _place(check, check["value"])
    axes.plot(ends, [row, row], color=colour, linewidth=1.0, zorder=2)
    point: dict[str, Any] = {
        "color": colour,
        "markerfacecolor": "white" if hollow else colour,
        "markeredgewidth": 0.8,
        "zorder": 2 if hollow else 3,
    }
    if not _LEFT <= place <= _RIGHT:
        edge, arrow = (_RIGHT, ">") if place > _RIGHT else (_LEFT, "<")
        axes.plot(edge, row, arrow, markersize=4, clip_on=False, **point)
    else:
        axes.plot(place, row, _MARKERS[check["verdict"]], markersize=3.5, **point)


def _key(figure: Figure, described: Mapping[str, Any]) -> None:
    handles = [
        style.line_entry(
            f"{verdict} ({described['counts'][verdict]})", colour, marker=_MARKERS[verdict], markersize=3.5
        )
        for verdict, colour in _COLOURS.items()
    ]
    if described["against"] is not None:
        name = described["against"]["controller"]["name"]
        handles.append(
            style.line_entry(name, style.FAINT, marker="o", markersize=3.5, markerfacecolor="white")
        )
    style.key_of(figure, handles)
