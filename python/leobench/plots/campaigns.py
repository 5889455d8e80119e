"""A metric of a campaign by variant: bars, lines, boxes or distributions over its runs."""

from __future__ import annotations

import math
import re
import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from leobench import stats
from leobench.errors import InputError, allowed
from leobench.plots import CAMPAIGN_KINDS, bars, box, ecdf, frames, lines, names, style
from leobench.plots.frames import Column, Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.campaign import CampaignResult

# Inches of a panel, and panels beside each other.
_WIDTH, _HEIGHT, _COLUMNS = style.HALF, 2.6, 2
_MOST_PANELS = 6

# Inches beside a panel for its axis.
_FRAME = 0.8

# Letters of a line of a title, and of the shortest and the longest line of the name of a group.
_TITLE, _SHORTEST, _LONGEST = 50, 9, 50

# Inches for each group at least, with a name of one line and of each further line; and for each bar or box.
_GROUP, _LINE, _CELL = 0.16, 0.13, 0.09

# Fewer swept values are bars, and means further apart than this share a logarithmic axis.
_FEWEST, _FAR = 3, 50.0

_UNITS = {
    **{
        unit: (size, "s")
        for unit, size in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("min", 60.0))
    },
    **{unit: (size, "bit/s") for unit, size in (("bps", 1.0), ("kbps", 1e3), ("Mbps", 1e6), ("Gbps", 1e9))},
    **{unit: (size, "B") for unit, size in (("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9))},
}


@dataclass(frozen=True)
class _Layout:
    """How each place of the variants is shown.

    Attributes:
        across: The place along the x axis.
        series: The place that selects the colour, if there is one.
        panels: Places whose combinations of values have a panel each.
        labels: Names of the places.
    """

    across: str
    series: str | None
    panels: list[str]
    labels: dict[str, str]


def draw(
    result: CampaignResult,
    *,
    kind: str | None = None,
    metric: str | None = None,
    by: Sequence[str] = (),
) -> tuple[str, Figure]:
    """Draws a metric by the places in which the variants of a campaign differ.

    Args:
        result: The campaign.
        kind: `bars` or `lines` of means with their 95 % intervals, `box` or `ecdf` of the runs. Unless
            given, lines if the place along the axis has numbers, otherwise bars.
        metric: Path of the metric, or its last words, with or without their units; the first of the campaign
            unless given.
        by: Places that variants replace, or their last words: the one along the axis, the one of the
            colours, and those of the panels. Unless given, the place with the most values is along the
            axis; the others follow in the order of the campaign.

    Returns:
        The kind that was drawn, and the figure.

    Raises:
        InputError: If there is no such kind, metric or place, or there are too many panels or series.
    """
    if kind is not None and kind not in CAMPAIGN_KINDS:
        raise InputError(f"--kind = {kind}: no figure of a campaign; {allowed(kind, CAMPAIGN_KINDS)}")
    runs = result.runs
    known = runs["metric"].unique(maintain_order=True).to_list()
    chosen = known[0] if metric is None else names.find_metric(metric, known)
    layout, runs = _layout(runs.filter(metric=chosen), by)
    numbers = _numbers(runs[layout.across].unique(maintain_order=True).to_list())
    if kind is None:
        kind = "lines" if numbers and len(numbers[0]) >= _FEWEST else "bars"
    if kind == "lines" and numbers is None:
        raise InputError(
            f"--kind = lines: the values of {layout.across} are not numbers with one unit; "
            "allowed: bars, box, ecdf"
        )
    if kind == "ecdf" and layout.series is not None:
        # Its axis has the metric: the first place goes to the colours, the second to the panels.
        layout = replace(layout, series=None, panels=[layout.series, *layout.panels])
    drawing = _Drawing(kind, runs, layout, describe(chosen), result.manifest["identity"]["replicates"])
    return kind, drawing.figure()


def describe(metric: str) -> Column:
    """A metric in words: `flows.main.delay_ms.p95` is the 95 % quantile of the delay of main, in ms."""
    known = names.metric(metric)
    return Column("value", label=known.label, unit=known.unit)


def _layout(runs: pl.DataFrame, by: Sequence[str]) -> tuple[_Layout, pl.DataFrame]:
    """How each place is shown, and the runs with the values of these places as text."""
    places = names.varied(runs)
    labels = {place: names.short(place, places) for place in places}
    asked = [_place(word, labels) for word in by]
    kept = _independent(runs, [*dict.fromkeys([*asked, *places])])
    if not asked and kept:
        longest = max(kept, key=lambda place: runs[place].n_unique())
        kept.sort(key=lambda place: place != longest)
    runs = names.as_text(runs, places)
    kept = kept or ["variant"]
    labels = {place: names.short(place, kept) for place in kept}
    return _Layout(kept[0], kept[1] if len(kept) > 1 else None, kept[2:], labels), runs


def _independent(runs: pl.DataFrame, places: Sequence[str]) -> list[str]:
    """The places without those that vary in step with an earlier one."""
    kept: list[str] = []
    for place in places:
        pairs = (
            runs.select(pl.struct(place, other).n_unique()).item() == runs[other].n_unique() for other in kept
        )
        if not any(pairs):
            kept.append(place)
    return kept


def _place(word: str, labels: dict[str, str]) -> str:
    for place, label in labels.items():
        if word in (place, label):
            return place
    known = [label for pair in labels.items() for label in dict.fromkeys(pair)]
    raise InputError(f"--by = {word}: variants do not differ in such a place; {allowed(word, known)}")


def _numbers(values: Sequence[str]) -> tuple[dict[str, float], str] | None:
    """The numbers in values such as `100 ms`, and their common unit; None if they have none."""
    found: dict[str, float] = {}
    units = set[str]()
    for value in values:
        match = re.fullmatch(r"(-?\d+(?:\.\d+)?(?:e-?\d+)?) ?([A-Za-z%]*)", value)
        if match is None:
            return None
        size, unit = _UNITS.get(match[2], (1.0, match[2]))
        found[value] = float(match[1]) * size
        units.add(unit)
    return (found, units.pop()) if len(units) == 1 else None


def _same_scale(panels: Sequence[Axes], *, horizontal: bool) -> None:
    """Gives all panels the same value axis."""
    limits = [axes.get_xlim() if horizontal else axes.get_ylim() for axes in panels]
    low, high = min(low for low, _ in limits), max(high for _, high in limits)
    for axes in panels:
        axis = axes.xaxis if horizontal else axes.yaxis
        axes.set_xlim(low, high) if horizontal else axes.set_ylim(low, high)
        if axis.get_scale() == "log":
            style.plain_log(axis)


class _Drawing:
    """A figure of a campaign under construction.

    It has a panel for every combination of values that select neither a position on the axis nor a colour.
    """

    def __init__(
        self, kind: str, runs: pl.DataFrame, layout: _Layout, value: Column, replicates: int
    ) -> None:
        self.kind, self.layout, self.replicates = kind, layout, replicates
        self.keys = [place for place in (layout.across, layout.series, *layout.panels) if place is not None]
        self.rows = runs
        if kind in ("bars", "lines"):
            self.rows = stats.mean_intervals(runs, self.keys)
            value = replace(value, name="mean")
        drawn = self.rows[value.name].drop_nulls()
        if drawn.is_empty():
            raise InputError(f"no run has a value of {value.label}; allowed: another --metric")
        low, high = float(drawn.min()), float(drawn.max())  # type: ignore[arg-type]
        self.value = replace(value, log=low > 0 and high > _FAR * low, largest=high)
        self.cases = (
            runs.select(layout.panels).unique(maintain_order=True).to_dicts() if layout.panels else [{}]
        )
        if len(self.cases) > _MOST_PANELS:
            raise InputError(
                f"{len(self.cases)} panels, one for each value of {', '.join(layout.panels)}; "
                f"allowed: {_MOST_PANELS}, more do not fit on a page (filter the campaign's `runs`, and draw "
                "them with leobench.plots)"
            )

    def figure(self) -> Figure:
        """Draws it."""
        least, taller = self._sizes()
        across = min(_COLUMNS, len(self.cases)) if least <= _WIDTH else 1
        down = math.ceil(len(self.cases) / across)
        width = _WIDTH * across if len(self.cases) > 1 else 5.4
        figure, grid = style.grid(down, across, (max(width, least), 0.6 + (_HEIGHT + taller) * down))
        panels = list(grid.flat)[: len(self.cases)]
        for case, axes in zip(self.cases, panels, strict=True):
            rows = self.rows.filter(**case) if case else self.rows
            title = ", ".join(f"{self.layout.labels[place]} {value}" for place, value in case.items())
            self._panel(axes, rows, textwrap.fill(title, _TITLE))
        for axes in list(grid.flat)[len(self.cases) :]:
            axes.set_visible(False)
        _same_scale(panels, horizontal=self.kind == "ecdf")
        style.label_edges(grid, below=False)
        place = self.layout.across if self.kind == "ecdf" else self.layout.series
        fullest = max(panels, key=lambda axes: len(axes.get_legend_handles_labels()[1]))
        style.key(figure, fullest, self.layout.labels[place] if place else "")
        style.note(figure, self._note())
        return figure

    def _colours(self, rows: pl.DataFrame) -> list[str] | None:
        """A colour for each series, the same in all panels; shades if the series have an order."""
        place = self.layout.across if self.kind == "ecdf" else self.layout.series
        if place is None:
            return None
        levels = self.rows[place].unique(maintain_order=True).to_list()
        ordered = len(levels) > 2 and _numbers(levels) is not None
        known = style.ramp(len(levels)) if ordered else frames.colours(None, len(levels), self.kind)
        return [known[levels.index(each)] for each in rows[place].unique(maintain_order=True)]

    def _wrapped(self, rows: pl.DataFrame, axes: Axes) -> pl.DataFrame:
        """The rows with names of groups wrapped to the width available."""
        room = int(style.inches(axes)[0] / style.LETTER / rows[self.layout.across].n_unique())
        letters = room if room >= _SHORTEST else _LONGEST
        wrap = pl.col(self.layout.across).map_elements(lambda text: textwrap.fill(text, letters), pl.String)
        return rows.with_columns(wrap)

    def _sizes(self) -> tuple[float, float]:
        """The inches that a panel needs across for its groups, and more than others down for their names."""
        if self.kind not in ("bars", "box"):
            return 0.0, 0.0
        groups = self.rows[self.layout.across].unique().to_list()
        usual = (_WIDTH if len(self.cases) > 1 else 5.4) - _FRAME
        series = self.rows[self.layout.series].n_unique() if self.layout.series else 1
        least = _CELL * len(groups) * series
        if int(usual / style.LETTER / len(groups)) >= _SHORTEST:
            return least + _FRAME, 0.0
        names = [textwrap.fill(group, _LONGEST) for group in groups]
        lines = max(name.count("\n") for name in names)
        least = max(least, len(groups) * (_GROUP + _LINE * lines))
        _, taller = frames.turn(names, max(usual, least) / len(groups))
        return least + _FRAME, taller

    def _note(self) -> str:
        what = f"95 % confidence interval of the mean, {self.replicates} runs"
        if self.kind in ("bars", "lines"):
            return f"whiskers: {what}"
        said = [f"{self.replicates} runs of each"]
        if self.kind == "box":
            said.append(box.reading(self.rows, self.keys, self.value.name))
        return "; ".join(said)

    def _panel(self, axes: Axes, rows: pl.DataFrame, title: str) -> None:
        across = Column(self.layout.across, self.layout.labels[self.layout.across])
        series = (
            Column(self.layout.series, self.layout.labels[self.layout.series]) if self.layout.series else None
        )
        ends, value = Interval("low", "high"), self.value
        panel: dict[str, Any] = {"title": title, "colours": self._colours(rows), "axes": axes}
        if self.kind == "bars":
            rows = self._wrapped(rows, axes)
            bars.draw(rows, group=across, series=series, value=value, interval=ends, **panel)
        elif self.kind == "box":
            rows = self._wrapped(rows, axes)
            box.draw(rows, group=across, series=series, value=value, **panel)
        elif self.kind == "ecdf":
            ecdf.draw(rows, value=value, series=across, of="runs", **panel)
        else:
            numbers = _numbers(rows[across.name].unique(maintain_order=True).to_list())
            swept, unit = numbers or ({}, "")
            rows = rows.with_columns(pl.col(across.name).replace_strict(swept, return_dtype=pl.Float64))
            x = replace(across, unit=unit)
            lines.draw(rows, x=x, y=value, series=series, interval=ends, whiskers=True, **panel)
