"""The uncertainty of an estimate in two steps (Joe 2005).

The distribution's covariance is J^-1 V J^-1 (Godambe 1960): J is the curvature of its likelihood, and V the
covariance of the derivatives. V is that of draws from the estimate at the same times: it includes how
strongly the values depend on each other.

The dependence's is K^-1 + K^-1 M C M' K^-1: K is the curvature of its likelihood, C the covariance of the
distribution, and M the mixed derivatives. The derivatives of the two likelihoods are uncorrelated, as the
expectation of the first is zero for any dependence.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from leobench.fitting.likelihoods import Dependent, Independent
from leobench.fitting.parameters import PRIOR_SD, Form

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leobench.fitting.series import Floats

_DRAWS = 200
_STEP = 1e-2


def covariances(
    alone: Independent, first: Floats, together: Dependent, second: Floats
) -> tuple[Floats, Floats]:
    """The covariance of the coordinates of both steps, at their estimates `first` and `second`."""
    size, form = len(first), together.form
    both = np.concatenate([first, second])
    ofs = range(size, len(both))

    def of_both(moved: Floats) -> float:
        held = {**form.fixed, **alone.form.parameters(moved[:size])}
        held.pop("shares")
        other = Form(form.coordinates, held, form.parts)
        return Dependent(other, together.times, together.values).total(moved[size:])

    pairs = [(i, j) for i in range(size) for j in range(i + 1)]
    own = _symmetric(_curvatures(alone.total, first, pairs), pairs, size)
    # The values are those of the whole recording, the draws have its thinned times.
    share = len(together.times) / alone.counts.sum()
    inverse = _inverse(own * share + np.eye(size) / PRIOR_SD**2)
    of_first = inverse @ _variability(alone, first, together, second) @ inverse

    mixed = [(i, j) for i in ofs for j in range(size)]
    slopes = np.reshape(_curvatures(of_both, both, mixed), (len(second), size))
    pairs = [(i, j) for i in ofs for j in range(size, i + 1)]
    shifted = [(i - size, j - size) for i, j in pairs]
    curvature = _symmetric(_curvatures(of_both, both, pairs), shifted, len(second))
    inverse = _inverse(curvature + np.eye(len(second)) / PRIOR_SD**2)
    through = inverse @ slopes
    return of_first, inverse + through @ of_first @ through.T


def _variability(alone: Independent, first: Floats, together: Dependent, second: Floats) -> Floats:
    """The covariance of the derivatives of the distribution's likelihood, over draws."""
    process = together.form.process(second)
    floor = alone.form.parameters(first)["floor"]

    def slope(seed: int) -> Floats:
        drawn = process.sample(together.times, seed)
        return Independent.of(alone.form, drawn, floor).slope(first)

    with ThreadPoolExecutor(2) as pool:
        slopes = np.array(list(pool.map(slope, range(1, _DRAWS + 1))))
    found: Floats = np.atleast_2d(np.cov(slopes[np.isfinite(slopes).all(axis=1)].T))
    return found


def _curvatures(
    function: Callable[[Floats], float], point: Floats, pairs: Sequence[tuple[int, int]]
) -> list[float]:
    """The negative second derivatives of a function by pairs of coordinates, by differences."""
    unit = _STEP * np.eye(len(point))

    def second(pair: tuple[int, int]) -> float:
        i, j = pair
        corners = [a * b * function(point + a * unit[i] + b * unit[j]) for a, b in product((1, -1), repeat=2)]
        return -sum(corners) / (4 * _STEP**2)

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(second, pairs))


def _symmetric(values: Sequence[float], pairs: Sequence[tuple[int, int]], size: int) -> Floats:
    """A symmetric matrix from its lower half."""
    found = np.zeros((size, size))
    for (i, j), value in zip(pairs, values, strict=True):
        found[i, j] = found[j, i] = value
    return found


def _inverse(curvature: Floats) -> Floats:
    """The inverse of a curvature, no direction of which tells less than the weak prior."""
    values, vectors = np.linalg.eigh(curvature)
    found: Floats = (vectors / np.maximum(values, 1 / PRIOR_SD**2)) @ vectors.T
    return found
