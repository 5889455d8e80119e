"""Friendliness and convergence, against series worked by hand and against the summary of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import leobench
from leobench import InputError, stats

if TYPE_CHECKING:
    from pathlib import Path


def steps(*parts: tuple[int, float]) -> list[float]:
    return [amount for count, amount in parts for _ in range(count)]


def test_friendliness_is_the_ratio_of_means() -> None:
    assert stats.friendliness_ratio([3, 5], [2, 2, 2]) == 2.0
    assert stats.friendliness_ratio([0], [7]) == 0.0
    assert stats.friendliness_ratio([1], [0]) is None


# The newcomer has 100 of 400 for four steps, then half. Of the ten steps that end n after its arrival it has
# 100 (14 - n) + 200 (n - 4) of 4,000: 1,600 for n = 10, 1,800 for n = 12.
ARRIVAL = [steps((4, 300), (30, 200)), steps((4, 100), (30, 200))]


@pytest.mark.parametrize(
    ("tolerance", "hold", "found"), [(0.2, 5, 10), (0.1, 5, 12), (0.2, 24, 10), (0.2, 25, None)]
)
def test_convergence_ends_with_the_first_window_that_is_fair(
    tolerance: float, hold: float, found: float | None
) -> None:
    assert stats.convergence_time(ARRIVAL, 1.0, window_s=10, tolerance=tolerance, hold_s=hold) == found
    # The same in other units of time and amount.
    scaled = np.array(ARRIVAL) * 1e6
    in_millis = stats.convergence_time(scaled, 1e-3, window_s=0.01, tolerance=tolerance, hold_s=hold / 1e3)
    assert in_millis == (None if found is None else pytest.approx(found / 1e3))


def test_what_does_not_last_does_not_count() -> None:
    old = steps((12, 200), (10, 350), (30, 200))
    new = steps((12, 200), (10, 50), (30, 200))
    # Two unfair steps in a window make 1,700 of 4,000, three 1,550: fair are the windows that end after 10 to
    # 14 steps and from 30 on.
    found = [stats.convergence_time([old, new], 1, window_s=10, hold_s=hold) for hold in (4, 5)]
    assert found == [10, 30]


def test_any_number_of_flows_shares_in_equal_parts() -> None:
    rows = [steps((30, amount)) for amount in (80, 100, 120)]
    assert stats.convergence_time(rows, 1, window_s=10, hold_s=5) == 10
    assert stats.convergence_time(rows, 1, window_s=10, hold_s=5, tolerance=0.19) is None


def test_too_little_or_nothing_converges_never() -> None:
    assert stats.convergence_time([[1, 1], [1, 1]], 1, window_s=3, hold_s=0) is None
    assert stats.convergence_time(np.zeros((2, 30)), 1, window_s=5, hold_s=0) is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stats.friendliness_ratio([], [1]), "goodputs: 0 values"),
        (lambda: stats.friendliness_ratio([1], [-1]), "reference: -1; allowed: zero or more"),
        (lambda: stats.convergence_time([[1, 2]], 1), "a row for each of several flows"),
        (lambda: stats.convergence_time(np.array([[1, 2], [1, np.nan]]), 1), r"delivered\[1\]\[1\] = nan"),
        (lambda: stats.convergence_time([[1, 2], [1, -2]], 1), r"delivered\[1\]: -2; allowed: zero or more"),
        (lambda: stats.convergence_time([[1], [1]], 0), "step_s = 0; allowed: a time above zero"),
        (
            lambda: stats.convergence_time([[1], [1]], 1, window_s=0),
            "window_s = 0; allowed: a step of 1 s or more",
        ),
        (lambda: stats.convergence_time([[1], [1]], 1, hold_s=-1), "hold_s = -1; allowed: a time"),
        (lambda: stats.convergence_time([[1], [1]], 1, tolerance=1), "tolerance = 1; allowed: more than 0"),
    ],
)
def test_bad_input(call: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()  # type: ignore[operator]


def test_the_summary_says_the_same_as_the_series(scenarios: Path) -> None:
    """The summary counts what arrived, the series what is known to have: half a round trip later."""
    overrides = {"flows.newcomer.transport": "tcp", "duration": "70 s"}
    result = leobench.run(scenarios / "competition.toml", overrides=overrides)
    competition = result.summary["competition"]
    assert (competition["from_s"], competition["to_s"]) == (10.0, 70.0)
    assert competition["convergence_s"] is not None
    rows = [stats.delivered_in_steps(result, name, 0.5, 5.0, 70.0) for name in ("incumbent", "newcomer")]
    assert stats.convergence_time(rows, 0.5) == pytest.approx(competition["convergence_s"], abs=1.0)
    old, new = (float(row[10:].sum()) * 8 / 60 for row in rows)
    shares = [flow["share"] for flow in competition["flows"]]
    assert shares == pytest.approx([old / (old + new), new / (old + new)], abs=0.005)
    assert stats.friendliness_ratio([new], [old]) == pytest.approx(
        competition["friendliness_ratio"], rel=0.02
    )
    goodputs = [flow["goodput_bps"] for flow in competition["flows"]]
    assert stats.jain(goodputs) == pytest.approx(result.summary["fairness_jain"])


def test_a_flow_without_a_series_is_told(quick: Path) -> None:
    result = leobench.run(quick)
    with pytest.raises(InputError, match="nobody: no such flow; allowed: `"):
        stats.delivered_in_steps(result, "nobody", 0.5, 0, 2)
