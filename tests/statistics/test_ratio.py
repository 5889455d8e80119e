"""Intervals of ratios of positive values: positive, and as wide as they must be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from leobench import stats

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Draw = Callable[[np.random.Generator, int], Array]

LAWS: dict[str, Draw] = {
    "normal": lambda rng, n: np.abs(rng.normal(1.0, 0.3, n)),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "log-normal": lambda rng, n: rng.lognormal(0.0, 0.5, n),
}


@pytest.mark.parametrize("law", LAWS)
def test_the_ratio_of_positive_means_is_positive(law: str) -> None:
    rng = np.random.default_rng(7)
    methods = set()
    for _ in range(300):
        estimate = stats.relative(LAWS[law](rng, 3), LAWS[law](rng, 3))
        methods.add(estimate.method)
        assert estimate.low is not None
        assert estimate.high is not None
        assert -1 < estimate.low < estimate.value < estimate.high
    assert "log" in methods, "Fieller's interval must have failed at least once"


def test_fiellers_interval_stays_where_it_excludes_zero() -> None:
    a, b = [10.0, 11.0, 12.0, 10.5], [20.0, 23.0, 23.0, 21.5]
    assert stats.relative(a, b).method == "Fieller"
    spread = stats.relative([1.0, 1.1, 0.9], [0.1, 4.0, 0.2])
    assert (spread.method, spread.note) == ("log", "Fieller's interval reaches zero")


def test_values_that_are_not_positive_keep_fiellers_interval() -> None:
    low = stats.relative([1.0, 1.1, 0.9], [-0.1, 4.0, 0.2]).low
    assert low is not None
    assert low < -1
    assert stats.relative([-1.0, 2.0], [3.0, 4.0]).low is None


# Coverage of 95 % intervals, two independent samples or one that is the other times a noise of 20 %, of equal
# means. The expected shares come from 40,000 data sets.
@pytest.mark.parametrize(
    ("law", "together", "n", "expected"),
    [
        ("normal", False, 3, 0.955),
        ("exponential", False, 3, 0.985),
        ("exponential", False, 5, 0.982),
        ("exponential", True, 3, 0.965),
        ("exponential", True, 5, 0.956),
        ("log-normal", True, 3, 0.949),
    ],
)
def test_intervals_cover_as_often_as_they_say(law: str, *, together: bool, n: int, expected: float) -> None:
    rng = np.random.default_rng(11)
    repeats, mean = 2_000, {"normal": 1.0, "exponential": 1.0, "log-normal": float(np.exp(0.125))}[law]
    hits = 0
    for _ in range(repeats):
        a, noise = LAWS[law](rng, n), LAWS[law](rng, n)
        b = a * (1 + 0.2 * (noise - mean)) if together else noise
        estimate = stats.relative(a, b)
        low = -np.inf if estimate.low is None else estimate.low
        high = np.inf if estimate.high is None else estimate.high
        hits += low <= 0 <= high
    # Four standard errors of the share of 2,000 data sets.
    assert hits / repeats == pytest.approx(expected, abs=4 * (0.05 * 0.95 / repeats) ** 0.5)
