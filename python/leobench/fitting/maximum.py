"""The largest likelihood, up from a start.

The climb takes the outer products of the scores for the Hessian (Berndt, Hall, Hall and Hausman 1974) until
it gains little, and BFGS from there on: where a process does not describe a series exactly, the two differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import optimize

from leobench.fitting.likelihoods import penalised
from leobench.fitting.parameters import PRIOR_SD

if TYPE_CHECKING:
    from leobench.fitting.likelihoods import Likelihood
    from leobench.fitting.series import Floats

# Climbing ends where a step would gain less in the logarithm of the likelihood, or the slope is this flat.
_GAIN, _FLAT = 1e-3, 0.05
# Steps by scores: until they gain little, or become small.
_MOST_SCORED, _SLOW_GAIN, _SMALLEST = 12, 1.0, 1e-3
_MOST_STEPS = 60


def maximise(likelihood: Likelihood, start: Floats, gain: float = _GAIN) -> Floats:
    """The point with the largest likelihood, up from a start.

    Args:
        likelihood: Climbed together with the weak prior.
        start: The first point.
        gain: The climb ends where a step would gain less.
    """
    prior = np.eye(likelihood.form.size) / PRIOR_SD**2

    def objective(point: Floats) -> float:
        return -penalised(likelihood, point)

    def scored(point: Floats) -> tuple[Floats, Floats]:
        slope, products = likelihood.scored(point)
        return point @ prior - slope, products + prior

    point, radius = start, 1.0
    least = objective(point)
    slope, curvature = scored(point)
    for _ in range(_MOST_SCORED):
        step = -np.linalg.solve(curvature, slope)
        if -0.5 * float(slope @ step) < gain:
            return point
        step *= min(1.0, radius / float(np.abs(step).max()))
        while (value := objective(point + step)) >= least and radius > _SMALLEST:
            step, radius = step / 4, radius / 4
        if value >= least:
            break
        point, gained, least = point + step, least - value, value
        radius *= 2
        slope, curvature = scored(point)
        if gained < max(_SLOW_GAIN, gain):
            break
    if gain > _GAIN:
        return point
    inverse = np.linalg.inv(curvature)
    minimize: Any = optimize.minimize  # its stubs know no `hess_inv0` of this shape
    found = minimize(
        objective,
        point,
        jac=lambda each: each @ prior - likelihood.slope(each),
        method="BFGS",
        options={"hess_inv0": np.asarray(inverse + inverse.T) / 2, "maxiter": _MOST_STEPS, "gtol": _FLAT},
    )
    best: Floats = found.x
    return best
