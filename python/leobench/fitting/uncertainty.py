"""The uncertainty of an estimate in two steps.

The covariance is J^-1 V J^-T (Godambe 1960): J has the derivatives of both steps' total scores by all
coordinates, and V is the covariance of the total scores. V is that of draws from the estimate at the same
times: it includes how strongly the values depend on each other.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from leobench.fitting.parameters import PRIOR_SD, Form

if TYPE_CHECKING:
    from collections.abc import Callable

    from leobench.fitting.series import Floats

_DRAWS = 80
_STEP, _STEP_OF_SECOND = 1e-4, 1e-2


def covariances(
    margin: Form, first: Floats, dependence: Form, second: Floats, times: Floats, values: Floats
) -> tuple[Floats, Floats]:
    """The covariance of the coordinates of both steps, at their estimates `first` and `second`."""
    size = margin.size

    def of_margin(moved: Floats, observed: Floats) -> float:
        return margin.process(moved).log_likelihood(times, observed)

    def of_both(moved: Floats, observed: Floats) -> float:
        held = {**dependence.fixed, **margin.parameters(moved[:size])}
        held.pop("shares")
        form = Form(dependence.coordinates, held, dependence.parts)
        return form.process(moved[size:]).log_likelihood(times, observed)

    both = np.concatenate([first, second])
    whole = range(len(both))
    slopes = np.zeros((len(both), len(both)))
    slopes[:size, :size] = _curvature(lambda at: of_margin(at, values), first, range(size), range(size))
    slopes[size:] = _curvature(lambda at: of_both(at, values), both, whole[size:], whole)
    slopes += np.eye(len(both)) / PRIOR_SD**2

    def total(seed: int) -> Floats:
        drawn = dependence.process(second).sample(times, seed)
        of_first = _gradient(lambda at: of_margin(at, drawn), first, range(size))
        of_second = _gradient(lambda at: of_both(at, drawn), both, whole[size:])
        return np.concatenate([of_first, of_second])

    with ThreadPoolExecutor(2) as pool:
        totals = np.array(list(pool.map(total, range(1, _DRAWS + 1))))
    totals = totals[np.isfinite(totals).all(axis=1)]
    inverse = np.linalg.inv(slopes)
    covariance: Floats = inverse @ np.cov(totals.T) @ inverse.T
    return covariance[:size, :size], covariance[size:, size:]


def _gradient(function: Callable[[Floats], float], point: Floats, indices: range) -> Floats:
    found = []
    for index in indices:
        step = _STEP * (np.arange(len(point)) == index)
        found.append((function(point + step) - function(point - step)) / (2 * _STEP))
    return np.array(found)


def _curvature(function: Callable[[Floats], float], point: Floats, rows: range, columns: range) -> Floats:
    """The negative second derivatives of a function, by differences."""
    unit = _STEP_OF_SECOND * np.eye(len(point))

    def second(pair: tuple[int, int]) -> float:
        i, j = pair
        signs = ((1, 1), (1, -1), (-1, 1), (-1, -1))
        corners = [a * b * function(point + a * unit[i] + b * unit[j]) for a, b in signs]
        return -sum(corners) / (4 * _STEP_OF_SECOND**2)

    pairs = [(i, j) for i in rows for j in columns]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(second, pairs))
    return np.array(found).reshape(len(rows), len(columns))
