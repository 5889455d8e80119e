"""Several runs of flows with several paths in one figure: a row for each link, a colour for each run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leobench.plots import bands, handovers, paths, rates, sampling, style, units, view

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.plots.paths import Track
    from leobench.plots.several import Run

    Tracks = Sequence[Mapping[str, Track]]

# Inches: the panel of all links together, and a row of one link.
_SUM, _ROW = 2.1, 1.45


def has_several(shown: Sequence[Run]) -> bool:
    """Whether the flow of any run has several paths."""
    return any(paths.has_several(run.view.result, run.flow["name"]) for run in shown)


def figure(shown: Sequence[Run], *, rates_only: bool = False) -> Figure:
    """The sum over all links in one panel, and below it rates, windows and round-trip times of each.

    A flow with one path is in the row of the first link on its way.

    Args:
        shown: The runs.
        rates_only: Whether to leave out windows and times.
    """
    tracks: Tracks = [
        {each.link: each for each in paths.over(paths.of_flow(run.view.result, run.flow["name"]), run.link)}
        for run in shown
    ]
    links = list(dict.fromkeys(link for each in tracks for link in each))
    columns: list[Callable[[Axes, Sequence[Run], Tracks, str], None]]
    columns = [_rate] if rates_only else [_rate, _window, _round_trip]
    made = style.figure(style.PAGE, _SUM + _ROW * len(links) + 0.3)
    grid = made.add_gridspec(1 + len(links), len(columns), height_ratios=[_SUM, *[_ROW] * len(links)])
    whole = made.add_subplot(grid[0, :])
    _total(whole, shown, tracks)
    below: list[list[Axes]] = []
    for at, link in enumerate(links):
        row = [made.add_subplot(grid[1 + at, column], sharex=whole) for column in range(len(columns))]
        for draw, axes in zip(columns, row, strict=True):
            draw(axes, shown, tracks, link)
        below.append(row)
    _same_scales(below)
    views = [run.view for run in shown]
    every = [whole, *(axes for row in below for axes in row)]
    handovers.mark_several(every, views, [run.colour for run in shown], sampling.note(views))
    whole.set_xlim(*view.span(views))
    for axes in below[-1]:
        style.label_x(axes, "time (s)")
    for row in below[:-1]:
        for axes in row:
            axes.tick_params(labelbottom=False)
    style.key_of(made, [style.line_entry(run.label, run.colour, linewidth=1.6) for run in shown])
    return made


def _same_scales(rows: Sequence[Sequence[Axes]]) -> None:
    """Gives the panels of a column one vertical scale, so that links compare."""
    for column in zip(*rows, strict=True):
        top = max(axes.get_ylim()[1] for axes in column)
        for axes in column:
            axes.set_ylim(0, top)


def _widths(shown: Sequence[Run]) -> list[float]:
    """The widths of the lines: where runs do the same, the thinner line lies on the thicker one."""
    return [1.1 + 0.7 * left for left in reversed(range(len(shown)))]


def _steps(shown: Sequence[Run]) -> int:
    return max(rates.step_ns(run.view) for run in shown)


def _total(axes: Axes, shown: Sequence[Run], tracks: Tracks) -> None:
    """The rates of all links of every run, below the sum of the capacities if it is the same in all runs."""
    step = _steps(shown)
    found = []
    for run, of_run in zip(shown, tracks, strict=True):
        edges = rates.edges_ns(run.view, step)
        rates_of, capacity = paths.summed(run.view, run.flow["name"], list(of_run.values()), edges)
        found.append((edges, np.sum(list(rates_of.values()), axis=0), capacity))
    longest = max(found, key=lambda each: len(each[0]))
    _, _, roof = longest
    common = roof is not None and all(
        each is not None and np.allclose(each[:-1], roof[: len(each) - 1], rtol=0.02) for _, _, each in found
    )
    known = [rate for _, rate, _ in found] + [each for _, _, each in found if each is not None]
    factor, unit = units.scale_of("bit/s", known)
    if common and roof is not None:
        rates.area(axes, longest[0], roof / factor, "all paths")
    for run, (edges, rate, each), width in zip(shown, found, _widths(shown), strict=True):
        if not common and each is not None:
            axes.stairs(
                each / factor, edges / 1e9, baseline=None, color=run.colour, linewidth=width, linestyle=":"
            )
        rates.line(axes, edges, rate / factor, run.colour, "_", width)
    title = f"Throughput{_whose(shown)} over all paths, means of {units.millis_text(step / 1e6)}"
    style.dress(axes, title if common else f"{title}; dotted: capacity", f"rate ({unit})")
    if common:
        style.legend(axes)


def _rate(axes: Axes, shown: Sequence[Run], tracks: Tracks, link: str) -> None:
    """The rate over one link in every run, with the capacity if only one run has it or all have the same."""
    step = _steps(shown)
    drawn, capacities = [], []
    for run, of_run, width in zip(shown, tracks, _widths(shown), strict=True):
        if link in of_run:
            edges, name = rates.edges_ns(run.view, step), run.flow["name"]
            drawn.append((run, edges, paths.delivered(run.view, name, of_run[link], edges), width))
            capacities.append(paths.capacity(run.view, name, of_run[link], edges))
    known = [each for each in (*(rate for _, _, rate, _ in drawn), *capacities) if each is not None]
    factor, unit = units.scale_of("bit/s", known)
    first = capacities[0]
    if first is not None and all(
        each is not None and len(each) == len(first) and np.allclose(each, first, rtol=0.02)
        for each in capacities
    ):
        rates.area(axes, drawn[0][1], first / factor, "_")
    for run, edges, rate, width in drawn:
        rates.line(axes, edges, rate / factor, run.colour, "_", width)
    style.dress(axes, f"{link}: rate", unit)


def _window(axes: Axes, shown: Sequence[Run], tracks: Tracks, link: str) -> None:
    _series(axes, shown, tracks, link, ("cwnd_bytes", 1.0, "B", "window"))


def _round_trip(axes: Axes, shown: Sequence[Run], tracks: Tracks, link: str) -> None:
    _series(axes, shown, tracks, link, ("srtt_ns", 1e9, "s", "RTT"))


def _series(
    axes: Axes, shown: Sequence[Run], tracks: Tracks, link: str, what: tuple[str, float, str, str]
) -> None:
    """A column of the samples of every run on the paths over a link, in the unit that suits all links."""
    column, base, unit, name = what
    frames = [run.view.within(run.view.transport(run.flow), "t_ns") for run in shown]
    largest = max((float(frame[column].max() or 0) for frame in frames), default=0.0)  # type: ignore[arg-type]
    factor, unit = units.scale(unit, largest / base)
    for run, of_run, frame, width in zip(shown, tracks, frames, _widths(shown), strict=True):
        if link in of_run:
            for part in of_run[link].parts(frame):
                times, values = bands.samples(part, "t_ns", column)
                if not np.isnan(values).all():
                    bands.draw(axes, times, values / base / factor, run.colour, linewidth=width, always=True)
    style.dress(axes, f"{link}: {name}", unit)


def _whose(shown: Sequence[Run]) -> str:
    """The flow shown, if it has the same name in all runs."""
    names = dict.fromkeys(run.flow["name"] for run in shown)
    return f" of {', '.join(names)}" if len(names) == 1 else ""
