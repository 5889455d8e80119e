"""The link in a bin, given the base delay of each particle: its capacity, or a bound of it.

Three branches explain a bin, and the particle's likelihood is their sum:

- busy: packets waited throughout, so the bytes that left are the capacity;
- partly busy: the queue emptied, but packets waited throughout some look, whose bytes are the capacity;
- idle: nothing waited, so the bytes that left are a lower bound.

A fourth, improbable one is an outage or a stall that the process of the capacity does not explain. All are
densities over two byte counts: of the bin, and of the look in which packets waited longest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtr, ndtri

from leobench.fitting.replay.transfer import BIN_S, LOOK_S, PACKET

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from leobench.fitting.replay.prior import Process
    from leobench.fitting.replay.transfer import Observations, Transfer
    from leobench.fitting.series import Floats

# Packets and share by which a count over a bin is off: acknowledgements come for two packets at a time.
_GRAIN, _SCATTER = 1.0, 0.002

# Bytes of a burst that a sender leaves at once: it waits on an idle link, too.
_BURST = 4 * PACKET

# Bytes that are neither queued nor acknowledged: half a packet on the wire, and one that waits for the next
# before it is acknowledged (RFC 9000 section 13.2.2, RFC 5681 section 4.2).
_UNSEEN = 1.5 * PACKET

# Probability per bin of an outage or a stall that the process does not explain.
_OUTLIER = 2e-3

# Share of its limit by which a queue that drops is off, and the share of losses that happen elsewhere.
_LIMIT_SCATTER, _ELSEWHERE = 0.02, 0.1

# Bins by which the time of a loss is uncertain.
_ABOUT = 4

# Probability that the queue of a bin empties within it. The rest of the bin goes unexplained then, so without
# it the likelihood takes the least round trips of a standing queue for those of the idle path.
_EMPTIES = math.exp(-2.0)

# Logarithm of the probability that a queue stood between samples that all show an empty one.
_UNSAMPLED = math.log(1e-6)

# Share by which the capacity changes within a bin.
_UNSTEADY = 0.03

# Mbit/s per byte in a second.
_MBPS = 8e-6

_BUSY, _PARTLY, _IDLE, _ODD = range(4)


@dataclass(frozen=True)
class Served:
    """A bin in each particle.

    Attributes:
        z: Of the capacity.
        capacity: Mbit/s.
        bound: Whether the bin only bounds it.
        queue: Bytes at the end.
        log_weight: Log-likelihood.
    """

    z: Floats
    capacity: Floats
    bound: NDArray[np.bool_]
    queue: Floats
    log_weight: Floats


class Service:
    """The link's side of a transfer."""

    def __init__(self, transfer: Transfer, seen: Observations, queue_limit: float | None) -> None:
        self._times, self._passed = transfer.times, transfer.passed
        self._seen, self._limit, self._jitter = seen, queue_limit, transfer.jitter_s
        self._last_s = transfer.end_s
        self._most = max(float(np.diff(np.interp(seen.edges, self._times, self._passed)).max()), PACKET)
        self._least_rtt, self._fine = _sliding(transfer)

    def served(
        self,
        at: int,
        base_s: Floats,
        before_s: Floats,
        process: Process,
        predicted: tuple[Floats, float],
        draw: np.random.Generator,
    ) -> Served:
        """Draws what bin `at` was.

        Args:
            at: The bin.
            base_s: The base delay of each particle.
            before_s: That in the bin before.
            process: Of the capacity.
            predicted: The mean of each particle and the standard deviation of z.
            draw: Of random numbers.
        """
        mean, spread = predicted
        free = mean + spread * draw.standard_normal(len(mean))
        begin, end = self._seen.edges[at], self._seen.edges[at + 1]
        if end + float(np.median(base_s)) > self._last_s:
            nothing = np.zeros(len(mean))
            return Served(free, process.value(free), np.ones(len(mean), dtype=bool), nothing, nothing)
        passed = self._between(begin + before_s, end + base_s)
        queues = self._queues(at, base_s)
        noise = np.sqrt(
            (_GRAIN * PACKET) ** 2 + (_SCATTER * passed) ** 2 + (passed / BIN_S * self._jitter) ** 2
        )
        speed = np.maximum(passed / BIN_S, process.value(mean) / _MBPS)
        whole = _Span(passed, BIN_S, noise, process, predicted)
        branches, part = self._branches(at, whole, base_s, speed, queues, process, predicted)
        total = np.asarray(logsumexp(branches, axis=0))
        chosen = np.cumsum(np.exp(branches - total), axis=0)[:_ODD]
        kind = (draw.random(len(mean)) > chosen).sum(axis=0)
        z = np.choose(kind, [whole.draw(draw), part.draw(draw), whole.above(draw), free])
        capacity = np.where(kind == _ODD, whole.mbps, process.value(z))
        # The bytes were counted over a span that the particle's change of base delay makes longer or shorter.
        stretched = np.log(np.maximum(1.0 + (base_s - before_s) / BIN_S, 0.05))
        log_weight = total + stretched + self._full(at, queues, noise)
        return Served(z, capacity, kind == _IDLE, queues[-1], log_weight)

    def _between(self, begin: Floats, end: Floats) -> Floats:
        passed = np.interp(end, self._times, self._passed) - np.interp(begin, self._times, self._passed)
        return np.maximum(passed, 0.0)

    def _queues(self, at: int, base_s: Floats) -> Floats:
        """Bytes in the queue at each look, below zero where the base delay is too long: looks, particles."""
        looks = self._seen.looks[at][:, None]
        passed = np.interp(looks + base_s, self._times, self._passed)
        return np.asarray(self._seen.accepted[at][:, None] - passed - _UNSEEN)

    def _branches(
        self,
        at: int,
        whole: _Span,
        base_s: Floats,
        speed: Floats,
        queues: Floats,
        process: Process,
        predicted: tuple[Floats, float],
    ) -> tuple[Floats, _Span]:
        """The log-likelihood of each branch, and the span that `partly busy` is about."""
        rate, noise = whole.bytes / BIN_S, whole.noise
        waits, begins = self._waits(at, base_s, PACKET / speed)
        least_wait = waits.min(axis=0)
        known = np.isfinite(least_wait)
        least = np.where(known, np.where(known, least_wait, 0.0) * rate, queues.min(axis=0))
        at_zero, stands = _log_normal(least, noise), log_ndtr(least / noise)
        chosen = np.argmax(np.where(np.isfinite(waits), waits, -np.inf), axis=0)
        every = np.arange(len(base_s))
        begin = begins[chosen] + base_s
        count = self._between(begin, begin + LOOK_S)
        off = np.hypot(PACKET, count / LOOK_S * self._jitter)
        part = _Span(count, LOOK_S, off, process, predicted)
        longest = waits[chosen, every]
        # Without round trips in looks, only the whole of the bin tells.
        whole_only = ~known if self._fine else np.ones_like(known)
        longest = np.where(whole_only, 0.0, longest) * np.maximum(count / LOOK_S, rate)
        steady = np.sqrt(off**2 + (2 * PACKET) ** 2 + (_UNSTEADY * count) ** 2)
        even = np.where(whole_only, 0.0, _log_normal(count - whole.bytes * LOOK_S / BIN_S, steady))
        busy = whole.density() + stands + even
        waited = log_ndtr((longest - _BURST) / off)
        partly = np.where(whole_only, -np.inf, at_zero + part.density() + waited + math.log(_EMPTIES))
        idle = at_zero + whole.exceeded()
        idle = idle + np.where(
            whole_only, 0.0, _log_normal(longest - 0.25 * _BURST, np.hypot(off, 0.25 * _BURST))
        )
        odd = np.log(_OUTLIER) - np.log(2 * self._most) + stands + even
        # No packet is faster than the idle path, however few there are.
        shortest = np.where(known, least_wait, 0.0) + PACKET / speed
        slower = np.where(known, log_ndtr(shortest / self._jitter + 2.0), 0.0)
        branches = np.stack([busy, partly, idle, odd]) + slower
        if self._seen.empty[at]:
            branches[[_BUSY, _PARTLY, _ODD]] += _UNSAMPLED
        return branches, part

    def _waits(self, at: int, base_s: Floats, served_s: Floats) -> tuple[Floats, Floats]:
        """The least wait during each look in each particle, infinite if unknown, and when looks begin."""
        begins = self._seen.looks[at] - LOOK_S
        first = np.searchsorted(self._times, begins[:, None] + base_s, side="right")
        return self._least_rtt[np.minimum(first, len(self._times) - 1)] - base_s - served_s, begins

    def _full(self, at: int, queues: Floats, noise: Floats) -> Floats:
        """The weight by what the queue can hold: no more, and that much where packets were lost."""
        if self._limit is None:
            return np.zeros(len(noise))
        most, limit = queues.max(axis=0), self._limit
        # Losses count in about the right bin only, so the queue is off by what was lost about then.
        about = self._seen.lost[max(at - _ABOUT, 0) : at + _ABOUT + 1].sum()
        spread = np.sqrt(noise**2 + (_LIMIT_SCATTER * limit) ** 2 + about**2)
        within = log_ndtr((limit - most) / spread + 2.0)
        if self._seen.lost[at] < PACKET:
            return np.asarray(within)
        close = np.log(1 - _ELSEWHERE) - 0.5 * ((limit - most) / spread) ** 2
        return np.asarray(np.logaddexp(close, np.log(_ELSEWHERE) + within))


