"""What flows went through: link queue, congestion windows and delays over the state of the channel.

The content of figure 4 of Khan et al., "Realistic assessment of transport protocols performance over
LEO-based communications" (Computer Networks, 2023).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from matplotlib.figure import Figure

from leobench.errors import InputError
from leobench.plots import panels, states, style, view

if TYPE_CHECKING:
    from leobench.result import Result

# Inches: the text width of a page, and panels that can be read at it.
_WIDTH, _PANEL = 7.2, 2.07


def draw(
    result: Result,
    *,
    flow: str | None = None,
    link: str | None = None,
    start_s: float | None = None,
    end_s: float | None = None,
) -> Figure:
    """Draws panels over one time axis: link queue, congestion windows, and delays at the bottom.

    The delays are those of messages; flows that carry too few of them, such as files, show their round-trip
    times instead. Where no transport has a congestion window, there is no panel for it.

    Args:
        result: The run.
        flow: Name of the flow; the first five that are not background unless given.
        link: Name of the link direction; unless given, the one that is used most of those that carry the
            flows' data.
        start_s: First second shown; the start of the run unless given.
        end_s: Last second shown; the end of the run unless given.

    Raises:
        InputError: If there is no such flow, link or time, or the run recorded no series.
    """
    chosen = view.choose("timeline", result, flow, link, start_s, end_s)
    if result.tables.queues.is_empty():
        raise InputError("timeline: the run recorded no series; run it with record.series = true")
    drawn = [panels.queue, panels.window, panels.delay] if chosen.has_window else [panels.queue, panels.delay]
    figure = Figure(figsize=(_WIDTH, _PANEL * len(drawn)), layout="constrained")
    axes = list(figure.subplots(len(drawn), 1, sharex=True))
    for draw_panel, each in zip(drawn, axes, strict=True):
        draw_panel(each, chosen)

    channel = result.tables.channel.filter(pl.col("link") == chosen.link["name"])
    channel_states = states.of_channel(channel, result.summary["virtual_s"])
    states.paint(axes, channel_states)
    axes[-1].set_xlim(chosen.start_s, chosen.end_s)
    axes[-1].set_xlabel("time (s)", fontsize=style.FONT, color=style.INK)
    figure.align_ylabels(axes)
    if shown := states.legend(channel_states):
        figure.legend(
            handles=shown,
            title=f"channel of {chosen.link['name']}",
            loc="outside upper right",
            ncols=len(shown),
            fontsize=style.FONT - 0.5,
            title_fontsize=style.FONT - 0.5,
            frameon=False,
        )
    return figure
