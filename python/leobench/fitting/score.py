"""Scores of forecasts of a recording by slots, seconds and outages: errors, calibration, dependence.

A fit is scored twice, given the slots before each slot and given nothing, beside the forecasts that take no
model. The score is the continuous ranked probability score (CRPS; Gneiting and Raftery 2007): of a point it
is the absolute error. Smaller is better.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from leobench.errors import InputError
from leobench.fitting import forecasts, losses
from leobench.fitting.baselines import BASELINES, Known, spread
from leobench.fitting.series import slots_of
from leobench.fitting.statistics import Dependence, Slots, statistics_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from leobench.fitting.forecasts import Model
    from leobench.fitting.score_flows import Compared
    from leobench.fitting.series import Floats, Series
    from leobench.fitting.statistics import Statistic

AHEAD, ALONE, GIVEN = "model", "model, nothing given", "series"
LEVELS = (0.5, 0.8, 0.9)
# Slots of a block of the bootstrap, and the fewest blocks.
_BLOCK, _FEWEST_BLOCKS, _RESAMPLES = 8, 4, 2_000
_SEEDS = 20
# Values whose draws are compared at once.
_AT_ONCE = 2_000
_LOST, _OUTAGE = ("lost", "%"), ("outage length", "s")


@dataclass(frozen=True)
class Row:
    """The score of one forecast of one statistic.

    Attributes:
        quantity: What the series is: `rtt`, `downlink`, `uplink`.
        statistic: The name of the statistic.
        unit: Its unit, and that of the scores.
        forecast: The name of the forecast.
        count: How many slots, seconds or outages it was scored on.
        crps: Mean CRPS.
        difference: Mean CRPS of the model less that of this forecast, with its 95 % interval; None for the
            model itself, and for a single value. Below zero, the model is better.
        coverage: Share of values within the central interval, by its level; None for points.
        pit: Values of the probability integral transform, spread at random over ties (Czado et al. 2009);
            None for points.
    """

    quantity: str
    statistic: str
    unit: str
    forecast: str
    count: int
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
        flows: Flows over the fit beside flows over the recorded capacity, if they were run.
    """

    data: str
    rows: Sequence[Row]
    log_score: Mapping[str, float]
    dependence: Mapping[str, tuple[Dependence, Dependence]]
    flows: Sequence[Compared] = ()

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
            **({"flows": [asdict(each) for each in self.flows]} if self.flows else {}),
        }


