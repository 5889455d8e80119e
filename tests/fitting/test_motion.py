"""The shifts of a capacity between parked and driving terminals, against drawn ones."""

from __future__ import annotations

import numpy as np
import pytest

from leobench.fitting import motion, series
from leobench.fitting.series import Series

DAY_S, SLOTS = 86_400.0, 200
# Driving shifts the logarithm by this, and the second day all of it by `LATER`.
SHIFT, LATER = -0.2, 0.5


def recording(seed: int, shift: float = SHIFT, *, apart: bool = False) -> Series:
    """Two days of slots of 15 rates, a quarter of them driving; `apart`: one day parked, one driving."""
    rng = np.random.default_rng(seed)
    times, values, speeds = [], [], []
    for day in range(2):
        driving = np.arange(SLOTS) // 25 % 4 == 3 if not apart else np.full(SLOTS, day == 1)
        level = 4.0 + LATER * day + np.repeat(rng.normal(0, 0.2, SLOTS) + shift * driving, 15)
        times.append((20_000 + day) * DAY_S + 12 + np.arange(15.0 * SLOTS))
        values.append(np.exp(level + rng.normal(0, 0.1, len(level))))
        speeds.append(np.repeat(np.where(driving, 50.0, 0.0), 15))
    joined = [np.concatenate(each) for each in (times, values, speeds)]
    return series.make("drawn", joined[0], joined[1], "downlink", "saturated", joined[2])


@pytest.mark.parametrize(("recordings", "fewest"), [(20, 13), pytest.param(60, 45, marks=pytest.mark.slow)])
def test_intervals_hold_the_drawn_shift(recordings: int, fewest: int) -> None:
    """Of 90 %, and four standard errors less."""
    inside = 0
    for seed in range(recordings):
        found = motion.shifts(recording(seed), 0.0)
        assert found is not None
        assert found.parameters is not None
        estimate = found.parameters["driving"] - found.parameters["parked"]
        assert estimate == pytest.approx(SHIFT, abs=0.15)
        low, high = found.intervals["driving"][1:]
        inside += low / 0.75 <= SHIFT <= high / 0.75
    assert fewest <= inside


def test_the_shifts_leave_the_whole_recording_as_it_is() -> None:
    found = motion.shifts(recording(1), 0.0)
    assert found is not None
    assert found.parameters is not None
    assert 0.25 * found.parameters["driving"] + 0.75 * found.parameters["parked"] == pytest.approx(0.0)


def seldom(told: Series) -> Series:
    """A recording whose speed is known in its first slot only."""
    assert told.speed_kmh is not None
    speeds = np.where(np.arange(len(told.times)) < 15, told.speed_kmh, np.nan)
    return Series(told.name, told.unit, told.times, told.values, told.quantity, told.load, speeds)


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (recording(1, 0.0), "do not differ clearly"),
        (recording(1, apart=True), "on the same days"),
        (seldom(recording(1)), "on the same days"),
    ],
)
def test_what_a_recording_does_not_tell_is_left_out(told: Series, reason: str) -> None:
    found = motion.shifts(told, 0.0)
    assert found is not None
    assert found.parameters is None
    assert reason in found.not_measured["downlink.motion"]


def test_a_recording_without_speeds_tells_nothing() -> None:
    parked = recording(1)
    assert (
        motion.shifts(Series("x", "Mbit/s", parked.times, parked.values, "downlink", "saturated"), 0.0)
        is None
    )
