"""Estimates of a process in two steps: the distribution of its values, then their dependence.

The first step maximises the likelihood of the values as if they were independent, the second that of the
process with the distribution held ("inference functions for margins"; Joe 2005, "Asymptotic efficiency of the
two-stage estimation method for copula-based models"). One step would bend the distribution where a recording
has jumps that no Gaussian process has. The first step takes all values. The second takes a thinned series of
a long recording: its intervals depend on the number of slots more than on that of samples within them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from leobench.errors import InputError
from leobench.fitting import parameters as maps
from leobench.fitting import uncertainty
from leobench.fitting.likelihoods import THINNED, Dependent, Independent, penalised, thinned
from leobench.fitting.maximum import maximise
from leobench.fitting.parameters import Form
from leobench.fitting.series import SLOT_S, slots_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from leobench.fitting.series import Floats, Series

    Report = Callable[[str], None]

# Half of an interval of 90 %, in standard deviations.
WIDTH_90 = float(stats.norm.ppf(0.95))
# Slots that a fit needs, and samples in them.
FEWEST_SLOTS, FEWEST_SAMPLES = 20, 100

# Bounds of the time constants, in seconds, and of the floor below the least round trip, in ms. The shortest
# drift is that with which fits to one half of a recording predict the other best: where a quantity goes on
# over the bounds of slots within seconds, as uplinks do, longer ones only make slots take turns.
_SHORTEST_DRIFT_S: dict[str, float] = {"rtt": 8 * SLOT_S, "downlink": 8 * SLOT_S, "uplink": 5.0}
_LONGEST_DRIFT_S = 21_600.0
_SLOW_S = (0.3, SLOT_S)
_FAST_S = (0.001, 0.3)
_BELOW_LEAST_MS = (15.0, 0.05)
_MOST_SKEWNESS, _TAIL = 4.0, (0.25, 4.0)
_MOST_CORRELATION = 0.98
# A recording that tells a drift lasts so many times the shortest one, and so many seconds; and the fewest
# pairs of slots in a row.
_DRIFT_SPANS, _DRIFT_SPAN_S = 6.0, 360.0
_FEWEST_PAIRS = 20
# A share below it is none.
_LEAST_SHARE = 0.01
# A coordinate further out is at a bound.
_AT_BOUND = 3.5
# Starts: shares of the drift between slots and of the slow part within, and their time constants.
_STARTS = ((0.1, 0.3, 2.0, 600.0), (0.4, 0.5, 8.0, 1_800.0), (0.6, 0.8, 4.0, 150.0), (0.7, 0.3, 2.0, 20.0))
# How many of them are climbed to the end.
_CLIMBED = 2
# A climb from a start ends where a step gains less.
_GAIN_OF_START = 1.0
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
    short = thinned(len(times))
    report("distribution")
    margin = _margin(series, values)
    alone = Independent.of(margin, values, _ceiling(margin))
    first = max(
        (maximise(alone, margin.point(start)) for start in _margin_starts(margin, values)),
        key=lambda point: penalised(alone, point),
    )
    form, not_measured = _dependence(series, times, margin.parameters(first))
    second, form = _climb(form, times[short], values[short], not_measured, report)
    report("intervals")
    together = Dependent(form, times[short], values[short])
    both = uncertainty.covariances(alone, first, together, second)
    intervals = {
        **margin.intervals(first, both[0], WIDTH_90),
        **form.intervals(second, both[1], WIDTH_90),
    }
    total = Dependent(form, times, values).total(second)
    return Estimate(form.parameters(second), intervals, not_measured, total)


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


def _margin(series: Series, values: Floats) -> Form:
    """The form of the distribution of values: a process of which nothing lasts."""
    coordinates: dict[str, maps.Coordinate] = {}
    fixed: dict[str, float] = {"resolution_s": round(series.interval_s, 6)}
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
    return Form(coordinates, fixed, ("fast",))


def _ceiling(margin: Form) -> float:
    """The highest floor that the form admits."""
    floor = margin.coordinates.get("floor")
    return margin.fixed["floor"] if floor is None else float(floor.inward(np.inf))


def _margin_starts(margin: Form, values: Floats) -> list[dict[str, Any]]:
    """Parameters by quantiles of the logarithms, with floors near the least value and far from it."""
    found = []
    for u in (2.0, -1.0) if "floor" in margin.coordinates else (0.0,):
        coordinate = margin.coordinates.get("floor")
        floor = 0.0 if coordinate is None else coordinate.inward(u)
        quarter, middle, upper = np.quantile(np.log(values - floor), (0.25, 0.5, 0.75))
        scale = max(float(upper - quarter) / 1.349, 1e-3)
        start = {"floor": floor, "location": float(middle), "scale": scale, "skewness": 0.0, "tail": 1.0}
        found.append({**start, "shares": {"fast": 1.0}})
    return found


def _dependence(series: Series, times: Floats, margin: dict[str, Any]) -> tuple[Form, dict[str, str]]:
    """The form of the dependence that the series can tell, and what it cannot."""
    interval = series.interval_s
    not_measured: dict[str, str] = {}
    coordinates: dict[str, maps.Coordinate] = {}
    fixed = {name: value for name, value in margin.items() if name != "shares"}
    parts = ["slot", "slow", "fast"]
    span = float(times[-1] - times[0])
    shortest = _SHORTEST_DRIFT_S[series.quantity]
    if span >= max(_DRIFT_SPANS * shortest, _DRIFT_SPAN_S):
        coordinates["drift_s"] = maps.between_logarithms(shortest, min(span / 3, _LONGEST_DRIFT_S))
        parts.insert(0, "drift")
    else:
        not_measured["drift"] = f"the recording lasts {span:.0f} s"
    pairs = int((np.diff(np.unique(slots_of(times))) == 1).sum())
    if pairs >= _FEWEST_PAIRS:
        coordinates["slot_correlation"] = maps.between(0.0, _MOST_CORRELATION)
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
    every = thinned(len(times), THINNED // 4)
    rough = Dependent(form, times[every], values[every])
    found: list[tuple[float, Floats]] = []
    for number, start in enumerate(_starts(times, values), 1):
        report(f"start {number}")
        point = maximise(rough, form.point(start), gain=_GAIN_OF_START)
        found.append((penalised(rough, point), point))
    report("climbing")
    whole = Dependent(form, times, values)
    found.sort(key=lambda each: -each[0])
    tops = [maximise(whole, point) for _, point in found[:_CLIMBED]]
    point = max(tops, key=lambda each: penalised(whole, each))
    for part in ("drift", "slow"):
        if part in form.parts and form.parameters(point)["shares"][part] < _LEAST_SHARE:
            report(f"without {part}")
            not_measured[part] = f"its share is below {_LEAST_SHARE:g}"
            start, form = form.parameters(point), form.without(part)
            whole = Dependent(form, times, values)
            point = maximise(whole, form.point(start))
    interval = form.fixed["resolution_s"]
    if "fast_s" in form.coordinates and form.parameters(point)["fast_s"] < interval:
        report("without fast_s")
        white = form.without("fast_s")
        without = Dependent(white, times, values)
        other = maximise(without, white.point(form.parameters(point)))
        if penalised(whole, point) - penalised(without, other) < _WORTH:
            not_measured["fast_s"] = f"it is below the sampling interval of {interval:.3g} s"
            form, point = white, other
    return _off_bounds(form, point, not_measured)


def _off_bounds(form: Form, point: Floats, not_measured: dict[str, str]) -> tuple[Floats, Form]:
    """The point without coordinates at a bound: time constants stay there, and a correlation is none."""
    parameters = form.parameters(point)
    for name, u in zip(form.coordinates, point.tolist(), strict=False):
        if name.endswith("_s") and abs(u) > _AT_BOUND:
            side = "above" if u > 0 else "below"
            not_measured[name] = f"it is {side} {parameters[name]:.3g} s, a bound of the fit"
            form = form.holding(name, parameters[name])
        elif name == "slot_correlation" and u < -_AT_BOUND:
            not_measured[name] = f"it is below {parameters[name]:.3g}"
            parameters[name] = 0.0
            form = form.holding(name, 0.0)
    return form.point(parameters), form


def _starts(times: Floats, values: Floats) -> Sequence[dict[str, Any]]:
    """Parameters by moments of ranks, within and between slots."""
    z = stats.norm.ppf((stats.rankdata(values) - 0.5) / len(values))
    _, index = np.unique(slots_of(times), return_inverse=True)
    means = np.bincount(index, z) / np.bincount(index)
    between = float(np.clip(np.var(means[index]), 0.05, 0.9))
    found = []
    for drift, slow, slow_s, drift_s in _STARTS:
        shares = {
            "drift": between * drift,
            "slot": between * (1 - drift),
            "slow": (1 - between) * slow,
            "fast": (1 - between) * (1 - slow),
        }
        constants = {"slot_correlation": 0.1, "slow_s": slow_s, "drift_s": drift_s, "fast_s": 0.03}
        found.append({"shares": shares, **constants})
    return found


def flattened(parameters: Mapping[str, Any]) -> dict[str, float]:
    """Parameters by the names that intervals have."""
    shares = {f"shares.{part}": share for part, share in parameters["shares"].items()}
    return {**{name: value for name, value in parameters.items() if name != "shares"}, **shares}
