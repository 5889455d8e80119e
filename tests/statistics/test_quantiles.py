from __future__ import annotations

import statistics
from typing import Any

import numpy as np
import pytest
import scipy.stats

from leobench import InputError, stats

# Conover, "Practical nonparametric statistics", 3rd edition, p. 139: life of sixteen transistors.
TRANSISTORS = [
    46.9, 47.2, 49.1, 56.5, 56.8, 59.2, 59.9, 63.2, 63.3, 63.4, 63.7, 64.1, 67.1, 67.7, 73.3, 78.5,
]  # fmt: skip

# Published tables of intervals for the median: n, lower and upper rank, confidence in per cent.
MEDIANS = [
    (6, 1, 6, 96.9), (7, 1, 7, 98.4), (8, 1, 8, 99.2), (9, 2, 8, 96.1), (10, 2, 9, 97.9), (11, 2, 10, 98.8),
    (12, 3, 10, 96.1), (13, 3, 11, 97.8), (14, 3, 12, 98.7), (15, 4, 12, 96.5), (16, 4, 13, 97.9),
    (17, 5, 13, 95.1), (18, 5, 14, 96.9), (19, 5, 15, 98.1), (20, 6, 15, 95.9),
]  # fmt: skip


def scipys(values: Any, q: float, confidence: float) -> tuple[float | None, float | None]:
    interval: Any = scipy.stats.quantile_test(values, p=q).confidence_interval(confidence)
    low, high = (None if np.isnan(bound) else float(bound) for bound in interval)
    return low, high


def test_quantiles_are_those_of_the_standard_library() -> None:
    values = np.random.default_rng(1).exponential(size=101).tolist()
    theirs = statistics.quantiles(values, n=20, method="inclusive")
    assert [stats.quantile(values, k / 20) for k in range(1, 20)] == pytest.approx(theirs)
    assert stats.quantile([1.0, 2.0], 0.5) == 1.5
    assert stats.quantile([7.0], 0.9) == 7.0


@pytest.mark.parametrize(("n", "lower", "upper", "published"), MEDIANS)
def test_intervals_of_the_median_are_the_published_ones(
    n: int, lower: int, upper: int, published: float
) -> None:
    values = np.arange(1.0, n + 1)
    estimate = stats.quantile_interval(np.random.default_rng(n).permutation(values), 0.5)
    assert (estimate.low, estimate.high) == (lower, upper)
    assert estimate.note is None
    # Just as confident as the table says, and no more: asking for more widens the interval.
    assert stats.quantile_interval(values, 0.5, (published - 0.1) / 100).low == lower
    assert stats.quantile_interval(values, 0.5, (published + 0.1) / 100).low != lower


def test_the_interval_of_an_upper_quartile_is_scipys() -> None:
    """SciPy's example after Conover: a one-sided 95 % bound each way makes 90 %."""
    estimate = stats.quantile_interval(TRANSISTORS, 0.75, 0.9)
    assert (estimate.low, estimate.high) == scipys(TRANSISTORS, 0.75, 0.9)


@pytest.mark.parametrize("q", [0.05, 0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("n", [3, 5, 30, 72, 200, 1_000])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_intervals_equal_scipys_and_lack_a_bound_where_scipys_do(q: float, n: int, confidence: float) -> None:
    values = np.random.default_rng(n).lognormal(size=n)
    estimate = stats.quantile_interval(values, q, confidence)
    assert (estimate.low, estimate.high) == scipys(values, q, confidence)
    assert (estimate.note is None) == (estimate.low is not None and estimate.high is not None)


def test_too_few_values_are_told_how_many_it_takes() -> None:
    values = np.arange(1.0, 31.0)
    estimate = stats.quantile_interval(values, 0.95)
    assert (estimate.low, estimate.high) == (26.0, None)
    assert estimate.note == "no upper bound: at 95 % the 95 % quantile needs 72 values, here 30"
    # 0.95^72 = 0.0249, and 0.95^71 = 0.0262.
    assert stats.quantile_interval(np.arange(71.0), 0.95).high is None
    assert stats.quantile_interval(np.arange(72.0), 0.95).high == 71.0
    few = stats.quantile_interval(np.arange(5.0), 0.5)
    assert few.note == "no bound: at 95 % the 50 % quantile needs 6 values, here 5"
    low = stats.quantile_interval(values, 0.01)
    assert low.low is None
    assert low.note is not None
    assert low.note.startswith("no lower bound")


@pytest.mark.parametrize("q", [0.5, 0.9])
@pytest.mark.parametrize("law", ["normal", "lognormal"])
def test_intervals_cover_whatever_the_distribution(q: float, law: str) -> None:
    distribution = {"normal": scipy.stats.norm(), "lognormal": scipy.stats.lognorm(1.0)}[law]
    truth, n, trials = float(distribution.ppf(q)), 60, 2_000
    samples = distribution.rvs((trials, n), random_state=np.random.default_rng(3))
    hits = 0
    for values in samples:
        estimate = stats.quantile_interval(values, q)
        assert estimate.low is not None
        assert estimate.high is not None
        hits += estimate.low <= truth <= estimate.high
    # What the ranks promise, from SciPy's binomial.
    ranks = stats.quantile_interval(np.arange(1.0, n + 1), q)
    assert ranks.low is not None
    assert ranks.high is not None
    promised = scipy.stats.binom.cdf(ranks.high - 1, n, q) - scipy.stats.binom.cdf(ranks.low - 1, n, q)
    assert promised >= 0.95
    assert hits / trials == pytest.approx(promised, abs=4 * (promised * (1 - promised) / trials) ** 0.5)


@pytest.mark.parametrize("q", [0.0, 1.0, 95.0])
def test_impossible_quantiles_are_refused(q: float) -> None:
    with pytest.raises(InputError, match=f"q = {q:g}; allowed: more than 0, less than 1"):
        stats.quantile([1.0], q)
    with pytest.raises(InputError, match="allowed: more than 0, less than 1"):
        stats.quantile_interval([1.0], q)
