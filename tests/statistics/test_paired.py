from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats

from leobench import InputError, stats

# Darwin's maize as in Fisher, "The design of experiments" (1935), table 3: differences in eighths of an inch.
MAIZE = [49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0, -48.0]


def bounds(estimate: stats.Estimate | None) -> tuple[float, float]:
    assert estimate is not None
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low, estimate.high


def test_fishers_example() -> None:
    result = stats.paired(np.zeros(15), MAIZE)
    # Section 21: 863 of the 32,768 sums are 314 or more, as many -314 or less.
    assert result.p_value == 2 * 863 / 32_768
    assert result.test == "exact"
    assert not result.significant
    # Section 17: mean 20.93, its standard error 9.75, t = 2.148.
    assert result.difference.value == pytest.approx(20.93, abs=0.005)
    low, high = bounds(result.difference)
    assert (high - low) / 2 == pytest.approx(2.145 * 9.746, abs=0.01)
    # Student's t just rejects, p = 0.0497: its interval leaves zero out.
    assert low > 0


@pytest.mark.parametrize("n", [2, 5, 9, 13])
def test_the_exact_test_and_the_interval_equal_scipys(n: int) -> None:
    rng = np.random.default_rng(n)
    a = rng.lognormal(size=n)
    b = a + rng.normal(0.3, 0.5, size=n)
    result = stats.paired(a, b)
    theirs = scipy.stats.permutation_test(
        (b, a), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples",
        vectorized=True, n_resamples=2**n,
    )  # fmt: skip
    assert result.p_value == pytest.approx(theirs.pvalue)
    assert (result.mean_a, result.mean_b) == pytest.approx((np.mean(a), np.mean(b)))
    interval = scipy.stats.ttest_rel(b, a).confidence_interval(0.95)
    assert bounds(result.difference) == pytest.approx((interval.low, interval.high))


def test_ties_count_as_far_from_zero_whatever_the_rounding() -> None:
    # The sum is 0.6 in one order and 0.6000000000000001 in another.
    differences = [0.1, 0.2, 0.3, 0.0]
    sums = [abs(sum(s * round(10 * d) for s, d in zip(signs, differences, strict=True)))
            for signs in itertools.product((1, -1), repeat=4)]  # fmt: skip
    result = stats.paired(np.zeros(4), differences)
    assert result.p_value == sum(total >= 6 for total in sums) / 16 == 0.25


def test_drawn_signs_agree_with_all_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = stats.paired(np.zeros(15), MAIZE)
    monkeypatch.setattr("leobench.stats.comparison._EXACT", 10)
    drawn = stats.paired(np.zeros(15), MAIZE)
    assert drawn.test == "Monte Carlo"
    # Standard error of a share of 100,000 near 5 %: 0.0007.
    assert drawn.p_value == pytest.approx(exact.p_value, abs=4 * 0.0007)
    assert drawn.p_value == stats.paired(np.zeros(15), MAIZE).p_value
    assert drawn.p_value != stats.paired(np.zeros(15), MAIZE, seed=2).p_value


def test_many_pairs_agree_with_the_normal_distribution() -> None:
    differences = np.random.default_rng(8).normal(0.15, 1.0, size=200)
    result = stats.paired(np.zeros(200), differences)
    score = np.sum(differences) / np.sqrt(np.sum(differences**2))
    assert result.test == "Monte Carlo"
    assert result.p_value == pytest.approx(2 * scipy.stats.norm.sf(abs(score)), abs=0.003)
    certain = stats.paired(np.zeros(200), np.ones(200))
    assert certain.p_value == certain.smallest_p == 1 / 100_000


def test_the_tests_reject_equal_variants_as_often_as_they_say() -> None:
    rng = np.random.default_rng(4)
    trials, n = 1_000, 10
    rejected = sum(stats.paired(*rng.standard_t(3, size=(2, n))).significant for _ in range(trials))
    # An exact test of 512 distinct outcomes: level 25.6/512 rounded down to 25/512... at most 5 %.
    level = 25 / 512
    assert rejected / trials == pytest.approx(level, abs=4 * (level * (1 - level) / trials) ** 0.5)