def _row(row: Row) -> dict[str, Any]:
    return {
        "quantity": row.quantity,
        "statistic": row.statistic,
        "unit": row.unit,
        "forecast": row.forecast,
        "count": row.count,
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
    for measured in held:
        model = forecasts.Model.of(fit, measured.quantity)
        if model is None:
            continue
        trained = next((each for each in train if each.quantity == measured.quantity), None)
        series = _bright(measured)
        rows += _of_model(model, series, None if trained is None else _bright(trained))
        if model.outages is not None:
            lengths = partial(forecasts.outage_lengths, model.outages, measured.interval_s)
            rows += _of_outages(measured, trained, AHEAD, lengths)
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
    for statistic in statistics_of(held):
        known = _known(held, slots, statistic)
        drawn = spread(_known(forecast, others, statistic).values, len(known.values))
        trained = None if train is None else _known(train, Slots.of(train), statistic)
        rows += _rows(held.quantity, statistic.name, statistic.unit, known, {GIVEN: drawn}, trained)
    lengths = _outages(forecast).values
    if len(lengths):
        rows += _of_outages(held, train, GIVEN, partial(spread, lengths))
    both = (Dependence.of(held), Dependence.of(forecast))
    return Score(held.name, rows, {}, {held.quantity: both})


def _bright(series: Series) -> Series:
    """A series of which no process of a capacity has to have outages."""
    return series if series.quantity == "rtt" else losses.without_outages(series)


def _of_model(model: Model, series: Series, train: Series | None) -> list[Row]:
    slots, trained = Slots.of(series), None if train is None else Slots.of(train)
    wanted = statistics_of(series)
    ahead, alone = model.ahead(series, slots, wanted), model.alone(series, slots, wanted)
    rows: list[Row] = []
    for statistic, given, nothing in zip(wanted, ahead, alone, strict=True):
        before = None if train is None or trained is None else _known(train, trained, statistic)
        known = _known(series, slots, statistic)
        found = {AHEAD: given, ALONE: nothing}
        rows += _rows(series.quantity, statistic.name, statistic.unit, known, found, before)
    if model.loss is not None:
        before = None if train is None or trained is None else _lost(train, trained)
        found = {AHEAD: forecasts.lost(model.loss, model.silences, series, slots)}
        rows += _rows(series.quantity, *_LOST, _lost(series, slots), found, before)
    return rows


def _of_outages(series: Series, train: Series | None, name: str, drawn: Callable[[int], Floats]) -> list[Row]:
    """The rows of the lengths of outages; none if the series shows no outage."""
    known = _outages(series)
    if not len(known.values):
        return []
    trained = None if train is None else _outages(train)
    if trained is not None and not len(trained.values):
        trained = None
    return _rows(series.quantity, *_OUTAGE, known, {name: drawn(len(known.values))}, trained)


def _known(series: Series, slots: Slots, statistic: Statistic) -> Known:
    values = slots.values(series, statistic)
    return Known(np.repeat(slots.numbers, [len(each) for each in values]), np.concatenate(values))


def _lost(series: Series, slots: Slots) -> Known:
    return Known(slots.numbers, slots.lost(series))


def _outages(series: Series) -> Known:
    """The lengths of the outages of a recording, in seconds."""
    found = losses.losses(series).outages if series.quantity == "rtt" else losses.runs(series, 1)
    return Known(slots_of(found.start).astype(np.float64), found.length)


def _rows(
    quantity: str, statistic: str, unit: str, known: Known, judged: Mapping[str, Floats], train: Known | None
) -> list[Row]:
    """The rows of the forecasts that are judged, the first by the others, and of those without a model."""
    found = dict(judged)
    if train is not None:
        found |= {name: forecast(train, known) for name, forecast in BASELINES.items()}
    own = next(iter(found))
    scores = {name: crps(known.values, drawn) for name, drawn in found.items()}
    block = _BLOCK * round(len(known.values) / len(np.unique(known.numbers)))
    return [
        Row(
            quantity,
            statistic,
            unit,
            name,
            len(known.values),
            float(scores[name].mean()),
            None if name == own else difference(scores[own] - scores[name], block),
            None if drawn.shape[1] == 1 else {level: covered(known.values, drawn, level) for level in LEVELS},
            None if drawn.shape[1] == 1 else transformed(known.values, drawn),
        )
        for name, drawn in found.items()
    ]


def crps(values: Floats, drawn: Floats) -> Floats:
    """The CRPS of each value, given draws: that of the distribution they were drawn from, without bias."""
    if drawn.shape[1] == 1:
        return np.abs(values - drawn[:, 0])
    from scoringrules import crps_ensemble  # type: ignore[import-untyped]

    return _by_rows(lambda some, of: crps_ensemble(some, of, estimator="pwm"), values, drawn)


def covered(values: Floats, drawn: Floats, level: float) -> float:
    """The share of values within the central interval of the draws."""

    def inside(some: Floats, of: Floats) -> Floats:
        low, high = np.quantile(of, [(1 - level) / 2, (1 + level) / 2], axis=1)
        return np.asarray((low <= some) & (some <= high), dtype=np.float64)

    return float(_by_rows(inside, values, drawn).mean())


def transformed(values: Floats, drawn: Floats) -> Floats:
    """The share of draws below each value, at random between those below and those not above."""
    below = _by_rows(lambda some, of: (of < some[:, None]).mean(axis=1), values, drawn)
    not_above = _by_rows(lambda some, of: (of <= some[:, None]).mean(axis=1), values, drawn)
    return np.asarray(below + np.random.default_rng(1).random(len(values)) * (not_above - below))


def _by_rows(of: Callable[[Floats, Floats], Floats], values: Floats, drawn: Floats) -> Floats:
    """A number of each value and its draws, a part of them at a time: copies of all may not fit in memory."""
    begins = range(0, len(values), _AT_ONCE)
    parts = [of(values[at : at + _AT_ONCE], drawn[at : at + _AT_ONCE]) for at in begins]
    return np.concatenate(parts)


def difference(each: Floats, block: int = _BLOCK) -> tuple[float, float, float] | None:
    """The mean of differences, and its 95 % interval by a circular block bootstrap; None for one value.

    Politis and Romano 1992, "A circular block-resampling procedure for stationary data".

    Args:
        each: The differences, in order of time.
        block: The length of a block; shorter if there would be fewer than four.
    """
    count = len(each)
    if count < 2:
        return None
    length = max(1, min(block, count // _FEWEST_BLOCKS))
    blocks = -(-count // length)
    starts = np.random.default_rng(1).integers(0, count, (_RESAMPLES, blocks))
    lengths = np.full(blocks, length)
    lengths[-1] = count - (blocks - 1) * length
    sums = np.concatenate([[0.0], np.cumsum(np.concatenate([each, each[:length]]))])
    means = (sums[starts + lengths] - sums[starts]).sum(axis=1) / count
    low, high = np.quantile(means, [0.025, 0.975])
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
