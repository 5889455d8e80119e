from __future__ import annotations

import itertools
from typing import cast

import numpy as np
import pytest
import scipy.stats

from leobench import InputError, stats
from leobench.stats.estimate import percent
from leobench.stats.mean import percentile_coverage
from tools import coverages

# Student (1908), the additional hours of sleep gained by ten patients with two drugs.
SLEEP_1 = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SLEEP_2 = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def bounds(estimate: stats.Estimate) -> tuple[float, float]:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low, estimate.high


def test_the_t_interval_of_students_own_data() -> None:
    # R: t.test(extra ~ group, sleep, paired = TRUE) prints 0.7001142 2.4598858, mean 1.58.
    gained = np.subtract(SLEEP_2, SLEEP_1)
    estimate = stats.mean_interval(gained, method="t")
    assert estimate.value == pytest.approx(1.58)
    assert bounds(estimate) == pytest.approx((0.7001142, 2.4598858), abs=5e-8)
    assert (estimate.n, estimate.confidence, estimate.method, estimate.note) == (10, 0.95, "t", None)


@pytest.mark.parametrize("n", [2, 5, 30, 200])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
def test_the_t_interval_equals_scipys(n: int, confidence: float) -> None:
    values = np.random.default_rng(n).lognormal(size=n)
    theirs = scipy.stats.ttest_1samp(values, 0.0).confidence_interval(confidence)
    ours = bounds(stats.mean_interval(values, confidence, "t"))
    assert ours == pytest.approx((theirs.low, theirs.high), rel=1e-9)


@pytest.mark.parametrize("n", [5, 30, 200])
def test_the_percentile_bootstrap_agrees_with_scipys(n: int) -> None:
    values = np.random.default_rng(n).exponential(size=n)
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=100_000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    estimate = stats.mean_interval(values, method="bootstrap", resamples=100_000)
    # Both draw: a 2.5 % quantile of 100,000 normal means has a standard error of 0.0085 of their spread.
    spread = np.std(values) / n**0.5
    assert bounds(estimate) == pytest.approx((theirs.low, theirs.high), abs=5 * 2**0.5 * 0.0085 * spread)


def test_the_percentile_bootstrap_agrees_with_all_resamples() -> None:
    values = np.array([1.2, 0.4, 5.1, 2.2, 0.9])
    every = np.array(list(itertools.product(values, repeat=5))).mean(axis=1)
    ours = bounds(stats.mean_interval(values, method="bootstrap", resamples=200_000))
    # The 3,125 resamples have few distinct means: the neighbours of the exact quantile are as good.
    for bound, q in zip(ours, (0.025, 0.975), strict=True):
        assert np.quantile(every, q - 0.003) <= bound <= np.quantile(every, q + 0.003)


def test_the_studentised_bootstrap_agrees_with_all_resamples() -> None:
    values = np.array([1.2, 0.4, 5.1, 2.2, 0.9])
    every = np.array(list(itertools.product(values, repeat=5)))
    every = every[np.ptp(every, axis=1) > 0]
    pivots = (every.mean(axis=1) - values.mean()) / scipy.stats.sem(every, axis=1)
    # The five resamples without spread are infinite: one value lies above the mean, four below.
    pivots = np.concatenate([pivots, [np.inf] * 2, [-np.inf] * 3])
    assert [float(v) > values.mean() for v in values].count(True) == 2
    estimate = stats.mean_interval(values, method="studentised", resamples=200_000)
    low, high = bounds(estimate)
    error = float(scipy.stats.sem(values))
    for reached, q in (((values.mean() - low) / error, 0.975), ((values.mean() - high) / error, 0.025)):
        nearby = np.quantile(pivots, [q - 0.003, q + 0.003], method="inverted_cdf")
        assert nearby[0] <= reached <= nearby[1]


