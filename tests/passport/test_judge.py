"""Verdicts and ranks of values that are known."""

from __future__ import annotations

import pytest

from leobench.passport import judge
from leobench.passport.suite import Check

HIGHER = Check("a", "g", "?", "fat", "goodput_share", "higher", 0.8, 0.6, "a test")
LOWER = Check("b", "g", "?", "fat", "loss_share", "lower", 0.01, 0.05, "a test")


@pytest.mark.parametrize(
    ("check", "values", "verdict"),
    [
        (HIGHER, [0.9, 0.91, 0.89], "pass"),
        (HIGHER, [0.7, 0.71, 0.69], "warn"),
        (HIGHER, [0.5, 0.51, 0.49], "fail"),
        (HIGHER, [0.8, 0.8, 0.8], "pass"),  # A threshold itself is kept.
        (LOWER, [0.0, 0.0, 0.0], "pass"),
        (LOWER, [0.02, 0.02, 0.02], "warn"),
        (LOWER, [0.06, 0.06, 0.06], "fail"),
        # Student's t with 2 degrees of freedom is 4.303: 0.55 +- 4.303 * 0.05 / sqrt(3) reaches 0.674.
        (HIGHER, [0.5, 0.55, 0.6], "warn"),
        # 0.55 +- 4.303 * 0.01 / sqrt(3) ends at 0.575.
        (HIGHER, [0.54, 0.55, 0.56], "fail"),
    ],
)
def test_the_mean_decides_and_the_interval_makes_sure(
    check: Check, values: list[float | None], verdict: str
) -> None:
    assert judge.judge(check, values).verdict == verdict


def test_the_interval_is_that_of_student() -> None:
    estimate = judge.judge(HIGHER, [0.5, 0.55, 0.6]).estimate
    assert estimate is not None
    half = 4.302653 * 0.05 / 3**0.5
    assert (estimate.low, estimate.high) == pytest.approx((0.55 - half, 0.55 + half), rel=1e-6)


def test_a_single_run_cannot_fail() -> None:
    found = judge.judge(HIGHER, [0.1])
    assert (found.verdict, found.note) == ("warn", "fails in a single run, which has no interval")


def test_a_check_without_a_threshold_to_fail_only_warns() -> None:
    only = Check("c", "g", "?", "fat", "loss_share", "lower", 0.01, None, "a test")
    assert judge.judge(only, [1.0, 1.0]).verdict == "warn"


def test_runs_without_a_value_are_told_and_failed_runs_fail() -> None:
    some = judge.judge(HIGHER, [0.9, None, 0.9])
    assert (some.verdict, some.note) == ("pass", "1 of 3 runs have no value")
    assert judge.judge(HIGHER, [None, None]).verdict == "not measured"
    failed = judge.judge(HIGHER, [0.9, None], ["mine.py raised ValueError\nand here is where"])
    assert (failed.verdict, failed.note) == ("fail", "1 run failed: mine.py raised ValueError")


def test_ranks_tell_apart_only_intervals_that_do_not_meet() -> None:
    first, second, third = ([0.90, 0.91, 0.92], [0.905, 0.915, 0.925], [0.5, 0.51, 0.52])
    found = [judge.judge(HIGHER, each) for each in (third, first, second)]
    assert judge.ranks(HIGHER, found) == ["3", "1=", "1="]
    lower = [judge.judge(LOWER, each) for each in (third, first, second)]
    assert judge.ranks(LOWER, lower) == ["1", "2=", "2="]
    assert judge.ranks(HIGHER, [judge.judge(HIGHER, [None]), found[0]]) == ["", "1"]
