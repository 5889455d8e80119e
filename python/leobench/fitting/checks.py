"""Checks of a fit: statistics of what was measured, beside those of draws from the fit at the same times.

A statistic passes if it lies among those of 90 % of the draws, or near their mean. The probability integral
transform of each value, given those before it, is uniform if the model is right (Rosenblatt 1952).
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from leobench._core import Process
from leobench.fitting.statistics import Dependence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leobench.fitting.fit import Fit
    from leobench.fitting.series import Floats, Quantity, Series

QUANTILES = (0.05, 0.5, 0.95)
# How far the mean of the draws may be from a measured statistic that is not among them.
_NEAR_QUANTILE, _NEAR_DEPENDENCE = 0.1, 0.2
# Largest distance between the distribution of the transform and the uniform one, and largest correlation
# between errors in a row; both larger in short series, where chance makes them.
_DISTANCE, _CORRELATION = 0.05, 0.1
_BY_CHANCE = 1.63
# Uses that a failed check of a fit forbids, by the start of the check's name.
_FORBIDDEN = {
    "5 % quantile": "how low values fall",
    "50 % quantile": "typical values and medians",
    "95 % quantile": "how high values rise",
    "share of variance between slots": "how slots of 15 s differ from each other",
    "step between medians of slots": "the effect of handovers at the bounds of slots",
    "autocorrelation": "variation over so many seconds",
    "distance of the transform from uniform": "intervals and tails: they are too wide or too narrow",
    "correlation of errors in a row": "forecasts of the next samples",
}
DRAWS = 20
# Samples that draws are compared on: every one of a short series.
_MOST_SAMPLES = 100_000


@dataclass(frozen=True)
class Check:
    """A statistic, measured and modelled.

    Attributes:
        name: The statistic.
        measured: Its value in the series.
        modelled: Its mean over the draws, or the value of a right model.
        low: The end that 5 % of the draws are below; the least allowed value where there are no draws.
        high: The end that 5 % of the draws are above; the largest allowed value where there are no draws.
        near: How far `modelled` may be from it, as a share of it.
    """

    name: str
    measured: float
    modelled: float
    low: float
    high: float
    near: float

    @property
    def passed(self) -> bool:
        """Whether the model has this statistic."""
        if math.isnan(self.measured) or self.low <= self.measured <= self.high:
            return True
        return abs(self.measured - self.modelled) <= self.near * abs(self.measured)


@dataclass(frozen=True)
class Checked:
    """The checks of one quantity.

    Attributes:
        series: What was measured.
        draws: Series drawn from the fit at the same times.
        transform: The probability integral transform of each value, given those before it.
        checks: The statistics.
    """

    series: Series
    draws: Sequence[Series]
    transform: Floats
    checks: Sequence[Check]

    @property
    def failed(self) -> list[str]:
        """The names of the checks that failed."""
        return [f"{self.series.quantity}: {check.name}" for check in self.checks if not check.passed]


def check(fit: Fit) -> dict[Quantity, Checked]:
    """Checks the processes of a fit on what they were fitted to."""
    return {quantity: _checked(fit.document, series) for quantity, series in fit.series.items()}


def _checked(document: Mapping[str, Any], series: Series) -> Checked:
    part = document["delay"]["process"] if series.quantity == "rtt" else document[series.quantity]["capacity"]
    process = Process(json.dumps(part))
    present = series.where(series.present)
    mean, deviation, z = process.innovations(present.times, present.values)
    error = (z - mean) / deviation
    error = error[~np.isnan(error)]
    every = present.where(np.arange(len(present.times)) % (1 + len(present.times) // _MOST_SAMPLES) == 0)
    draws = [replace(every, values=process.sample(every.times, seed)) for seed in range(1, DRAWS + 1)]
    transform: Floats = np.asarray(stats.norm.cdf(error), dtype=np.float64)
    checks = [*_compared(every, draws), *_calibration(error, transform)]
    return Checked(every, draws, transform, checks)


def _compared(measured: Series, draws: Sequence[Series]) -> list[Check]:
    drawn = [_statistics(draw) for draw in draws]
    found = []
    for name, value in _statistics(measured).items():
        values = np.array([each[name] for each in drawn])
        if np.isnan(values).any():
            continue
        low, high = np.quantile(values, (0.05, 0.95))
        near = _NEAR_QUANTILE if "quantile" in name else _NEAR_DEPENDENCE
        found.append(Check(name, value, float(values.mean()), float(low), float(high), near))
    return found


def _statistics(series: Series) -> dict[str, float]:
    dependence = Dependence.of(series)
    found = {
        f"{at:.0%} quantile".replace("%", " %"): float(np.quantile(series.values, at)) for at in QUANTILES
    }
    found["share of variance between slots"] = dependence.between_slots
    found["step between medians of slots"] = dependence.step
    for lag, value in dependence.autocorrelation.items():
        found[f"autocorrelation at {lag} s"] = value
    return found


def _calibration(error: Floats, transform: Floats) -> list[Check]:
    chance = _BY_CHANCE / math.sqrt(len(error))
    distance = float(stats.kstest(transform, "uniform").statistic)
    between = float(np.corrcoef(error[:-1], error[1:])[0, 1])
    most = max(_CORRELATION, 2 * chance)
    return [
        Check("distance of the transform from uniform", distance, 0.0, 0.0, max(_DISTANCE, chance), 0.0),
        Check("correlation of errors in a row", between, 0.0, -most, most, 0.0),
    ]


def failed(checked: Mapping[Quantity, Checked]) -> list[str]:
    """The names of all checks that failed."""
    return [name for each in checked.values() for name in each.failed]


def _failures(checked: Mapping[Quantity, Checked]) -> list[str]:
    """Each failed check, with what the fit may therefore not be used for."""
    return [
        f"{quantity}: {one.name}; no conclusions on {_forbidden(one.name)}"
        for quantity, each in checked.items()
        for one in each.checks
        if not one.passed
    ]


def _forbidden(name: str) -> str:
    return next(use for start, use in _FORBIDDEN.items() if name.startswith(start))


def page(fit: Fit, checked: Mapping[Quantity, Checked], figure: str) -> str:
    """The page of the checks, in Markdown."""
    wrong = failed(checked)
    count = sum(len(each.checks) for each in checked.values())
    lines = [f"# Checks of the fit {fit.document['name']}", ""]
    if wrong:
        lines += [f"**{len(wrong)} of {count} checks failed.** The model does not have:", ""]
        lines += [f"- {name}" for name in _failures(checked)]
    else:
        lines.append(f"All {count} checks passed.")
    lines += [
        "",
        f"A statistic passes if it lies among those of 90 % of {DRAWS} draws from the fit at the same times, "
        f"or if their mean is within {100 * _NEAR_QUANTILE:g} % (quantiles) or {100 * _NEAR_DEPENDENCE:g} % "
        "(others) of it.",
    ]
    lines += [f"\n**Warning**: {warning}." for warning in fit.warnings]
    for quantity, each in checked.items():
        lines += ["", f"## {quantity}, {each.series.unit}", ""]
        lines += ["| statistic | measured | modelled | 90 % of draws | |", "|---|---|---|---|---|"]
        lines += [_row(one) for one in each.checks]
    lines += ["", f"![Measured and modelled]({figure})", "", "## Parameters", ""]
    lines += ["| parameter | estimate | 90 % interval |", "|---|---|---|"]
    for name, (value, low, high) in fit.document["uncertainty"].items():
        lines.append(f"| {name} | {value:.4g} | {low:.4g} to {high:.4g} |")
    if fit.not_measured:
        lines += ["", "Not measured, and held where the fit has a value:", ""]
        lines += [f"- {name}: {reason}" for name, reason in fit.not_measured.items()]
    return "\n".join(lines) + "\n"


def _row(one: Check) -> str:
    verdict = "passed" if one.passed else "**failed**"
    draws = f"{one.low:.3g} to {one.high:.3g}"
    return f"| {one.name} | {one.measured:.3g} | {one.modelled:.3g} | {draws} | {verdict} |"
