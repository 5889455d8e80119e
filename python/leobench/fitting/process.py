"""The maximum likelihood of a process of delay or capacity.

`estimate` chooses which parameters the series can tell, starts from moments, climbs on a thinned series
and ends on the whole one. The first steps take the outer products of the scores for the Hessian (Berndt, Hall,
Hall Hall and Hausman 1974); later ones are those of BFGS. Intervals are by the observed information.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import optimize, stats

from leobench.errors import InputError
from leobench.fitting import parameters as maps
from leobench.fitting.parameters import Form
from leobench.fitting.series import SLOT_S, slots_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from leobench.fitting.series import Floats, Series

    Report = Callable[[str], None]

# Half of an interval of 90 %, in standard deviations.
WIDTH_90 = float(stats.norm.ppf(0.95))
# Standard deviation of the weak normal prior of each coordinate, which keeps finite what no series tells.
_PRIOR_SD = 6.0
# Steps between points that derivatives are differences of.
_STEP = 1e-4
_STEP_OF_SECOND = 1e-2
# Climbing ends where a step would gain less in the logarithm of the likelihood, or the slope is this flat.
_GAIN, _FLAT = 1e-3, 0.05
# Steps by scores: until they gain little, or become small.
_MOST_SCORED, _SLOW_GAIN, _SMALLEST = 12, 1.0, 1e-3
_MOST_STEPS = 60

# Slots that a fit needs, and samples in them.
FEWEST_SLOTS, FEWEST_SAMPLES = 20, 100
# Samples of a thinned series, and how many in a row it keeps.
_THINNED, _BURST = 30_000, 8
# Longest series whose information is from second derivatives; of longer ones, from the scores.
_LONGEST_EXACT = 100_000

# Bounds of the time constants, in seconds, and of the floor below the least round trip, in ms.
_DRIFT_S = (60.0, 21_600.0)
_SLOW_S = (0.3, SLOT_S)
_FAST_S = (0.001, 0.3)
_BELOW_LEAST_MS = (15.0, 0.05)
_MOST_SKEWNESS, _TAIL = 4.0, (0.25, 4.0)
# Fewest spans of the shortest drift that a recording lasts, and pairs of slots in a row.
_DRIFT_SPANS = 6.0
_FEWEST_PAIRS = 20
# A share below it is none.
_LEAST_SHARE = 0.01
# A coordinate of a time constant further out is at a bound.
_AT_BOUND = 3.5
# Starts: shares of the drift between slots and of the slow part within, and their time constants.
_STARTS = ((0.1, 0.3, 2.0, 600.0), (0.4, 0.5, 8.0, 1_800.0), (0.6, 0.8, 4.0, 150.0))
# Gain in the logarithm of the likelihood that a further parameter needs.
_WORTH = 3.0


@dataclass(frozen=True)
class Estimate:
    """A process fitted to a series.

    Attributes:
        parameters: As the JSON of a process has them.
        intervals: Each free parameter, with the ends of its interval of 90 %.
        not_measured: The parameters that the series does not tell, and the reason.
        log_likelihood: That of the whole series.
    """

    parameters: dict[str, Any]
    intervals: dict[str, list[float]]
    not_measured: dict[str, str]
    log_likelihood: float


def estimate(series: Series, report: Report = lambda _: None) -> Estimate:
    """Fits a process.

    Args:
        series: Round trips or rates; missing values are left out.
        report: Told what is being done.

    Raises:
        InputError: If the series is too short.
    """
    times, values = _admitted(series)
    form, not_measured = _form(series, times, values)
    short = thinned(times)
    # Scores of the whole series would cost minutes at points that are far from the estimate.
    point, form = _climb(form, times[short], values[short], not_measured, report)
    if not short.all():
        report("all samples")
        point = maximise(form, point, times, values)
    report("intervals")
    covariance: Floats = np.linalg.inv(information(form, point, times, values)).astype(np.float64)
    process = form.process(point)
    return Estimate(
        form.parameters(point),
        form.intervals(point, covariance, WIDTH_90),
        not_measured,
        process.log_likelihood(times, values),
    )


def _admitted(series: Series) -> tuple[Floats, Floats]:
    """The times and values that there are, if there are enough."""
    times, values = series.times[series.present], series.values[series.present]
    slots = len(np.unique(slots_of(times)))
    if slots < FEWEST_SLOTS or len(times) < FEWEST_SAMPLES:
        raise InputError(
            f"{series.name}: {len(times):,} values of {series.quantity} in {slots} slots of {SLOT_S:g} s are "
            f"too few for a fit; allowed: from {FEWEST_SAMPLES} values in {FEWEST_SLOTS} slots"
        )
    if len(times) < 3 * slots:
        raise InputError(
            f"{series.name}: has {len(times) / slots:.1f} values of {series.quantity} in a slot of "
            f"{SLOT_S:g} s: the gaps are too long for a fit; allowed: from 3"
        )
    if np.ptp(values) == 0:
        raise InputError(
            f"{series.name}: all values of {series.quantity} are {values[0]:g}; allowed: some variation"
        )
    return times, values


def thinned(times: Floats, most: int = _THINNED) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """The samples of a thinned series: some in a row, then a pause, so that all time constants show."""
    if len(times) <= most:
        return np.ones(len(times), dtype=np.bool_)
    period = max(1, round(_BURST * len(times) / most))
    return np.arange(len(times)) % period < _BURST


def _form(series: Series, times: Floats, values: Floats) -> tuple[Form, dict[str, str]]:
    """The form of the process that the series can tell, and what it cannot."""
    interval = series.interval_s
    not_measured: dict[str, str] = {}
    coordinates: dict[str, maps.Coordinate] = {}
    fixed: dict[str, float] = {"resolution_s": round(interval, 6)}
    if series.quantity == "rtt":
        least = float(values.min())
        coordinates["floor"] = maps.between(least - _BELOW_LEAST_MS[0], least - _BELOW_LEAST_MS[1])
    else:
        fixed["floor"] = 0.0
    coordinates |= {
        "location": maps.FREE,
        "scale": maps.POSITIVE,
        "skewness": maps.between(-_MOST_SKEWNESS, _MOST_SKEWNESS),
        "tail": maps.between_logarithms(*_TAIL),
    }
    parts = ["slot", "slow", "fast"]
    longest = min(float(times[-1] - times[0]) / 3, _DRIFT_S[1])
    if longest * 3 >= _DRIFT_SPANS * _DRIFT_S[0]:
        coordinates["drift_s"] = maps.between_logarithms(_DRIFT_S[0], longest)
        parts.insert(0, "drift")
    else:
        not_measured["drift"] = f"the recording lasts {times[-1] - times[0]:.0f} s"
    pairs = int((np.diff(np.unique(slots_of(times))) == 1).sum())
    if pairs >= _FEWEST_PAIRS:
        coordinates["slot_correlation"] = maps.CORRELATION
    else:
        not_measured["slot_correlation"] = f"{pairs} slots follow another one"
    coordinates["slow_s"] = maps.between_logarithms(max(_SLOW_S[0], interval / 2), _SLOW_S[1])
    if interval <= _FAST_S[1] / 2:
        coordinates["fast_s"] = maps.between_logarithms(*_FAST_S)
    else:
        not_measured["fast_s"] = f"the sampling interval is {interval:.3g} s"
    return Form(coordinates, fixed, tuple(parts)), not_measured


def _climb(
    form: Form, times: Floats, values: Floats, not_measured: dict[str, str], report: Report
) -> tuple[Floats, Form]:
    """The best point from several starts, without the parts that the series does not show."""
    found: list[tuple[float, Floats]] = []
    every = thinned(times, _THINNED // 4)
    for number, start in enumerate(_starts(form, times, values), 1):
        report(f"start {number}")
        point = maximise(form, form.point(start), times[every], values[every])
        found.append((penalised(form, point, times[every], values[every]), point))
    report("climbing")
    point = maximise(form, max(found, key=lambda each: each[0])[1], times, values)
    for part in ("drift", "slow"):
        if part in form.parts and form.parameters(point)["shares"][part] < _LEAST_SHARE:
            report(f"without {part}")
            not_measured[part] = f"its share is below {_LEAST_SHARE:g}"
            start, form = form.parameters(point), form.without(part)
            point = maximise(form, form.point(start), times, values)
    interval = form.fixed["resolution_s"]
    if "fast_s" in form.coordinates and form.parameters(point)["fast_s"] < interval:
        report("without fast_s")
        white = form.without("fast_s")
        other = maximise(white, white.point(form.parameters(point)), times, values)
        gain = penalised(form, point, times, values) - penalised(white, other, times, values)
        if gain < _WORTH:
            not_measured["fast_s"] = f"it is below the sampling interval of {interval:.3g} s"
            form, point = white, other
    return _off_bounds(form, point, not_measured)


def _off_bounds(form: Form, point: Floats, not_measured: dict[str, str]) -> tuple[Floats, Form]:
    """The point without the time constants that lie at a bound, which stay there."""
    parameters = form.parameters(point)
    for name, u in zip(form.coordinates, point.tolist(), strict=False):
        if name.endswith("_s") and abs(u) > _AT_BOUND:
            side = "above" if u > 0 else "below"
            not_measured[name] = f"it is {side} {parameters[name]:.3g} s, a bound of the fit"
            form = form.holding(name, parameters[name])
    return form.point(parameters), form


def _starts(form: Form, times: Floats, values: Floats) -> Sequence[dict[str, Any]]:
    """Parameters by moments: of the logarithms, and of ranks within and between slots."""
    floor = form.fixed.get("floor")
    if floor is None:
        floor = float(values.min()) - 0.25 * float(np.median(values) - values.min()) - 0.1
        floor = max(floor, float(values.min()) - 0.9 * _BELOW_LEAST_MS[0])
    logs = np.log(values - floor)
    quarter, middle, upper = np.quantile(logs, (0.25, 0.5, 0.75))
    z = stats.norm.ppf((stats.rankdata(values) - 0.5) / len(values))
    _, index = np.unique(slots_of(times), return_inverse=True)
    means = np.bincount(index, z) / np.bincount(index)
    between = float(np.clip(np.var(means[index]), 0.05, 0.9))
    common = {
        "floor": floor,
        "location": float(middle),
        "scale": max(float(upper - quarter) / 1.349, 1e-3),
        "skewness": 0.0,
        "tail": 1.0,
        "slot_correlation": 0.1,
    }
    found = []
    for drift, slow, slow_s, drift_s in _STARTS:
        shares = {
            "drift": between * drift,
            "slot": between * (1 - drift),
            "slow": (1 - between) * slow,
            "fast": (1 - between) * (1 - slow),
        }
        found.append({**common, "shares": shares, "slow_s": slow_s, "drift_s": drift_s, "fast_s": 0.03})
    return found


def penalised(form: Form, point: Floats, times: Floats, values: Floats) -> float:
    """The logarithm of the likelihood and of the weak prior."""
    return form.process(point).log_likelihood(times, values) - 0.5 * float(point @ point) / _PRIOR_SD**2


def scores(form: Form, point: Floats, times: Floats, values: Floats) -> Floats:
    """The derivatives of the logarithm of each value's density by the coordinates: samples by coordinates."""

    def at(moved: Floats) -> Floats:
        return maps.log_densities(form.process(moved), form.parameters(moved), times, values)

    def column(index: int) -> Floats:
        step = np.zeros(form.size)
        step[index] = _STEP
        derivative: Floats = (at(point + step) - at(point - step)) / (2 * _STEP)
        return derivative

    with ThreadPoolExecutor(2) as pool:  # the filter runs without the lock of the interpreter
        return np.stack(list(pool.map(column, range(form.size))), axis=1)