class _Span:
    """Bytes that left the link in a span of time, as an observation of its capacity."""

    def __init__(
        self, count: Floats, seconds: float, noise: Floats, process: Process, predicted: tuple[Floats, float]
    ) -> None:
        self.bytes, self.noise = count, noise
        self._mean, self._deviation = predicted
        self.mbps = np.maximum(count, 0.2 * PACKET) * _MBPS / seconds
        self._z = process.z(self.mbps)
        self._slope = process.slope(self._z) * seconds / _MBPS  # bytes per z
        self._width = np.maximum(noise / self._slope, 1e-3)

    def density(self) -> Floats:
        """Log-density of these bytes if they are the capacity, per byte."""
        both = np.hypot(self._deviation, self._width)
        return np.asarray(_log_normal(self._z - self._mean, both) - np.log(self._slope))

    def exceeded(self) -> Floats:
        """Logarithm of the probability that the capacity is more."""
        return np.asarray(log_ndtr((self._mean - self._z) / self._deviation))

    def draw(self, draw: np.random.Generator) -> Floats:
        """Draws z, given that these bytes are the capacity."""
        precision = 1 / self._deviation**2 + 1 / self._width**2
        middle = (self._mean / self._deviation**2 + self._z / self._width**2) / precision
        return np.asarray(middle + draw.standard_normal(len(middle)) / np.sqrt(precision))

    def above(self, draw: np.random.Generator) -> Floats:
        """Draws z, given that the capacity is more: from the upper tail, by its mirror image."""
        share = ndtr((self._mean - self._z) / self._deviation) * np.maximum(draw.random(len(self._z)), 1e-12)
        drawn = self._mean - self._deviation * ndtri(np.maximum(share, 1e-300))
        return np.asarray(np.maximum(drawn, self._z - 8 * self._width))


def _sliding(transfer: Transfer) -> tuple[Floats, bool]:
    """The least round trip in a look from each sample on, and whether looks have samples of their own."""
    step = float(np.median(np.diff(transfer.times)))
    rtt = np.where(np.isfinite(transfer.rtt_s), transfer.rtt_s, np.inf)
    least = rtt.copy()
    for ahead in range(1, max(round(LOOK_S / step), 1)):
        least[:-ahead] = np.minimum(least[:-ahead], rtt[ahead:])
    return least, step < 1.01 * LOOK_S


def _log_normal(off: Floats, spread: Floats | float) -> Floats:
    """The logarithm of the normal density so far off its mean."""
    return np.asarray(-0.5 * (off / spread) ** 2 - np.log(spread) - 0.5 * np.log(2 * np.pi))
