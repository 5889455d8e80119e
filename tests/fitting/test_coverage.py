"""Intervals of 90 % hold the truth about as often as they should: draws of `tools/fit_coverage.py`."""

from __future__ import annotations

import pytest

from tools import fit_coverage


@pytest.mark.parametrize(
    ("part", "draws", "least"),
    # Of 90 % intervals that are right and independent, fewer hold the truth in one of a thousand such tests.
    [("loss", 15, 0.75), ("outages", 15, 0.75), ("capacity", 2, 0.6)],
)
def test_intervals_hold_the_truth(part: str, draws: int, least: float) -> None:
    held = [
        inside for seed in range(1, draws + 1) for inside, _ in fit_coverage.one((part, seed))[1].values()
    ]
    assert sum(held) >= least * len(held)