def maximise(form: Form, start: Floats, times: Floats, values: Floats) -> Floats:
    """The point with the largest likelihood, up from a start.

    Scores give the metric for the first steps, and BFGS learns the curvature from there on: where a process
    does not describe a series exactly, the two differ.
    """

    def objective(point: Floats) -> float:
        return -penalised(form, point, times, values)

    def scored(point: Floats) -> tuple[Floats, Floats]:
        each = scores(form, point, times, values)
        prior = np.eye(form.size) / _PRIOR_SD**2
        return point @ prior - each.sum(axis=0), each.T @ each + prior

    point, radius = start, 1.0
    least = objective(point)
    for _ in range(_MOST_SCORED):
        slope, curvature = scored(point)
        step = -np.linalg.solve(curvature, slope)
        if -0.5 * float(slope @ step) < _GAIN:
            return point
        step *= min(1.0, radius / float(np.abs(step).max()))
        while (value := objective(point + step)) >= least and radius > _SMALLEST:
            step, radius = step / 4, radius / 4
        if value >= least:
            break
        point, gained, least = point + step, least - value, value
        radius *= 2
        if gained < _SLOW_GAIN:
            break
    slope, curvature = scored(point)
    inverse = np.linalg.inv(curvature)
    minimize: Any = optimize.minimize  # its stubs know no `hess_inv0` of this shape
    found = minimize(
        objective,
        point,
        jac=lambda each: _slope(form, each, times, values),
        method="BFGS",
        options={"hess_inv0": np.asarray(inverse + inverse.T) / 2, "maxiter": _MOST_STEPS, "gtol": _FLAT},
    )
    best: Floats = found.x
    return best


