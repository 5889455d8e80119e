"""The states of a channel over time, as the background of a figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from leobench.plots import style, units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

DOWN = "down"

# The label of the channel of a constellation between two satellites.
_HANDOVER = "handover"

# The darker, the slower: it prints in grey as it shows on a screen. Too many states alternate.
_LIGHTEST, _DARKEST, _SECOND = 1.0, 0.70, "0.880"

# Beyond so many states, shades cannot be told apart.
_MOST_SHADES = 6


@dataclass(frozen=True)
class State:
    """A state of a channel: its times and its colour.

    Attributes:
        label: Its name, with its rate if that is constant; empty if the legend does not have it.
        spans: Start and length of every visit, in seconds.
        colour: Its colour.
    """

    label: str
    spans: list[tuple[float, float]]
    colour: str


def of_channel(channel: pl.DataFrame, end_s: float, *, satellites: bool = False) -> list[State]:
    """The states in the `channel` rows of one link, the fastest first.

    Satellites, and states too many for shades, alternate: every second visit has a shade.
    """
    if channel.is_empty():
        return []
    rows = channel.sort("t_ns", maintain_order=True).with_columns(
        start=pl.col("t_ns") / 1e9,
        length=(pl.col("t_ns").shift(-1).fill_null(round(end_s * 1e9)) - pl.col("t_ns")) / 1e9,
        name=pl.when("up").then("label").otherwise(pl.lit(DOWN)),
    )
    rows = rows.filter(pl.col("length") > 0)
    visits = rows.filter(~pl.col("name").is_in([DOWN, _HANDOVER]))
    if visits["name"].n_unique() > (1 if satellites else _MOST_SHADES):
        what = "satellite" if satellites else f"of {visits['name'].n_unique()} states"
        return _alternating(rows, visits, f"every second {what}")
    states = (
        rows.group_by("name", maintain_order=True)
        .agg(
            "start",
            "length",
            rate=(pl.col("rate_bps") * pl.col("length")).sum() / pl.col("length").sum(),
            slowest=pl.col("rate_bps").min(),
            fastest=pl.col("rate_bps").max(),
        )
        .sort(pl.col("name") == DOWN, -pl.col("rate"), maintain_order=True, nulls_last=True)
        .to_dicts()
    )
    shades = _shades([state["name"] for state in states])
    return [
        State(_label(state), list(zip(state["start"], state["length"], strict=True)), shade)
        for state, shade in zip(states, shades, strict=True)
    ]


def paint(panels: Sequence[Axes], states: Sequence[State]) -> None:
    """Paints the states behind the panels."""
    for axes in panels:
        for state in states:
            axes.broken_barh(
                state.spans,
                (0, 1),
                transform=axes.get_xaxis_transform(),
                facecolors=state.colour,
                linewidth=0,
                antialiased=False,
                zorder=0,
            )


def legend(states: Sequence[State]) -> list[Patch]:
    """A patch per state for a legend; none for a single state."""
    if len(states) < 2:
        return []
    return [
        style.patch_entry(state.label, state.colour, edgecolor=style.FAINT, linewidth=0.5)
        for state in states
        if state.label
    ]


def _alternating(rows: pl.DataFrame, visits: pl.DataFrame, label: str) -> list[State]:
    """Two states that take turns from visit to visit, the second one with a label; and interruptions."""
    visits = visits.with_columns(odd=pl.col("name").rle_id() % 2 == 1)
    groups = [
        ("", visits.filter(~pl.col("odd")), str(_LIGHTEST)),
        (label, visits.filter("odd"), _SECOND),
        (DOWN, rows.filter(name=DOWN), style.CLOSED),
    ]
    return [
        State(name, list(zip(group["start"], group["length"], strict=True)), colour)
        for name, group, colour in groups
        if group.height
    ]


def _shades(names: Sequence[str]) -> list[str]:
    up = sum(name != DOWN for name in names)
    shades = [f"{shade:.3f}" for shade in np.linspace(_LIGHTEST, _DARKEST, up)] if up > 1 else ["1.0"] * up
    return shades + [style.CLOSED] * (len(names) - up)


def _label(state: dict[str, object]) -> str:
    name = str(state["name"]).replace("-", " ")
    fastest = state["fastest"]
    if state["name"] != DOWN and isinstance(fastest, int) and fastest == state["slowest"]:
        return f"{name} ({units.rate_text(fastest)})"
    return name
