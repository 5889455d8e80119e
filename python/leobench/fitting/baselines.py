"""Forecasts of the statistics of slots that take no model: what a fit has to be better than.

Each is a function of the statistic in the training slots and in the slots that are forecast. It returns an
array of slots by draws; a point has one draw. Slot k may use the slots before it only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from leobench.fitting.series import PHASE_S, SLOT_S

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from leobench.fitting.series import Floats

# Slots of a block: a minute.
BLOCK = 4
_DRAWS = 200
_HOUR_S = 3_600


@dataclass(frozen=True)
class Known:
    """The statistic in slots of a recording.

    Attributes:
        numbers: The number of each slot, counted from 1970.
        values: The statistic.
    """

    numbers: Floats
    values: Floats


def constant(train: Known, held: Known) -> Floats:
    """The median of the training slots."""
    return np.full((len(held.values), 1), np.median(train.values))


def last_slot(train: Known, held: Known) -> Floats:
    """The slot before; the training median for the first."""
    return np.concatenate([[np.median(train.values)], held.values[:-1]])[:, None]


def shuffled(train: Known, held: Known) -> Floats:
    """Training slots at random."""
    return np.tile(train.values, (len(held.values), 1))


def block_bootstrap(train: Known, held: Known) -> Floats:
    """Series of training blocks of a minute, put together at random (Künsch 1989)."""
    rng = np.random.default_rng(1)
    count, length = len(held.values), min(BLOCK, len(train.values))
    starts = rng.integers(0, len(train.values) - length + 1, (-(-count // length), _DRAWS))
    blocks = train.values[starts[:, None, :] + np.arange(length)[None, :, None]]
    return np.asarray(blocks.reshape(-1, _DRAWS)[:count])


def another_hour(train: Known, held: Known) -> Floats:
    """The training recording replayed from its beginning, over and over."""
    passed = (held.numbers - held.numbers[0]).astype(np.int64)
    return np.asarray(train.values[passed % len(train.values)][:, None])


def hour_of_day(train: Known, held: Known) -> Floats:
    """The training mean of the same hour of the day in UTC; of all hours where it was not recorded."""

    def hours(known: Known) -> Floats:
        return (known.numbers * SLOT_S + PHASE_S) // _HOUR_S % 24

    trained = hours(train)
    by_hour = {hour: train.values[trained == hour].mean() for hour in np.unique(trained)}
    whole = train.values.mean()
    return np.array([by_hour.get(hour, whole) for hour in hours(held)])[:, None]


BASELINES: Mapping[str, Callable[[Known, Known], Floats]] = {
    "constant": constant,
    "last slot": last_slot,
    "shuffled slots": shuffled,
    "block bootstrap": block_bootstrap,
    "another hour": another_hour,
    "hour of day": hour_of_day,
}
