"""Forecasts of the statistics of slots by a fit: given the slots before, and given nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from leobench._core import Process
from leobench.fitting import losses
from leobench.fitting.series import PHASE_S, SLOT_S

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leobench.fitting.series import Floats, Series
    from leobench.fitting.statistics import Slots, Statistic

DRAWS = 200
# Samples before a slot that a forecast looks back on: more than the slots that are told from one another.
_LOOK_BACK_S = 600.0


@dataclass(frozen=True)
class Model:
    """The part of a fit that a series shows.

    Attributes:
        process: The process of its values.
        loss: The chain of slots in which round trips are clean or lossy, if it has one.
        outages: The outages, if it has some, which capacities show as well.
        interruptions: The interruptions at a time of the slot, if it has some.
    """

    process: Process
    loss: Mapping[str, float] | None
    outages: Mapping[str, Any] | None
    interruptions: Mapping[str, Any] | None

    @property
    def silences(self) -> dict[str, Mapping[str, Any]]:
        """The outages and the interruptions that it has, by name."""
        found = {"outages": self.outages, "interruptions": self.interruptions}
        return {name: each for name, each in found.items() if each}

    @classmethod
    def of(cls, fit: Mapping[str, Any], quantity: str) -> Model | None:
        """The part of a fit for a quantity; None if it has none."""
        part = fit.get("delay") if quantity == "rtt" else fit.get(quantity)
        process = (part or {}).get("process" if quantity == "rtt" else "capacity")
        if process is None:
            return None
        slots = fit.get("slots", {})
        made = Process(json.dumps(process), slots.get("every_s", SLOT_S), slots.get("phase_s", PHASE_S))
        up, down = ((fit.get(direction) or {}).get("loss") for direction in ("uplink", "downlink"))
        # A transfer bounds the loss of a direction and not that of echoes, which routers drop, too.
        loss = losses.round_trip(up) if quantity == "rtt" and up is not None and up == down else None
        return cls(made, loss, fit.get("outages"), fit.get("interruptions"))

    def ahead(self, series: Series, slots: Slots, wanted: Sequence[Statistic]) -> list[Floats]:
        """Draws of each statistic, given the values of the slots before: values by draws."""
        return self._draws(series, slots, wanted, _LOOK_BACK_S)

    def alone(self, series: Series, slots: Slots, wanted: Sequence[Statistic]) -> list[Floats]:
        """Draws of each statistic, given nothing: values by draws."""
        return self._draws(series, slots, wanted, 0.0)

    def _draws(
        self, series: Series, slots: Slots, wanted: Sequence[Statistic], look_back_s: float
    ) -> list[Floats]:
        """Only the statistics of a slot are kept: its samples by draws may be many."""
        found: list[list[Floats]] = [[] for _ in wanted]
        for first, last in zip(slots.first, slots.last, strict=True):
            begin = min(np.searchsorted(series.times, series.times[first] - look_back_s), first)
            past = slice(int(begin), int(first))
            at = series.times[first:last]
            drawn = self.process.predict(series.times[past], series.values[past], at, int(first) + 1, DRAWS)
            present = series.present[first:last]
            for rows, statistic in zip(found, wanted, strict=True):
                rows.append(statistic.numbers(at[present], drawn[:, present]).T)
        return [np.concatenate(rows) for rows in found]


def lost(
    chain: Mapping[str, float], silences: Mapping[str, Mapping[str, Any]], series: Series, slots: Slots
) -> Floats:
    """Draws of the share of lost samples in each slot in percent, given the slots before: slots by draws.

    The state of the chain is filtered forwards (Rabiner 1989); outages and interruptions come on top.
    """
    shares = np.array([chain["clean"], chain["lossy"]])
    leave = np.array([chain["to_lossy"], chain["to_clean"]])
    step = np.array([[1 - leave[0], leave[0]], [leave[1], 1 - leave[1]]])
    state = leave[::-1] / leave.sum()
    interval_s, one_way_s = series.interval_s, float(np.nanmedian(series.values)) / 2e3
    rng = np.random.default_rng(1)
    rows, before = [], None
    for number, first, last in zip(slots.numbers, slots.first, slots.last, strict=True):
        passed = 1 if before is None else int(number - before)
        state = state @ np.linalg.matrix_power(step, passed)
        sent, gone = int(last - first), int(np.isnan(series.values[first:last]).sum())
        drawn = rng.binomial(sent, shares[(rng.random(DRAWS) < state[1]).astype(int)])
        dark = _dark(silences, interval_s, one_way_s, sent, rng)
        rows.append(100 * (1 - (1 - drawn / sent) * (1 - dark)))
        likelihood = np.exp(gone * np.log(np.maximum(shares, 1e-12)) + (sent - gone) * np.log1p(-shares))
        if (state * likelihood).sum() > 0:
            state = state * likelihood / (state * likelihood).sum()
        before = number
    return np.array(rows)


def outage_lengths(outages: Mapping[str, Any], interval_s: float, count: int) -> Floats:
    """Draws of the length of each of `count` outages in seconds, as samples at an interval show it."""
    rng = np.random.default_rng(1)
    length, shortest = outages["length"], outages["shortest_s"]
    floor = stats.norm.cdf((np.log(shortest) - np.log(length["median_s"])) / length["sigma"])
    drawn = stats.norm.ppf(floor + (1 - floor) * rng.random((count, DRAWS)))
    lengths = np.exp(np.log(length["median_s"]) + length["sigma"] * drawn)
    return np.asarray(interval_s * np.maximum(1, np.round(lengths / interval_s)))


def _dark(
    silences: Mapping[str, Mapping[str, Any]],
    interval_s: float,
    one_way_s: float,
    sent: int,
    rng: np.random.Generator,
) -> Floats:
    """Draws of the share of a slot's probes that are lost because nothing gets through.

    The length of an outage is that of the probes that it loses; an interruption loses them on both ways.
    """
    total = np.zeros(DRAWS)
    for name, each in silences.items():
        counts = rng.poisson(each.get("rate_per_s", 0.0) * SLOT_S, DRAWS) + (
            rng.random(DRAWS) < each["at_boundary"]
        )
        size = (DRAWS, counts.max() + 1)
        length = each["length"]
        drawn = np.exp(np.log(length["median_s"]) + length.get("sigma", 0.0) * rng.normal(size=size))
        if name == "interruptions":
            drawn += np.minimum(drawn, one_way_s)
        probes = np.floor(drawn / interval_s + rng.random(size))
        total += (probes * (np.arange(size[1]) < counts[:, None])).sum(axis=1) / sent
    return np.asarray(np.minimum(1.0, total))