def _slope(form: Form, point: Floats, times: Floats, values: Floats) -> list[float]:
    """The derivatives of the negative logarithm of the penalised likelihood."""
    process = [form.process(point + step) for step in _steps(form.size)]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda each: each.log_likelihood(times, values), process))
    differences = np.array(found[::2]) - np.array(found[1::2])
    slope = point / _PRIOR_SD**2 - differences / (2 * _STEP)
    return [float(each) for each in slope]


def _steps(size: int) -> list[Floats]:
    """A step up and one down in each coordinate."""
    return [sign * _STEP * row for row in np.eye(size) for sign in (1, -1)]


def information(form: Form, point: Floats, times: Floats, values: Floats) -> Floats:
    """The observed information of the coordinates, with that of the weak prior.

    It is the negative Hessian of the log-likelihood, by differences. For a long series, or where that is not
    positive definite, it is the sum of the outer products of the scores, which estimates the same.
    """
    prior = np.eye(form.size) / _PRIOR_SD**2
    if len(times) <= _LONGEST_EXACT:
        hessian = _hessian(form, point, times, values) + prior
        if np.linalg.eigvalsh(hessian).min() > 0:
            return hessian
    each = scores(form, point, times, values)
    found: Floats = each.T @ each + prior
    return found


def _hessian(form: Form, point: Floats, times: Floats, values: Floats) -> Floats:
    """The second derivatives of the negative logarithm of the likelihood."""

    def at(*moves: tuple[int, float]) -> float:
        moved = point.copy()
        for index, step in moves:
            moved[index] += step
        return form.process(moved).log_likelihood(times, values)

    step = _STEP_OF_SECOND
    pairs = [(i, j) for i in range(form.size) for j in range(i + 1)]

    def second(pair: tuple[int, int]) -> float:
        i, j = pair
        corners = [(a, b, at((i, a * step), (j, b * step))) for a in (1, -1) for b in (1, -1)]
        return -sum(a * b * value for a, b, value in corners) / (4 * step * step)

    found = np.zeros((form.size, form.size))
    with ThreadPoolExecutor(2) as pool:
        for (i, j), value in zip(pairs, pool.map(second, pairs), strict=True):
            found[i, j] = found[j, i] = value
    return found


def flattened(parameters: Mapping[str, Any]) -> dict[str, float]:
    """Parameters by the names that intervals have."""
    shares = {f"shares.{part}": share for part, share in parameters["shares"].items()}
    return {**{name: value for name, value in parameters.items() if name != "shares"}, **shares}
