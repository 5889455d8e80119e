"""Statistics of a recording by slots of 15 s and by seconds, and how strongly its values hang together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from leobench.errors import InputError
from leobench.fitting.series import SLOT_S, slots_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from leobench.fitting.series import Floats, Series

    Seconds = NDArray[np.int64]

# Lags of the autocorrelation of means over a second, in seconds.
LAGS_S = (1, 5, 15, 30)
# A slot counts if it has this share of the samples that the median slot has.
_ENOUGH = 0.5
_FEWEST = 4


@dataclass(frozen=True)
class Statistic:
    """One number per slot, or per part of a slot.

    Attributes:
        name: Its name in tables.
        unit: Its unit.
        of: From values, without lost ones, to their number: along the last axis.
        every_s: The length of the parts of a slot that have a number each; None for the whole slot.
    """

    name: str
    unit: str
    of: Callable[[Floats], Floats]
    every_s: float | None = None

    def numbers(self, times: Floats, values: Floats) -> Floats:
        """The numbers of a slot: the last axis has its samples first, and its numbers then."""
        if self.every_s is None:
            return self.of(values)[..., None]
        ends = np.flatnonzero(np.diff(np.floor(times / self.every_s))) + 1
        return np.stack([self.of(part) for part in np.split(values, ends, axis=-1)], axis=-1)


def _quantile(at: float) -> Callable[[Floats], Floats]:
    return lambda values: np.asarray(np.quantile(values, at, axis=-1))


def _mean(values: Floats) -> Floats:
    return np.asarray(values.mean(axis=-1))


_CAPACITY = (
    Statistic("slot mean", "Mbit/s", _mean),
    Statistic("1 s mean", "Mbit/s", _mean, every_s=1.0),
)
# By the quantity of a series. Those by parts of a slot need samples that are as frequent.
_STATISTICS: Mapping[str, tuple[Statistic, ...]] = {
    "rtt": (
        Statistic("5 % quantile", "ms", _quantile(0.05)),
        Statistic("median", "ms", _quantile(0.5)),
        Statistic("95 % quantile", "ms", _quantile(0.95)),
    ),
    "downlink": _CAPACITY,
    "uplink": _CAPACITY,
}
# How much longer than a part the interval of samples may be, which clocks do not keep exactly.
_UNEVEN = 1.1


def statistics_of(series: Series) -> list[Statistic]:
    """The statistics that the samples of a series are frequent enough for."""
    interval_s = series.interval_s
    return [
        each
        for each in _STATISTICS[series.quantity]
        if each.every_s is None or interval_s <= _UNEVEN * each.every_s
    ]


@dataclass(frozen=True)
class Slots:
    """The slots of a series that have enough samples, in order.

    Attributes:
        numbers: The number of each, counted from 1970.
        first: Index of the first sample of each in the series.
        last: Index behind its last sample.
    """

    numbers: Floats
    first: np.ndarray[tuple[int], np.dtype[np.int64]]
    last: np.ndarray[tuple[int], np.dtype[np.int64]]

    @classmethod
    def of(cls, series: Series) -> Slots:
        """The slots of a series.

        Raises:
            InputError: If there are fewer than four.
        """
        numbers, first, counts = np.unique(series.slots, return_index=True, return_counts=True)
        answered = np.add.reduceat(~np.isnan(series.values), first) if len(first) else counts
        enough = (counts >= _ENOUGH * np.median(counts)) & (answered > 0) if len(counts) else counts > 0
        if enough.sum() < _FEWEST:
            raise InputError(
                f"{series.name}: has {int(enough.sum())} whole slots of {SLOT_S:g} s; "
                f"allowed: at least {_FEWEST}"
            )
        return cls(numbers[enough].astype(np.float64), first[enough], (first + counts)[enough])

    def values(self, series: Series, statistic: Statistic) -> list[Floats]:
        """The numbers of each slot."""
        found = []
        for first, last in zip(self.first, self.last, strict=True):
            chosen = first + np.flatnonzero(series.present[first:last])
            found.append(statistic.numbers(series.times[chosen], series.values[chosen]))
        return found

    def lost(self, series: Series) -> Floats:
        """The share of lost samples in each slot, in percent."""
        return np.array([100 * float(np.isnan(values).mean()) for values in self.samples(series)])

    def samples(self, series: Series) -> list[Floats]:
        """The values in each slot."""
        return [series.values[a:b] for a, b in zip(self.first, self.last, strict=True)]


@dataclass(frozen=True)
class Dependence:
    """How strongly the values of a series hang together.

    Attributes:
        between_slots: Share of the variance that lies between slots; 0 if all values are equal.
        step: Mean difference between the medians of slots in a row, in the unit of the series.
        autocorrelation: That of means over a second, by its lag in seconds; NaN if the series is too short.
    """

    between_slots: float
    step: float
    autocorrelation: Mapping[int, float]

    @classmethod
    def of(cls, series: Series) -> Dependence:
        """The dependence in a series.

        Raises:
            InputError: If it has too few slots.
        """
        answered = ~np.isnan(series.values)
        times, values = series.times[answered], series.values[answered]
        _, index = np.unique(slots_of(times), return_inverse=True)
        counts = np.bincount(index)
        means = np.bincount(index, values) / counts
        slots = Slots.of(series)
        medians = np.concatenate(slots.values(series, Statistic("median", series.unit, _quantile(0.5))))
        in_a_row = np.diff(slots.numbers) == 1
        step = float(np.abs(np.diff(medians))[in_a_row].mean()) if in_a_row.any() else math.nan
        between = 0.0 if np.ptp(values) == 0 else float(np.var(means[index]) / np.var(values))
        return cls(between, step, autocorrelations(series, LAGS_S))


def autocorrelations(series: Series, lags_s: Sequence[int]) -> dict[int, float]:
    """The autocorrelation of means over a second, by its lag in seconds; NaN if the series is too short.

    It is 0 if all values are equal: their means differ by rounding only.
    """
    values = series.values[series.present]
    seconds, means = _by_second(series.times[series.present], values)
    if np.ptp(values) == 0:
        means = np.zeros_like(means)
    return {lag: _autocorrelation(seconds, means, lag) for lag in lags_s}


def _by_second(times: Floats, values: Floats) -> tuple[Seconds, Floats]:
    """The seconds that have values, counted from the first, and their means. Gaps cost nothing."""
    second = np.floor(times - np.floor(times[0])).astype(np.int64)
    seconds, index = np.unique(second, return_inverse=True)
    return seconds, np.bincount(index, values) / np.bincount(index)


def _autocorrelation(seconds: Seconds, means: Floats, lag: int) -> float:
    """The correlation of the means of seconds that are `lag` apart."""
    before = np.flatnonzero(np.isin(seconds + lag, seconds, assume_unique=True))
    if len(before) < LAGS_S[-1]:
        return math.nan
    after = np.searchsorted(seconds, seconds[before] + lag)
    if np.ptp(means) == 0:
        return 0.0
    return float(np.corrcoef(means[before], means[after])[0, 1])
