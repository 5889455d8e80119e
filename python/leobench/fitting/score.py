"""Scores of forecasts of the slots of a recording: proper scores, calibration, dependence.

A fit is scored twice, given the slots before each slot and given nothing, beside the forecasts that take no
model. The score is the continuous ranked probability score (CRPS; Gneiting and Raftery 2007): of a point it
is the absolute error. Smaller is better.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from leobench.errors import InputError
from leobench.fitting import forecasts, losses
from leobench.fitting.baselines import BASELINES, Known
from leobench.fitting.statistics import STATISTICS, Dependence, Slots

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leobench.fitting.forecasts import Model
    from leobench.fitting.series import Floats, Series
    from leobench.fitting.statistics import Statistic

AHEAD, ALONE, GIVEN = "model", "model, nothing given", "series"
LEVELS = (0.5, 0.8, 0.9)
_BLOCK, _RESAMPLES = 8, 2_000
_SEEDS = 20


@dataclass(frozen=True)
class Row:
    """The score of one forecast of one statistic.

    Attributes:
        quantity: What the series is: `rtt`, `downlink`, `uplink`.
        statistic: The name of the statistic.
        unit: Its unit, and that of the scores.
        forecast: The name of the forecast.
        slots: How many slots it was scored on.
        crps: Mean CRPS.
        difference: Mean CRPS of the model less that of this forecast, with its 95 % interval; None for the
            model itself. Below zero, the model is better.
        coverage: Share of slots within the central interval, by its level; None for points.
        pit: Values of the probability integral transform, spread at random over ties (Czado et al. 2009);
            None for points.
    """

    quantity: str
    statistic: str
    unit: str
    forecast: str
    slots: int
    crps: float
    difference: tuple[float, float, float] | None
    coverage: Mapping[float, float] | None
    pit: Floats | None


@dataclass(frozen=True)
class Score:
    """The scores of a fit, or of a series, on one recording.

    Attributes:
        data: The name of the recording.
        rows: The scores.
        log_score: By quantity, the mean logarithm of the density of a sample given those before it.
        dependence: By quantity, the dependence as measured and as modelled.
    """

    data: str
    rows: Sequence[Row]
    log_score: Mapping[str, float]
    dependence: Mapping[str, tuple[Dependence, Dependence]]

    def as_json(self) -> dict[str, Any]:
        """The numbers, as they are written."""
        return {
            "data": self.data,
            "scores": [_row(row) for row in self.rows],
            "log_score_per_sample": dict(self.log_score),
            "dependence": {
                quantity: {"measured": _dependence(measured), "modelled": _dependence(modelled)}
                for quantity, (measured, modelled) in self.dependence.items()
            },
        }


def _row(row: Row) -> dict[str, Any]:
    return {
        "quantity": row.quantity,
        "statistic": row.statistic,
        "unit": row.unit,
        "forecast": row.forecast,
        "slots": row.slots,
        "crps": row.crps,
        "model_less_forecast": None if row.difference is None else list(row.difference),
        "coverage": None
        if row.coverage is None
        else {f"{level:g}": share for level, share in row.coverage.items()},
    }


def _dependence(found: Dependence) -> dict[str, Any]:
    return {
        "between_slots": found.between_slots,
        "step": found.step,
        "autocorrelation": {
            str(lag): None if np.isnan(value) else value for lag, value in found.autocorrelation.items()
        },
    }


def score_fit(fit: Mapping[str, Any], held: Sequence[Series], train: Sequence[Series]) -> Score:
    """Scores a fit on a recording that it has not seen.

    Args:
        fit: The content of a fit file.
        held: The series of the recording; those that the fit has no part for are left out.
        train: What the fit was made from, for the baselines; none of them without.

    Raises:
        InputError: If the fit has no part for any of the series, or a series has too few slots.
    """
    rows: list[Row] = []
    logs: dict[str, float] = {}
    dependence: dict[str, tuple[Dependence, Dependence]] = {}
    for series in map(_bright, held):
        model = forecasts.Model.of(fit, series.quantity)
        if model is None:
            continue
        trained = next((_bright(each) for each in train if each.quantity == series.quantity), None)
        rows += _of_model(model, series, trained)
        answered = ~np.isnan(series.values)
        total = model.process.log_likelihood(series.times[answered], series.values[answered])
        logs[series.quantity] = total / int(answered.sum())
        dependence[series.quantity] = (Dependence.of(series), _modelled(model, series))
    if not rows:
        have = ", ".join(sorted({series.quantity for series in held})) or "nothing"
        raise InputError(f"the fit {fit.get('name', '')} has no part for the data, which have {have}")
    return Score(held[0].name, rows, logs, dependence)


def score_series(forecast: Series, held: Series, train: Series | None = None) -> Score:
    """Scores a series, such as another emulator's output, as a forecast that knows nothing of the recording.

    Raises:
        InputError: If the two are of different quantities, or one has too few slots.
    """
    if forecast.quantity != held.quantity:
        raise InputError(
            f"{forecast.name}: is {forecast.quantity}, and {held.name} is {held.quantity}; "
            "allowed: two series of the same quantity"
        )
    slots, others = Slots.of(held), Slots.of(forecast)
    rows: list[Row] = []
    for statistic in STATISTICS[held.quantity]:
        known = Known(slots.numbers, slots.values(held, statistic))
        spread = np.tile(others.values(forecast, statistic), (len(known.values), 1))
        found = {GIVEN: spread} | _baselines(known, _known(train, statistic))
        rows += _rows(held.quantity, (statistic.name, statistic.unit), known.values, found, GIVEN)
    both = (Dependence.of(held), Dependence.of(forecast))
    return Score(held.name, rows, {}, {held.quantity: both})


def _bright(series: Series) -> Series:
    """A series of which no process of a capacity has to have outages."""
    return series if series.quantity == "rtt" else losses.without_outages(series)


def _of_model(model: Model, series: Series, train: Series | None) -> list[Row]:
    slots = Slots.of(series)
    ahead, alone = model.ahead(series, slots), model.alone(series, slots)
    rows: list[Row] = []
    for statistic in STATISTICS[series.quantity]:
        known = Known(slots.numbers, slots.values(series, statistic))
        found = {
            AHEAD: forecasts.ensemble(ahead, statistic),
            ALONE: forecasts.ensemble(alone, statistic),
        } | _baselines(known, _known(train, statistic))
        rows += _rows(series.quantity, (statistic.name, statistic.unit), known.values, found, AHEAD)
    if model.loss is not None:
        known = Known(slots.numbers, slots.lost(series))
        found = {AHEAD: forecasts.lost(model.loss, model.outages, series, slots)} | _baselines(
            known, _known(train, None)
        )
        rows += _rows(series.quantity, ("lost", "%"), known.values, found, AHEAD)
    return rows


def _known(train: Series | None, statistic: Statistic | None) -> Known | None:
    """A statistic of the training slots, or what was lost in them; None without training."""
    if train is None:
        return None
    slots = Slots.of(train)
    return Known(slots.numbers, slots.lost(train) if statistic is None else slots.values(train, statistic))


def _baselines(held: Known, train: Known | None) -> dict[str, Floats]:
    if train is None:
        return {}
    return {name: forecast(train, held) for name, forecast in BASELINES.items()}


def _rows(
    quantity: str, statistic: tuple[str, str], values: Floats, found: Mapping[str, Floats], judged: str
) -> list[Row]:
    scores = {name: crps(values, drawn) for name, drawn in found.items()}
    return [
        Row(
            quantity,
            *statistic,
            name,
            len(values),
            float(scores[name].mean()),
            None if name == judged else difference(scores[judged] - scores[name]),
            None if drawn.shape[1] == 1 else {level: covered(values, drawn, level) for level in LEVELS},
            None if drawn.shape[1] == 1 else transformed(values, drawn),
        )
        for name, drawn in found.items()
    ]


def crps(values: Floats, drawn: Floats) -> Floats:
    """The CRPS of each slot, given draws: that of the distribution they were drawn from, without bias."""
    if drawn.shape[1] == 1:
        return np.abs(values - drawn[:, 0])
    from scoringrules import crps_ensemble  # type: ignore[import-untyped]

    return np.asarray(crps_ensemble(values, drawn, estimator="fair"), dtype=np.float64)


def covered(values: Floats, drawn: Floats, level: float) -> float:
    """The share of values within the central interval of the draws."""
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=1)
    return float(((low <= values) & (values <= high)).mean())


def transformed(values: Floats, drawn: Floats) -> Floats:
    """The share of draws below each value, at random between those below and those not above."""
    below = (drawn < values[:, None]).mean(axis=1)
    not_above = (drawn <= values[:, None]).mean(axis=1)
    return np.asarray(below + np.random.default_rng(1).random(len(values)) * (not_above - below))


def difference(each: Floats) -> tuple[float, float, float]:
    """The mean of differences by slot, and its 95 % interval by a circular block bootstrap over eight slots.

    Politis and Romano 1992, "A circular block-resampling procedure for stationary data".
    """
    rng = np.random.default_rng(1)
    count = len(each)
    length = min(_BLOCK, count)
    starts = rng.integers(0, count, (_RESAMPLES, -(-count // length)))
    index = (starts[:, :, None] + np.arange(length)).reshape(_RESAMPLES, -1)[:, :count] % count
    low, high = np.quantile(each[index].mean(axis=1), [0.025, 0.975])
    return float(each.mean()), float(low), float(high)


def _modelled(model: Model, series: Series) -> Dependence:
    """The mean dependence over draws of the model at the times of a series."""
    drawn = []
    for seed in range(1, _SEEDS + 1):
        values = np.where(np.isnan(series.values), np.nan, model.process.sample(series.times, seed))
        drawn.append(Dependence.of(replace(series, values=values)))
    lags = drawn[0].autocorrelation
    return Dependence(
        float(np.mean([each.between_slots for each in drawn])),
        float(np.mean([each.step for each in drawn])),
        {lag: float(np.mean([each.autocorrelation[lag] for each in drawn])) for lag in lags},
    )
