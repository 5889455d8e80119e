"""The figures of Khan et al. 2023, and the numbers that their claims need beyond a run's summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import leobench
from leobench.overrides import as_text
from leobench.papers.words import Word, means_of, rename

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl
    from matplotlib.figure import Figure

    from leobench.campaign import Campaign, CampaignResult

_LINK = "uplink/client->server"
_KEYS = ("variant", "replicate")
_BAND, _QUEUE, _STREAMS = "links.uplink.channel.preset", "links.uplink.queue.limit", "flows.main.streams"

# The protocols as the campaigns of Fig. 5 write them; one without parameters keeps its name.
_UNLIMITED: dict[str, object] = {"tls": True, "receive_buffer": "unlimited", "send_buffer": "unlimited"}
_TCP: tuple[dict[str, object], ...] = (
    {"kind": "tcp", **_UNLIMITED},
    {"kind": "tcp", "congestion": "newreno", **_UNLIMITED},
    {"kind": "tcp", "congestion": {"kind": "cubic", "slow_start": "hystart", "full_reno_slope": False}},
)
_QUIC: tuple[dict[str, object], ...] = (
    {"kind": "quic", "congestion": "newreno"},
    {
        "kind": "quic",
        "congestion": {
            "kind": "newreno",
            "slow_start": "hystart",
            "initial_window": 32,
            "loss_reduction": 0.7,
        },
        "stream_window": "6 MB",
        "connection_window": "15 MB",
    },
)
_NAMES = {
    "quic": "QUIC",
    **{as_text(each): "TCP" for each in _TCP},
    **{as_text(each): "QUIC" for each in _QUIC},
}
# The queue of a device below FqCoDel has the names of the queue it takes the place of.
_RINGS = {
    as_text(
        {
            "kind": "device",
            "ring": ring,
            "queue": {
                "kind": "fq_codel",
                "target": "5 ms",
                "interval": "100 ms",
                "limit": "10240 packets",
                "ecn": False,
            },
        }
    ): ring
    for ring in ("7 packets", "15 packets", "unlimited")
}
WORDS = (Word("flows.main.transport", "protocol", _NAMES), Word("links.uplink.queue", _QUEUE, _RINGS))

# The slot of the channel model: no state lasts less on average.
_BIN_NS = 100_000_000
_BINS_PER_SECOND = 10

# Bins after a change of state that count as near it.
_NEAR = 3

# Means that differ by more than this factor get a logarithmic axis.
_WIDE = 10.0

_PANELS = (
    ("links.uplink/client->server.queue_delay_ms.mean", "wait in the queue", "ms"),
    ("flows.main.delay_ms.mean", "message delay", "ms"),
    ("flows.main.goodput_bps", "throughput", "bit/s"),
)


def fig4(campaign: Campaign, result: CampaignResult, folder: Path) -> Figure:
    """The first run over time, which is also stored in `folder`/run for `leobench plot`."""
    from leobench.plots import timeline

    del result
    run = campaign.plan()[0]
    overrides = {**run.overrides, "record.packets": False}
    shown = leobench.run(run.scenario, run.seed, overrides, folder / "run", force=True)
    return timeline.draw(shown, flow="main", link=_LINK)


FIG4_MEASURES = (
    "backlog_growth",
    "backlog_window_correlation",
    "backlog_change_rate_correlation",
    "delay_backlog_correlation",
    "delay_change_ratio",
    "window_growth_gap_mb_per_s",
)


def fig4_measures(result: CampaignResult) -> pl.DataFrame:
    """How queue, window, delay and channel of each run move together while its source sends.

    `backlog_growth`: mean backlog of the second half over that of the first. `backlog_window_correlation`:
    of means over 1 s. `backlog_change_rate_correlation`: of the link rate with the growth of the backlog
    from one bin of 100 ms to the next. `delay_backlog_correlation`: in bins of creation.
    `delay_change_ratio`: mean change of the delay from one bin of arrival to the next, in the three bins from
    a change of state on, over that elsewhere. `window_growth_gap_mb_per_s`: growth of the window in bins in
    which the backlog grows less that in the others. Correlations are Pearson's.
    """
    import polars as pl

    bins = _bins(result)
    change = pl.col("backlog").diff()
    delay_change = pl.col("arrival_delay").diff().abs()
    window_change = pl.col("window").diff() / 1e6 * _BINS_PER_SECOND
    second = pl.col("backlog", "window").mean()
    slow = (
        bins.group_by("replicate", second=pl.col("bin") // _BINS_PER_SECOND, maintain_order=True)
        .agg(second)
        .group_by("replicate", maintain_order=True)
        .agg(backlog_window_correlation=pl.corr("backlog", "window"))
    )
    half = pl.col("bin") < pl.col("bin").max() / 2
    fast = bins.group_by("replicate", "variant", maintain_order=True).agg(
        backlog_growth=pl.col("backlog").filter(~half).mean() / pl.col("backlog").filter(half).mean(),
        backlog_change_rate_correlation=pl.corr(change.slice(1), pl.col("rate").slice(1)),
        delay_backlog_correlation=pl.corr("delay", "backlog"),
        delay_change_ratio=delay_change.filter("near").mean() / delay_change.filter(~pl.col("near")).mean(),
        window_growth_gap_mb_per_s=window_change.filter(change > 0).mean()
        - window_change.filter(change <= 0).mean(),
    )
    wide = fast.join(slow, on="replicate")
    long = wide.unpivot(index=["variant", "replicate"], variable_name="metric", value_name="value")
    return long.with_columns(pl.col("value").fill_nan(None))


def _bins(result: CampaignResult) -> pl.DataFrame:
    """A row per run and 100 ms of sending: means of backlog, window, link rate and delays.

    Columns: `variant`, `replicate`, `bin`, `backlog` and `window` (bytes), `rate` (bit/s), `delay` (of the
    messages created, ns), `arrival_delay` (of those delivered, ns), `near` (a change of state).
    """
    import polars as pl

    tables = result.tables
    at_bin = [*_KEYS, "bin"]

    def binned(frame: pl.DataFrame, time: str, **columns: pl.Expr) -> pl.DataFrame:
        return frame.group_by(*_KEYS, bin=pl.col(time) // _BIN_NS).agg(**columns)

    channel = tables.channel.filter(pl.col("link") == _LINK)
    queue = _with_rate(tables.queues.filter(pl.col("link") == _LINK), channel)
    delay = (pl.col("delivered_ns") - pl.col("created_ns")).mean()
    changed = binned(channel.filter(pl.col("t_ns") > 0), "t_ns", changed=pl.len() > 0)
    near = pl.any_horizontal(pl.col("changed").shift(by, fill_value=False).over(_KEYS) for by in range(_NEAR))
    return (
        binned(tables.messages, "created_ns", delay=delay)
        .join(
            binned(queue, "t_ns", backlog=pl.col("backlog_bytes").mean(), rate=pl.col("rate_bps").mean()),
            on=at_bin,
        )
        .join(binned(tables.transport, "t_ns", window=pl.col("cwnd_bytes").mean()), on=at_bin)
        .join(binned(tables.messages, "delivered_ns", arrival_delay=delay), on=at_bin, how="left")
        .join(changed, on=at_bin, how="left")
        .sort(at_bin)
        .with_columns(pl.col("changed").fill_null(value=False))
        .with_columns(near=near)
    )


def _with_rate(samples: pl.DataFrame, channel: pl.DataFrame) -> pl.DataFrame:
    """Samples over time with the rate that the channel had then, from its changes."""
    import polars as pl

    together = pl.concat([channel.select(*_KEYS, "t_ns", "rate_bps"), samples], how="diagonal")
    rate = pl.col("rate_bps").cast(pl.Float64).forward_fill().over(_KEYS)
    in_time = together.sort(*_KEYS, "t_ns", maintain_order=True)
    return in_time.with_columns(rate).filter(pl.col("backlog_bytes").is_not_null())


def fig5(campaign: Campaign, result: CampaignResult, folder: Path) -> Figure:
    """Wait, delay and throughput by queue, protocol and number of streams, a column of panels per band."""
    import polars as pl

    from leobench import stats
    from leobench.plots import bars, style
    from leobench.plots.frames import Column, Interval

    del folder
    mean = pl.col("mean")
    runs = rename(result.runs, WORDS).with_columns(flow=_flow())
    means = stats.mean_intervals(runs, [_BAND, _QUEUE, "flow", "metric"])
    bands = means[_BAND].unique(maintain_order=True).to_list()
    flows = means["flow"].unique(maintain_order=True).to_list()
    shades = iter(style.ramp(len(flows) - 1))
    colours = [style.VERMILION if flow == "TCP" else next(shades) for flow in flows]
    size = (style.HALF * len(bands), 2.3 * len(_PANELS))
    figure, panels = style.grid(len(_PANELS), len(bands), size)
    whiskers, unusual = Interval("low", "high"), dict[str, None]()
    for row, (metric, label, unit) in zip(panels, _PANELS, strict=True):
        largest = float(means.filter(metric=metric)["mean"].max())  # type: ignore[arg-type]
        for axes, band in zip(row, bands, strict=True):
            shown = means.filter((pl.col(_BAND) == band) & (pl.col("metric") == metric))
            log = shown.filter(mean.max() > _WIDE * mean.min()).height > 0
            value = Column("mean", label=label, unit=unit, log=log, largest=largest)
            unusual |= dict.fromkeys(bars.unusual(shown, value, whiskers))
            bars.draw(
                shown,
                group=Column(_QUEUE, label="queue limit"),
                series=Column("flow"),
                value=value,
                interval=whiskers,
                title=f"{band.capitalize()} band",
                colours=colours,
                axes=axes,
            )
    style.key(figure, panels[0][0], "protocol, and how many streams")
    style.note(figure, "; ".join([means_of(campaign), *unusual]))
    return figure


def _flow() -> pl.Expr:
    """The name of a protocol and a number of streams in the legend; TCP has one byte stream."""
    import polars as pl

    quic = pl.concat_str(pl.lit("QUIC "), pl.col(_STREAMS).cast(pl.String))
    return pl.when(pl.col("protocol") == "TCP").then(pl.lit("TCP")).otherwise(quic)