@pytest.mark.parametrize("n", [30, 200])
def test_the_studentised_bootstrap_agrees_with_one_made_of_scipys(n: int) -> None:
    values = np.random.default_rng(n).lognormal(size=n)
    low, high = coverages.studentised(values[None, :], np.random.default_rng(1), resamples=19_999)
    ours = bounds(stats.mean_interval(values, method="studentised", resamples=20_000))
    error = float(scipy.stats.sem(values))
    # Standard error of a tail quantile of 20,000 normal pivots: 0.02; skewness makes the long tail coarser.
    assert ours == pytest.approx((low[0], high[0]), abs=0.25 * error)
    # Right-skewed values: the mean may well be far above, so the interval reaches up.
    assert ours[1] - values.mean() > values.mean() - ours[0]


def holds_its_rate(method: str, n: int, law: coverages.Law, trials: int) -> None:
    mean, draw = coverages.LAWS[law]
    hits = 0
    for seed, values in enumerate(draw(np.random.default_rng(7), (trials, n))):
        estimate = stats.mean_interval(values, method=cast("stats.Method", method), seed=seed, resamples=799)
        low = -np.inf if estimate.low is None else estimate.low
        high = np.inf if estimate.high is None else estimate.high
        hits += low <= mean <= high
    expected = coverages.TABLE[method, n, law]
    # Four standard deviations of both binomials: 1 of 16,000 such tests would fail by chance.
    error = (expected * (1 - expected) * (1 / trials + 1 / coverages.DATA_SETS[method])) ** 0.5
    assert hits / trials == pytest.approx(expected, abs=4 * error)


@pytest.mark.parametrize(("method", "n", "law"), coverages.TABLE)
def test_intervals_cover_the_mean_as_often_as_they_should(method: str, n: int, law: coverages.Law) -> None:
    holds_its_rate(method, n, law, 3_000 if method == "t" else 1_000 if n < 200 else 300)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "n", "law"), coverages.TABLE)
def test_intervals_cover_the_mean_to_a_per_cent(method: str, n: int, law: coverages.Law) -> None:
    holds_its_rate(method, n, law, 40_000 if method == "t" else 10_000 if n < 200 else 5_000)


def test_what_theory_says_of_the_table() -> None:
    """Student's t is exact for normal values; percentile intervals are too narrow; both miss skewness."""
    table = coverages.TABLE
    for n in (5, 30, 200):
        error = (0.95 * 0.05 / coverages.DATA_SETS["t"]) ** 0.5
        assert table["t", n, "normal"] == pytest.approx(0.95, abs=4 * error)
        assert table["bootstrap", n, "normal"] == pytest.approx(percentile_coverage(n, 0.95), abs=0.015)
        for law in ("exponential", "lognormal"):
            assert table["bootstrap", n, law] < table["t", n, law] + 0.003
            assert table["t", n, law] < table["studentised", n, law] + 0.003
    # The studentised bootstrap's error falls with n, so by 200 it is within a per cent or two.
    assert table["studentised", 200, "exponential"] == pytest.approx(0.95, abs=0.01)


def test_how_narrow_percentile_intervals_are() -> None:
    # Probability that |t| with 4 degrees of freedom stays below 1.96 sqrt(4/5).
    expected = scipy.stats.t.cdf(1.959964 * 0.8**0.5, 4) - scipy.stats.t.cdf(-1.959964 * 0.8**0.5, 4)
    assert percentile_coverage(5, 0.95) == pytest.approx(expected, abs=1e-6)
    assert round(percentile_coverage(5, 0.95), 2) == 0.85
    assert percentile_coverage(1_000_000, 0.95) == pytest.approx(0.95, abs=1e-5)


def test_the_method_by_default_and_what_it_says() -> None:
    values = np.random.default_rng(1).normal(size=20_000)
    few = stats.mean_interval(values[:5])
    assert (few.method, few.note) == ("t", "t, because n = 5 is small: assumes near-normal values")
    assert stats.mean_interval(values[:29]).method == "t"
    some = stats.mean_interval(values[:30])
    assert (some.method, some.note) == ("studentised", None)
    assert (stats.mean_interval(values).method, stats.mean_interval(values).note) == ("t", None)


