"""The figures of Yang et al. 2024."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leobench.overrides import as_text
from leobench.papers.words import Word, means_of, rename, with_measures
from leobench.papers.yang2024 import measures, series
from leobench.plots import bands, style

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.campaign import Campaign, CampaignResult

_TWO = {"links": ["first", "second"], "scheduler": "round_robin"}
_QUIC: dict[str, object] = {"kind": "quic", "payload": "1472 B"}
_ACKS: dict[str, object] = {"ack_eliciting_threshold": 19}
_FRAMES = {"growth_per": "acknowledgement"}


def _transport(congestion: object, *, two: bool, acks: bool) -> str:
    given = {
        **_QUIC,
        "congestion": congestion,
        **(_ACKS if acks else {}),
        **({"multipath": _TWO} if two else {}),
    }
    keys = ("kind", "congestion", "payload", "ack_eliciting_threshold", "multipath")
    return as_text({key: given[key] for key in keys if key in given})


_CONTROLLERS = {
    _transport("maco", two=True, acks=False): "MACO",
    _transport("olia", two=True, acks=False): "OLIA",
    _transport("bbr", two=False, acks=False): "BBR",
    _transport({"kind": "maco", **_FRAMES}, two=True, acks=True): "MACO",
    _transport({"kind": "olia", **_FRAMES, "increase": "absolute"}, two=True, acks=True): "OLIA",
    _transport("bbr", two=False, acks=True): "BBR",
}
_TRAFFIC = {"bulk": "with TCP", as_text({"kind": "bulk", "size": "1 kB"}): "without TCP"}
_DELAYS = {"48 ms": "50 ms", "148 ms": "150 ms", "298 ms": "300 ms", "398 ms": "400 ms"}
WORDS = (
    Word("flows.upload.transport", "controller", _CONTROLLERS),
    Word("flows.one.source", "traffic", _TRAFFIC),
    Word("constellation.satellites.spacing", "R1"),
    Word("links.first.constellation.uplink.bandwidth", "bandwidth"),
    Word("links.core.delay", "delay", _DELAYS),
)

_COLOURS = {"MACO": style.VERMILION, "OLIA": style.BLUE, "BBR": style.GREEN}


def over_time(campaign: Campaign, result: CampaignResult, folder: Path) -> Figure:
    """Windows and throughput of the first run of each controller beside TCP, delays, and recoveries."""
    del campaign, folder
    shown = _first_runs(result)
    figure, grid = style.grid(3, 3, (style.PAGE, 6.2))
    for column, (name, run) in enumerate(shown.items()):
        _windows(grid[0][column], name, run)
        _throughput(grid[1][column], name, run)
    for axes in grid[:2].flat:
        style.time_axis([axes], 0, max(run.end_s for run in shown.values()))
    for row in grid[:2]:
        top = max(axes.get_ylim()[1] for axes in row)
        for axes in row:
            axes.set_ylim(0, top)
    _delays(grid[2][0], shown)
    means = _means(result)
    for axes, metric, title in (
        (grid[2][1], "start_recovery_ms", "Recovery in slow start"),
        (grid[2][2], "avoidance_recovery_ms", "Recovery in avoidance"),
    ):
        _bars(axes, means, metric, title)
    style.note(
        figure,
        "above: the first run of each; shaded: both subflows over one satellite; line: their product\n"
        "recoveries: 99 % quantile, means of runs; none: no window came back to the bandwidth-delay product",
    )
    return figure


def _first_runs(result: CampaignResult) -> dict[str, series.Run]:
    """The first run of each controller beside TCP."""
    named = (
        rename(result.runs, WORDS)
        .filter(traffic="with TCP", replicate=1)
        .unique("variant", maintain_order=True)
    )
    names = dict(named.select("variant", "controller").iter_rows())
    found = {names[run.key[0]]: run for run in series.runs(result) if run.key[1] == 1 and run.key[0] in names}
    return {name: found[name] for name in _COLOURS if name in found}


def _shade(axes: Axes, run: series.Run) -> None:
    for start, end in run.shared():
        axes.axvspan(start, end, color=style.GRID, alpha=0.5, linewidth=0)


def _windows(axes: Axes, name: str, run: series.Run) -> None:
    _shade(axes, run)
    for path, dash in zip(run.paths, style.DASHES, strict=False):
        axes.plot(*bands.thin(path.t_s, path.window), color=_COLOURS[name], linestyle=dash, linewidth=0.9)
    axes.plot(*bands.thin(run.paths[0].t_s, run.paths[0].product), color=style.INK, linewidth=0.7)
    what = "pacing rate x RTT" if name == "BBR" else "windows"
    style.dress(axes, f"{name}: {what}", "packets")


def _throughput(axes: Axes, name: str, run: series.Run) -> None:
    _shade(axes, run)
    middles, rates = run.throughput()
    axes.plot(middles, rates / 1e6, color=_COLOURS[name], linewidth=1.1, label=name)
    for (times, bits), dash in zip(run.tcp, ("--", ":"), strict=True):
        edges = np.interp(np.append(middles - 0.5, middles[-1] + 0.5), times, bits)
        axes.plot(middles, np.diff(edges) / 1e6, color=style.FAINT, linestyle=dash, linewidth=0.8)
    style.dress(axes, f"{name} and two TCP flows (grey)", "Mbit/s")


def _delays(axes: Axes, shown: dict[str, series.Run]) -> None:
    for name, run in shown.items():
        delays = np.concatenate([path.delay_ms for path in run.paths])
        weights = np.concatenate([np.diff(path.bits, prepend=0.0) for path in run.paths])
        known = np.isfinite(delays) & (weights > 0)
        order = np.argsort(delays[known])
        shares = np.cumsum(weights[known][order])
        axes.plot(*bands.thin(delays[known][order], shares / shares[-1]), color=_COLOURS[name], label=name)
    style.dress(axes, "Delay of packets", "share of packets")
    style.label_x(axes, "delay (ms)")
    style.legend(axes)


def _means(result: CampaignResult) -> pl.DataFrame:
    from leobench import stats

    runs = rename(with_measures(result.runs, measures.of_series(result)), WORDS)
    return stats.mean_intervals(runs.filter(traffic="with TCP"), ["controller", "metric"])


def _bars(axes: Axes, means: pl.DataFrame, metric: str, title: str) -> None:
    for at, (name, colour) in enumerate(_COLOURS.items()):
        found = means.filter(controller=name, metric=metric)
        value = found["mean"][0] if found.height else None
        axes.bar(at, (value or 0) / 1e3, color=colour, width=0.7)
        if value is None:
            axes.text(at, 0, "none", ha="center", va="bottom", fontsize=style.SMALL, color=style.INK)
    style.dress(axes, title, "s")
    axes.set_xticks(range(len(_COLOURS)), list(_COLOURS), fontsize=style.FONT)


def by_bandwidth(campaign: Campaign, result: CampaignResult, folder: Path) -> Figure:
    """Completion times by bandwidth, a panel per spacing."""
    del folder
    return _completion(campaign, result, "bandwidth", "bandwidth (MHz)")


def by_delay(campaign: Campaign, result: CampaignResult, folder: Path) -> Figure:
    """Completion times by propagation delay, a panel per spacing."""
    del folder
    return _completion(campaign, result, "delay", "propagation delay (ms)")


def _completion(campaign: Campaign, result: CampaignResult, along: str, label: str) -> Figure:
    import polars as pl

    from leobench import stats

    runs = rename(with_measures(result.runs, measures.of_transfer(result)), WORDS).filter(metric="transfer_s")
    means = stats.mean_intervals(runs, ["controller", "R1", along, "metric"])
    means = means.with_columns(x=pl.col(along).str.split(" ").list.first().cast(pl.Float64))
    spacings = means["R1"].unique(maintain_order=True).to_list()
    figure, grid = style.grid(1, len(spacings), (style.PAGE, 2.7), sharey="row")
    for axes, spacing in zip(grid[0], spacings, strict=True):
        for (name, colour), marker in zip(_COLOURS.items(), style.MARKERS, strict=False):
            line = means.filter(R1=spacing, controller=name).sort("x")
            x, mean = line["x"].to_numpy(), line["mean"].to_numpy()
            axes.plot(x, mean, color=colour, marker=marker, markersize=4, linewidth=1.1, label=name)
            low, high = (line[end].to_numpy() for end in ("low", "high"))
            axes.fill_between(x, low.astype(float), high.astype(float), color=colour, alpha=0.2, linewidth=0)
        style.dress(axes, f"R1 = {spacing}", "completion time (s)" if axes is grid[0][0] else "")
        style.label_x(axes, label)
        axes.set_xlim(left=0)
    style.key(figure, grid[0][0])
    style.note(figure, means_of(campaign))
    return figure
