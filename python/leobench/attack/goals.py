"""The goals of an attack: how much worse than possible a run is.

All measure what the controller does with the path, not the path: what a path carries at best is taken from
the state of its channel, sample by sample, and from what other flows got through.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leobench.attack import write

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from leobench.attack.space import Kind
    from leobench.engine import Finished

    Array = NDArray[np.float64]

# Share of a full packet that the transport counts as delivered.
_DATA = {"quic": 1_252 / 1_280, "tcp": 1_448 / 1_500}
# Bytes of a datagram of UDP with its headers.
_DATAGRAM = 1_280
# A stall and a delay are judged after the handshake and the first round trips.
_OPENING_S = 1.0
# Seconds in which packets that travel now were sent, and the share of the rate then that is no fall.
_BEFORE_S, _STEADY = 1.0, 0.9
_PATH = "path/sender->receiver"


@dataclass(frozen=True)
class Goal:
    """A harm that an attack looks for.

    Attributes:
        name: Its name on the command line.
        unit: Its unit.
        meaning: Its definition, for readers.
        kinds: Events that may cause it.
        measure: The harm in a run.
        has_competitor: Whether a flow with CUBIC shares the path from the start.
    """

    name: str
    unit: str
    meaning: str
    kinds: tuple[Kind, ...]
    measure: Callable[[Seen], float]
    has_competitor: bool = False


@dataclass(frozen=True)
class Seen:
    """A run as goals see it, in samples of equal length.

    Attributes:
        times: The ends of the samples, in seconds.
        delivered: Bytes of the flow acknowledged in each.
        beside: Bytes of a competitor acknowledged in each; zeros without one.
        offered: Bytes that the path could carry in each: none while it is down or loses everything.
        taken: Bytes that short flows and bursts took of the path over the whole run.
        rtt: The latest round-trip time at each, in seconds; not a number before the first.
        base_rtt: The round-trip time of the idle path at each, in seconds.
        cwnd: The congestion window at each, in bytes.
        data_share: The share of data in a packet of the flow.
    """

    times: Array
    delivered: Array
    beside: Array
    offered: Array
    taken: float
    rtt: Array
    base_rtt: Array
    cwnd: Array
    data_share: float

    @property
    def possible(self) -> float:
        """Bytes of data that the path could have carried for the flow and its competitor."""
        return max(self.data_share * (float(self.offered.sum()) - self.taken), 1.0)


def _starve(seen: Seen) -> float:
    """The missing share; less of it counts where others take more than half of the path."""
    left = 1 - seen.taken / max(float(seen.offered.sum()), 1.0)
    return (1 - min(float(seen.delivered.sum()) / seen.possible, 1.0)) * min(max(2 * left, 0.0), 1.0)


def _stall(seen: Seen) -> float:
    """The longest span of working samples without delivery, less a round trip."""
    import numpy as np

    step_s = float(seen.times[1] - seen.times[0])
    worst = since = 0.0
    for at_s, delivered, offered, base in zip(
        seen.times, seen.delivered, seen.offered, seen.base_rtt, strict=True
    ):
        if delivered > 0 or at_s < _OPENING_S:
            since = 0.0
        elif offered > 0:
            since += step_s
            worst = max(worst, since - (0.0 if np.isnan(base) else base))
    return float(worst)


def _bloat(seen: Seen) -> float:
    """The standing queue, without the second after a fall of the rate, when no sender can avoid one."""
    import numpy as np

    idle, best = _longest(seen.base_rtt, seen.times), _longest(seen.offered, seen.times)
    used = (seen.times >= _OPENING_S) & (seen.delivered > 0) & ~np.isnan(seen.rtt)
    used &= seen.offered > _STEADY * best
    if not used.any():
        return 0.0
    return float(np.quantile(np.maximum(seen.rtt / idle - 1, 0.0)[used], 0.95))


def _longest(values: Array, times: Array) -> Array:
    """The largest value of the second up to each sample."""
    import numpy as np

    steps = max(round(_BEFORE_S / float(times[1] - times[0])), 1)
    padded = np.concatenate([np.full(steps - 1, values[0]), values])
    found: Array = np.nanmax(np.lib.stride_tricks.sliding_window_view(padded, steps), axis=1)
    return found


def _unfair(seen: Seen) -> float:
    own, beside = float(seen.delivered.sum()), float(seen.beside.sum())
    return min(abs(own - beside) / seen.possible, 1.0)


_PATH_EVENTS: tuple[Kind, ...] = ("reconfiguration", "outage", "loss", "fade")
_ALL: tuple[Kind, ...] = (*_PATH_EVENTS, "transfer", "train", "frames")

GOALS = {
    goal.name: goal
    for goal in (
        Goal(
            "starve",
            "share",
            "1 - goodput / what the path could carry, without what short flows and bursts took of it",
            _ALL,
            _starve,
        ),
        Goal(
            "stall",
            "s",
            "longest time without an acknowledgement of new data, counted while the path works, "
            "less a round trip",
            _ALL,
            _stall,
        ),
        Goal(
            "bloat",
            "round trips",
            "95th percentile of the round-trip time over the longest of the idle path in the second before, "
            "less 1, without the second after a fall of the rate; the queue holds 2 BDP at most",
            _PATH_EVENTS,
            _bloat,
        ),
        Goal(
            "unfair",
            "share",
            "difference of the goodputs of the flow and of CUBIC beside it, over what the path could carry",
            _PATH_EVENTS,
            _unfair,
            has_competitor=True,
        ),
    )
}


def seen(ended: Finished) -> Seen:
    """The samples of a run."""
    import numpy as np

    tables = {name: _read(ended, name) for name in ("transport", "channel", "paths", "opportunities")}
    summary = json.loads(ended.summary)
    own = _of_flow(tables["transport"], write.VICTIM)
    times = own["t_ns"].to_numpy() / 1e9
    delivered = _gained(own["bytes_delivered"].to_numpy())
    competitor = _of_flow(tables["transport"], "cubic")
    beside = np.zeros_like(delivered)
    if competitor.height:
        total = _held(competitor["t_ns"].to_numpy() / 1e9, competitor["bytes_delivered"].to_numpy(), times)
        beside = _gained(np.nan_to_num(total))
    path = _of_flow(tables["paths"], write.VICTIM)
    base = _held(path["t_ns"].to_numpy() / 1e9, _floats(path["base_rtt_ns"]) / 1e9, times)
    transport = next(flow["transport"] for flow in summary["flows"] if flow["name"] == write.VICTIM)
    return Seen(
        times=times,
        delivered=delivered,
        beside=beside,
        offered=_offered(tables["channel"], tables["opportunities"], times),
        taken=_taken(summary, tables["transport"]),
        rtt=_floats(own["latest_rtt_ns"]) / 1e9,
        base_rtt=base,
        cwnd=own["cwnd_bytes"].to_numpy().astype(float),
        data_share=_DATA[transport],
    )


def _read(ended: Finished, name: str) -> pl.DataFrame:
    import polars as pl

    return pl.read_parquet(io.BytesIO(ended.tables[name]), glob=False)


def _of_flow(table: pl.DataFrame, flow: str) -> pl.DataFrame:
    import polars as pl

    return table.filter((pl.col("flow") == flow) & (pl.col("path") == 0))


def _floats(column: pl.Series) -> Array:
    import polars as pl

    return column.cast(pl.Float64).to_numpy()


def _gained(total: Array) -> Array:
    """The growth of a running total in each sample."""
    import numpy as np

    return np.maximum(np.diff(total.astype(float), prepend=0.0), 0.0)


def _held(at: Array, values: Array, times: Array) -> Array:
    """The value that holds at each time, of values that hold until the next."""
    import numpy as np

    index = np.searchsorted(at, times, side="right") - 1
    return np.where(index >= 0, values.astype(float)[np.maximum(index, 0)], np.nan)


def _offered(channel: pl.DataFrame, opportunities: pl.DataFrame, times: Array) -> Array:
    """Bytes that the path could deliver in each sample."""
    import numpy as np
    import polars as pl

    if opportunities.height:
        traced = opportunities.filter(pl.col("link") == _PATH)
        at = traced["t_ns"].to_numpy() / 1e9
        total = np.interp(times, at, traced["offered_bytes"].to_numpy().astype(float))
        return _gained(total)
    rows = channel.filter(pl.col("link") == _PATH)
    rates = np.where(
        rows["up"].to_numpy(), _floats(rows["rate_bps"]) / 8 * (1 - rows["loss"].to_numpy()), 0.0
    )
    at = rows["t_ns"].to_numpy() / 1e9
    ends = np.append(at[1:], max(float(times[-1]), float(at[-1])))
    total = np.concatenate([[0.0], np.cumsum(rates * (ends - at))])
    grown = np.interp(times, np.append(at, ends[-1]), total)
    return _gained(grown)


def _taken(summary: Mapping[str, Any], transport: pl.DataFrame) -> float:
    """Bytes that flows beside the victim and its competitor took of the path."""
    import polars as pl

    taken = 0.0
    for flow in summary["flows"]:
        if flow["name"] in (write.VICTIM, "cubic"):
            continue
        if flow["transport"] == "udp":
            taken += _DATAGRAM * (flow["sent_packets"] - sum(flow["dropped_packets"].values()))
        else:
            sent = transport.filter(pl.col("flow") == flow["name"])["bytes_delivered"]
            taken += float(sent.max() or 0) / _DATA["tcp"]  # type: ignore[arg-type]
    return taken