def test_common_random_numbers_sharpen_the_comparison() -> None:
    rng = np.random.default_rng(5)
    channel = rng.normal(100.0, 20.0, size=30)
    a, b = channel + rng.normal(0, 1, 30), channel + 2 + rng.normal(0, 1, 30)
    together = bounds(stats.paired(a, b).difference)
    assert together[0] > 0
    apart = bounds(stats.paired(a, rng.permutation(b)).difference)
    assert apart[1] - apart[0] > 5 * (together[1] - together[0])


def test_relative_differences_and_their_intervals() -> None:
    rng = np.random.default_rng(6)
    a = rng.normal(100.0, 10.0, size=12)
    b = 1.2 * a + rng.normal(0.0, 5.0, size=12)
    result = stats.paired(a, b, confidence=0.9)
    assert result.relative is not None
    assert result.relative.value == pytest.approx(np.mean(b) / np.mean(a) - 1)
    low, high = bounds(result.relative)
    assert low < result.relative.value < high
    # Fieller's bounds are the ratios that a paired t test just rejects.
    for bound in (low, high):
        assert scipy.stats.ttest_rel(b, (1 + bound) * a).pvalue == pytest.approx(0.1)


def test_fiellers_interval_covers_the_ratio() -> None:
    rng = np.random.default_rng(9)
    trials, hits = 2_000, 0
    for _ in range(trials):
        a = rng.normal(10.0, 2.0, size=5)
        low, high = bounds(stats.paired(a, 0.5 * a + rng.normal(1.0, 1.0, size=5)).relative)
        hits += low <= (0.5 * 10 + 1) / 10 - 1 <= high
    # Normal values: exact, so only the binomial's spread.
    assert hits / trials == pytest.approx(0.95, abs=4 * (0.95 * 0.05 / trials) ** 0.5)


def test_a_ratio_to_what_may_be_zero_has_no_interval() -> None:
    result = stats.paired([-1.0, 2.0, 0.5], [3.0, 4.0, 6.0])
    assert result.relative is not None
    assert (result.relative.low, result.relative.high) == (None, None)
    assert result.relative.note == "the mean that is divided by is not known to differ from zero"
    assert stats.paired([-1.0, 1.0], [3.0, 4.0]).relative is None


def test_small_samples_say_so() -> None:
    five = stats.paired([1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 4.0, 4.5, 6.5, 8.0])
    assert five.p_value == five.smallest_p == 2 / 32
    assert "smallest_p=0.0625," in repr(five)
    numbers = (five.mean_a, five.mean_b, five.p_value, five.smallest_p)
    assert {type(each) for each in numbers} == {float}
    assert not five.significant
    assert five.note == (
        "with 5 unequal pairs no p-value can be below 0.0625: nothing can be significant at 5 %"
    )
    assert stats.paired(np.zeros(6), np.ones(6)).significant
    assert stats.paired(np.zeros(6), np.ones(6)).note is None
    # A pair without difference tells nothing: both its signs are the same.
    padded = stats.paired(np.zeros(6), [1.0, 1.0, 1.0, 1.0, 1.0, 0.0])
    assert padded.p_value == padded.smallest_p == 2 / 32
    assert padded.note == five.note
    one = stats.paired([1.0], [2.0])
    assert (one.difference.low, one.p_value, one.difference.note) == (None, 1.0, "one pair has no interval")
    equal = stats.paired([10.0, 11.0], [10.0, 11.0])
    assert (equal.p_value, equal.note) == (1.0, "a and b are equal in every pair")
    assert bounds(equal.difference) == bounds(equal.relative) == (0.0, 0.0)


def test_what_is_no_pair_is_refused() -> None:
    with pytest.raises(InputError, match="a has 1 value, b 2; allowed: pairs"):
        stats.paired([1.0], [1.0, 2.0])
    with pytest.raises(InputError, match="a: 0 values; allowed: 1 or more"):
        stats.paired([], [])
    with pytest.raises(InputError, match=r"b\[0\] = inf; allowed: finite numbers"):
        stats.paired([1.0], [float("inf")])
    with pytest.raises(InputError, match="confidence = 1; allowed"):
        stats.paired([1.0], [2.0], confidence=1)
