"""How flows share a link: their goodputs over time around the fair share, and the time of convergence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from leobench import stats
from leobench.durations import seconds
from leobench.errors import InputError
from leobench.plots import names, panels, style, units, view

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.plots.view import View
    from leobench.result import Result

# Inches of panels that can be read at the width of a page.
_GOODPUTS, _QUEUE, _OF_SEVERAL = 2.9, 1.5, 2.4

# Runs on a page.
_MOST_RUNS = 4

# Steps of a window.
_STEPS = 10

# Room for remarks above the highest goodput, and where they are in it.
_HEADROOM, _REMARKS = 1.25, (0.91, 0.82)


def draw(
    result: Result,
    *,
    flow: str | None = None,
    link: str | None = None,
    start_s: float | None = None,
    end_s: float | None = None,
) -> Figure:
    """Draws the goodputs of flows around the fair share, and the queue of their link.

    Goodputs are moving means over the scenario's `competition.window`. The width of the band around the
    fair share is its `competition.tolerance`.

    Args:
        result: The run, of two flows or more that are not background.
        flow: Not allowed for this kind of figure, which compares flows.
        link: Name of the link direction whose queue is shown; unless given, the most utilised of those
            that carry the flows' data.
        start_s: First second shown; the start of the run unless given.
        end_s: Last second shown; the end of the run unless given.

    Raises:
        InputError: If there are fewer than two flows, there is no such link or time, or the run recorded no
            series.
    """
    chosen = _choose(result, flow, link, start_s, end_s)
    figure, stacked = style.stack(2, _GOODPUTS + _QUEUE, ratios=(_GOODPUTS, _QUEUE))
    _goodputs(stacked[0], chosen, _largest(chosen))
    panels.queue(stacked[1], chosen)
    style.time_axis(stacked, chosen.start_s, chosen.end_s)
    return figure


def overlay(
    results: Sequence[Result],
    *,
    flow: str | None = None,
    link: str | None = None,
    start_s: float | None = None,
    end_s: float | None = None,
) -> Figure:
    """Draws the goodputs of several runs, a panel for each on one scale; the arguments are those of `draw`.

    Raises:
        InputError: As for `draw`, or if there are more runs than fit on a page.
    """
    if len(results) > _MOST_RUNS:
        raise InputError(f"shares: {len(results)} runs; allowed: {_MOST_RUNS}, more do not fit on a page")
    labels = names.of_runs(results)
    views = view.of_each(results, labels, lambda each: _choose(each, flow, link, start_s, end_s))
    figure, stacked = style.stack(len(results), 0.3 + _OF_SEVERAL * len(results), same_scale=True)
    largest = max(_largest(each) for each in views)
    for axes, each, label in zip(stacked, views, labels, strict=True):
        _goodputs(axes, each, largest, f"{label}: ")
    style.time_axis(stacked, *view.span(views))
    return figure


def _choose(
    result: Result, flow: str | None, link: str | None, start_s: float | None, end_s: float | None
) -> View:
    """The part of a run to show; the errors are those of `draw`."""
    if flow is not None:
        raise InputError(
            f"shares: --flow = {flow}: a single flow has no share; leave it out, or use --kind timeline"
        )
    view.require_flows("shares", result)
    if "competition" not in result.summary:
        raise InputError(
            "shares: the run has fewer than two flows that are not background; allowed: two or more"
        )
    view.require_series("shares", result)
    return view.choose("shares", result, None, link, start_s, end_s)


def _moving_goodputs(view: View) -> tuple[style.Array, dict[str, style.Array]]:
    """Ends of the windows in seconds, and the mean goodput of every flow in them, in bits per second."""
    window = seconds(view.result.scenario["competition"]["window"])
    step, last = window / _STEPS, float(view.result.summary["virtual_s"])
    flows = [flow["name"] for flow in view.result.summary["competition"]["flows"]]
    sums = {name: _moving(stats.delivered_in_steps(view.result, name, step, 0.0, last)) for name in flows}
    ends = np.arange(1, len(sums[flows[0]]) + 1, dtype=np.float64) * step
    return ends, {name: 8 * total / np.minimum(ends, window) for name, total in sums.items()}


def _largest(view: View) -> float:
    """The largest mean goodput in the time shown."""
    ends, rates = _moving_goodputs(view)
    shown = (ends >= view.start_s) & (ends <= view.end_s)
    return max(float(np.max(rate[shown], initial=0.0)) for rate in rates.values())


def _goodputs(axes: Axes, view: View, largest: float, label: str = "") -> None:
    """The goodputs of a run around the fair share, on an axis for up to `largest` bits per second.

    The title starts with `label`.
    """
    spec: dict[str, Any] = view.result.scenario["competition"]
    window, tolerance = seconds(spec["window"]), float(spec["tolerance"])
    ends, rates = _moving_goodputs(view)
    fair = np.mean(list(rates.values()), axis=0)
    factor, unit = units.scale("bit/s", largest)
    starts = {name: seconds(view.result.scenario["flows"][name]["start"]) for name in rates}
    arrival, until = max(starts.values()), view.result.summary["competition"]["to_s"] or 0.0
    there = (ends >= arrival + window) & (ends <= until + window / _STEPS / 2)
    axes.fill_between(
        ends[there], fair[there] * (1 - tolerance) / factor, fair[there] * (1 + tolerance) / factor,
        color=style.FAINT, alpha=0.25, linewidth=0, label=f"fair share ± {100 * tolerance:g} %",
    )  # fmt: skip
    for flow, colour in zip(view.flows, style.COMPETITORS, strict=False):
        began = ends > starts[flow["name"]]
        kind = f"{flow['transport'].upper()} {flow['congestion'] or ''}".rstrip()
        rate = rates[flow["name"]][began] / factor
        axes.plot(ends[began], rate, color=colour, linewidth=1.4, label=f"{flow['name']} ({kind})")
    style.dress(axes, label + _title(view, arrival), f"goodput, mean of {window:g} s ({unit})")
    axes.set_ylim(0, largest / factor * _HEADROOM)
    _mark(axes, view, arrival)
    style.legend(axes)


def _title(view: View, arrival: float) -> str:
    """The outcome in words."""
    found, jain = view.result.summary["competition"], view.result.summary["fairness_jain"]
    if found["from_s"] is None:
        return "The flows were never active at the same time"
    converged = found["convergence_s"]
    after = "" if arrival == 0 else "after the last flow started"
    said = "No lasting fair shares" if converged is None else f"Fair shares {converged:.3g} s{after}"
    ratio = found["friendliness_ratio"]
    told = "" if ratio is None else f", friendliness ratio {units.number_text(ratio)}"
    span = f"{found['from_s']:g} to {found['to_s']:g} s"
    return f"{said}; Jain's index {jain:.2f}{told} ({span})" if jain is not None else said


def _mark(axes: Axes, view: View, arrival: float) -> None:
    """Lines at the start of the last flow and at the time of convergence."""
    converged = view.result.summary["competition"]["convergence_s"]
    hold = seconds(view.result.scenario["competition"]["hold"])
    marks = [(arrival, "last flow starts", _REMARKS[0])] if arrival > 0 else []
    if converged is not None:
        marks.append((arrival + converged, f"fair, and for {hold:g} s more", _REMARKS[1]))
    for at, text, height in marks:
        if view.start_s <= at <= view.end_s:
            axes.axvline(at, color=style.INK, linewidth=0.9, linestyle="--")
            axes.annotate(
                text, (at, height), xycoords=("data", "axes fraction"),
                xytext=(3, 0), textcoords="offset points",
                fontsize=style.FONT, color=style.INK, va="bottom",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
            )  # fmt: skip


def _moving(steps: style.Array) -> style.Array:
    """The sum of each step and those before it in a window."""
    sums = np.concatenate((np.zeros(_STEPS), np.cumsum(steps)))
    return sums[_STEPS:] - sums[:-_STEPS]
