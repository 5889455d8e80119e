"""Comparison of two variants run under common random numbers: pair k saw the same channel and arrivals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from leobench.errors import InputError, counted
from leobench.stats.estimate import Estimate, percent, sample, share
from leobench.stats.mean import t_bounds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from leobench.stats.estimate import Array

# Up to so many pairs all 2**n signs are tried.
_EXACT = 20
_DRAWS = 99_999

# Degrees of freedom of an interval on the log scale: never fewer.
_LEAST_FREEDOM = 0.5

# The longest reach of an interval on the log scale, a factor of 5e11: a float tells its low end from zero.
_LONGEST_REACH = 27.0

# Signs in memory at once.
_BLOCK = 1 << 21

# Sums that differ by rounding only are equal.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Comparison:
    """How variant b differs from variant a.

    Attributes:
        mean_a: Mean of a.
        mean_b: Mean of b.
        difference: Mean of b - a over the pairs, with Student's t interval.
        relative: mean_b / mean_a - 1, with Fieller's interval; if all values are positive and Fieller's
            interval allows a ratio of zero, with one on the log scale; None where mean_a is zero.
        p_value: Two-sided p-value of the sign-flip test.
        smallest_p: The smallest p-value that so many pairs allow.
        test: `"exact"`, or `"Monte Carlo"` with more than 20 pairs.
        note: What a reader must know before trusting it, if anything.
    """

    mean_a: float
    mean_b: float
    difference: Estimate
    relative: Estimate | None
    p_value: float
    smallest_p: float
    test: str
    note: str | None = None

    @property
    def significant(self) -> bool:
        """Whether the sign-flip test rejects equality at the level 1 - confidence."""
        return self.p_value <= _level(self.difference.confidence)


def paired(a: ArrayLike, b: ArrayLike, confidence: float = 0.95, seed: int = 1) -> Comparison:
    """Compares two variants pair by pair.

    If a and b were alike, every difference b - a could as well have had the other sign: the p-value is the
    share of all 2**n assignments of signs whose sum is as far from zero as the one seen (Fisher, "The design
    of experiments", 1935, section 21). With more than 20 pairs 99,999 assignments are drawn, and the one
    seen counts among them (Phipson and Smyth, "Permutation p-values should never be zero", Statistical
    Applications in Genetics and Molecular Biology 9, 2010). The interval of the relative difference holds
    the ratios r for which the t interval of b - r a covers zero (Fieller, "Some problems in interval
    estimation", Journal of the Royal Statistical Society B 16, 1954).

    Args:
        a: One value per run of variant a.
        b: One value per run of variant b, in the order of a.
        confidence: Of both intervals.
        seed: Seed of the draws.

    Raises:
        InputError: If there are no pairs, the lengths differ, or a value is not finite.
    """
    before, after = _pairs(a, b, confidence)
    differences = after - before
    p_value, test = _sign_flip(differences, seed)
    smallest = min(1.0, 2.0 ** (1 - int(np.count_nonzero(differences))))
    if test != "exact":
        smallest = max(smallest, 1 / (_DRAWS + 1))
    return Comparison(
        float(np.mean(before)),
        float(np.mean(after)),
        _difference(differences, confidence),
        _relative(before, after, confidence),
        p_value,
        smallest,
        test,
        _note(differences, smallest, confidence),
    )


def relative(a: ArrayLike, b: ArrayLike, confidence: float = 0.95) -> Estimate:
    """How far the mean of b is above that of a, relative to a: the `relative` of `paired`, without its test.

    Args:
        a: One value per run of variant a.
        b: One value per run of variant b, in the order of a.
        confidence: Of the interval: Fieller's, or one on the log scale (`Comparison.relative`).

    Raises:
        InputError: As `paired`, and if the mean of a is zero.
    """
    before, after = _pairs(a, b, confidence)
    estimate = _relative(before, after, confidence)
    if estimate is None:
        raise InputError("a: its mean is zero; allowed: anything else to compare with")
    return estimate


def _pairs(a: ArrayLike, b: ArrayLike, confidence: float) -> tuple[Array, Array]:
    before, after = sample(a, "a"), sample(b, "b")
    if len(before) != len(after):
        raise InputError(f"a has {counted(len(before), 'value')}, b {len(after)}; allowed: pairs")
    share(confidence, "confidence")
    return before, after


def _level(confidence: float) -> float:
    """The level of significance, free of the rounding of 1 - 0.95."""
    return round(1 - confidence, 12)


def _note(differences: Array, smallest: float, confidence: float) -> str | None:
    if not differences.any():
        return "a and b are equal in every pair"
    if smallest <= _level(confidence):
        return None
    pairs = counted(int(np.count_nonzero(differences)), "unequal pair")
    return (
        f"with {pairs} no p-value can be below {smallest:.3g}: "
        f"nothing can be significant at {percent(_level(confidence))}"
    )


def _difference(differences: Array, confidence: float) -> Estimate:
    n = len(differences)
    mean = float(np.mean(differences))
    if n == 1:
        return Estimate(mean, None, None, n, confidence, "t", "one pair has no interval")
    return Estimate(mean, *t_bounds(differences, confidence), n, confidence, "t")


def _relative(a: Array, b: Array, confidence: float) -> Estimate | None:
    n, mean_a, mean_b = len(a), float(np.mean(a)), float(np.mean(b))
    if mean_a == 0:
        return None
    value = mean_b / mean_a - 1
    if n == 1:
        return Estimate(value, None, None, n, confidence, "Fieller", "one pair has no interval")
    # The ratio of the means leaves residuals of mean zero, so the quadratic inequality has no cancellation.
    residuals = b - mean_b / mean_a * a
    (var_a, cov), (_, var_residuals) = (
        np.cov(a, residuals) / n * float(stdtrit(n - 1, (1 + confidence) / 2)) ** 2
    )
    square = mean_a**2 - var_a
    positive = bool((a > 0).all() and (b > 0).all())
    if square <= 0:
        if positive:
            return _log_ratio(a, b, confidence)
        note = "the mean that is divided by is not known to differ from zero"
        return Estimate(value, None, None, n, confidence, "Fieller", note)
    reach = float(np.sqrt(cov**2 + square * var_residuals))
    low, high = value - float(cov + reach) / square, value - float(cov - reach) / square
    if positive and low <= -1:
        return _log_ratio(a, b, confidence)
    return Estimate(value, float(low), float(high), n, confidence, "Fieller")


def _log_ratio(a: Array, b: Array, confidence: float) -> Estimate:
    """The relative difference of positive values, with an interval whose ratios are positive.

    Student's interval around the logarithm of the ratio of the means. Its standard error is the larger of
    two: that of the delta method, and that of the mean log ratio of the pairs, which a few large values
    cannot hide. Its degrees of freedom are those of the effective number of pairs, (sum x)**2 / sum x**2
    (Kish, "Survey sampling", 1965), because large values dominate both means.
    `tests/statistics/test_ratio.py` checks the coverage.
    """
    n, mean_a, mean_b = len(a), float(np.mean(a)), float(np.mean(b))
    residuals, ratios = b / mean_b - a / mean_a, np.log(b) - np.log(a)
    error = max(float(np.std(each, ddof=1)) for each in (residuals, ratios)) / np.sqrt(n)
    effective = min(float(np.sum(each)) ** 2 / float(np.sum(each**2)) for each in (a, b))
    reach = float(stdtrit(max(effective - 1, _LEAST_FREEDOM), (1 + confidence) / 2)) * error
    factor, ratio = float(np.exp(min(reach, _LONGEST_REACH))), mean_b / mean_a
    low, high = ratio / factor - 1, ratio * factor - 1
    return Estimate(ratio - 1, low, high, n, confidence, "log", "Fieller's interval reaches zero")


def _sign_flip(differences: Array, seed: int) -> tuple[float, str]:
    """The two-sided p-value, and how it was computed."""
    reached = abs(float(np.sum(differences))) - _ROUNDING * float(np.sum(np.abs(differences)))
    if len(differences) <= _EXACT:
        # Turning all signs leaves the distance from zero, so the first may stay.
        sums = differences[:1]
        for difference in differences[1:]:
            sums = np.concatenate([sums + difference, sums - difference])
        return float(np.mean(np.abs(sums) >= reached)), "exact"
    rng = np.random.default_rng(seed)
    rows = max(1, _BLOCK // len(differences))
    extreme = 0
    for start in range(0, _DRAWS, rows):
        size = (min(rows, _DRAWS - start), len(differences))
        signs = 2.0 * rng.integers(0, 2, size=size, dtype=np.int8) - 1.0
        extreme += int(np.count_nonzero(np.abs(signs @ differences) >= reached))
    return (extreme + 1) / (_DRAWS + 1), "Monte Carlo"
