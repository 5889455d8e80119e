"""A run over time: throughput, link queue, windows and delays over the state of the channel.

The content of figure 4 of Khan et al., "Realistic assessment of transport protocols performance over
LEO-based communications" (Computer Networks, 2023).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from leobench.errors import InputError
from leobench.plots import (
    handovers,
    links,
    panels,
    path_overlay,
    path_panels,
    paths,
    sampling,
    several,
    states,
    style,
    throughput,
    view,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from leobench.result import Result

# Inches of a panel that can be read at the width of a page.
_PANEL = 1.95


def overlay(
    results: Sequence[Result],
    *,
    flow: str | None = None,
    link: str | None = None,
    start_s: float | None = None,
    end_s: float | None = None,
) -> Figure:
    """Draws the same panels of several runs, of one flow each, a colour per run.

    The arguments are those of `draw`.

    Raises:
        InputError: If a run has no such flow, link or time, recorded no series, or loads a page.
    """
    shown = several.runs("timeline", results, flow, link, start_s, end_s)
    for run in shown:
        if "page" in run.flow:
            raise InputError(
                f"timeline: {run.flow['name']} is a page, whose objects cannot be laid over another run's; "
                "allowed: --kind throughput, or one run"
            )
    if path_overlay.has_several(shown):
        return path_overlay.figure(shown)
    windowed = all(run.view.has_window for run in shown)
    drawn = [several.rate, several.queue, *[several.window] * windowed, several.delay]
    return several.figure(shown, drawn)


def draw(
    result: Result,
    *,
    flow: str | None = None,
    link: str | None = None,
    start_s: float | None = None,
    end_s: float | None = None,
) -> Figure:
    """Draws panels over one time axis: throughput, link queue, congestion windows, and delays at the bottom.

    The delays are those of messages; flows that carry too few of them, such as files, show their round-trip
    times instead. If no transport has a congestion window, there is no panel for it. A run without flows
    has panels of its links. A flow with several paths that is shown alone has panels of these, a colour each.

    Args:
        result: The run.
        flow: Name of the flow; the first five that are not background unless given.
        link: Name of the link direction; unless given, the most utilised of those that carry the flows'
            data.
        start_s: First second shown; the start of the run unless given.
        end_s: Last second shown; the end of the run unless given.

    Raises:
        InputError: If there is no such flow, link or time, or the run recorded no series.
    """
    chosen = view.choose("timeline", result, flow, link, start_s, end_s)
    view.require_series("timeline", result)
    if not chosen.flows:
        return links.draw(chosen, link)
    if len(chosen.flows) == 1 and paths.has_several(result, chosen.flows[0]["name"]):
        return path_panels.draw(chosen, link)
    shown = [panels.queue, panels.window, panels.delay] if chosen.has_window else [panels.queue, panels.delay]
    drawn = [throughput.panel, *shown]
    figure, axes = style.stack(len(drawn), _PANEL * len(drawn))
    for draw_panel, each in zip(drawn, axes, strict=True):
        draw_panel(each, chosen)
    handovers.mark(axes, chosen, sampling.note([chosen]))
    style.time_axis(axes, chosen.start_s, chosen.end_s)
    if link is None and len(handovers.queues(chosen)) > 1:
        # The states of one of the links in turn would say nothing of the others.
        return figure
    channel = result.tables.channel.filter(pl.col("link") == chosen.link["name"])
    over_satellites = "constellation" in result.scenario["links"][chosen.link["name"].split("/")[0]]
    channel_states = states.of_channel(channel, result.summary["virtual_s"], satellites=over_satellites)
    # The uppermost panel shows the capacity instead.
    states.paint(axes[1:], channel_states)
    if patches := states.legend(channel_states):
        title = style.fill(f"background: channel of {chosen.link['name']}", style.PAGE)
        style.key_of(figure, patches, title)
    return figure
