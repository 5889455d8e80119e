from __future__ import annotations

import statistics
from itertools import pairwise

import numpy as np
import pytest
import scipy.signal

from leobench import InputError, stats


def test_jains_index_of_published_examples() -> None:
    # Jain, Durresi and Babic, "Throughput fairness index: an explanation", ATM Forum/99-0045 (1999).
    assert stats.jain([50 / 50, 30 / 10, 50 / 10]) == pytest.approx(0.77, abs=0.005)
    assert stats.jain([1, 4, 5]) == pytest.approx(0.79, abs=0.005)
    assert stats.jain([1, 2, 5]) == pytest.approx(0.71, abs=0.005)
    # Jain, Chiu and Hawe (1984): 20 dollars among 100 persons, 20 cents each or 2 dollars for ten of them.
    assert stats.jain([0.20] * 100) == pytest.approx(1.0)
    assert stats.jain([2.0] * 10 + [0.0] * 90) == pytest.approx(0.1)


def test_jains_index_is_what_its_authors_promise() -> None:
    shares = np.random.default_rng(1).exponential(size=20)
    index = stats.jain(shares)
    assert index is not None
    assert 1 / 20 < index < 1
    # Independent of scale, and one over one plus the squared coefficient of variation.
    assert stats.jain(shares * 45e6) == pytest.approx(index)
    assert stats.jain(shares * 1e-200) == pytest.approx(index)
    assert index == pytest.approx(1 / (1 + np.var(shares) / np.mean(shares) ** 2))


def test_nobody_to_share_with_and_nothing_to_share() -> None:
    assert stats.jain([]) is None
    assert stats.jain([5.0]) is None
    assert stats.jain([0.0, 0.0]) is None
    with pytest.raises(InputError, match="shares: -1; allowed: zero or more"):
        stats.jain([2.0, -1.0])


def test_mean_absolute_jitter_is_that_of_the_core() -> None:
    # The example of the core's own test: changes of 3, 4 and 0 ms.
    assert stats.jitter_mean_absolute([10e6, 13e6, 9e6, 9e6]) == pytest.approx(7e6 / 3)
    delays = np.random.default_rng(1).exponential(size=500)
    assert stats.jitter_mean_absolute(delays) == pytest.approx(
        statistics.fmean(abs(b - a) for a, b in pairwise(delays))
    )


def test_standard_deviation_is_the_standard_librarys() -> None:
    delays = np.random.default_rng(1).exponential(size=500).tolist()
    assert stats.jitter_standard_deviation(delays) == pytest.approx(statistics.stdev(delays))


def test_rfc3550_is_a_first_order_filter() -> None:
    delays = np.random.default_rng(1).exponential(size=500)
    filtered = scipy.signal.lfilter([1 / 16], [1, -15 / 16], np.abs(np.diff(delays)))
    series = stats.jitter_rfc3550_series(delays)
    assert series[0] == 0.0
    assert series[1:] == pytest.approx(filtered)
    assert stats.jitter_rfc3550(delays) == series[-1]


def test_rfc3550_approaches_a_steady_difference_as_its_gain_says() -> None:
    delays = [0.0, 8.0] * 20
    expected = [8.0 * (1 - (15 / 16) ** k) for k in range(40)]
    assert stats.jitter_rfc3550_series(delays).tolist() == pytest.approx(expected)


def test_rfc3550_agrees_with_the_integers_of_its_appendix() -> None:
    """Appendix A.8 keeps sixteen times the jitter and rounds at every step: within a unit of ours."""
    arrivals = np.cumsum(np.random.default_rng(2).integers(100, 2_000, size=1_000))
    sent = 1_000 * np.arange(1_000)
    scaled, reported = 0, []
    transits = (arrivals - sent).tolist()
    for previous, transit in pairwise(transits):
        scaled += abs(transit - previous) - ((scaled + 8) >> 4)
        reported.append(scaled >> 4)
    ours = stats.jitter_rfc3550_series(transits)[1:]
    assert np.max(np.abs(ours - reported)) <= 1.5


def test_jitter_needs_two_delays() -> None:
    for delays in ([], [3.0]):
        assert stats.jitter_mean_absolute(delays) is None
        assert stats.jitter_standard_deviation(delays) is None
        assert stats.jitter_rfc3550(delays) is None
        assert stats.jitter_rfc3550_series(delays).tolist() == [0.0] * len(delays)
    with pytest.raises(InputError, match=r"delays\[1\] = nan; allowed: finite numbers"):
        stats.jitter_rfc3550([1.0, float("nan")])
