"""Between the parameters of a process and unbounded numbers, which an optimiser may change at will.

Each parameter that is free has a coordinate. Bounds are maps onto the whole line: a logistic function of the
parameter or of its logarithm, a softmax of the shares.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from leobench._core import Process

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from leobench.fitting.series import Floats

# Standard deviation of the weak normal prior of each coordinate, which keeps finite what no series tells.
PRIOR_SD = 6.0


@dataclass(frozen=True)
class Coordinate:
    """The map of one parameter onto the whole line.

    Attributes:
        inward: From the line to the parameter.
        outward: From the parameter to the line.
    """

    inward: Callable[[float], float]
    outward: Callable[[float], float]


def between(least: float, most: float) -> Coordinate:
    """A parameter between two bounds."""
    return Coordinate(
        lambda u: least + (most - least) / (1 + np.exp(-u)),
        lambda value: _logit((value - least) / (most - least)),
    )


def between_logarithms(least: float, most: float) -> Coordinate:
    """A positive parameter between two bounds, of which factors matter rather than differences."""
    logarithm = between(float(np.log(least)), float(np.log(most)))
    return Coordinate(
        lambda u: float(np.exp(logarithm.inward(u))), lambda value: logarithm.outward(float(np.log(value)))
    )


def _logit(share: float) -> float:
    inside = min(max(share, 1e-6), 1 - 1e-6)
    return float(np.log(inside / (1 - inside)))


FREE = Coordinate(float, float)
# Optimisers try steps that are far too long: such numbers stay finite.
_MOST_LOGARITHM, _MOST_ANGLE = 50.0, 300.0
POSITIVE = Coordinate(
    lambda u: float(np.exp(np.clip(u, -_MOST_LOGARITHM, _MOST_LOGARITHM))), lambda value: float(np.log(value))
)


@dataclass(frozen=True)
class Form:
    """The parameters of a process that are free, those that are not, and the parts that it has.

    Attributes:
        coordinates: The free parameters but the shares, by their names in the JSON of a process.
        fixed: The other parameters.
        parts: The parts whose shares are free; the last is what the others leave.
    """

    coordinates: Mapping[str, Coordinate]
    fixed: Mapping[str, float]
    parts: tuple[str, ...]

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return len(self.coordinates) + len(self.parts) - 1

    def parameters(self, point: Floats) -> dict[str, Any]:
        """The parameters at a point, as the JSON of a process has them."""
        found: dict[str, Any] = dict(self.fixed)
        for (name, coordinate), u in zip(self.coordinates.items(), point, strict=False):
            found[name] = float(coordinate.inward(float(u)))
        found["shares"] = dict(zip(self.parts, self._shares(point).tolist(), strict=True))
        return found

    def point(self, parameters: Mapping[str, Any]) -> Floats:
        """The point of parameters."""
        plain = [each.outward(parameters[name]) for name, each in self.coordinates.items()]
        shares = np.log([max(parameters["shares"].get(part, 0.0), 1e-4) for part in self.parts])
        return np.array([*plain, *(shares[:-1] - shares[-1])])

    def without(self, name: str) -> Form:
        """The form without a part or a time constant."""
        coordinates = {key: each for key, each in self.coordinates.items() if key not in {name, f"{name}_s"}}
        return Form(coordinates, self.fixed, tuple(part for part in self.parts if part != name))

    def holding(self, name: str, value: float) -> Form:
        """The form in which a parameter is fixed."""
        coordinates = {key: each for key, each in self.coordinates.items() if key != name}
        return Form(coordinates, {**self.fixed, name: value}, self.parts)

    def process(self, point: Floats) -> Process:
        """The process at a point."""
        return Process(json.dumps(self.parameters(point)))

    def intervals(self, point: Floats, covariance: Floats, width: float) -> dict[str, list[float]]:
        """Each free parameter with both ends of its interval.

        Args:
            point: The estimate.
            covariance: The covariance of the coordinates.
            width: Half of the length of an interval, in standard deviations.
        """
        found: dict[str, list[float]] = {}
        # No estimate is less certain than the prior, even where a process cannot explain a series.
        deviations = width * np.minimum(np.sqrt(np.diag(covariance)), PRIOR_SD)
        for index, (name, coordinate) in enumerate(self.coordinates.items()):
            ends = point[index] + deviations[index] * np.array([0.0, -1.0, 1.0])
            found[name] = [float(coordinate.inward(float(u))) for u in ends]
        first = len(self.coordinates)
        shares = self._shares(point)
        for index, part in enumerate(self.parts if len(self.parts) > 1 else ()):
            # Gradient of the logit of a share, by the delta method.
            own = (np.arange(len(shares)) == index).astype(np.float64)
            gradient = ((own - shares) / (1 - shares[index]))[:-1]
            variance = float(gradient @ covariance[first:, first:] @ gradient)
            deviation = width * min(variance**0.5, PRIOR_SD)
            logit = _logit(float(shares[index]))
            ends = logit + deviation * np.array([0.0, -1.0, 1.0])
            found[f"shares.{part}"] = (1 / (1 + np.exp(-ends))).tolist()
        return found

    def _shares(self, point: Floats) -> Floats:
        logits = np.append(point[len(self.coordinates) :], 0.0)
        weights = np.exp(logits - logits.max())
        shares: Floats = weights / weights.sum()
        return shares


def log_densities(process: Process, parameters: Mapping[str, Any], times: Floats, values: Floats) -> Floats:
    """The logarithm of the density of each value, given those before it."""
    mean, deviation, z = process.innovations(times, values)
    bent = _bent(parameters, values)
    error = (z - mean) / deviation
    found: Floats = -0.5 * error * error - np.log(deviation) + _log_slope(parameters, values, bent, z)
    return found


def log_density_of(parameters: Mapping[str, Any], values: Floats) -> Floats:
    """The logarithm of the density of each value alone; minus infinity at the floor and below."""
    if values.min() <= parameters.get("floor", 0.0):
        return np.full(len(values), -np.inf)
    bent = _bent(parameters, values)
    angle = parameters.get("tail", 1.0) * np.arcsinh(bent) - parameters.get("skewness", 0.0)
    z = np.sinh(np.clip(angle, -_MOST_ANGLE, _MOST_ANGLE))
    found: Floats = -0.5 * z * z + _log_slope(parameters, values, bent, z)
    return found


def _bent(parameters: Mapping[str, Any], values: Floats) -> Floats:
    """Standard normal numbers as skewness and tail bend them (`crates/link/src/process/warp.rs`)."""
    above = np.log(values - parameters.get("floor", 0.0))
    found: Floats = (above - parameters["location"]) / parameters["scale"]
    return found


def _log_slope(parameters: Mapping[str, Any], values: Floats, bent: Floats, z: Floats) -> Floats:
    """The logarithm of the slope of standard normal numbers, and the constant of their density."""
    above = values - parameters.get("floor", 0.0)
    slope = np.sqrt((1 + z * z) / (1 + bent * bent)) * parameters.get("tail", 1.0) / parameters["scale"]
    found: Floats = np.log(slope / above) - 0.5 * np.log(2 * np.pi)
    return found
