"""The remark below figures over time whose series were sampled too coarsely for the time shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.durations import seconds
from leobench.plots import handovers, style, units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leobench.plots.view import View

# Samples across a figure, below which it says how far apart they are.
_FEW = 100


def note(views: Sequence[View]) -> str:
    """A remark on how often series were sampled; empty if often enough for the time shown.

    Often enough is a hundred times, and more often than handovers take that are wide enough to be seen.
    """
    span = max(view.end_s - view.start_s for view in views)
    interval = max(seconds(view.result.scenario["record"]["interval"]) for view in views)
    missed = sorted(
        each.end_s - each.start_s
        for view in views
        for each in handovers.within(view)
        if span / style.COLUMNS < each.end_s - each.start_s < interval
    )
    if interval <= span / _FEW and not missed:
        return ""
    said = f"series are sampled every {units.millis_text(interval * 1e3)}"
    if missed:
        said += f", handovers take {units.millis_text(missed[0] * 1e3)}"
    return f"{said}; a shorter record.interval shows more, times of handovers and drops are exact"
