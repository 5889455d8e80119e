"""Losses by slots, and outages, in which nothing gets through.

Slots are clean or lossy by a Markov chain. Each sample is lost with the probability of its slot's state. A
recording whose loss changes a few times does not tell how often it does: then all slots have one probability.
Outages begin at any time at a rate, and at a time of the slot with a probability. Lengths are log-normal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import optimize, stats

from leobench.fitting import phases
from leobench.fitting.series import SLOT_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from leobench.fitting.phases import Interruptions
    from leobench.fitting.series import Floats, Series

# A rate below this share of the median is an outage.
OUTAGE_SHARE = 0.01
# Fewest lost probes in a row that are an outage; chance alone may make at most this share of the outages.
_FEWEST_IN_ROW, _MOST_CHANCE = 3, 0.1
# A run of losses ends where the next sample is this many intervals later.
_GAP = 3.0
# Outages that gather at no other time may do so after a slot's begin, within so many seconds.
WITHIN_S = 1.0
# Of independent losses, this share of the gaps lies between half and one and a half times their median; so
# many gaps show whether they are more regular, which they are by chance with this probability.
_NEAR_MEDIAN, _FEWEST_GAPS, _CHANCE = 0.5**0.5 - 0.5**1.5, 30, 1e-6
# Changes of state in a recording that tell how often there are some.
_FEWEST_CHANGES = 10.0
_FEWEST_OUTAGES = 5
# So many outages of a minute or more, most of all such, whose lengths differ by this share at most, may be no
# outages: who records by a schedule leaves holes of one length.
_FEWEST_HOLES, _LONG_S, _ALIKE = 3, 60.0, 0.05
_WIDTH_90 = float(stats.norm.ppf(0.95))
# Gain in the logarithm of the likelihood that a second state needs.
_WORTH = 5.0
_PRIOR_SD, _PRIOR_SD_LENGTHS = 6.0, 2.0
_STEP = 1e-3


@dataclass(frozen=True)
class Found:
    """Parameters as the JSON of a fit has them, their intervals of 90 %, and what was not measured."""

    parameters: dict[str, Any] | None
    intervals: dict[str, list[float]]
    not_measured: dict[str, str]


@dataclass(frozen=True)
class Runs:
    """Runs of samples in which nothing got through.

    Attributes:
        first: Index of the first sample of each.
        count: Its number of samples.
        start: When it began, in seconds since 1970.
        length: How long it lasted, in seconds.
        fewest: The fewest samples that are a run.
    """

    first: NDArray[np.int64]
    count: NDArray[np.int64]
    start: Floats
    length: Floats
    fewest: int


@dataclass(frozen=True)
class Lost:
    """The losses of probes: the states of slots, outages, and interruptions if there are some."""

    chain: Found
    outages: Runs
    interruptions: Interruptions | None


def dark(series: Series) -> NDArray[np.bool_]:
    """Whether nothing got through at each sample."""
    if series.quantity == "rtt":
        return ~series.present
    return series.present & (series.values < OUTAGE_SHARE * np.nanmedian(series.values))


def without_outages(series: Series) -> Series:
    """The series in which samples where nothing got through are missing: no process of capacity has them."""
    return replace(series, values=np.where(dark(series), np.nan, series.values))


def runs(series: Series, fewest: int) -> Runs:
    """The runs of at least so many samples in which nothing got through."""
    mask, times, interval = dark(series), series.times, series.interval_s
    breaks = np.append(True, np.diff(times) > _GAP * max(interval, float(np.mean(np.diff(times[:1000])))))
    begins = mask & (np.append(True, ~mask[:-1]) | breaks)
    number = np.cumsum(begins) * mask
    first = np.flatnonzero(begins)
    count = np.bincount(number[mask], minlength=len(first) + 1)[1:] if len(first) else first
    after = np.minimum(first + count, len(times) - 1)
    length = np.maximum(times[after] - times[first], count * interval)
    whole = breaks[after] | (first + count >= len(times))
    length = np.where(whole, count * interval, length)
    chosen = count >= fewest
    return Runs(first[chosen], count[chosen], times[first[chosen]], length[chosen], fewest)


def outages(series: Series, found: Runs) -> Found:
    """The rate of outages, their share at the begins of slots, and their lengths."""
    if len(found.start) < _FEWEST_OUTAGES:
        reason = f"{len(found.start)} outages were seen; needed: {_FEWEST_OUTAGES}"
        return Found(None, {}, {"outages": reason})
    shortest = (found.fewest - 0.5) * series.interval_s
    median, sigma, ends = _lengths(found.length, series.interval_s, shortest)
    slots = len(np.unique(series.slots))
    observed_s = min(slots * SLOT_S, len(series.times) * float(np.mean(np.diff(series.times))))
    observed_s = max(observed_s, len(series.times) * series.interval_s)
    window = phases.gathering(found.start, series.times) or phases.Window(0.0, WITHIN_S)
    inside = window.holds(found.start)
    elsewhere, near = int((~inside).sum()), int(inside.sum())
    slots_seen = observed_s / SLOT_S
    outside_s = observed_s * (1 - window.within_s / SLOT_S)
    rate = _poisson(elsewhere, outside_s)
    chance = rate[0] * window.within_s
    boundary = [max(0.0, value - chance) for value in _poisson(near, slots_seen)]
    parameters = {
        "rate_per_s": rate[0],
        "at_boundary": min(boundary[0], 1.0),
        "after_s": window.after_s,
        "within_s": window.within_s,
        "length": {"median_s": median, "sigma": sigma},
        "shortest_s": shortest,
    }
    intervals = {"rate_per_s": rate, "at_boundary": boundary, **ends}
    return Found(parameters, intervals, {})


def holes(found: Runs) -> tuple[int, float] | None:
    """The number of long outages that are alike, and their length in seconds; None if lengths differ."""
    lengths = found.length[found.length >= _LONG_S]
    if not len(lengths):
        return None
    alike = np.abs(lengths[:, None] - lengths) <= _ALIKE * lengths
    most = int(np.argmax(alike.sum(axis=0)))
    count = int(alike[:, most].sum())
    if count < max(_FEWEST_HOLES, len(lengths) / 2):
        return None
    return count, float(np.median(lengths[alike[:, most]]))


def _poisson(count: int, exposure: float) -> list[float]:
    """A rate with its interval of 90 % (Garwood 1936)."""
    low = stats.chi2.ppf(0.05, 2 * count) / 2 if count else 0.0
    high = stats.chi2.ppf(0.95, 2 * count + 2) / 2
    return [count / exposure, float(low) / exposure, float(high) / exposure]


def _lengths(
    lengths: Floats, interval: float, shortest: float
) -> tuple[float, float, dict[str, list[float]]]:
    """Median and sigma of log-normal lengths that are known to half an interval, without the short ones.

    The median is above the shortest length, as the channel demands.
    """
    low = np.log(np.maximum(lengths - interval / 2, shortest))
    high = np.log(lengths + interval / 2)
    floor = float(np.log(shortest))

    def objective(point: Floats) -> float:
        middle, sigma = floor + np.exp(point[0]), np.exp(point[1])
        inside = stats.norm.cdf((high - middle) / sigma) - stats.norm.cdf((low - middle) / sigma)
        beyond = stats.norm.logsf((floor - middle) / sigma)
        prior = 0.5 * float(point @ point) / _PRIOR_SD_LENGTHS**2
        return float(-(np.log(np.maximum(inside, 1e-300)) - beyond).sum() + prior)

    above = max(float(np.mean(np.log(lengths))) - floor, 0.1)
    start = np.array([np.log(above), np.log(max(float(np.std(np.log(lengths))), 0.2))])
    point, deviation = _minimum(objective, start)
    ends = np.exp(point[:, None] + deviation[:, None] * np.array([0.0, -_WIDTH_90, _WIDTH_90]))
    ends[0] = np.exp(floor + ends[0])
    names = ("length.median_s", "length.sigma")
    found = {name: row.tolist() for name, row in zip(names, ends, strict=True)}
    return float(ends[0, 0]), float(ends[1, 0]), found


def losses(series: Series) -> Lost:
    """The states of slots by the lost probes in no outage or interruption, and those."""
    fewest = _FEWEST_IN_ROW
    found = _without(series, runs(series, fewest))
    while _by_chance(series, found.chain.parameters or {}, fewest) > _MOST_CHANCE * max(
        len(found.outages.start), 1
    ):
        fewest += 1
        found = replace(found, outages=runs(series, fewest))
    return found if fewest == _FEWEST_IN_ROW else _without(series, found.outages)


def _without(series: Series, outage: Runs) -> Lost:
    """The states of slots and the interruptions, given the outages."""
    kept = _outside(series, outage)
    short = phases.interruptions(series, ~series.present & kept)
    if short is not None:
        kept &= ~short.window.holds(series.times)
    return Lost(_chain(series, kept), outage, short)


def _outside(series: Series, outage: Runs) -> NDArray[np.bool_]:
    """Whether each sample is in no outage."""
    kept = np.ones(len(series.times), dtype=np.bool_)
    for first, count in zip(outage.first, outage.count, strict=True):
        kept[first : first + count] = False
    return kept


def _by_chance(series: Series, chain: dict[str, Any], fewest: int) -> float:
    """The number of runs of losses that independent ones would make."""
    lossy = chain["to_lossy"] / (chain["to_lossy"] + chain["to_clean"])
    each = (1 - lossy) * chain["clean"] ** fewest + lossy * chain["lossy"] ** fewest
    return float(each * len(series.times))


def _chain(series: Series, kept: NDArray[np.bool_]) -> Found:
    """The chain of clean and lossy slots, by the samples that a mask keeps."""
    numbers, index = np.unique(series.slots[kept], return_inverse=True)
    sent = np.bincount(index).astype(np.float64)
    lost = np.bincount(index, ~series.present[kept]).astype(np.float64)
    steps = np.append(0, np.diff(numbers))

    def objective(point: Floats) -> float:
        return -_log_likelihood(point, sent, lost, steps) + 0.5 * float(point @ point) / _PRIOR_SD**2

    share = max(float(lost.sum() / sent.sum()), 1e-6)
    per_slot = lost / sent
    many = max(float(np.quantile(per_slot, 0.9)), 2 * share)
    starts: list[Floats] = [
        np.array([_logit(share / 4), _logit(min(many, 0.5)), _logit(0.1), _logit(stay)])
        for stay in (0.3, 0.7)
    ]
    best = min((_minimum(objective, start) for start in starts), key=lambda each: objective(each[0]))
    point, deviation = best
    alone = float(_binomial(lost, sent, share).sum())
    if _log_likelihood(point, sent, lost, steps) - alone < _WORTH:
        return _one_level(sent, lost, "slots do not differ in loss")
    clean, lossy, to_lossy, to_clean = (float(each) for each in 1 / (1 + np.exp(-point)))
    changes = len(numbers) * 2 * to_lossy * to_clean / (to_lossy + to_clean)
    if changes < _FEWEST_CHANGES:
        low, high = sorted((clean, lossy))
        return _one_level(
            sent,
            lost,
            f"the loss of slots changes about {changes:.0f} times between {low:.2%} and {high:.2%}, too "
            f"rarely to tell how often (needed: {_FEWEST_CHANGES:.0f}); all slots have its mean",
        )
    if point[0] > point[1]:
        point, deviation = point[[1, 0, 3, 2]], deviation[[1, 0, 3, 2]]
    ends = 1 / (1 + np.exp(-(point[:, None] + deviation[:, None] * np.array([0.0, -_WIDTH_90, _WIDTH_90]))))
    names = ("clean", "lossy", "to_lossy", "to_clean")
    intervals = {name: row.tolist() for name, row in zip(names, ends, strict=True)}
    return Found({name: row[0] for name, row in intervals.items()}, intervals, {})


def limited_echoes(series: Series) -> int | None:
    """Of how many probes one is lost, if losses come so regularly that a limit of echoes must be their cause.

    Losses of a link are independent or gather; gaps between them are then as short as geometric ones, or more
    often shorter or longer. A router that answers so many echoes a second makes them alike. Probes in outages
    do not count: thousands in a row would hide the others.
    """
    kept = _outside(series, runs(series, _FEWEST_IN_ROW))
    gaps = np.diff(np.flatnonzero(~series.present[kept]))
    if len(gaps) < _FEWEST_GAPS:
        return None
    median = float(np.median(gaps))
    near = int(((gaps > median / 2) & (gaps <= 1.5 * median)).sum())
    if median < _FEWEST_IN_ROW or stats.binom.sf(near - 1, len(gaps), _NEAR_MEDIAN) > _CHANCE:
        return None
    return round(median)


def constant(share: float) -> dict[str, float]:
    """The chain of slots that do not differ."""
    return {"clean": share, "lossy": share, "to_lossy": 0.0, "to_clean": 1.0}


def mean(chain: dict[str, Any]) -> float:
    """The share of samples that are lost in the long run."""
    lossy = chain["to_lossy"] / (chain["to_lossy"] + chain["to_clean"])
    return float((1 - lossy) * chain["clean"] + lossy * chain["lossy"])


def _one_level(sent: Floats, lost: Floats, reason: str) -> Found:
    beta = stats.beta(lost.sum() + 0.5, (sent - lost).sum() + 0.5)  # Jeffreys
    share = max(float(lost.sum() / sent.sum()), 1e-6)
    ends = [share, float(beta.ppf(0.05)), float(beta.ppf(0.95))]
    return Found(constant(share), {"clean": ends}, {"loss.lossy": reason})


def _log_likelihood(point: Floats, sent: Floats, lost: Floats, steps: NDArray[np.int64]) -> float:
    """That of the losses by slot, without the constant of the binomial distribution."""
    clean, lossy, to_lossy, to_clean = (float(each) for each in 1 / (1 + np.exp(-point)))
    each = [_binomial(lost, sent, probability) for probability in (clean, lossy)]
    rest = to_lossy / (to_lossy + to_clean)
    stays = float(1 - to_lossy - to_clean)
    top = np.maximum(each[0], each[1])
    total = float(top.sum())
    weights = zip(np.exp(each[0] - top).tolist(), np.exp(each[1] - top).tolist(), strict=True)
    probability = float(rest)
    likelihoods = []
    for (in_clean, in_lossy), step in zip(weights, steps.tolist(), strict=True):
        probability = rest + stays**step * (probability - rest) if step else probability
        likelihood = (1 - probability) * in_clean + probability * in_lossy
        likelihoods.append(likelihood)
        probability *= in_lossy / likelihood
    return total + float(np.log(likelihoods).sum())


def _binomial(lost: Floats, sent: Floats, probability: float) -> Floats:
    found: Floats = lost * np.log(probability) + (sent - lost) * np.log1p(-probability)
    return found


def _logit(probability: float) -> float:
    return float(np.log(probability / (1 - probability)))


def _minimum(objective: Callable[[Floats], float], start: Floats) -> tuple[Floats, Floats]:
    """The least point of an objective, and each coordinate's standard deviation by second derivatives."""
    point: Floats = optimize.minimize(objective, start, method="BFGS").x
    size = len(point)
    hessian = np.zeros((size, size))
    steps = _STEP * np.eye(size)
    for i in range(size):
        for j in range(i + 1):
            corners = [
                a * b * objective(point + a * steps[i] + b * steps[j]) for a in (1, -1) for b in (1, -1)
            ]
            hessian[i, j] = hessian[j, i] = sum(corners) / (4 * _STEP * _STEP)
    values, vectors = np.linalg.eigh(hessian)
    inverse = vectors @ np.diag(1 / np.maximum(values, 1 / _PRIOR_SD**2)) @ vectors.T
    deviation: Floats = np.sqrt(np.diag(inverse))
    return point, deviation


