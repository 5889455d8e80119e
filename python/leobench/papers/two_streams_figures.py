"""Figures of two streams under different schedulers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from leobench.durations import seconds
from leobench.papers import two_streams, words
from leobench.plots import bands, style, units

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.campaign import Campaign, CampaignResult

_BOTH = "both"

# Of each stream and of both together.
_COLOURS = (style.SKY, style.VERMILION, style.INK)


def buffers(campaign: Campaign, result: CampaignResult, folder: Path) -> Figure:
    """The application buffers over the first run: a row of panels per scheduler, a column per load."""
    del campaign, folder
    samples = _samples(result)
    loads = samples["load"].unique(maintain_order=True).to_list()
    columns = [(samples.filter(load=load), "backlog_bytes", "B", f"buffer, {load} load") for load in loads]
    return _over_time(columns)


def buffers_and_sojourns(campaign: Campaign, result: CampaignResult, folder: Path) -> Figure:
    """Buffers and the ages of waiting messages over the first run, a row of panels per scheduler."""
    del campaign, folder
    samples = _samples(result)
    columns = [
        (samples, "backlog_bytes", "B", "buffer"),
        (samples, "sojourn_sum_ns", "ns", "sum of sojourn times"),
        (samples, "head_age_ns", "ns", "longest sojourn time"),
    ]
    return _over_time(columns)


def _samples(result: CampaignResult) -> pl.DataFrame:
    """The samples of the streams in the first run of each variant, with scheduler and load."""
    keys = words.rename(result.runs, two_streams.WORDS).unique("variant", maintain_order=True)
    first = result.tables.streams.filter(replicate=1)
    return keys.drop("replicate", "seed", "metric", "value").join(
        first, on="variant", maintain_order="left_right"
    )


def _over_time(columns: Sequence[tuple[pl.DataFrame, str, str, str]]) -> Figure:
    """Panels of samples over time, one scale per column: columns of samples, column, unit and title."""
    import polars as pl

    schedulers = columns[0][0]["scheduler"].unique(maintain_order=True).to_list()
    size = (style.PAGE, 0.5 + 1.1 * len(schedulers))
    figure, grid = style.grid(len(schedulers), len(columns), size, sharex="col", sharey="col")
    for row, scheduler in zip(grid, schedulers, strict=True):
        for axes, (samples, column, unit, title) in zip(row, columns, strict=True):
            largest = float(samples[column].max())  # type: ignore[arg-type]
            factor, name = units.scale(unit, largest)
            for stream, colour, width in zip(two_streams.STREAMS, _COLOURS[:2], (2.4, 0.8), strict=True):
                shown = samples.filter(scheduler=scheduler, stream=stream)
                times = shown["t_ns"].to_numpy() / 1e9
                values = shown[column].cast(pl.Float64).fill_null(0).to_numpy() / factor
                axes.plot(*bands.thin(times, values, 600), color=colour, linewidth=width, label=stream)
            style.dress(axes, f"{title} ({name})" if scheduler == schedulers[0] else "", "")
            axes.set(xlim=(0, None), ylim=(0, 1.05 * largest / factor if largest else 1))
        row[0].set_ylabel(scheduler.replace(" ", "\n"), fontsize=style.TITLE, color=style.INK)
    for axes in grid[-1]:
        style.label_x(axes, "time (s)")
    figure.align_ylabels(grid)
    style.key(figure, grid[0][0], "stream")
    style.note(figure, "the first run of each; within a column, all panels have the same scale")
    return figure


def delays(campaign: Campaign, result: CampaignResult, folder: Path) -> Figure:
    """The mean delay of each stream and of both by scheduler, a panel per load."""
    del folder
    means = _means(result, ["load", "scheduler"])
    loads = means["load"].unique(maintain_order=True).to_list()
    panels = [(means.filter(load=load), "delay_ms.mean", f"{load} load") for load in loads]
    return _bars(campaign, panels)


def delays_and_throughputs(campaign: Campaign, result: CampaignResult, folder: Path) -> Figure:
    """Mean delay and throughput of each stream and of both by scheduler, a panel per load.

    Where the application varies too, by scheduler and application.
    """
    import polars as pl

    del folder
    means = _means(result, ["load", "scheduler", "application"])
    if "application" in means.columns:
        means = means.with_columns(scheduler=pl.concat_str("scheduler", "application", separator=" "))
    loads = means["load"].unique(maintain_order=True).to_list()
    panels = [
        (means.filter(load=load), metric, f"{load} load")
        for metric in ("delay_ms.mean", "goodput_bps")
        for load in loads
    ]
    return _bars(campaign, panels)


def delays_by_controller(campaign: Campaign, result: CampaignResult, folder: Path) -> Figure:
    """The mean delay of each stream and of both by scheduler, a panel per congestion controller."""
    del folder
    means = _means(result, ["controller", "scheduler"])
    controllers = means["controller"].unique(maintain_order=True).to_list()
    panels = [
        (means.filter(controller=controller), "delay_ms.mean", controller) for controller in controllers
    ]
    return _bars(campaign, panels)


_LABELS = {"delay_ms.mean": ("mean delay", "ms"), "goodput_bps": ("throughput", "bit/s")}


def _bars(campaign: Campaign, panels: Sequence[tuple[pl.DataFrame, str, str]]) -> Figure:
    """Panels one below the other, of means by scheduler and stream; delays on logarithmic axes."""
    import polars as pl

    from leobench.plots import bars
    from leobench.plots.frames import Column, Interval

    figure, stacked = style.stack(len(panels), 0.5 + 2.1 * len(panels))
    whiskers, unusual = Interval("low", "high"), dict[str, None]()
    for axes, (means, metric, case) in zip(stacked, panels, strict=True):
        label, unit = _LABELS[metric]
        value = Column("mean", label=label, unit=unit, log=metric.startswith("delay"))
        shown = means.filter(metric=metric)
        unusual |= dict.fromkeys(bars.unusual(shown, value, whiskers))
        bars.draw(
            shown.with_columns(pl.col("scheduler").str.replace_all(" ", "\n")),
            group=Column("scheduler"),
            series=Column("stream"),
            value=value,
            interval=whiskers,
            title=case,
            colours=_COLOURS,
            axes=axes,
        )
        labels = [label.get_text() for label in axes.get_xticklabels()]
        axes.set_xticks(axes.get_xticks(), labels, rotation=0, ha="center")
    for axes in stacked[:-1]:
        axes.tick_params(labelbottom=False)
    style.key(figure, stacked[0], "stream")
    said = "; ".join([words.means_of(campaign), *unusual])
    if any(metric == "goodput_bps" for _, metric, _ in panels):
        said += "\nthroughputs: each to its own last delivery, so they need not add up"
    style.note(figure, said)
    return figure


def interruptions(campaign: Campaign, result: CampaignResult, folder: Path) -> Figure:
    """Mean and spread of the delay over the mean interruption, a column of panels per scheduler.

    The intervals are wide because the channels differ from run to run. All panels share these channels, so
    schedulers can differ even where their intervals overlap.
    """
    import polars as pl

    from leobench.plots import lines
    from leobench.plots.frames import Column, Interval

    del folder
    means = _means(result, ["interruption", "scheduler"]).with_columns(
        off_s=pl.col("interruption").map_elements(seconds, pl.Float64)
    )
    schedulers = means["scheduler"].unique(maintain_order=True).to_list()
    figure, grid = style.grid(2, len(schedulers), (style.PAGE, 4.6), sharex="all", sharey="row")
    for row, (metric, label) in zip(grid, _SPREAD.items(), strict=True):
        shown = means.filter(metric=metric)
        highest = float(shown.select(pl.max_horizontal("mean", "high").max()).item())
        for axes, scheduler in zip(row, schedulers, strict=True):
            lines.draw(
                shown.filter(scheduler=scheduler),
                x=Column("off_s", label="interruption", unit="s"),
                y=Column("mean", label=label, unit="ms", largest=highest),
                series=Column("stream"),
                interval=Interval("low", "high"),
                whiskers=True,
                title=scheduler,
                colours=_COLOURS,
                axes=axes,
            )
            axes.set_ylim(0, 1.06 * highest / units.scale("ms", highest)[0] or 1)
    style.label_edges(grid)
    for axes in grid[1]:
        axes.set_title("", loc="left")
        _label_some(axes)
    style.key(figure, grid[0][0], "stream")
    style.note(figure, f"{words.means_of(campaign)}; the same channels and arrivals in every panel")
    return figure


_SPREAD = {"delay_ms.mean": "mean delay", "delay_spread_ms": "95 % quantile\nless median"}


def _label_some(axes: Axes) -> None:
    """Keeps every tick, and every n-th label, with the smallest n that fits the axis."""
    labels = [label.get_text() for label in axes.get_xticklabels()]
    longest = max(map(len, labels)) + 1
    step = math.ceil(len(labels) * longest * style.LETTER / style.inches(axes)[0])
    shown = [label if index % step == 0 else "" for index, label in enumerate(labels)]
    axes.set_xticks(axes.get_xticks(), shown)


def _means(result: CampaignResult, by: list[str]) -> pl.DataFrame:
    """Means over the runs with intervals: a row per case, `stream` and `metric` of a stream.

    Metrics are named without the flow and the stream; `delay_spread_ms` is the 95 % quantile less the median.
    """
    import polars as pl

    from leobench import stats

    runs = words.rename(result.runs, two_streams.WORDS)
    parts = runs["metric"].str.extract_groups(r"^flows\.main\.(?:streams\.(?<stream>[^.]+)\.)?(?<metric>.+)$")
    runs = runs.drop("metric").with_columns(parts.struct.unnest())
    runs = runs.with_columns(pl.col("stream").fill_null(_BOTH))
    keys = [name for name in runs.columns if name not in ("metric", "value")]
    wide = runs.pivot("metric", index=keys, values="value")
    if {"delay_ms.p50", "delay_ms.p95"} <= set(wide.columns):
        wide = wide.with_columns(delay_spread_ms=pl.col("delay_ms.p95") - pl.col("delay_ms.p50"))
    long = wide.unpivot(index=keys, variable_name="metric", value_name="value")
    order = pl.col("stream").replace_strict({"fast": 0, "slow": 1, _BOTH: 2}, return_dtype=pl.Int64)
    cases = [each for each in by if each in long.columns]
    return stats.mean_intervals(long.sort(order, maintain_order=True), [*cases, "stream", "metric"])
