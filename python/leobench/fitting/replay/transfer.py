"""A recorded transfer as its sender knew it, whatever recorded it, and what follows from it about the path.

All byte counts are IP bytes. `accepted` is what the sender had handed to the path, without the packets that
were lost; `passed` is what had arrived and been acknowledged by then. A byte that left the bottleneck at s
was acknowledged at s + b, where b is the round trip without the queue. The queue at s is therefore
accepted(s) - passed(s + b).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from leobench.fitting.series import Floats

# Seconds of a bin, and the looks at the queue within it.
BIN_S, LOOKS = 0.1, 5
LOOK_S = BIN_S / LOOKS

# Controllers that fill a queue until it drops, unless losses elsewhere or the source limit them.
_UNTIL_LOSS = ("cubic", "newreno")
# Share of the time from which on a capacity that is only bounded rests on the prior.
MOSTLY = 0.65
# Share of the least round trip by which it varies without a queue, and the share of the time in which it does
# so that shows an empty queue where none was sampled.
_FLAT, _ALMOST_ALWAYS = 0.02, 0.8

# Bytes of a full IP packet.
PACKET = 1500.0


@dataclass(frozen=True)
class Transfer:
    """A recorded transfer. Series have the times `times`, in seconds from its start, ascending.

    Attributes:
        name: The recording.
        start_s: UNIX seconds of the start, or of the start of a virtual run.
        times: Of the samples.
        sent: Bytes sent so far, with those sent again.
        in_flight: Bytes in flight.
        lost: Bytes declared lost so far.
        rtt_s: The latest round trip; NaN if none is known.
        queue_limit: Bytes that the queue of the bottleneck holds, if it is known.
        template: The flow of a scenario that stands for the transfer: its name, ends, transport and source.
        own: Metrics that the recording itself states, by name.
        jitter_s: Seconds by which its round trips and times are off.
        queue: Bytes that waited at the links of its way; NaN without a sample, `None` if none were sampled.
    """

    name: str
    start_s: float
    times: Floats
    sent: Floats
    in_flight: Floats
    lost: Floats
    rtt_s: Floats
    queue_limit: float | None
    template: dict[str, Any]
    own: dict[str, float]
    jitter_s: float = 0.3e-3
    queue: Floats | None = None

    @property
    def end_s(self) -> float:
        """When it ended, in seconds from its start."""
        return float(self.times[-1])

    @property
    def bins(self) -> int:
        """The number of whole bins of `BIN_S` seconds."""
        return int(self.end_s / BIN_S + 1e-6)

    @property
    def passed(self) -> Floats:
        """Bytes that had arrived and been acknowledged."""
        return np.maximum.accumulate(np.maximum(self.sent - self.in_flight - self.lost, 0.0))

    def accepted(self) -> Floats:
        """Bytes sent so far, without those lost: losses count when their packets were sent."""
        rtt = np.where(np.isfinite(self.rtt_s), self.rtt_s, np.nanmedian(self.rtt_s))
        lost = np.interp(self.times + rtt, self.times, self.lost)
        return np.maximum.accumulate(self.sent - lost)


@dataclass(frozen=True)
class Observations:
    """The facts about the path in each bin that do not depend on what the path was.

    Attributes:
        edges: Begin of each bin and end of the last, in seconds from the start.
        looks: Times within each bin at which the queue is looked at; the last is its end.
        accepted: Bytes accepted by each look.
        lost: Bytes lost of those sent in each bin.
        rtt_s: The least round trip seen about the bin; NaN if none.
        longest_s: The longest.
        light_s: The round trip that a light flow saw, without a queue; NaN where none was measured.
        empty: Whether the recording shows that the queue was empty but for bursts.
    """

    edges: Floats
    looks: Floats
    accepted: Floats
    lost: Floats
    rtt_s: Floats
    longest_s: Floats
    light_s: Floats
    empty: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.rtt_s)


def observe(transfer: Transfer, light: tuple[Floats, Floats] | None = None) -> Observations:
    """Observations of a transfer, and perhaps of the round trips of a light flow beside it.

    Args:
        transfer: The transfer.
        light: Times from the start of the transfer, and round trips, in seconds.
    """
    count = transfer.bins
    edges = np.arange(count + 1, dtype=np.float64) * BIN_S
    looks = edges[:-1, None] + BIN_S * np.arange(1, LOOKS + 1) / LOOKS
    base = float(np.nanmin(transfer.rtt_s))
    rtt = np.where(np.isfinite(transfer.rtt_s), transfer.rtt_s, np.nanmedian(transfer.rtt_s))
    lost = np.interp(edges + float(np.median(rtt)), transfer.times, transfer.lost)
    return Observations(
        edges=edges,
        looks=looks,
        accepted=np.interp(looks, transfer.times, transfer.accepted()),
        lost=np.diff(lost),
        rtt_s=_least(transfer.times - base, transfer.rtt_s, edges),
        longest_s=-_least(transfer.times - base, -transfer.rtt_s, edges),
        light_s=_least(*light, edges) if light is not None else np.full(count, np.nan),
        empty=_empty(transfer, edges),
    )


def _empty(transfer: Transfer, edges: Floats) -> NDArray[np.bool_]:
    """Whether nothing but single bursts waited in each bin in which bytes arrived.

    Other controllers than `_UNTIL_LOSS` send at the capacity without a queue, so an empty one proves nothing.
    """
    transport = transfer.template["transport"]
    congestion = transport.get("congestion") if isinstance(transport, dict) else None
    if (congestion["kind"] if isinstance(congestion, dict) else congestion) not in _UNTIL_LOSS:
        return np.zeros(len(edges) - 1, dtype=bool)
    base = float(np.nanmin(transfer.rtt_s))
    waits, times = transfer.queue, transfer.times
    sampled = waits is not None and np.isfinite(waits).sum() >= LOOKS * len(edges)
    if waits is None or not sampled:
        waits, times = transfer.rtt_s - (1 + _FLAT) * base, transfer.times - base
    known = np.isfinite(waits)
    samples, _ = np.histogram(times[known], edges)
    waiting, _ = np.histogram(times[known & (waits > 0)], edges)
    arrived = (np.diff(np.interp(edges + base, transfer.times, transfer.passed)) > 0) & (samples > 0)
    # A burst waits for a moment. Where queues come and go, such bins may nevertheless have been busy.
    bursts = arrived & (2 * waiting <= samples)
    if bursts.mean() > (MOSTLY if sampled else _ALMOST_ALWAYS):
        return np.asarray(bursts)
    return np.asarray(arrived & (waiting == 0) & sampled)


def _least(times: Floats, values: Floats, edges: Floats) -> Floats:
    """The least value in each bin; NaN where there is none."""
    known = np.isfinite(values) & (times >= edges[0]) & (times < edges[-1])
    bins = np.searchsorted(edges, times[known], side="right") - 1
    found = np.full(len(edges) - 1, np.inf)
    np.minimum.at(found, bins, values[known])
    return np.where(np.isfinite(found), found, np.nan)
