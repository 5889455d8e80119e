"""The figures of Bujari et al. 2023, and the numbers that their claims need beyond a run's summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leobench.overrides import as_text
from leobench.papers.words import Word, rename, with_measures
from leobench.plots import bands, style, units

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from leobench.campaign import Campaign, CampaignResult

_KEYS = ("variant", "replicate")

_TCP = {"kind": "tcp", "congestion": "newreno", "tls": True}
_QUIC = {"kind": "quic", "congestion": "newreno", "payload": "1472 B"}
_NS3 = {**_QUIC, "ack_eliciting_threshold": 19}
WORDS = (
    Word(
        "flows.upload.transport",
        "protocol",
        {as_text(_TCP): "TCP", as_text(_QUIC): "QUIC", as_text(_NS3): "QUIC"},
    ),
    Word("links.backhaul.queue.limit", "queue"),
)

_COLOURS = {"TCP": style.VERMILION, "QUIC": style.BLUE}

# The metric above each panel, its divisor, its name, and the label of the axis.
_PANELS = (
    ("flows.upload.goodput_bps", 1e6, "Goodput (Mbit/s)", "goodput (Mbit/s)"),
    ("flows.upload.congestion_events", 1, "Window, reductions", "window (kB)"),
    ("rtt_mean_ms", 1, "RTT, mean (ms)", "RTT (ms)"),
)

# The rate of the link, the bandwidth-delay product of the path, and its round trip with empty queues (Fig. 2
# of the paper): the value of the line, the position of its label, clear of the curves, and the label.
_REFERENCES = (
    (10.0, 6.5, "line: rate of the backhaul"),
    (50.0, 15.0, "line: bandwidth-delay product of the path"),
    (40.0, 25.0, "line: with empty queues"),
)

# By then both protocols have left slow start and recovered from its end.
_STARTUP_NS = 10_000_000_000

# The time shown: a dozen reductions of the window that can still be told apart.
_SHOWN_NS = 40_000_000_000
_SECOND_NS = 1_000_000_000


MEASURES = (
    "window_mean_bytes",
    "window_swing_bytes",
    "rtt_mean_ms",
    "rtt_swing_ms",
    "startup_goodput_bps",
    "startup_window_bytes",
    "reductions_per_minute",
)


def fig3_measures(result: CampaignResult) -> pl.DataFrame:
    """Window and RTT of each run in its first 10 s, and from then to the last acknowledgement.

    `window_mean_bytes`, `window_swing_bytes`: mean of the congestion window, and its 95 % quantile less its
    5 % quantile, after 10 s. `rtt_swing_ms`: the same quantiles of the latest RTT sample. `rtt_mean_ms`: its
    mean over the time of the whole upload, while that of the summary is over the samples that were taken.
    `reductions_per_minute`: of the window, over the whole upload. `startup_goodput_bps`: application bits
    acknowledged per second in the first 10 s. `startup_window_bytes`: the largest window in that time.
    """
    import polars as pl

    samples = _uploading(result)
    window, rtt = pl.col("cwnd_bytes"), pl.col("latest_rtt_ns") / 1e6
    later, first = pl.col("t_ns") >= _STARTUP_NS, pl.col("t_ns") < _STARTUP_NS
    measured = samples.group_by(_KEYS, maintain_order=True).agg(
        window_mean_bytes=window.filter(later).mean(),
        window_swing_bytes=_swing(window.filter(later)),
        rtt_mean_ms=rtt.mean(),
        rtt_swing_ms=_swing(rtt.filter(later)),
        startup_goodput_bps=pl.col("bits").filter(first).max() / (_STARTUP_NS / 1e9),
        startup_window_bytes=window.filter(first).max().cast(pl.Float64),
    )
    wide = result.runs.pivot("metric", index=list(_KEYS), values="value")
    per_minute = pl.col("flows.upload.congestion_events") / pl.col("flows.upload.completion_s") * 60
    measured = measured.join(wide.select(*_KEYS, reductions_per_minute=per_minute), on=_KEYS)
    return measured.unpivot(index=list(_KEYS), variable_name="metric", value_name="value")


def _uploading(result: CampaignResult) -> pl.DataFrame:
    """The samples of each run until its last byte is acknowledged, with the `bits` of the file that are.

    Delivered bytes include QUIC frame headers and TLS records. Their share hardly changes, so the fraction of
    the final count is the fraction of the file.
    """
    import polars as pl

    wide = result.runs.pivot("metric", index=list(_KEYS), values="value")
    file = pl.col("flows.upload.goodput_bps") * pl.col("flows.upload.completion_s")
    share = pl.col("bytes_delivered") / pl.col("bytes_delivered").max().over(_KEYS)
    samples = result.tables.transport.with_columns(share=share).filter(pl.col("share") < 1)
    sized = samples.join(wide.select(*_KEYS, file=file), on=_KEYS, maintain_order="left")
    return sized.with_columns(bits=pl.col("share") * pl.col("file"))


def _swing(values: pl.Expr) -> pl.Expr:
    return values.quantile(0.95) - values.quantile(0.05)


def fig3(campaign: Campaign, result: CampaignResult, folder: Path) -> Figure:
    """Goodput, window and RTT over the first 40 s of the first run of each, a column of panels per queue."""
    import polars as pl

    del campaign, folder
    runs = rename(with_measures(result.runs, fig3_measures(result)).filter(replicate=1), WORDS)
    samples = _uploading(result).filter(replicate=1)
    queues = runs["queue"].unique(maintain_order=True).to_list()
    figure, grid = columns(len(queues), 6.0)
    for column, queue in zip(grid.T, queues, strict=True):
        for protocol, colour in _COLOURS.items():
            (variant,) = runs.filter(queue=queue, protocol=protocol)["variant"].unique()
            shown = samples.filter(pl.col("t_ns") <= _SHOWN_NS, variant=variant)
            for axes, (times, values) in zip(column, series(shown), strict=True):
                axes.plot(*bands.thin(times, values), color=colour, linewidth=1.0, label=protocol)
        for axes, panel, reference in zip(column, _PANELS, _REFERENCES, strict=True):
            metric, factor, title, label = panel
            means = [runs.filter(queue=queue, protocol=each, metric=metric)["value"][0] for each in _COLOURS]
            told = ", ".join(
                f"{each} {units.number_text(mean / factor)}"
                for each, mean in zip(_COLOURS, means, strict=True)
            )
            style.dress(axes, f"{title}: {told}", label if axes in grid[:, 0] else "", zero=False)
            refer(axes, *reference)
    finish(figure, grid, [f"queue of {queue}" for queue in queues], (0, _SHOWN_NS / 1e9))
    style.note(figure, "the first 40 s of the first run of each; the numbers are of its whole upload")
    return figure


def columns(count: int, height: float) -> tuple[Figure, NDArray[Any]]:
    """A figure with columns of panels of a height in inches: goodput, window and RTT below each other."""
    return style.grid(len(_PANELS), count, (style.HALF * count, height), sharex="all", sharey="row")


def finish(figure: Figure, grid: NDArray[Any], heads: Sequence[str], shown_s: tuple[float, float]) -> None:
    """The heads of the columns, their axes over the time shown, and the legend."""
    look: dict[str, Any] = {"ha": "center", "fontsize": style.FONT + 1.5, "color": style.INK}
    for column, head in zip(grid.T, heads, strict=True):
        column[0].annotate(head, (0.5, 1.2), xycoords="axes fraction", **look)
        style.time_axis(column, *shown_s)
    for axes in grid[:, 0]:
        axes.set_ylim(bottom=0)
    style.key(figure, grid[0][0])


def series(samples: pl.DataFrame) -> list[tuple[style.Array, style.Array]]:
    """Times in seconds, and Mbit/s acknowledged over each full second, window in kB, and RTT in ms."""
    import polars as pl

    seconds = (
        samples.group_by(second=pl.col("t_ns") // _SECOND_NS, maintain_order=True)
        .agg(pl.col("bits").max())
        .with_columns(mbps=(pl.col("bits") - pl.col("bits").shift(fill_value=0)) / 1e6)
        .head(-1)
    )
    times = samples["t_ns"].to_numpy() / 1e9
    return [
        (seconds["second"].to_numpy() + 0.5, seconds["mbps"].to_numpy()),
        (times, samples["cwnd_bytes"].to_numpy() / 1e3),
        (times, samples["latest_rtt_ns"].to_numpy() / 1e6),
    ]


def refer(axes: Axes, value: float, at: float, text: str) -> None:
    """Draws a labelled reference line, as in the paper."""
    axes.axhline(value, color=style.INK, linewidth=0.9)
    look: dict[str, Any] = {"ha": "right", "va": "center", "fontsize": style.FONT - 1, "color": style.INK}
    axes.text(0.98, at, text, transform=axes.get_yaxis_transform(), **look)