def test_small_samples_say_so() -> None:
    one = stats.mean_interval([3.0])
    assert (one.value, one.low, one.high, one.note) == (3.0, None, None, "one value has no interval")
    narrow = stats.mean_interval([1.0, 2.0, 3.0, 4.0, 6.0], method="bootstrap")
    assert narrow.note is not None
    assert narrow.note == "too narrow: at n = 5 percentile intervals cover 85 % at best, not 95 %"
    assert stats.mean_interval(np.arange(200.0), method="bootstrap").note is None
    # Of three values, one resample in nine has no spread: more than the tails hold.
    unbounded = stats.mean_interval([1.0, 2.0, 4.0], method="studentised")
    assert (unbounded.low, unbounded.high) == (None, None)
    assert unbounded.note is not None
    assert "too small" in unbounded.note
    equal = stats.mean_interval([0.1] * 3)
    assert (equal.value, equal.low, equal.high, equal.note) == (0.1, 0.1, 0.1, "all values are equal")


@pytest.mark.parametrize("method", ["bootstrap", "studentised"])
def test_too_few_resamples_for_a_high_confidence_are_told(method: stats.Method) -> None:
    values = np.random.default_rng(1).exponential(size=40)

    def note(confidence: float, resamples: int = 10_000) -> str | None:
        return stats.mean_interval(values, confidence, method, resamples=resamples).note

    # Bonferroni's correction for 20 comparisons leaves 12.5 of 10,000 resamples beyond each end.
    assert note(1 - 0.05 / 20) is None
    assert note(0.998) is None
    assert note(0.999) == (
        "coarse: of 10,000 resamples 5 lie beyond each end; 99.9 % takes resamples = 20000"
    )
    assert note(0.99995) == (
        "too narrow: of 10,000 resamples 0.25 lie beyond each end; 99.995 % takes resamples = 400000"
    )
    assert note(0.999, 20_000) is None
    narrow, wide = (
        np.ptp(bounds(stats.mean_interval(values, 0.9999, method, resamples=count)))
        for count in (1_000, 200_000)
    )
    assert narrow < wide
    assert note(0.99995, 400_000) is None


def test_two_notes_are_both_told() -> None:
    estimate = stats.mean_interval([1.0, 2.0, 3.0, 4.0, 6.0], 0.999, "bootstrap")
    assert estimate.note is not None
    assert [part.split(":")[0] for part in estimate.note.split("; ")][:2] == ["too narrow", "coarse"]


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.05, "5 %"), (0.12345, "12.3 %"), (0.5, "50 %"), (0.95, "95 %"), (0.999, "99.9 %"),
        (0.9975, "99.75 %"), (1 - 0.05 / 7, "99.29 %"), (0.99995, "99.995 %"), (0.9999999, "99.99999 %"),
    ],
)  # fmt: skip
def test_no_confidence_is_rounded_to_certainty(share: float, text: str) -> None:
    assert percent(share) == text


def test_a_seed_repeats_and_another_differs() -> None:
    values = np.random.default_rng(1).exponential(size=40)
    for method in ("bootstrap", "studentised"):
        first = stats.mean_interval(values, method=method)
        assert first == stats.mean_interval(values, method=method, seed=1)
        assert first != stats.mean_interval(values, method=method, seed=2)


def test_resampling_in_blocks_forgets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(1).exponential(size=40)
    whole = stats.mean_interval(values, method="bootstrap")
    monkeypatch.setattr("leobench.stats.mean._BLOCK", 3 * 40)
    blocks = stats.mean_interval(values, method="bootstrap")
    assert bounds(blocks) == pytest.approx(bounds(whole), rel=1e-12)


