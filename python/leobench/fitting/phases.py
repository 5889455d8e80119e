"""Events at a time of the slot: outages that begin there, and interruptions that single lost probes show.

A scan over windows of several lengths finds the time of the slot at which events gather (Naus 1965), against
a uniform distribution. An interruption that is shorter than the time between two probes loses one or none, so
its length and the share of slots that have one cannot be told apart: `interruptions` takes the shortest, one
in every slot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from leobench.fitting.series import PHASE_S, SLOT_S

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from leobench.fitting.series import Floats, Series

# Lengths of the windows that are tried, and the step between two of them, in seconds.
_WIDTHS_S, _STEP_S = (0.25, 0.5, 1.0, 2.0), 0.05
# Fewest events that gather, and the probability that uniform ones gather as much in any window (Bonferroni).
_FEWEST, _CHANCE = 10, 1e-3


@dataclass(frozen=True)
class Window:
    """A part of each slot: from `after_s`, `within_s` long."""

    after_s: float
    within_s: float

    def holds(self, times: Floats) -> NDArray[np.bool_]:
        """Whether each time is in it."""
        age = np.mod(times - PHASE_S, SLOT_S)
        return (age >= self.after_s) & (age < self.after_s + self.within_s)


def gathering(events: Floats, observed: Floats) -> Window | None:
    """The window of the slot in which events gather; None if they may be spread as the observed times are."""
    if len(events) < _FEWEST:
        return None
    edges = np.linspace(0.0, SLOT_S, round(SLOT_S / _STEP_S) + 1)
    ages = (np.mod(times - PHASE_S, SLOT_S) for times in (events, observed))
    count, seen = (np.append(0, np.cumsum(np.histogram(age, edges)[0])) for age in ages)
    best, least, tried = None, 0.0, 0
    for width in _WIDTHS_S:
        steps = round(width / _STEP_S)
        inside = count[steps:] - count[:-steps]
        share = np.clip((seen[steps:] - seen[:-steps]) / seen[-1], 1e-12, 1.0)
        chance = stats.binom.logsf(inside - 1, len(events), share)
        tried += len(chance)
        at = int(np.argmin(chance))
        if inside[at] >= _FEWEST and chance[at] < least:
            best, least = Window(float(round(edges[at], 3)), width), float(chance[at])
    return best if least + np.log(tried) < np.log(_CHANCE) else None


@dataclass(frozen=True)
class Interruptions:
    """Interruptions of every slot that lose single probes.

    Attributes:
        window: When they begin.
        probability: The share of slots in which a probe is lost by one, and the ends of its 90 % interval.
        length_s: Their length if every slot has one, and the least and the largest that loses as many.
    """

    window: Window
    probability: list[float]
    length_s: list[float]

    @property
    def parameters(self) -> dict[str, object]:
        """As the JSON of a fit has them."""
        return {
            "at_boundary": 1.0,
            "after_s": self.window.after_s,
            "within_s": self.window.within_s,
            "length": {"median_s": self.length_s[0]},
        }

    @property
    def intervals(self) -> dict[str, list[float]]:
        """Of the parameters: they hold fewer, longer interruptions that lose as much."""
        return {"at_boundary": [1.0, self.probability[1], 1.0], "length.median_s": self.length_s}

    @property
    def not_measured(self) -> dict[str, str]:
        """The choice that was made."""
        share, length = self.probability[0], self.length_s
        reason = (
            f"probes are too far apart; every slot has an interruption of {1e3 * length[0]:.0f} ms, but "
            f"{1e3 * length[2]:.0f} ms in {share:.0%} of the slots would lose as many"
        )
        return {"interruptions.at_boundary": reason}


def interruptions(series: Series, lost: NDArray[np.bool_]) -> Interruptions | None:
    """The interruptions that lost probes outside outages show; None if those do not gather in a slot.

    Args:
        series: Round trips.
        lost: Whether each probe is lost, but in no outage.
    """
    first = lost & ~np.append(False, lost[:-1])
    window = gathering(series.times[first], series.times)
    if window is None:
        return None
    inside = window.holds(series.times)
    slots = len(np.unique(series.slots[inside]))
    elsewhere = int((first & ~inside).sum()) / max(int((~inside).sum()), 1)
    hit = len(np.unique(series.slots[first & inside])) - elsewhere * int(inside.sum())
    hit = min(max(hit, 0.5), slots)
    beta = stats.beta(hit + 0.5, slots - hit + 0.5)  # Jeffreys
    probability = [hit / slots, float(beta.ppf(0.05)), float(beta.ppf(0.95))]
    spacing, one_way = series.interval_s, float(np.nanmedian(series.values)) / 2e3
    lengths = [_length(share * spacing, one_way) for share in (probability[0], probability[1], 1.0)]
    return Interruptions(window, probability, lengths)


def _length(spacing: float, one_way: float) -> float:
    """The length that loses a probe in each such time: on its way there, or on its way back."""
    return spacing / 2 if spacing / 2 <= one_way else spacing - one_way
