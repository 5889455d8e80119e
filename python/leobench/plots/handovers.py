"""Handovers in figures over time: when each began and ended, and between which links."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from leobench.plots import style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from leobench.plots.view import View
    from leobench.result import Result

# More handovers than this are marked without their names.
_MOST_NAMES = 6
_COLOUR = "#6b4c9a"


class Handover(NamedTuple):
    """A node that moves from one link to another.

    Attributes:
        node: The node.
        start_s: When it begins.
        end_s: When it is over; the end of the run unless it was before.
        old: Name of the link that is left.
        new: Name of the link that the node moves to.
    """

    node: str
    start_s: float
    end_s: float
    old: str
    new: str


def of_run(result: Result) -> list[Handover]:
    """The handovers of a run, in order of their beginnings."""
    if "handovers" not in result.tables or result.tables["handovers"].is_empty():
        return []
    rows = result.tables["handovers"]
    found = []
    for begin in rows.filter(stage="begin").iter_rows(named=True):
        ends = rows.filter(stage="end", handover=begin["handover"], number=begin["number"])["t_ns"]
        end_s = ends[0] / 1e9 if len(ends) else float(result.summary["virtual_s"])
        found.append(
            Handover(begin["node"], begin["t_ns"] / 1e9, end_s, begin["from_link"], begin["to_link"])
        )
    return sorted(found, key=lambda each: each.start_s)


def queues(view: View) -> list[str]:
    """The link directions whose queues the flows' data wait in before and after handovers; none without."""
    moving = {link for each in of_run(view.result) for link in (each.old, each.new)}
    if not moving or "routes" not in view.result.tables:
        return []
    names = [flow["name"] for flow in view.flows]
    ways = view.result.tables["routes"].filter(pl.col("flow").is_in(names), direction="there")["links"]
    links = dict.fromkeys(link for way in ways.drop_nulls() for link in way.split(" "))
    return [link for link in links if link.split("/")[0] in moving]


def mark(axes: Sequence[Axes], view: View) -> None:
    """A line through all panels at each handover, a band while it lasts, and the links by name at the top."""
    shown = [each for each in of_run(view.result) if view.start_s <= each.start_s <= view.end_s]
    for each in shown:
        for panel in axes:
            panel.axvline(each.start_s, color=_COLOUR, linewidth=0.9, linestyle=(0, (4, 2)), zorder=2.5)
            if each.end_s > each.start_s:
                panel.axvspan(each.start_s, each.end_s, color=_COLOUR, alpha=0.12, linewidth=0, zorder=0.8)
    if len(shown) > _MOST_NAMES:
        return
    for each in shown:
        axes[0].annotate(
            f" {each.old} → {each.new}",
            (each.start_s, 0.03),
            xycoords=("data", "axes fraction"),
            color=_COLOUR,
            fontsize=style.FONT,
            va="bottom",
        )