def test_units_scale_with_the_values() -> None:
    values = np.random.default_rng(1).exponential(size=40)
    for method in ("t", "bootstrap", "studentised"):
        seconds = bounds(stats.mean_interval(values, method=method))
        nanoseconds = bounds(stats.mean_interval(values * 1e9, method=method))
        assert nanoseconds == pytest.approx([bound * 1e9 for bound in seconds])


def test_an_estimate_reads_well() -> None:
    assert str(stats.Estimate(12.3456, 11.0, 14.0, 30, 0.95, "t")) == "12.35 [11, 14] (95 %, t, n = 30)"
    assert str(stats.Estimate(1.0, None, None, 1, 0.95, "t")) == "1 (n = 1)"
    assert str(stats.Estimate(1.0, 0.5, None, 9, 0.999, "x")) == "1 [0.5, ∞] (99.9 %, x, n = 9)"


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([], {}, "values: 0 values; allowed: 1 or more"),
        ([1.0, float("nan")], {}, r"values\[1\] = nan; allowed: finite numbers"),
        ([1.0, None], {}, r"values\[1\] = nan"),
        ([[1.0], [2.0]], {}, "an array of 2 dimensions; allowed: one row"),
        (["fast"], {}, "values: not numbers"),
        ([1.0, 2.0], {"confidence": 95}, "confidence = 95; allowed: more than 0, less than 1"),
        ([1.0, 2.0], {"method": "bayes"}, "method = bayes; allowed: t, bootstrap, studentised"),
        ([1.0, 2.0], {"method": "bootstrap", "resamples": 1}, "resamples = 1; allowed: 2 or more"),
    ],
)
def test_unusable_input_is_refused(values: list[float], options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        stats.mean_interval(values, **options)  # type: ignore[arg-type]


def test_the_mean_correlation_is_scipys_through_fishers_z() -> None:
    correlations = np.array([0.97, 0.99, 0.90, 0.995, 0.95])
    theirs = scipy.stats.ttest_1samp(np.arctanh(correlations), 0.0).confidence_interval(0.95)
    estimate = stats.mean_correlation(correlations)
    assert bounds(estimate) == pytest.approx((np.tanh(theirs.low), np.tanh(theirs.high)), rel=1e-9)
    assert bounds(stats.mean_interval(correlations, method="t"))[1] > 1 > bounds(estimate)[1]


def test_the_mean_correlation_uses_fishers_table() -> None:
    # Fisher, "Statistical methods for research workers" (1925), table V.B: z of 0.5493 and 1.0986.
    estimate = stats.mean_correlation([0.5, 0.8])
    assert estimate.value == pytest.approx(np.tanh((0.5493 + 1.0986) / 2), abs=1e-4)


def test_intervals_of_mean_correlations_cover_and_stay_within_1() -> None:
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(2_000):
        # Twenty normal pairs per run, of correlation 0.9; the mean of z is artanh(0.9) + 0.9 / (2 * 19).
        x, noise = rng.normal(size=(2, 5, 20))
        y = 0.9 * x + np.sqrt(1 - 0.9**2) * noise
        found = [np.corrcoef(*pair)[0, 1] for pair in zip(x, y, strict=True)]
        low, high = bounds(stats.mean_correlation(found))
        assert -1 <= low < high <= 1
        covered += low <= np.tanh(np.arctanh(0.9) + 0.9 / 38) <= high
    # Three standard errors of 2,000 trials, and 1 % because z is not exactly normal.
    assert abs(covered / 2_000 - 0.95) < 3 * (0.95 * 0.05 / 2_000) ** 0.5 + 0.01


def test_correlations_without_an_interval_say_why() -> None:
    assert stats.mean_correlation([0.9]).note == "one value has no interval"
    perfect = stats.mean_correlation([0.5, 1 + 1e-15])
    assert (perfect.low, perfect.high) == (None, None)
    assert "has no z" in str(perfect.note)
    with pytest.raises(InputError, match=r"correlations\[1\] = 1.5; allowed: from -1 to 1"):
        stats.mean_correlation([0.5, 1.5])
