"""Figures 4 to 6 of Bujari et al. 2023: an upload whose path moves to a satellite after 90 s."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leobench.overrides import as_text
from leobench.papers.bujari2023 import figures
from leobench.papers.words import Word, rename, with_measures
from leobench.plots import bands, style, units

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.campaign import Campaign, CampaignResult

_KEYS = ("variant", "replicate")
_FLOW, _TRANSPORT = "flows.upload", "flows.upload.transport"

_CODEL = {"kind": "codel", "target": "40 ms", "interval": "200 ms", "limit": "10000 packets", "ecn": False}
_QUEUES = {
    as_text({"kind": "fifo", "limit": limit}): limit for limit in ("25 kB", "50 kB", "100 kB", "125 kB")
}
WORDS = (
    Word(_TRANSPORT, "protocol", figures.WORDS[0].values),
    Word("handovers.backhaul.kind", "kind"),
    Word("links.terrestrial.queue", "queue", {**_QUEUES, as_text(_CODEL): "CoDel"}),
)

# Seconds: the handover, when the start is over, and when the flow has adapted to the new path.
HANDOVER_S, _STARTED_S, _SETTLED_S = 90, 10, 100
_PERIODS = {
    "before": (_STARTED_S, HANDOVER_S),
    "after": (HANDOVER_S, float("inf")),
    "settled": (_SETTLED_S, float("inf")),
}

# The round trips of the path with empty queues in milliseconds, and the products in bytes, of links and path.
_BASE_MS = {"before": 40.0, "settled": 100.0}
_DIPS = {"path": 125_000, "link": 100_000}

# The goodput in bit/s if the backhaul never idles: of 1,500 bytes, 1,439 (QUIC) or 1,446 (TLS, TCP) are data.
LARGEST_BPS = {"quic": 10e6 * 1439 / 1500, "tcp": 10e6 * 1446 / 1500}

MEASURES = (
    *(f"{period}_goodput_bps" for period in _PERIODS),
    *(f"{period}_{what}" for period in _BASE_MS for what in ("window_bytes", "rtt_ms", "wait_ms")),
    *(f"dips_below_{product}_per_minute" for product in _DIPS),
    "gap_s",
)


SHARES = tuple(f"{period}_share" for period in _PERIODS)


def measures(result: CampaignResult) -> pl.DataFrame:
    """Goodput, window and RTT of each run before and after the handover at 90 s.

    `before` is from 10 s to 90 s, `after` from 90 s on, `settled` from 100 s on. `_goodput_bps`: application
    bits acknowledged per second. `_window_bytes`, `_rtt_ms`: means over time. `_wait_ms`: the 95 % quantile
    of the RTT less that with empty queues. `dips_below_path_per_minute`, `dips_below_link_per_minute`: how
    often the window falls below 125 kB or 100 kB, from 100 s on. `gap_s`: the longest time without newly
    acknowledged bytes from 89 s on.
    """
    samples = with_bits(result)
    measured = samples.group_by(_KEYS, maintain_order=True).agg(
        *(goodput(period).alias(f"{period}_goodput_bps") for period in _PERIODS),
        *(each for period in _BASE_MS for each in _window_and_rtt(period)),
        *(_dips(below).alias(f"dips_below_{product}_per_minute") for product, below in _DIPS.items()),
        gap_s=_gap(),
    )
    measured = measured.select(*_KEYS, *MEASURES)
    return measured.unpivot(index=list(_KEYS), variable_name="metric", value_name="value")


def measures_and_shares(result: CampaignResult) -> pl.DataFrame:
    """Those of `measures`, and each goodput over that of a link that never idles, as `before_share`."""
    import polars as pl

    measured = measures(result)
    place = _TRANSPORT if _TRANSPORT in result.runs.columns else _FLOW
    transports = result.runs.select(*_KEYS, place).unique(maintain_order=True)
    kind = pl.when(pl.col(place).str.contains("quic")).then(pl.lit("quic")).otherwise(pl.lit("tcp"))
    largest = kind.replace_strict(LARGEST_BPS, return_dtype=pl.Float64)
    goodputs = measured.filter(pl.col("metric").str.ends_with("_goodput_bps"))
    shares = goodputs.join(transports, on=_KEYS, maintain_order="left").with_columns(
        pl.col("metric").str.replace("_goodput_bps", "_share"), value=pl.col("value") / largest
    )
    return pl.concat([measured, shares.select(measured.columns)])


def with_bits(result: CampaignResult) -> pl.DataFrame:
    """The samples of the upload in each run, with `seconds` and the application `bits` acknowledged.

    Delivered bytes include headers of QUIC and TLS. Their share hardly changes, so the fraction of the final
    count is the fraction of the goodput's bits.
    """
    import polars as pl

    wide = result.runs.pivot("metric", index=list(_KEYS), values="value")
    seconds = pl.col("t_ns") / 1e9
    share = pl.col("bytes_delivered") / pl.col("bytes_delivered").max().over(_KEYS)
    total = pl.col("flows.upload.goodput_bps") * seconds.max().over(_KEYS)
    sized = result.tables.transport.join(
        wide.select(*_KEYS, "flows.upload.goodput_bps"), on=_KEYS, maintain_order="left"
    )
    return sized.with_columns(seconds=seconds, bits=share * total)


def _within(period: str) -> pl.Expr:
    import polars as pl

    start, end = _PERIODS[period]
    return (pl.col("seconds") >= start) & (pl.col("seconds") < end)


def goodput(period: str) -> pl.Expr:
    """The goodput of a period in bit/s, from the columns `seconds` and `bits`."""
    import polars as pl

    bits, seconds = (pl.col(each).filter(_within(period)) for each in ("bits", "seconds"))
    return (bits.last() - bits.first()) / (seconds.last() - seconds.first())


def _window_and_rtt(period: str) -> list[pl.Expr]:
    import polars as pl

    rtt = (pl.col("latest_rtt_ns") / 1e6).filter(_within(period))
    return [
        pl.col("cwnd_bytes").filter(_within(period)).mean().alias(f"{period}_window_bytes"),
        rtt.mean().alias(f"{period}_rtt_ms"),
        (rtt.quantile(0.95) - _BASE_MS[period]).alias(f"{period}_wait_ms"),
    ]


def _dips(below: float) -> pl.Expr:
    """How often per minute the window falls below a value, once the flow has settled."""
    import polars as pl

    window, seconds = (pl.col(each).filter(_within("settled")) for each in ("cwnd_bytes", "seconds"))
    falls = ((window < below) & (window.shift() >= below)).sum()
    return falls / (seconds.last() - seconds.first()) * 60


def _gap() -> pl.Expr:
    import polars as pl

    later = pl.col("seconds") >= HANDOVER_S - 1
    delivered, seconds = (pl.col(each).filter(later) for each in ("bytes_delivered", "seconds"))
    progress = seconds.filter((delivered.diff() > 0).fill_null(value=True))
    return progress.diff().max()


# The seconds shown: enough round trips on either side, and cycles of the window that can be told apart.
_SHOWN_S = (55, 135)

_CASES = {
    ("TCP", "reroute"): ("TCP, its addresses stay", style.VERMILION, 0.7),
    ("QUIC", "rebind"): ("QUIC", style.BLUE, 1.1),
}

# The label of each panel, its metric before and after the handover, the divisor and the unit of its numbers.
_PANELS = (
    ("goodput (Mbit/s)", "{}_goodput_bps", 1e6, "Mbit/s"),
    ("window (kB)", "{}_window_bytes", 1e3, "kB"),
    ("RTT (ms)", "{}_rtt_ms", 1.0, "ms"),
)

# Before and after the handover: rate, product of the path, and round trip with empty queues.
_REFERENCES = ((10.0, 10.0), (50.0, 125.0), (40.0, 100.0))
_LINES = "black lines: rate of the backhaul, bandwidth-delay product of the path, RTT with empty queues"


def draw(campaign: Campaign, result: CampaignResult, folder: Path, *, queues: Sequence[str]) -> Figure:
    """Goodput, window and RTT around the handover, of the first run of each; a column of panels per queue."""
    import polars as pl

    del campaign, folder
    runs = rename(with_measures(result.runs, measures(result)), WORDS).filter(replicate=1)
    samples = with_bits(result).filter(replicate=1)
    figure, grid = figures.columns(len(queues), 5.8)
    for column, queue in zip(grid.T, queues, strict=True):
        for (protocol, kind), (name, colour, width) in _CASES.items():
            (variant,) = runs.filter(queue=queue, protocol=protocol, kind=kind)["variant"].unique()
            shown = samples.filter(
                pl.col("seconds").is_between(_SHOWN_S[0] - 1, _SHOWN_S[1]), variant=variant
            )
            for axes, (times, values) in zip(column, figures.series(shown), strict=True):
                later = times >= _SHOWN_S[0]
                axes.plot(*bands.thin(times[later], values[later]), color=colour, linewidth=width, label=name)
        means = dict(
            runs.filter(queue=queue, protocol="QUIC", kind="rebind").select("metric", "value").iter_rows()
        )
        for axes, panel, references in zip(column, _PANELS, _REFERENCES, strict=True):
            label, metric, factor, unit = panel
            before, settled = (means[metric.format(period)] / factor for period in _BASE_MS)
            told = f"QUIC: {units.number_text(before)}, then {units.number_text(settled)} {unit}"
            style.dress(axes, told, label if axes in grid[:, 0] else "", zero=False)
            _refer(axes, *references)
    figures.finish(figure, grid, [f"queues: {queue}" for queue in queues], _SHOWN_S)
    style.note(figure, f"means from 10 s to 90 s, when the handover comes, and from 100 s on\n{_LINES}")
    return figure


def _refer(axes: Axes, before: float, after: float) -> None:
    """The reference lines on either side of the handover, and the handover."""
    start, end = _SHOWN_S
    times, values = [start, HANDOVER_S, HANDOVER_S, end], [before, before, after, after]
    axes.plot(times, values, color=style.INK, linewidth=0.9)
    mark(axes)


def mark(axes: Axes) -> None:
    """A line at the time of the handover."""
    axes.axvline(HANDOVER_S, color=style.PURPLE, linewidth=0.9, linestyle=(0, (4, 2)))


fig4 = partial(draw, queues=("25 kB", "50 kB"))
fig5 = partial(draw, queues=("100 kB", "125 kB"))
fig6 = partial(draw, queues=("100 kB", "CoDel"))
