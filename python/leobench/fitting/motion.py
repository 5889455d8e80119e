"""The shift of a capacity while the terminal is parked, and while it is driving.

A slot counts as one of both by its mean speed. Medians of slots are compared within days, as a car may be
parked on one day and driving on another. Intervals come from a bootstrap over blocks of slots in a row
(`blocks`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leobench.fitting import blocks
from leobench.fitting.losses import Found
from leobench.fitting.statistics import Slots

if TYPE_CHECKING:
    from leobench.fitting.series import Floats, Series

PARKED, DRIVING = "parked", "driving"
# A terminal is driving from here on, in kilometres per hour.
DRIVING_KMH = 1.0
# Slots of both that a comparison needs, in all and in a day.
_FEWEST, _FEWEST_A_DAY = 20, 8
_BLOCK, _DRAWS = 8, 1000
_DAY_S = 86_400.0


def shifts(series: Series, floor: float) -> Found | None:
    """The shifts of the logarithm of a capacity above its floor, against that of the whole recording.

    They are named `parked` and `driving`. None if the recording has no speeds.
    """
    if series.speed_kmh is None or np.isnan(series.speed_kmh).all():
        return None
    chosen = series.present & ~np.isnan(series.speed_kmh) & (series.values > floor)
    known, speeds = series.where(chosen), series.speed_kmh[chosen]
    few = _none(series, f"there are not {_FEWEST} slots of both, parked and driving, on the same days")
    if len(np.unique(known.slots)) < 2 * _FEWEST:
        return few
    slots = Slots.of(known)
    pairs = list(zip(slots.first, slots.last, strict=True))
    levels = np.array([np.log(np.median(known.values[a:b]) - floor) for a, b in pairs])
    driving = np.array([speeds[a:b].mean() >= DRIVING_KMH for a, b in pairs])
    days = np.array([known.times[a] // _DAY_S for a, _ in pairs])
    strata = [(levels[(days == day) & ~driving], levels[(days == day) & driving]) for day in np.unique(days)]
    strata = [each for each in strata if min(map(len, each)) >= _FEWEST_A_DAY]
    if not strata or min(sum(len(each[side]) for each in strata) for side in (0, 1)) < _FEWEST:
        return few
    rng = np.random.default_rng(1)

    def drawn_from(values: Floats) -> Floats:
        return values[blocks.resampled(len(values), _BLOCK, rng)]

    drawn = np.array(
        [_difference([(drawn_from(a), drawn_from(b)) for a, b in strata]) for _ in range(_DRAWS)]
    )
    low, high = np.quantile(drawn, [0.05, 0.95])
    if low < 0 < high:
        return _none(series, f"parked and driving do not differ clearly ({low:+.2f} to {high:+.2f})")
    found = _difference(strata)
    share = float(driving.mean())
    factors = {PARKED: -share, DRIVING: 1 - share}
    intervals = {
        name: [found * factor, *sorted((float(low) * factor, float(high) * factor))]
        for name, factor in factors.items()
    }
    return Found({name: ends[0] for name, ends in intervals.items()}, intervals, {})


def _none(series: Series, reason: str) -> Found:
    return Found(None, {}, {f"{series.quantity}.motion": reason})


def _difference(strata: list[tuple[Floats, Floats]]) -> float:
    """Driving less parked: the mean over days, weighed by the precision of their difference."""
    each = [float(np.median(driving) - np.median(parked)) for parked, driving in strata]
    weights = [1 / (1 / len(parked) + 1 / len(driving)) for parked, driving in strata]
    return float(np.average(each, weights=weights))
