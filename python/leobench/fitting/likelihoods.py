"""The two likelihoods that a fit climbs, and the samples that they are of.

`Independent` is that of values without their order, for the distribution; `Dependent` is that of a series, by
the filter of the compiled core. Both have a total and its derivatives at a point of a `Form`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from leobench.fitting.parameters import PRIOR_SD, Form, log_densities, log_density_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from leobench.fitting.series import Floats

# Half of the step that derivatives are differences over.
_STEP = 1e-4
# Samples of a thinned series, and those of a pattern.
THINNED, _PATTERN = 48_000, 16
# Decimals of the logarithms by which values are grouped: far below the spread of any recording.
_DECIMALS = 3


def thinned(count: int, most: int = THINNED) -> NDArray[np.bool_]:
    """The samples of a thinned series: a pattern of growing pauses, so that all time constants show."""
    period = round(_PATTERN * count / most)
    if period <= _PATTERN:
        return np.ones(count, dtype=np.bool_)
    steps = np.arange(_PATTERN)
    spread = (period - _PATTERN + 1.0) ** (steps / (_PATTERN - 1)) - 1 + 1e-9
    chosen = np.zeros(period, dtype=np.bool_)
    chosen[steps + spread.astype(np.int64)] = True
    return np.resize(chosen, count)


class Likelihood(Protocol):
    """The logarithm of a likelihood, as `maximum.maximise` climbs it."""

    @property
    def form(self) -> Form:
        """The form of its points."""

    def total(self, point: Floats) -> float:
        """Its value."""

    def slope(self, point: Floats) -> Floats:
        """Its derivatives by the coordinates."""

    def scored(self, point: Floats) -> tuple[Floats, Floats]:
        """Its derivatives, and the sum of the outer products of those of each value."""


@dataclass(frozen=True)
class Independent:
    """The likelihood of values as if they were independent, in groups of nearly equal ones.

    Attributes:
        form: The parameters of their distribution.
        values: The mean of each group.
        counts: The number of values in each.
    """

    form: Form
    values: Floats
    counts: Floats

    @classmethod
    def of(cls, form: Form, values: Floats, floor: float) -> Independent:
        """That of values above a floor; groups become narrower towards it."""
        keys = np.round(np.log(values - floor), _DECIMALS)
        _, index, counts = np.unique(keys, return_inverse=True, return_counts=True)
        return cls(form, np.bincount(index, values) / counts, counts.astype(np.float64))

    def total(self, point: Floats) -> float:
        """Its value."""
        return float(self.counts @ log_density_of(self.form.parameters(point), self.values))

    def slope(self, point: Floats) -> Floats:
        """Its derivatives by the coordinates."""
        return self.scored(point)[0]

    def scored(self, point: Floats) -> tuple[Floats, Floats]:
        """Its derivatives, and the sum of the outer products of those of each value."""
        each = _central(lambda moved: log_density_of(self.form.parameters(moved), self.values), point)
        weighted = each * self.counts[:, None]
        return weighted.sum(axis=0), weighted.T @ each


@dataclass(frozen=True)
class Dependent:
    """The likelihood of a series.

    Attributes:
        form: The parameters of a process.
        times: Seconds since 1970.
        values: The values at these times.
    """

    form: Form
    times: Floats
    values: Floats

    def total(self, point: Floats) -> float:
        """Its value."""
        return self.form.process(point).log_likelihood(self.times, self.values)

    def slope(self, point: Floats) -> Floats:
        """Its derivatives by the coordinates."""
        return _central(lambda moved: np.array(self.total(moved)), point)

    def scored(self, point: Floats) -> tuple[Floats, Floats]:
        """Its derivatives, and the sum of the outer products of those of each value."""

        def at(moved: Floats) -> Floats:
            return log_densities(
                self.form.process(moved), self.form.parameters(moved), self.times, self.values
            )

        each = _central(at, point)
        return each.sum(axis=0), each.T @ each


def _central(function: Callable[[Floats], Floats], point: Floats) -> Floats:
    """The derivatives of a function by each coordinate, in the last axis, as central differences."""

    def derivative(index: int) -> Floats:
        step = _STEP * (np.arange(len(point)) == index)
        found: Floats = (function(point + step) - function(point - step)) / (2 * _STEP)
        return found

    with ThreadPoolExecutor(2) as pool:  # the filter runs without the lock of the interpreter
        return np.stack(list(pool.map(derivative, range(len(point)))), axis=-1)


def penalised(likelihood: Likelihood, point: Floats) -> float:
    """The logarithm of the likelihood and of the weak prior."""
    return likelihood.total(point) - 0.5 * float(point @ point) / PRIOR_SD**2
