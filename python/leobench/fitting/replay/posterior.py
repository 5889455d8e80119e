"""The posterior of a path given a transfer: its prior, its queue, and the losses of its channel."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from leobench.errors import InputError
from leobench.fitting.replay import filter as particles
from leobench.fitting.replay.prior import Prior, Process
from leobench.fitting.replay.transfer import BIN_S, MOSTLY, PACKET, observe
from leobench.fitting.series import SLOT_S

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from leobench.fitting.replay.prior import Fit
    from leobench.fitting.replay.transfer import Observations, Transfer
    from leobench.fitting.series import Floats

# Seconds that a transfer must last, and the share of its bins that need a round trip.
LEAST_S, _LEAST_KNOWN = 5.0, 0.3
# Seconds without any sample that a recording may have.
_GAP_S = 2.0

# Particles of the last pass, and of those that choose a prior.
PARTICLES, _CHOOSING = 800, 200
# Priors of the capacity in a mixture, each with those of the delay.
_MIXED = 2

# Standard deviations of what the account of a transfer is off throughout, as found on simulated paths:
# milliseconds, with those of a queue that never empties; shares of the capacity, with those of a bound.
_OFF_MS, _OFF_STANDING_MS = 0.2, 0.6
_OFF_SHARE, _OFF_BOUND = 0.006, 0.04

# Priors without a fit: standard deviations of the logarithm, and shares of drift, slot, slow and fast.
_CAPACITY_SCALES = (0.1, 0.3, 0.9)
_SHARES = ((0.4, 0.35, 0.248, 0.002), (0.4, 0.3, 0.25, 0.05), (0.2, 0.2, 0.3, 0.3))

# Bins with a standing queue that show the capacity even if it is only bounded most of the time. Without them,
# its prior is 4 times the throughput in the median, and up to 34 times as much in 95 %.
_ENOUGH = 20
_OPEN_FACTOR, _OPEN_SCALE = 4.0, 1.3
_OPEN_SHARES = ((0.9, 0.06, 0.038, 0.002), (0.7, 0.15, 0.13, 0.02), (0.4, 0.3, 0.25, 0.05))

_DELAY_SHARES = (0.2, 0.72, 0.06, 0.02)
_STEPS_SHARES = (0.05, 0.94, 0.005, 0.005)
# The delay is constant, or changes only from slot to slot, or always; each with its probability.
_DELAYS = (
    (0.001, _DELAY_SHARES, 0.4),
    (0.01, _DELAY_SHARES, 0.1),
    (0.05, _STEPS_SHARES, 0.1),
    (0.05, _DELAY_SHARES, 0.1),
    (0.2, _STEPS_SHARES, 0.1),
    (0.2, _DELAY_SHARES, 0.2),
)
# Power of the likelihood that weighs these: capacities that no prior has would decide it otherwise
# (Miller and Dunson 2019). The likeliest are mixed.
_DELAY_POWER, _DELAYS_MIXED = 0.1, 3
# Share of the least round trip that a path is assumed to have at least.
_FLOOR = 0.5

# A queue stands where the round trip is so many times the least.
_STANDING = 1.15

# Below this share of the limit, a loss is not for want of room. The queue is looked at so many bins about it.
_ROOM, _ABOUT = 0.5, 4
# An unknown limit is at least so many times the longest queue that lost nothing.
_UNSEEN_LIMIT = 2.0


@dataclass(frozen=True)
class Posterior:
    """Joint draws of a path, a row each, in bins of `BIN_S` seconds.

    Attributes:
        transfer: The transfer they are inferred from.
        seen: What it shows.
        prior: The prior of most draws.
        paths: Capacity and base delay.
        loss: The probability per draw and bin that the channel loses a packet.
        queue_limit: Bytes of the queue.
        queue_known: Whether the recording states it.
        observed_mbps: The throughput that the transfer had in each bin.
    """

    transfer: Transfer
    seen: Observations
    prior: Prior
    paths: particles.Paths
    loss: Floats
    queue_limit: float
    queue_known: bool
    observed_mbps: Floats

    @property
    def bounded_share(self) -> float:
        """The share of the time in which the transfer only bounds the capacity from below."""
        return float(self.paths.bound.mean())


def infer(
    transfer: Transfer,
    fit: Fit | None,
    light: tuple[Floats, Floats] | None,
    draws: int,
    seed: int,
    queue_limit: float | None = None,
    report: Callable[[str], object] = lambda _step: None,
) -> Posterior:
    """Infers a path.

    Args:
        transfer: The transfer.
        fit: The prior; chosen by the likelihood among wide ones unless given.
        light: Times and round trips of a light flow, in seconds.
        draws: The number of joint paths.
        seed: Of all random numbers.
        queue_limit: Bytes of the queue; as recorded, or inferred, unless given.
        report: Called with the step it is at.

    Raises:
        InputError: If the recording is too short, or too little is known of it.
    """
    check(transfer)
    seen = observe(transfer, light)
    limit = queue_limit or transfer.queue_limit
    generator = np.random.default_rng(seed)
    weighted = _priors(transfer, seen, fit, limit, seed, report)
    found = _paths(transfer, seen, weighted, limit, draws, generator, report)
    known = limit is not None
    if limit is None:
        limit = _limit(seen, found)
        found = _paths(transfer, seen, weighted, limit, draws, generator, report)
    base = float(np.nanmin(transfer.rtt_s))
    passed = np.interp(seen.edges + base, transfer.times, transfer.passed)
    loss = _loss(seen, found, limit, generator)
    found = _off(found, generator)
    observed = np.diff(passed) * 8e-6 / BIN_S
    return Posterior(transfer, seen, weighted[0][0], found, loss, limit, known, observed)


def check(transfer: Transfer) -> None:
    """Refuses a recording that says too little.

    Raises:
        InputError: If it is too short, has gaps, or knows too few round trips.
    """
    if transfer.end_s < LEAST_S:
        raise InputError(
            f"{transfer.name}: lasts {transfer.end_s:.3g} s; allowed: from {LEAST_S:g} s, better a minute"
        )
    gaps = np.diff(transfer.times)
    if gaps.max() > _GAP_S:
        at = float(transfer.times[int(gaps.argmax())])
        raise InputError(
            f"{transfer.name}: has no samples for {gaps.max():.3g} s from {at:.4g} s on; "
            f"allowed: a sample every {_GAP_S:g} s at least, better ten a second"
        )
    known = np.isfinite(transfer.rtt_s)
    if known.mean() < _LEAST_KNOWN:
        raise InputError(
            f"{transfer.name}: has a round trip in {100 * known.mean():.0f} % of its samples; "
            f"allowed: from {100 * _LEAST_KNOWN:.0f} %"
        )
    if transfer.passed[-1] < 20 * PACKET:
        raise InputError(
            f"{transfer.name}: delivered {transfer.passed[-1]:,.0f} bytes, too few to infer from"
        )


def _paths(
    transfer: Transfer,
    seen: Observations,
    weighted: Sequence[tuple[Prior, float]],
    limit: float | None,
    draws: int,
    generator: np.random.Generator,
    report: Callable[[str], object],
) -> particles.Paths:
    """Draws from the mixture of priors, each in proportion to its weight."""
    ends = np.round(np.cumsum([weight for _, weight in weighted]) * draws).astype(int)
    counts = np.diff(np.concatenate([[0], ends]))
    parts = []
    for number, ((prior, _), count) in enumerate(zip(weighted, counts, strict=True), 1):
        if count:
            report(f"inferring: paths of prior {number} of {len(weighted)}")
            run = particles.Filter(transfer, seen, prior, limit, PARTICLES, generator)
            run.run()
            parts.append(particles.paths(run, int(count), generator))
    return particles.Paths(
        capacity=np.concatenate([part.capacity for part in parts]),
        base_ms=np.concatenate([part.base_ms for part in parts]),
        bound=np.concatenate([part.bound for part in parts]),
        queue=np.concatenate([part.queue for part in parts]),
        evidence=max(part.evidence for part in parts),
    )


def _off(found: particles.Paths, generator: np.random.Generator) -> particles.Paths:
    """The paths with an error of the account that is the same throughout, and does not average out."""
    draws, bound = len(found.capacity), found.bound.mean(axis=1, keepdims=True)
    share, more = np.exp(
        np.array([_OFF_SHARE, _OFF_BOUND])[:, None, None] * generator.standard_normal((2, draws, 1))
    )
    shift_ms = np.hypot(_OFF_MS, _OFF_STANDING_MS * (1 - bound)) * generator.standard_normal((draws, 1))
    capacity = found.capacity * share * np.where(found.bound, more, 1.0)
    return replace(found, capacity=capacity, base_ms=np.maximum(found.base_ms + shift_ms, 0.1))


def _priors(
    transfer: Transfer,
    seen: Observations,
    fit: Fit | None,
    limit: float | None,
    seed: int,
    report: Callable[[str], object],
) -> list[tuple[Prior, float]]:
    """Priors and their weights: the likelihood of the transfer under each, the largest first."""

    def weigh(
        candidates: Sequence[Prior], known: Sequence[float], power: float, first: int
    ) -> list[tuple[Prior, float]]:
        if len(candidates) == 1:
            return [(candidates[0], 1.0)]
        evidence = []
        for number, prior in enumerate(candidates, first):
            report(f"inferring: prior {number} of {len(capacities) + len(delays)}")
            run = particles.Filter(transfer, seen, prior, limit, _CHOOSING, np.random.default_rng(seed))
            run.run()
            evidence.append(run.evidence)
        weight = np.array(known) * np.exp(power * (np.array(evidence) - max(evidence)))
        ranked = sorted(zip(candidates, weight / weight.sum(), strict=True), key=lambda each: -float(each[1]))
        kept = [(prior, float(share)) for prior, share in ranked if share > 0.04]
        total = sum(share for _, share in kept)
        return [(prior, share / total) for prior, share in kept]

    capacities = [fit.capacity] if fit is not None else _capacities(transfer, seen)
    delays = [fit.delay] if fit is not None and fit.delay is not None else _delays(transfer, seen)
    middle = delays[len(delays) // 2]
    best = weigh([Prior(capacity, middle) for capacity in capacities], [1.0] * len(capacities), 1.0, 1)
    chances = [chance for _, _, chance in _DELAYS]
    with_delays = [Prior(best[0][0].capacity, delay) for delay in delays]
    delay = weigh(with_delays, chances, _DELAY_POWER, len(capacities) + 1)[:_DELAYS_MIXED]
    both = [
        (Prior(one.capacity, other.delay), share * part)
        for one, share in best[:_MIXED]
        for other, part in delay
    ]
    total = sum(share for _, share in both)
    return sorted(((prior, share / total) for prior, share in both), key=lambda each: -each[1])


def _capacities(transfer: Transfer, seen: Observations) -> list[Process]:
    """Priors of the capacity about the throughput of the time in which a queue stood, or far above it."""
    edges = np.arange(int(transfer.end_s / BIN_S)) * BIN_S
    rates = np.diff(np.interp(edges, transfer.times, transfer.passed)) * 8e-6 / BIN_S
    known = np.isfinite(transfer.rtt_s)
    rtt = np.interp(edges[1:], transfer.times[known], transfer.rtt_s[known])
    standing = (rtt > _STANDING * float(np.nanmin(transfer.rtt_s))) & (rates > 0)
    standing &= ~seen.empty[: len(standing)]
    enough = standing.sum() >= _ENOUGH
    level = np.median(rates[standing]) if enough else np.quantile(rates[rates > 0], 0.9)
    if seen.empty.mean() > MOSTLY and not enough:
        location = math.log(_OPEN_FACTOR * level)
        return [Process(0.0, location, _OPEN_SCALE, shares, slow_s=2.0) for shares in _OPEN_SHARES]
    return [
        Process(0.0, math.log(level), scale, shares, slow_s=2.0, fast_s=None)
        for scale in _CAPACITY_SCALES
        for shares in _SHARES
    ]


def _delays(transfer: Transfer, seen: Observations) -> list[Process]:
    """Priors of the base delay about the least round trip, that of a light flow included."""
    least = 1e3 * float(np.nanmin(np.concatenate([transfer.rtt_s, seen.light_s])))
    floor = _FLOOR * least
    return [
        Process(floor, math.log(least - floor) + scale, scale, shares, slow_s=2.0)
        for scale, shares, _ in _DELAYS
    ]


def _waiting(seen: Observations, found: particles.Paths) -> Floats:
    """The longest queue in each bin by the wait of its packets, which losses hardly disturb."""
    wait_ms = np.maximum(1e3 * seen.longest_s[None, :] - found.base_ms, 0.0)
    queue = np.median(wait_ms * found.capacity * 125.0, axis=0)
    return np.where(np.isfinite(queue) & ~seen.empty, queue, 0.0)


def _lost(seen: Observations, found: particles.Paths) -> tuple[NDArray[np.intp], Floats]:
    """The bins with losses, and the longest queue about each."""
    queue = _waiting(seen, found)
    bins = np.flatnonzero(seen.lost >= 0.5 * PACKET)
    longest = [queue[max(at - _ABOUT, 0) : at + _ABOUT + 1].max() for at in bins]
    return bins, np.array(longest)


def _limit(seen: Observations, found: particles.Paths) -> float:
    """The limit of the queue: its length where it dropped, or more than it ever was."""
    most = float(np.quantile(_waiting(seen, found), 0.995))
    _, longest = _lost(seen, found)
    dropped = longest[longest > _ROOM * most]
    return max(float(np.median(dropped)) if len(dropped) else _UNSEEN_LIMIT * most, 10 * PACKET)


def _loss(seen: Observations, found: particles.Paths, limit: float, generator: np.random.Generator) -> Floats:
    """Draws the channel's loss per slot of 15 s: losses while the queue had room, of the packets sent."""
    draws, count = found.capacity.shape
    bins, longest = _lost(seen, found)
    lost = np.zeros(count)
    lost[bins] = np.where(longest < _ROOM * limit, seen.lost[bins] / PACKET, 0.0)
    loss = np.zeros((draws, count))
    if lost.sum() < 1:
        return loss
    sent = np.maximum(np.diff(seen.accepted[:, -1], prepend=0.0) / PACKET, 0.0)
    size = round(SLOT_S / BIN_S)
    for start in range(0, count, size):
        slot = slice(start, start + size)
        # Jeffreys' prior of a rate.
        drawn = generator.gamma(lost[slot].sum() + 0.5, 1.0, draws) / max(sent[slot].sum(), 1.0)
        loss[:, slot] = np.minimum(drawn, 1.0)[:, None]
    return loss
