"""The mean of a sample with its confidence interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit

from leobench.errors import InputError
from leobench.stats.estimate import Estimate, percent, sample, share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from leobench.stats.estimate import Array

Method = Literal["t", "bootstrap", "studentised"]

# Below, resampling knows too little of the tails, and Student's t is at least right for normal values.
_FEW = 30

# Above, the t interval is as good as the bootstrap's, and costs nothing.
_MANY = 10_000

# Monte Carlo error of a 2.5 % tail: 0.16 %.
RESAMPLES = 10_000

# Resamples that must lie beyond each end of an interval: their number then is right to about a third.
_BEYOND = 10

# How far beyond 1 rounding may take a correlation.
_ROUNDING = 1e-9

# Resampled values in memory at once.
_BLOCK = 1 << 21


def mean_interval(
    values: ArrayLike,
    confidence: float = 0.95,
    method: Method | None = None,
    seed: int = 1,
    resamples: int = RESAMPLES,
) -> Estimate:
    """The mean of independent values with its two-sided, equal-tailed confidence interval.

    - `"t"`: Student's t (Student, "The probable error of a mean", Biometrika 6, 1908). Exact for normal
      values at any n; covers less on skewed ones until n is large.
    - `"bootstrap"`: percentiles of resampled means (Efron and Tibshirani, "An introduction to the
      bootstrap", 1993, chapter 13). Too narrow for small n: about the factor sqrt((n - 1) / n), and normal
      instead of t quantiles (Hesterberg, "What teachers should know about the bootstrap", The American
      Statistician 69, 2015), which leaves 84 % of 95 % at n = 5.
    - `"studentised"`: the bootstrap-t (same book, section 12.5). Follows skewness to second order; wide and
      restless for small n.

    Args:
        values: One value per run, in any unit.
        confidence: The share of such intervals meant to cover the true mean.
        method: As above; by default `"t"` up to 29 values and beyond 10,000, `"studentised"` between.
            The estimate says which.
        seed: Seed of the resampling; the same seed gives the same interval.
        resamples: How often to resample; the note says where a high confidence needs more.

    Returns:
        The mean; without an interval if a single value is all there is.

    Raises:
        InputError: If there are no values, one is not finite, or an argument is out of range.
    """
    array = sample(values, "values")
    share(confidence, "confidence")
    if method is not None and method not in get_args(Method):
        raise InputError(f"method = {method}; allowed: {', '.join(get_args(Method))}")
    n = len(array)
    used = method or ("studentised" if _FEW <= n <= _MANY else "t")
    mean = float(np.mean(array))
    if n == 1:
        return Estimate(mean, None, None, n, confidence, used, "one value has no interval")
    if np.all(array == array[0]):
        value = float(array[0])
        return Estimate(value, value, value, n, confidence, used, "all values are equal")
    if used == "t":
        note = None if method or n >= _FEW else f"t, because n = {n} is small: assumes near-normal values"
        return Estimate(mean, *t_bounds(array, confidence), n, confidence, used, note)
    if resamples < 2:
        raise InputError(f"resamples = {resamples}; allowed: 2 or more")
    bounds: tuple[float | None, float | None]
    if used == "bootstrap":
        bounds = _percentile(array, confidence, seed, resamples)
        note = _narrowness(n, confidence)
    else:
        bounds = _studentised(array, confidence, seed, resamples)
        note = None if None not in bounds else f"n = {n} is too small: too many resamples have no spread"
    notes = filter(None, (note, _coarseness(confidence, resamples)))
    return Estimate(mean, *bounds, n, confidence, used, "; ".join(notes) or None)


def mean_correlation(correlations: ArrayLike, confidence: float = 0.95) -> Estimate:
    """The mean correlation of independent runs, with its interval, by Fisher's transformation.

    z = artanh(r) is near normal (Fisher, "On the probable error of a coefficient of correlation deduced
    from a small sample", Metron 1, 1921). The interval is Student's of the mean of z, and both are
    transformed back, so it never leaves [-1, 1]. Such means are less biased than those of r (Silver and
    Dunlap, "Averaging correlation coefficients: should Fisher's z transformation be used?", Journal of
    Applied Psychology 72, 1987).

    Args:
        correlations: One coefficient per run.
        confidence: The share of such intervals meant to cover the true mean.

    Returns:
        The mean; without an interval for a single run, or if a coefficient is 1 or -1, which has no z.

    Raises:
        InputError: If there are no values, one is not between -1 and 1, or `confidence` is out of range.
    """
    array = sample(correlations, "correlations")
    share(confidence, "confidence")
    wrong = np.flatnonzero(np.abs(array) > 1 + _ROUNDING)
    if len(wrong):
        raise InputError(f"correlations[{wrong[0]}] = {array[wrong[0]]:g}; allowed: from -1 to 1")
    n, method = len(array), "Fisher's z, t"
    if np.any(np.abs(array) >= 1):
        note = "a correlation of 1 or -1 has no z, so there is no interval"
        return Estimate(float(np.mean(array)), None, None, n, confidence, method, note)
    z = np.arctanh(array)
    mean = float(np.tanh(np.mean(z)))
    if n == 1:
        return Estimate(mean, None, None, n, confidence, method, "one value has no interval")
    low, high = np.tanh(t_bounds(z, confidence))
    return Estimate(mean, float(low), float(high), n, confidence, method)


def t_bounds(array: Array, confidence: float) -> tuple[float, float]:
    """Student's t interval of the mean of at least two values."""
    n = len(array)
    reach = float(stdtrit(n - 1, (1 + confidence) / 2)) * float(np.std(array, ddof=1)) / n**0.5
    mean = float(np.mean(array))
    return mean - reach, mean + reach


def percentile_coverage(n: int, confidence: float) -> float:
    """How often percentile intervals of `n` normal values cover the mean, to first order.

    The spread of resampled means lacks the factor n / (n - 1), and their tails are the normal
    distribution's, not Student's (Hesterberg 2015, section 4.3).
    """
    quantile = float(ndtri((1 + confidence) / 2))
    return 2 * float(stdtr(n - 1, quantile * ((n - 1) / n) ** 0.5)) - 1


def _narrowness(n: int, confidence: float) -> str | None:
    covered = percentile_coverage(n, confidence)
    if confidence - covered < 0.01:
        return None
    reached, meant = f"{100 * covered:.0f} %", percent(confidence)
    return f"too narrow: at n = {n} percentile intervals cover {reached} at best, not {meant}"


def _coarseness(confidence: float, resamples: int) -> str | None:
    tail = (1 - confidence) / 2
    # Free of the rounding of 1 - 0.998.
    beyond = round(tail * resamples, 9)
    if beyond >= _BEYOND:
        return None
    fault = "too narrow" if beyond < 1 else "coarse"
    return (
        f"{fault}: of {resamples:,} resamples {beyond:.2g} lie beyond each end; "
        f"{percent(confidence)} takes resamples = {math.ceil(round(_BEYOND / tail, 6))}"
    )


def _resampled(array: Array, seed: int, resamples: int) -> Iterator[Array]:
    """Blocks of samples of the size of the array, drawn from it with replacement, one per row."""
    rng = np.random.default_rng(seed)
    n = len(array)
    rows = max(1, _BLOCK // n)
    for start in range(0, resamples, rows):
        yield array[rng.integers(0, n, size=(min(rows, resamples - start), n))]


def _percentile(array: Array, confidence: float, seed: int, resamples: int) -> tuple[float, float]:
    means = np.concatenate([block.mean(axis=1) for block in _resampled(array, seed, resamples)])
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _studentised(
    array: Array, confidence: float, seed: int, resamples: int
) -> tuple[float | None, float | None]:
    """Bounds of the bootstrap-t; none on a side whose tail is made of resamples without spread."""
    n = len(array)
    mean = np.mean(array)
    statistics = []
    for block in _resampled(array, seed, resamples):
        deviations = block.mean(axis=1) - mean
        errors = block.std(axis=1, ddof=1) / n**0.5
        flat = np.ptp(block, axis=1) == 0
        statistics.append(
            np.where(flat, np.copysign(np.inf, deviations), deviations / np.where(flat, 1.0, errors))
        )
    # No interpolation: between a number and infinity there is none.
    below, above = np.quantile(
        np.concatenate(statistics), [(1 - confidence) / 2, (1 + confidence) / 2], method="inverted_cdf"
    )
    error = np.std(array, ddof=1) / n**0.5
    low, high = float(mean - above * error), float(mean - below * error)
    return (low if np.isfinite(low) else None, high if np.isfinite(high) else None)
