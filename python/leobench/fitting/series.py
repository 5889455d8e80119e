"""One measured quantity of a link over time, and its place in the slots of 15 s."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from leobench.errors import InputError, counted
from leobench.fitting import clocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Quantity = Literal["rtt", "downlink", "uplink"]
    Load = Literal["idle", "saturated"]

# Starlink assigns satellites anew at seconds 12, 27, 42 and 57 of each minute (Tanveer et al. 2023, "Making
# Sense of Constellations", CoNEXT Companion).
SLOT_S, PHASE_S = 15.0, 12.0


@dataclass(frozen=True)
class Series:
    """A measured quantity over time.

    Attributes:
        name: The recording that it is from, in messages.
        unit: `ms` or `Mbit/s`.
        times: When a probe was sent, or an interval of a rate began: seconds since 1970, ascending.
        values: Round trips or rates; NaN where a probe was lost or nothing was measured.
        quantity: The kind of quantity.
        load: The load of the path during the measurement.
        speed_kmh: The speed of the terminal at the same times, if it was recorded; NaN where unknown.
    """

    name: str
    unit: str
    times: Floats
    values: Floats
    quantity: Quantity
    load: Load
    speed_kmh: Floats | None = None

    def __post_init__(self) -> None:
        if len(self.times) != len(self.values):
            raise ValueError(f"{len(self.times)} times have {len(self.values)} values")
        steps = np.diff(self.times)
        if len(steps) and steps.min() < 0:
            at = int(np.argmin(steps))
            raise InputError(
                f"{self.name}: the clock goes back by {-steps[at]:.3g} s after "
                f"{clocks.date(float(self.times[at]))}; allowed: times that ascend"
            )

    @property
    def interval_s(self) -> float:
        """The usual time between two samples."""
        return float(np.median(np.diff(self.times)))

    @property
    def present(self) -> NDArray[np.bool_]:
        """Whether each value was measured."""
        return ~np.isnan(self.values)

    @property
    def slots(self) -> NDArray[np.int64]:
        """The number of each sample's slot since 1970."""
        return slots_of(self.times)

    @property
    def is_absolute(self) -> bool:
        """Whether the times are seconds since 1970, not since some start."""
        return bool(self.times[0] >= clocks.ABSOLUTE_S)

    def where(self, chosen: NDArray[np.bool_]) -> Series:
        """The samples that a mask selects."""
        speed = None if self.speed_kmh is None else self.speed_kmh[chosen]
        return replace(self, times=self.times[chosen], values=self.values[chosen], speed_kmh=speed)

    def between(self, start: float, end: float) -> Series:
        """The samples from `start` up to, but not at, `end`."""
        return self.where((self.times >= start) & (self.times < end))


def slots_of(times: Floats) -> NDArray[np.int64]:
    """The number of the slot since 1970 of each time."""
    return np.floor((times - PHASE_S) / SLOT_S).astype(np.int64)


def make(
    name: str,
    times: Floats,
    values: Floats,
    quantity: Quantity,
    load: Load,
    speed_kmh: Floats | None = None,
) -> Series:
    """A series of a recording; times that were rounded are put in order.

    Raises:
        InputError: If there are no values, or the clock goes back, stands, or jumps ahead by a month.
    """
    if not len(times) or np.isnan(values).all():
        raise InputError(f"{name}: has no value of {quantity}; allowed: at least one")
    order = np.argsort(times, kind="stable")
    if len(times) > 1 and np.diff(times).min() >= -clocks.ROUNDING_S:
        times, values = times[order], values[order]
        speed_kmh = None if speed_kmh is None else speed_kmh[order]
        clocks.check_times(name, times)
    unit = "ms" if quantity == "rtt" else "Mbit/s"
    return Series(name, unit, times, values, quantity, load, speed_kmh)


def joined(parts: list[Series]) -> Series:
    """Several recordings of the same quantity as one, in order of time.

    Raises:
        InputError: If two of them overlap.
    """
    ordered = sorted(parts, key=lambda each: each.times[0])
    for before, after in itertools.pairwise(ordered):
        if after.times[0] <= before.times[-1]:
            raise InputError(
                f"{after.name}: begins before {before.name} ends; allowed: one recording of "
                f"{before.quantity} at a time"
            )
    speeds = [each.speed_kmh for each in ordered]
    known = [each for each in speeds if each is not None]
    return Series(
        ", ".join(each.name for each in ordered),
        ordered[0].unit,
        np.concatenate([each.times for each in ordered]),
        np.concatenate([each.values for each in ordered]),
        ordered[0].quantity,
        "saturated" if any(each.load == "saturated" for each in ordered) else "idle",
        np.concatenate(known) if len(known) == len(speeds) else None,
    )


def describe(series: Series) -> str:
    """The number of samples and slots of a series, for readers."""
    lost = int((~series.present).sum())
    return (
        f"{counted(len(series.times), 'sample')} ({lost:,} missing) in "
        f"{counted(len(np.unique(series.slots)), 'slot')}, one every {series.interval_s:.3g} s"
    )
