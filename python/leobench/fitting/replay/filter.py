"""Capacity and base delay over time, given a transfer: a particle filter, and backward sampling of paths.

A particle is a path of (z of the capacity, z of the base delay), one pair per bin. Given its path, the parts
of both processes are Gaussian: every particle has their mean, all have the same covariance (a
Rao-Blackwellised filter: Doucet et al., UAI 2000). Backward sampling weights a particle by how well the rest
of a path follows from its Gaussian (Lindsten et al., IEEE Trans. Signal Processing 64, 2016).

`service` has the likelihood of a bin, given the base delay of a particle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtr, ndtri

from leobench.fitting.replay.service import Service
from leobench.fitting.replay.transfer import BIN_S

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from leobench.fitting.replay.prior import Prior, Process
    from leobench.fitting.replay.transfer import Observations, Transfer
    from leobench.fitting.series import Floats

# Variance of z that no part has: it keeps covariances regular.
_NUGGET = 1e-4

# Share of particles whose base delay is proposed at the least round trip of the bin.
_AT_RTT = 0.3


@dataclass(frozen=True)
class Paths:
    """Joint paths of capacity and base delay, one row each.

    Attributes:
        capacity: Mbit/s per bin.
        base_ms: Round trip of the idle path per bin.
        bound: Whether the transfer only bounded the capacity from below.
        queue: Bytes in the queue at the end of each bin.
        evidence: Logarithm of the likelihood of the transfer under the prior.
    """

    capacity: Floats
    base_ms: Floats
    bound: NDArray[np.bool_]
    queue: Floats
    evidence: float


class _Gaussian:
    """The Gaussian parts of one process: the mean of each particle and the covariance of all."""

    def __init__(self, process: Process, particles: int) -> None:
        self.process = process
        self.mean = np.zeros((particles, 4))
        self.covariance = np.diag(np.array(process.shares))

    def advance(self, before_s: float, after_s: float) -> tuple[Floats, Floats]:
        """Goes on to a later time, and returns the transition."""
        factors, added = self.process.transition(before_s, after_s)
        self.mean = self.mean * factors
        self.covariance = self.covariance * np.outer(factors, factors) + np.diag(added)
        return factors, added

    def predicted(self) -> tuple[Floats, float]:
        """Mean per particle and standard deviation of z."""
        return self.mean.sum(axis=1), float(np.sqrt(self.covariance.sum() + _NUGGET))

    def learn(self, z: Floats) -> None:
        """Takes the z of each particle."""
        gain = self.covariance.sum(axis=1) / (self.covariance.sum() + _NUGGET)
        self.mean = self.mean + np.outer(z - self.mean.sum(axis=1), gain)
        self.covariance = self.covariance - np.outer(gain, self.covariance.sum(axis=0))


@dataclass
class _Step:
    """The particles after a bin: what backward sampling needs of them."""

    log_weight: Floats
    z: tuple[Floats, Floats]
    mean: tuple[Floats, Floats]
    covariance: tuple[Floats, Floats]
    transition: tuple[tuple[Floats, Floats], tuple[Floats, Floats]]
    capacity: Floats
    base_s: Floats
    bound: NDArray[np.bool_]
    queue: Floats


class Filter:
    """The forward pass over a transfer."""

    def __init__(
        self,
        transfer: Transfer,
        seen: Observations,
        prior: Prior,
        queue_limit: float | None,
        particles: int,
        generator: np.random.Generator,
    ) -> None:
        self._start, self._seen = transfer.start_s, seen
        self._service = Service(transfer, seen, queue_limit)
        self._draw, self._count = generator, particles
        self._jitter = transfer.jitter_s
        self._capacity = _Gaussian(prior.capacity, particles)
        self._delay = _Gaussian(prior.delay, particles)
        self.evidence = 0.0
        self.steps: list[_Step] = []

    def run(self) -> None:
        """Goes through all bins."""
        log_weight = np.full(self._count, -np.log(self._count))
        base_s = np.zeros(self._count)
        for at in range(len(self._seen)):
            if at:
                log_weight, base_s = self._resample(log_weight, base_s)
            log_weight, base_s = self._bin(at, log_weight, base_s)

    def _resample(self, log_weight: Floats, base_s: Floats) -> tuple[Floats, Floats]:
        weight = np.exp(log_weight)
        if 1.0 / np.sum(weight**2) > self._count / 2:
            return log_weight, base_s
        comb = (np.arange(self._count) + self._draw.random()) / self._count
        chosen = np.minimum(np.searchsorted(np.cumsum(weight), comb), self._count - 1)
        for part in (self._capacity, self._delay):
            part.mean = part.mean[chosen]
        return np.full(self._count, -np.log(self._count)), base_s[chosen]

    def _bin(self, at: int, log_weight: Floats, before_s: Floats) -> tuple[Floats, Floats]:
        now = self._start + float(self._seen.edges[at])
        earlier = now - BIN_S if at else now
        transition = self._capacity.advance(earlier, now), self._delay.advance(earlier, now)
        zd, base_s, likelihood = self._base(at)
        served = self._service.served(
            at,
            base_s,
            before_s if at else base_s,
            self._capacity.process,
            self._capacity.predicted(),
            self._draw,
        )
        self._capacity.learn(served.z)
        self._delay.learn(zd)
        log_weight = log_weight + likelihood + served.log_weight
        total = float(logsumexp(log_weight))
        self.evidence += total
        log_weight = log_weight - total
        self.steps.append(
            _Step(
                log_weight,
                (served.z, zd),
                (self._capacity.mean, self._delay.mean),
                (self._capacity.covariance, self._delay.covariance),
                transition,
                served.capacity,
                base_s,
                served.bound,
                served.queue,
            )
        )
        return log_weight, base_s

    def _base(self, at: int) -> tuple[Floats, Floats, Floats]:
        """Draws the base delay of each particle: its z, itself in seconds, and the weight."""
        process = self._delay.process
        mean, spread = self._delay.predicted()
        light, rtt = self._seen.light_s[at], self._seen.rtt_s[at]
        if np.isfinite(light):
            at_z, width = self._about(light, process)
            precision = 1 / spread**2 + 1 / width**2
            middle = (mean / spread**2 + at_z / width**2) / precision
            z = middle + self._draw.standard_normal(self._count) / np.sqrt(precision)
            return z, process.value(z) / 1e3, _log_normal(at_z - mean, np.hypot(spread, width))
        if not np.isfinite(rtt):
            z = mean + spread * self._draw.standard_normal(self._count)
            return z, process.value(z) / 1e3, np.zeros(self._count)
        most = float(process.z(np.array(1e3 * (self._seen.longest_s[at] + self._jitter))))
        at_z, width = self._about(rtt, process)
        below, narrow = ndtr((most - mean) / spread), float(ndtr((most - at_z) / width))
        uniform = np.maximum(self._draw.random(self._count), 1e-12)
        near = self._draw.random(self._count) < _AT_RTT
        z = np.where(
            near,
            at_z + width * ndtri(uniform * narrow),
            mean + spread * ndtri(np.maximum(uniform * below, 1e-300)),
        )
        log_prior = _log_normal(z - mean, spread)
        log_below = log_ndtr((most - mean) / spread)
        proposed = np.logaddexp(
            np.log(_AT_RTT) + _log_normal(z - at_z, width) - np.log(narrow),
            np.log(1 - _AT_RTT) + log_prior - log_below,
        )
        return z, process.value(z) / 1e3, log_prior - proposed

    def _about(self, seconds: float, process: Process) -> tuple[float, float]:
        """The z of a round trip, and how far it scatters."""
        z = process.z(np.array(1e3 * seconds))
        return float(z), max(float(1e3 * self._jitter / process.slope(z)), 1e-3)


def paths(run: Filter, draws: int, generator: np.random.Generator) -> Paths:
    """Draws joint paths, given all of a transfer, by going backwards through its bins."""
    steps, count = run.steps, len(run.steps)
    capacity, base_s, queue = (np.empty((draws, count)) for _ in range(3))
    bound = np.empty((draws, count), dtype=bool)
    future = _Future(draws), _Future(draws)
    for at in range(count - 1, -1, -1):
        step = steps[at]
        log_weight = step.log_weight[None, :]
        for which in (0, 1):
            log_weight = log_weight + future[which].weight(step.mean[which], step.covariance[which])
        log_weight = log_weight - log_weight.max(axis=1, keepdims=True)
        sums = np.cumsum(np.exp(log_weight), axis=1)
        marks = generator.random(draws) * sums[:, -1]
        chosen = np.minimum((sums < marks[:, None]).sum(axis=1), sums.shape[1] - 1)
        capacity[:, at], base_s[:, at] = step.capacity[chosen], step.base_s[chosen]
        bound[:, at], queue[:, at] = step.bound[chosen], step.queue[chosen]
        for which in (0, 1):
            future[which].add(step.z[which][chosen], *step.transition[which])
    return Paths(capacity, 1e3 * base_s, bound, np.maximum(queue, 0.0), run.evidence)


class _Future:
    """The likelihood of the rest of each path, as a function of the parts: exp(-x'Ax/2 + b'x)."""

    def __init__(self, draws: int) -> None:
        self._information = np.zeros((4, 4))
        self._vector = np.zeros((draws, 4))

    def weight(self, mean: Floats, covariance: Floats) -> Floats:
        """Log-likelihood of the rest of each path after each particle, up to a constant: paths, particles."""
        inverse = np.linalg.inv(np.eye(4) + covariance @ self._information)
        curved = inverse.T @ self._information
        squares = np.einsum("ni,ij,nj->n", mean, curved, mean)
        return np.asarray(self._vector @ inverse @ mean.T - 0.5 * squares[None, :])

    def add(self, z: Floats, factors: Floats, added: Floats) -> None:
        """Takes the z of a bin, and goes back over the transition to it."""
        information = self._information + 1.0 / _NUGGET
        vector = self._vector + z[:, None] / _NUGGET
        shrunk = np.linalg.inv(np.eye(4) + information @ np.diag(added))
        self._information = np.outer(factors, factors) * (shrunk @ information)
        self._vector = factors * (vector @ shrunk.T)


def _log_normal(off: Floats, spread: Floats | float) -> Floats:
    """The logarithm of the normal density so far off its mean."""
    return np.asarray(-0.5 * (off / spread) ** 2 - np.log(spread) - 0.5 * np.log(2 * np.pi))
