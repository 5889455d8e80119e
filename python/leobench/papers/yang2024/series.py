"""The numbers behind Figs. 8 to 11 of Yang et al. 2024, of runs over time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl

    from leobench.campaign import CampaignResult
    from leobench.plots.style import Array

KEYS = ("variant", "replicate")

# The links of the subflows, by the number of the path over each, and the flows of TCP.
LINKS = ("first", "second")
TCP = ("one", "other")

# Bytes of a full packet: 500 packets in 100 ms are 60 Mbit/s (section 6.3.1).
PACKET = 1500

# Seconds: the start that Fig. 8 leaves out, the time before a handover in which a window would have been
# reduced, and the time that it is compared with.
_START_S, _BEFORE_S, _COMPARED_S = 5.0, 0.2, 1.0

# A window that falls to less than this share between two samples was reduced for a loss.
_REDUCED = 0.8

# The share of the bandwidth-delay product at which a window has come back to it.
_REACHED = 0.95


@dataclass(frozen=True)
class Path:
    """The samples of a subflow.

    Attributes:
        t_s: Times.
        window: Congestion window in packets; pacing rate times round trip if a model of the path sets it.
        delay_ms: One-way delay of the packet acknowledged last: its round trip less the way back.
        bits: Bits delivered so far.
        product: Bandwidth-delay product in packets.
        phase: Phases of the controller.
    """

    t_s: Array
    window: Array
    delay_ms: Array
    bits: Array
    product: Array
    phase: list[str]


@dataclass(frozen=True)
class Run:
    """A run over time.

    Attributes:
        key: Its variant and replicate.
        paths: Its subflows.
        tcp: Times and delivered bits of each TCP flow.
        satellites: By link, times and names of the satellites that serve it from then on.
        end_s: When it ends.
    """

    key: tuple[str, int]
    paths: list[Path]
    tcp: list[tuple[Array, Array]]
    satellites: list[list[tuple[float, str]]]
    end_s: float

    def shared(self) -> list[tuple[float, float]]:
        """The periods in which both subflows use one satellite."""
        return [(start, end) for start, end, one in _periods(self) if one]

    def disjoint(self) -> list[tuple[float, float]]:
        """The periods in which the subflows use two satellites."""
        return [(start, end) for start, end, one in _periods(self) if not one]

    def handovers(self, link: int) -> list[float]:
        """The times at which another satellite serves a link."""
        return [at for at, _ in self.satellites[link][1:]]

    def delivered(self, start: float, end: float) -> float:
        """Bits that the connection delivered between two times."""
        return sum(_between(path.t_s, path.bits, start, end) for path in self.paths)

    def throughput(self) -> tuple[Array, Array]:
        """The bit/s of each full second, and the middles of these seconds."""
        seconds = range(int(self.end_s))
        rates = [self.delivered(at, at + 1) for at in seconds]
        return np.array(seconds) + 0.5, np.array(rates)


def runs(result: CampaignResult) -> Iterator[Run]:
    """The runs of a campaign over time, in order."""
    tables = result.tables
    transport = _by_run(tables.transport)
    offers, channel = _by_run(tables.paths), _by_run(tables.channel)
    for key in transport:
        yield _run(key, transport[key], offers[key], channel[key])


def _by_run(table: pl.DataFrame) -> dict[tuple[str, int], pl.DataFrame]:
    parts = table.partition_by(list(KEYS), as_dict=True, maintain_order=True)
    return {(str(variant), int(replicate)): part for (variant, replicate), part in parts.items()}


def _run(key: tuple[str, int], transport: pl.DataFrame, offers: pl.DataFrame, channel: pl.DataFrame) -> Run:
    import polars as pl

    upload = transport.filter(flow="upload")
    paths = [
        _path(samples, offers.filter(flow="upload", path=number))
        for (number,), samples in upload.partition_by("path", as_dict=True, maintain_order=True).items()
    ]
    tcp = []
    for flow in TCP:
        samples = transport.filter(flow=flow)
        tcp.append((_seconds(samples), samples["bytes_delivered"].to_numpy() * 8.0))
    satellites = []
    for link in LINKS:
        labels = channel.filter(pl.col("link") == f"{link}/terminal->gateway").select("t_ns", "label")
        labels = labels.filter(~pl.col("label").is_in(["none", "handover"]))
        changed = labels.filter((pl.col("label") != pl.col("label").shift()).fill_null(value=True))
        satellites.append([(at / 1e9, name) for at, name in changed.iter_rows()])
    return Run(key, paths, tcp, satellites, float(transport["t_ns"].max()) / 1e9)  # type: ignore[arg-type]


def _path(samples: pl.DataFrame, offers: pl.DataFrame) -> Path:
    import polars as pl

    offered = offers.select(
        "t_ns",
        product=pl.col("bottleneck_bps") * pl.col("base_rtt_ns") / 1e9 / (8 * PACKET),
        back_ns=pl.col("base_rtt_ns") / 2,
    )
    joined = samples.join_asof(offered.drop_nulls(), on="t_ns")
    paced = pl.col("pacing_bps") * pl.col("srtt_ns") / 1e9 / (8 * PACKET)
    by_model = not set(samples["phase"].unique()) & {"avoidance", "recovery"}
    columns = joined.select(
        pl.col("t_ns") / 1e9,
        (paced if by_model else pl.col("cwnd_bytes") / PACKET).alias("window"),
        ((pl.col("latest_rtt_ns") - pl.col("back_ns")) / 1e6).alias("delay_ms"),
        pl.col("bytes_delivered") * 8.0,
        "product",
    ).cast(pl.Float64)
    t_s, window, delay_ms, bits, product = (column.to_numpy() for column in columns)
    return Path(t_s, window, delay_ms, bits, product, joined["phase"].to_list())


def _seconds(samples: pl.DataFrame) -> Array:
    return samples["t_ns"].to_numpy() / 1e9


def _between(times: Array, totals: Array, start: float, end: float) -> float:
    first, last = np.interp([start, end], times, totals)
    return float(last - first)


def _periods(run: Run) -> list[tuple[float, float, bool]]:
    """The periods between changes of satellites, each with whether both subflows use one."""
    edges = sorted({at for link in run.satellites for at, _ in link} | {run.end_s})
    found = []
    for start, end in pairwise(edges):
        serving = [_serving(link, start) for link in run.satellites]
        if None not in serving:
            found.append((start, end, serving[0] == serving[1]))
    return found


def _serving(link: list[tuple[float, str]], at: float) -> str | None:
    names = [name for since, name in link if since <= at]
    return names[-1] if names else None


def window_measures(run: Run) -> dict[str, float]:
    """Windows in packets: the mean over time, the peak, and the peak after 5 s, of a subflow and of both."""
    total_t = max((path.t_s for path in run.paths), key=len)
    summed = np.sum([np.interp(total_t, path.t_s, path.window, left=0.0) for path in run.paths], axis=0)
    t_s = np.concatenate([path.t_s for path in run.paths])
    each = np.concatenate([path.window for path in run.paths])
    ratios = [ratio for link, path in enumerate(run.paths) for ratio in _reductions(run, link, path)]
    return {
        "window": _of(np.mean, each),
        "window_total": _of(np.mean, summed),
        "peak_window": _of(np.max, each),
        "peak_total": _of(np.max, summed),
        "late_peak_window": _of(np.max, each[t_s > _START_S]),
        "late_peak_total": _of(np.max, summed[total_t > _START_S]),
        "window_before_handover": _of(np.mean, np.array(ratios)),
    }


def _of(statistic: Callable[[Array], float], values: Array) -> float:
    """A statistic of the known values, not a number without one."""
    known = values[np.isfinite(values)]
    return float(statistic(known)) if len(known) else float("nan")


def _reductions(run: Run, link: int, path: Path) -> Iterator[float]:
    """By handover of a link, the window right before it over that in the second before."""
    for at in run.handovers(link):
        before = path.t_s < at
        last = path.window[before & (path.t_s >= at - _BEFORE_S)]
        compared = path.window[(path.t_s < at - _BEFORE_S) & (path.t_s >= at - _BEFORE_S - _COMPARED_S)]
        if len(last) and len(compared):
            yield float(np.mean(last) / np.mean(compared))


def throughput_measures(run: Run) -> dict[str, float]:
    """Throughput of the connection in bit/s, and over that of TCP.

    The mean, the highest second in all and before the first shared period, and the mean from then on. While a
    satellite is shared, and while none is: what the connection gets over the mean of the TCP flows, and over
    both of them together.
    """
    middles, rates = run.throughput()
    shared, disjoint = run.shared(), run.disjoint()
    first = shared[0][0] if shared else run.end_s
    early = rates[middles < first]
    found = {
        "throughput_bps": run.delivered(0, run.end_s) / run.end_s,
        "peak_bps": _of(np.max, rates),
        "early_peak_bps": _of(np.max, early),
        "late_bps": run.delivered(first, run.end_s) / (run.end_s - first) if shared else float("nan"),
    }
    for name, periods in (("shared", shared), ("disjoint", disjoint)):
        own = sum(run.delivered(*period) for period in periods)
        tcp = sum(_between(*flow, *period) for flow in run.tcp for period in periods)
        found[f"{name}_over_all_tcp"] = own / tcp if tcp else float("nan")
        found[f"{name}_over_tcp"] = own / (tcp / len(TCP)) if tcp else float("nan")
    return found


def chain_measures(run: Run) -> dict[str, float]:
    """Seconds between handovers of either subflow, and between the beginnings of shared periods."""
    handovers = sorted({at for link in range(len(LINKS)) for at in run.handovers(link)})
    begins = [start for start, _ in run.shared()]
    return {"handover_interval_s": _spacing(handovers), "sharing_interval_s": _spacing(begins)}


def _spacing(times: list[float]) -> float:
    return _of(np.mean, np.diff(times))


def delay_measures(run: Run) -> dict[str, float]:
    """The 95 % quantile of the delays of packets, each sample weighted by what it acknowledges."""
    weights = np.concatenate([np.diff(path.bits, prepend=0.0) for path in run.paths])
    delays = np.concatenate([path.delay_ms for path in run.paths])
    known = np.isfinite(delays) & (weights > 0)
    if not known.any():
        return {"delay_p95_ms": float("nan")}
    order = np.argsort(delays[known])
    reached = np.cumsum(weights[known][order])
    at = int(np.searchsorted(reached, 0.95 * reached[-1]))
    return {"delay_p95_ms": float(delays[known][order][at])}


def reductions(run: Run) -> float:
    """How often a window was reduced for a loss."""
    falls = [path.window[1:] < _REDUCED * path.window[:-1] for path in run.paths]
    return float(sum(np.count_nonzero(fall) for fall in falls))


def recovery_measures(run: Run) -> dict[str, float]:
    """The 99 % quantile of the times that windows take to come back to the bandwidth-delay product, by phase.

    A time counts from the beginning of slow start, or of avoidance, with a smaller window, to 95 % of the
    product. The first sample after the phase counts: slow start ends at an estimate of the product.
    """
    found = {}
    for name, phase in (("start", "slow-start"), ("avoidance", "avoidance")):
        times = [1e3 * took for path in run.paths for took in _recoveries(path, phase)]
        found[f"{name}_recovery_ms"] = _of(partial(np.quantile, q=0.99), np.array(times))
    return found


def _recoveries(path: Path, phase: str) -> Iterator[float]:
    within = np.array([each == phase for each in path.phase])
    begins = np.flatnonzero(within & ~np.concatenate([[False], within[:-1]]))
    ends = np.flatnonzero(within & ~np.concatenate([within[1:], [False]])) + 1
    for begin, end in zip(begins, ends, strict=True):
        phase_and_next = slice(begin, end + 1)
        reached = np.flatnonzero(path.window[phase_and_next] >= _REACHED * path.product[phase_and_next])
        if len(reached) and reached[0] > 0:
            yield float(path.t_s[begin + reached[0]] - path.t_s[begin])
