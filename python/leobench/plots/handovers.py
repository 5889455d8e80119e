"""Handovers in figures over time: when each began and ended, and between which links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import polars as pl

from leobench.plots import style

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from leobench.plots.view import View
    from leobench.result import Result

# The names of more handovers than this are in a legend, instead of beside each line.
_MOST_NAMES = 6
# Styles of the lines of many handovers, one for each pair of links.
_DASHES = ((4.0, 2.0), (1.0, 1.5), (6.0, 1.5, 1.0, 1.5), (2.0, 3.0))
# Room for names above the data of the uppermost panel, as a share of its height.
_ABOVE = 0.2
# A shorter part of the time shown cannot be seen as a band.
_THINNEST = 1 / 400
_COLOUR, _SHADE = "#6b4c9a", 0.12


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


def mark(axes: Sequence[Axes], view: View, note: str = "") -> None:
    """A line through all panels at each handover, a band while it lasts, and the links by name.

    Few handovers have their links' names at the top; the lines of many have a style for each pair of links,
    and a legend below the panels. `note` is a remark below all.
    """
    every = of_run(view.result)
    shown = within(view)
    several = len({each.node for each in every}) > 1
    links = set(view.result.scenario["links"])
    names = [_name(each, links, several=several) for each in shown]
    distinct = list(dict.fromkeys(names))
    if len(distinct) > len(_DASHES):
        names = [f"handover of {each.node}" for each in shown]
        distinct = list(dict.fromkeys(names))
    among_satellites = any(each.old not in links for each in shown)
    sides = None if len(shown) > _MOST_NAMES or among_satellites else _sides(axes[0], shown, names, view)
    many = sides is None
    styles = {name: _DASHES[at % len(_DASHES) if many else 0] for at, name in enumerate(distinct)}
    for each, name in zip(shown, names, strict=True):
        _line(axes, each, _COLOUR, styles[name])
    handles = [_handle(name, _COLOUR, dashes) for name, dashes in styles.items()] if many else []
    _legend(axes[0], [*handles, *_bands(shown, view)], note)
    if shown and sides is not None:
        style.extend(axes[0], _ABOVE)
        for each, name, side in zip(shown, names, sides, strict=True):
            axes[0].annotate(
                f" {name} ",
                (each.start_s, 0.97),
                xycoords=("data", "axes fraction"),
                color=_COLOUR,
                fontsize=style.FONT,
                ha=side,
                va="top",
            )


def _sides(
    axes: Axes, shown: Sequence[Handover], names: Sequence[str], view: View
) -> list[Literal["left", "right"]] | None:
    """The alignment of each name: behind its line, or before it if only there is room; None without room."""
    second = style.inches(axes)[0] / (view.end_s - view.start_s)
    ends = [*(each.start_s for each in shown), view.end_s][1:]
    sides: list[Literal["left", "right"]] = []
    free = view.start_s
    for each, name, end in zip(shown, names, ends, strict=False):
        long = style.LETTER * (2 + len(name)) / second
        if each.start_s + long <= end:
            sides.append("left")
            free = each.start_s + long
        elif free + long <= each.start_s:
            sides.append("right")
            free = each.start_s
        else:
            return None
    return sides


def mark_several(axes: Sequence[Axes], views: Sequence[View], colours: Sequence[str], note: str = "") -> None:
    """The handovers of several runs: once if all runs have the same, otherwise in the colour of each run."""
    first = of_run(views[0].result)
    if all(of_run(view.result) == first for view in views):
        mark(axes, max(views, key=lambda view: view.end_s - view.start_s), note)
        return
    bands: list[Artist] = []
    for view, colour in zip(views, colours, strict=True):
        shown = within(view)
        for each in shown:
            _line(axes, each, colour, _DASHES[0])
        bands = bands or _bands(shown, view, style.FAINT)
    line = _handle("handover, in the colour of its run", style.FAINT, _DASHES[0])
    _legend(axes[0], [line, *bands] if any(within(view) for view in views) else [], note)


def within(view: View) -> list[Handover]:
    """The handovers that begin in the time shown."""
    return [each for each in of_run(view.result) if view.start_s <= each.start_s <= view.end_s]


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
            panel.axvspan(each.start_s, each.end_s, color=colour, alpha=_SHADE, linewidth=0, zorder=0.8)


def _handle(name: str, colour: str, dashes: tuple[float, ...]) -> Artist:
    """The entry of a legend for lines of handovers."""
    return style.line_entry(name, colour, linewidth=0.9, linestyle=(0, dashes))


def _bands(shown: Sequence[Handover], view: View, colour: str = _COLOUR) -> list[Artist]:
    """The entry of a legend for bands, if any is wide enough to be seen."""
    seen = _THINNEST * (view.end_s - view.start_s)
    if all(min(each.end_s, view.end_s) - each.start_s < seen for each in shown):
        return []
    return [style.patch_entry("until the handover is over", colour, alpha=_SHADE, linewidth=0)]


def _legend(axes: Axes, handles: Sequence[Artist], note: str) -> None:
    """A legend below all panels with a remark, or the remark alone."""
    figure = style.begin(axes)[0]
    if handles:
        style.key_of(figure, handles, note, below=True)
    else:
        style.note(figure, note)