def one_way(round_trip: dict[str, Any]) -> dict[str, Any]:
    """The chain of each direction of two alike ones, whose losses together are those of a round trip.

    A round trip is lossy if one direction is: the shares of lossy slots are those by which that has the
    measured probability, a lossy state lasts as long, and the probabilities of loss add up.
    """
    clean = 1 - (1 - round_trip["clean"]) ** 0.5
    if round_trip["to_lossy"] == 0:
        return {**round_trip, "clean": clean, "lossy": clean}
    share = round_trip["to_lossy"] / (round_trip["to_lossy"] + round_trip["to_clean"])
    one = 1 - (1 - share) ** 0.5
    lossy = 1 - (1 - round_trip["lossy"]) / (1 - clean)
    to_clean = round_trip["to_clean"]
    to_lossy = min(1.0, to_clean * one / (1 - one))
    return {"clean": clean, "lossy": lossy, "to_lossy": to_lossy, "to_clean": to_clean}


def round_trip(each_way: dict[str, Any]) -> dict[str, Any]:
    """The chain of round trips over two directions alike: the inverse of `one_way`."""
    clean = 1 - (1 - each_way["clean"]) ** 2
    if each_way["to_lossy"] == 0:
        return {**each_way, "clean": clean, "lossy": clean}
    one = each_way["to_lossy"] / (each_way["to_lossy"] + each_way["to_clean"])
    share = 1 - (1 - one) ** 2
    to_clean = each_way["to_clean"]
    lossy = 1 - (1 - each_way["lossy"]) * (1 - each_way["clean"])
    to_lossy = min(1.0, to_clean * share / (1 - share))
    return {"clean": clean, "lossy": lossy, "to_lossy": to_lossy, "to_clean": to_clean}
