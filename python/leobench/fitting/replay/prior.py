"""The model of a series before anything is known of it: a warped Gaussian state-space process.

`y = floor + exp(location + scale * sinh((asinh(z) + skewness) / tail))`, by the sinh-arcsinh transformation
(Jones and Pewsey 2009). z is standard normal, the sum of four independent parts: drift, slot, slow and fast.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from leobench.errors import InputError
from leobench.fitting.series import PHASE_S, SLOT_S

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leobench.fitting.series import Floats

PARTS = ("drift", "slot", "slow", "fast")

# A value at the floor or below has no finite z.
_LEAST = 1e-9


@dataclass(frozen=True)
class Process:
    """A warped Gaussian process; `docs/reference` describes the same keys of a fit.

    Attributes:
        floor: What the values lie above, in their unit.
        location: Of the logarithm of a value above the floor.
        scale: Of it.
        skewness: Of the warp; 0 is none.
        tail: Of the warp; 1 is log-normal, less is heavier.
        shares: The variance of each of `PARTS`; they add to 1.
        drift_s: Time constant of the drift, in seconds.
        slot_correlation: From one slot to the next.
        slow_s: Time constant within a slot.
        fast_s: Time constant of the fast part; `None` if it is white from step to step.
        every_s: Seconds of a slot.
        phase_s: When a slot begins, in UNIX seconds modulo `every_s`.
    """

    floor: float
    location: float
    scale: float
    shares: tuple[float, float, float, float]
    skewness: float = 0.0
    tail: float = 1.0
    drift_s: float = 600.0
    slot_correlation: float = 0.3
    slow_s: float = 2.0
    fast_s: float | None = None
    every_s: float = SLOT_S
    phase_s: float = PHASE_S

    def value(self, z: Floats) -> Floats:
        """The values at these z."""
        warped = np.sinh((np.arcsinh(z) + self.skewness) / self.tail)
        return self.floor + np.exp(np.clip(self.location + self.scale * warped, -60.0, 60.0))

    def z(self, value: Floats) -> Floats:
        """The z of values; those at the floor or below count as just above it."""
        log = np.log(np.maximum(np.asarray(value) - self.floor, _LEAST))
        return np.sinh(self.tail * np.arcsinh((log - self.location) / self.scale) - self.skewness)

    def slope(self, z: Floats) -> Floats:
        """How fast the value rises with z."""
        angle = (np.arcsinh(z) + self.skewness) / self.tail
        inner = np.cosh(angle) / (self.tail * np.sqrt(1.0 + z * z))
        return np.maximum((self.value(z) - self.floor) * self.scale * inner, _LEAST)

    def slot(self, unix_s: float) -> int:
        """The number of the slot of a time."""
        return math.floor((unix_s - self.phase_s) / self.every_s)

    def transition(self, before_s: float, after_s: float) -> tuple[Floats, Floats]:
        """The factor and the added variance of each part from one time to a later one."""
        span = after_s - before_s
        slots = self.slot(after_s) - self.slot(before_s)
        fast = 0.0 if self.fast_s is None else math.exp(-span / self.fast_s)
        slow = math.exp(-span / self.slow_s) if slots == 0 else 0.0
        factors = np.array([math.exp(-span / self.drift_s), self.slot_correlation**slots, slow, fast])
        return factors, np.array(self.shares) * (1.0 - factors**2)

    def sample(self, times: Floats, generator: np.random.Generator) -> Floats:
        """A path of values at ascending times in UNIX seconds."""
        spread = np.sqrt(np.array(self.shares))
        state = spread * generator.standard_normal(4)
        z = np.empty(len(times))
        for at, time in enumerate(times):
            if at:
                factors, added = self.transition(float(times[at - 1]), float(time))
                state = factors * state + np.sqrt(added) * generator.standard_normal(4)
            z[at] = state.sum()
        return self.value(z)

    def to_dict(self) -> dict[str, Any]:
        """The process with the keys of a fit, as the core reads them."""
        return {
            "floor": self.floor,
            "location": self.location,
            "scale": self.scale,
            "skewness": self.skewness,
            "tail": self.tail,
            "shares": dict(zip(PARTS, self.shares, strict=True)),
            "drift_s": self.drift_s,
            "slot_correlation": self.slot_correlation,
            "slow_s": self.slow_s,
            "fast_s": self.fast_s,
            "resolution_s": 0.1,
        }


@dataclass(frozen=True)
class Prior:
    """Two processes: the capacity in Mbit/s, and the round trip of the idle path in milliseconds."""

    capacity: Process
    delay: Process


@dataclass(frozen=True)
class Fit:
    """The processes that a fit has for a direction of a link; `None` where it was not measured."""

    capacity: Process
    delay: Process | None


def of_fit(content: Mapping[str, Any], direction: str = "downlink") -> Fit:
    """The processes of a fit.

    Args:
        content: As `fit_files.read` returns it.
        direction: The direction of the transfer.

    Raises:
        InputError: If it has no capacity in this direction.
    """
    capacity = (content.get(direction) or {}).get("capacity")
    if capacity is None:
        raise InputError(
            f"the fit {content['name']} has no capacity of the {direction}, which a replay needs; "
            "allowed: a fit to a saturated link, or no --fit"
        )
    delay = (content.get("delay") or {}).get("process")
    slots = content["slots"]
    return Fit(_process(capacity, slots), None if delay is None else _process(delay, slots))


def _process(parameters: Mapping[str, Any], slots: Mapping[str, float]) -> Process:
    names = ("floor", "location", "scale", "skewness", "tail", "drift_s", "slot_correlation", "slow_s")
    drift, slot, slow, fast = (parameters["shares"][part] for part in PARTS)
    return Process(
        shares=(drift, slot, slow, fast),
        fast_s=parameters.get("fast_s"),
        every_s=slots["every_s"],
        phase_s=slots["phase_s"],
        **{name: parameters[name] for name in names},
    )
