"""Handovers in figures over time: when each began and ended, and between which links."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from leobench.plots import style

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from matplotlib.axes import Axes

    from leobench.plots.view import View
    from leobench.result import Result

# The names of more handovers than this are in a legend, instead of beside each line.
_MOST_NAMES = 6
# Styles of the lines of many handovers, one for each pair of links.
_DASHES = ((4.0, 2.0), (1.0, 1.5), (6.0, 1.5, 1.0, 1.5), (2.0, 3.0))
# Names that fit side by side below the panels.
_MOST_ABREAST = 2
_COLOUR = "#6b4c9a"


class Handover(NamedTuple):
    """A node that moves from one link to another.

    Attributes:
        node: The node.
        start_s: When it begins.
        end_s: When it is over, or the next one begins; the end of the run unless that was before.
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
        stages = rows.filter(handover=begin["handover"], number=begin["number"])
        ends = stages.filter(pl.col("stage") != "begin")["t_ns"]
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
    """A line through all panels at each handover, a band while it lasts, and the links by name.

    Few handovers have their links' names at the top; the lines of many have a style for each pair of links,
    and a legend below the panels.
    """
    every = of_run(view.result)
    shown = _within(every, view)
    several = len({each.node for each in every}) > 1
    links = set(view.result.scenario["links"])
    names = [_name(each, links, several=several) for each in shown]
    distinct = list(dict.fromkeys(names))
    if len(distinct) > len(_DASHES):
        names = [f"handover of {each.node}" for each in shown]
        distinct = list(dict.fromkeys(names))
    among_satellites = any(each.old not in links for each in shown)
    many = len(shown) > _MOST_NAMES or among_satellites
    styles = {name: _DASHES[at % len(_DASHES) if many else 0] for at, name in enumerate(distinct)}
    for each, name in zip(shown, names, strict=True):
        _line(axes, each, _COLOUR, styles[name])
    if many:
        _legend(axes, styles)
        return
    for each in shown:
        axes[0].annotate(
            f" {_name(each, links, several=several)}",
            (each.start_s, 0.03),
            xycoords=("data", "axes fraction"),
            color=_COLOUR,
            fontsize=style.FONT,
            va="bottom",
        )


def mark_several(axes: Sequence[Axes], views: Sequence[View], colours: Sequence[str]) -> None:
    """The handovers of several runs: once if all runs have the same, otherwise in the colour of each run."""
    first = of_run(views[0].result)
    if all(of_run(view.result) == first for view in views):
        mark(axes, max(views, key=lambda view: view.end_s - view.start_s))
        return
    for view, colour in zip(views, colours, strict=True):
        for each in _within(of_run(view.result), view):
            _line(axes, each, colour, _DASHES[0])


def _within(every: Sequence[Handover], view: View) -> list[Handover]:
    return [each for each in every if view.start_s <= each.start_s <= view.end_s]


def _name(each: Handover, links: Container[str], *, several: bool) -> str:
    """The links of a handover, with the node if several move; satellites come and go too often for names."""
    if each.old not in links:
        return f"satellites of {each.node}"
    return f"{each.node}: {each.old} → {each.new}" if several else f"{each.old} → {each.new}"


def _line(axes: Sequence[Axes], each: Handover, colour: str, dashes: tuple[float, ...]) -> None:
    """A line at the beginning of a handover, and a band while it lasts."""
    for panel in axes:
        panel.axvline(each.start_s, color=colour, linewidth=0.9, linestyle=(0, dashes), zorder=2.5)
        if each.end_s > each.start_s:
            panel.axvspan(each.start_s, each.end_s, color=colour, alpha=0.12, linewidth=0, zorder=0.8)


def _legend(axes: Sequence[Axes], styles: Mapping[str, tuple[float, ...]]) -> None:
    """The styles of the lines, below all panels."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=_COLOUR, linewidth=0.9, linestyle=(0, dashes), label=name)
        for name, dashes in styles.items()
    ]
    axes[0].figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=min(len(handles), _MOST_ABREAST),
        fontsize=style.FONT,
        frameon=False,
        handlelength=3.0,
    )
