"""Forecasts of the statistics of slots that take no model: what a fit has to be better than.

Each is a function of the statistic in the training recording and in the one that is forecast. It returns an
array of values by draws; a point has one draw. A value may use those of earlier slots only.
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
# Draws at most of a distribution that is the same for all values.
_MOST = 1_000
_HOUR_S = 3_600


@dataclass(frozen=True)
class Known:
    """The statistic in a recording: by slot, by second, or by outage.

    Attributes:
        numbers: The number of the slot of each value, counted from 1970, in order.
        values: The statistic.
    """

    numbers: Floats
    values: Floats


def constant(train: Known, held: Known) -> Floats:
    """The median of the training values."""
    return np.full((len(held.values), 1), np.median(train.values))


def last_slot(train: Known, held: Known) -> Floats:
    """The mean of the slot before; the training median for the first."""
    _, index = np.unique(held.numbers, return_inverse=True)
    means = np.bincount(index, held.values) / np.bincount(index)
    return np.concatenate([[np.median(train.values)], means[:-1]])[index][:, None]


def shuffled(train: Known, held: Known) -> Floats:
    """Training values at random."""
    return spread(train.values, len(held.values))


def spread(values: Floats, count: int) -> Floats:
    """The same distribution for each of `count` values: all of `values`, or 1,000 of their quantiles."""
    if len(values) > _MOST:
        values = np.asarray(np.quantile(values, (np.arange(_MOST) + 0.5) / _MOST))
    return np.broadcast_to(values, (count, len(values)))


def block_bootstrap(train: Known, held: Known) -> Floats:
    """Series of training blocks of a minute, put together at random (Künsch 1989)."""
    rng = np.random.default_rng(1)
    per_slot = round(len(train.values) / len(np.unique(train.numbers)))
    count, length = len(held.values), min(BLOCK * per_slot, len(train.values))
    starts = rng.integers(0, len(train.values) - length + 1, (-(-count // length), _DRAWS))
    blocks = train.values[starts[:, None, :] + np.arange(length)[None, :, None]]
    return np.asarray(blocks.reshape(-1, _DRAWS)[:count])


def another_hour(train: Known, held: Known) -> Floats:
    """The training recording replayed from its beginning, over and over, without its gaps."""
    return train.values[np.arange(len(held.values)) % len(train.values)][:, None]


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
