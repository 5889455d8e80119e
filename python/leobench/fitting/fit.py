"""A fitted link: its parts, from the series that tell them, and its file.

`fit` estimates each part that a series tells: the delay and the loss from round trips of an idle path, the
capacities from saturating transfers, the outages from the first of downlink, uplink and round trips that has
some. Parts that no series tells are absent from the file; parameters that it does not tell have no interval.

Routers drop echoes that a link would carry. Logs of TCP transfers bound the loss of their direction: where
echoes lose several times more, or so regularly that they must be limited, the bound is the loss, and a
direction without a log has none. `Fit.warnings` tells it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from leobench.errors import InputError
from leobench.fitting import losses, motion, process, series
from leobench.fitting.series import PHASE_S, SLOT_S

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from leobench.fitting.losses import Found, Lost
    from leobench.fitting.series import Quantity, Series
    from leobench.fitting.transfers import Transfer

    Report = Callable[[str], None]

FORMAT, VERSION = "leobench-fit", 1
_QUANTITIES: tuple[Quantity, ...] = ("rtt", "downlink", "uplink")
# Significant digits of parameters, and digits of shares, which add up to 1.
_DIGITS, _SHARE_DIGITS = 6, 8
_DIRECTIONS: tuple[Quantity, ...] = ("downlink", "uplink")
# Echoes that lose this times as much as a transfer at most can have lost are dropped by routers.
_SEVERAL = 2.0
# Steps by which the phase of the slots is searched where a recording has no date, in seconds.
_PHASE_STEP_S = 0.5


@dataclass(frozen=True)
class Fit:
    """A fitted link.

    Attributes:
        document: The content of its file.
        series: What was fitted, by quantity: with the outages of a capacity left out.
        not_measured: The parameters that the series do not tell, and the reasons.
        warnings: Recordings that contradict each other, and which of them the fit follows.
    """

    document: dict[str, Any]
    series: Mapping[Quantity, Series]
    not_measured: Mapping[str, str]
    warnings: Sequence[str] = ()

    def text(self) -> str:
        """The file."""
        return json.dumps(self.document, indent=2, ensure_ascii=False) + "\n"


def fit(
    measured: Sequence[Series],
    name: str,
    about: Mapping[str, Any] | None = None,
    report: Report = lambda _: None,
    transfers: Sequence[Transfer] = (),
) -> Fit:
    """Fits a link to series.

    Args:
        measured: One or more series; several of a quantity are joined.
        name: The name of the fit.
        about: What the series do not tell: place, hardware, motion, source, licence, not_for.
        report: Told what is being done.
        transfers: Logs of TCP transfers, which bound the loss of their directions.

    Raises:
        InputError: If there is no series, or one is too short or gappy, or a log has no round trips.
    """
    joined = {
        quantity: _aligned(series.joined([each for each in measured if each.quantity == quantity]))
        for quantity in _QUANTITIES
        if any(each.quantity == quantity for each in measured)
    }
    if not joined:
        raise InputError("there is no recording; allowed: round trips, or rates of saturating UDP")
    parts = _Parts()
    bright: dict[Quantity, Series] = {}
    for quantity, one in joined.items():
        bright[quantity] = losses.without_outages(one)
        estimate = process.estimate(bright[quantity], _prefixed(report, quantity))
        key = "delay.process" if quantity == "rtt" else f"{quantity}.capacity"
        short = key.removesuffix(".process")
        parts.add(key, short, estimate.parameters, estimate.intervals, estimate.not_measured)
        if quantity != "rtt":
            _add_motion(parts, bright[quantity], float(estimate.parameters.get("floor", 0.0)))
    report("losses and outages")
    _add_losses(parts, joined, transfers)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "name": name,
        "about": {**described(list(joined.values())), **(about or {})},
        "slots": {"every_s": SLOT_S, "phase_s": PHASE_S},
        **parts.document,
        "uncertainty": parts.intervals,
    }
    return Fit(rounded(document), bright, parts.not_measured, parts.warnings)


def _prefixed(report: Report, quantity: str) -> Report:
    return lambda step: report(f"{quantity}: {step}")


class _Parts:
    """The parts of a fit so far."""

    def __init__(self) -> None:
        self.document: dict[str, Any] = {}
        self.intervals: dict[str, list[float]] = {}
        self.not_measured: dict[str, str] = {}
        self.warnings: list[str] = []

    def add(
        self,
        key: str,
        short: str,
        parameters: Mapping[str, Any],
        intervals: Mapping[str, list[float]],
        not_measured: Mapping[str, str],
    ) -> None:
        """Adds a part at `key`, a dotted name; its intervals begin with `short`."""
        place = self.document
        *outer, last = key.split(".")
        for each in outer:
            place = place.setdefault(each, {})
        place[last] = dict(parameters)
        self.intervals |= {f"{short}.{name}": ends for name, ends in intervals.items()}
        self.not_measured |= {f"{short}.{name}": reason for name, reason in not_measured.items()}


def _add_motion(parts: _Parts, capacity: Series, floor: float) -> None:
    """Adds how a capacity differs between parked and driving terminals, if the recording has speeds."""
    found = motion.shifts(capacity, floor)
    if found is None:
        return
    parts.not_measured |= found.not_measured
    if found.parameters is not None:
        key = f"{capacity.quantity}.motion"
        parts.add(key, key, found.parameters, found.intervals, {})


def _add_losses(parts: _Parts, joined: Mapping[Quantity, Series], transfers: Sequence[Transfer]) -> None:
    """Adds the loss of each direction, the outages and the interruptions."""
    dark: list[Found] = []
    for quantity in _DIRECTIONS:
        if quantity in joined:
            one = joined[quantity]
            dark.append(losses.outages(one, losses.runs(one, 1)))
    if "rtt" in joined:
        echoes = joined["rtt"]
        lost = losses.losses(echoes)
        _warn_of_holes(parts, losses.holes(lost.outages))
        dark.append(losses.outages(echoes, lost.outages))
        idle_rtt_s = float(np.nanmedian(echoes.values)) / 1e3
        bounds = {each.direction: each.most_lost(idle_rtt_s) for each in transfers}
        doubt = _doubt(lost, losses.limited_echoes(echoes), bounds)
        if doubt is None:
            _add_echoes(parts, lost)
        else:
            _add_bounds(parts, doubt, bounds)
        short = lost.interruptions
        if short is not None and not losses.limited_echoes(echoes):
            parts.add("interruptions", "interruptions", short.parameters, short.intervals, {})
            parts.not_measured |= short.not_measured
    else:
        for each in transfers:
            reason = f"{each.name} bounds it by {each.most_lost(None):.2%}; it is estimated from pings"
            parts.not_measured[f"{each.direction}.loss"] = reason
    found = next((each for each in dark if each.parameters is not None), None)
    if found is not None and found.parameters is not None:
        parts.add("outages", "outages", found.parameters, found.intervals, {})
    else:
        parts.not_measured |= dark[0].not_measured


def _warn_of_holes(parts: _Parts, holes: tuple[int, float] | None) -> None:
    """Names long outages that are alike."""
    if holes is not None:
        count, length_s = holes
        parts.warnings.append(
            f"the round trips have {count} holes of about {length_s:.0f} s, taken for outages: was the "
            "recorder off? then give the parts between them as files"
        )


def _doubt(lost: Lost, limit: int | None, bounds: Mapping[Quantity, float]) -> str | None:
    """Why lost echoes are no losses of the link; None if they may be."""
    each = losses.mean(losses.one_way(lost.chain.parameters or {}))
    share = f"{losses.mean(lost.chain.parameters or {}):.2%} of the echoes are lost"
    if limit is not None:
        return f"{share}, one in {limit} so regularly that a router must limit them"
    over = [
        f"{bound:.2g} of the {name}'s packets" for name, bound in bounds.items() if each > _SEVERAL * bound
    ]
    return f"{share}, but TCP shows that at most {' and '.join(over)} can be" if over else None


def _add_echoes(parts: _Parts, lost: Lost) -> None:
    """Adds the loss of echoes, half to each direction."""
    loss = lost.chain
    for quantity in _DIRECTIONS:
        parts.add(f"{quantity}.loss", "round_trip", losses.one_way(loss.parameters or {}), {}, {})
    parts.intervals |= {f"round_trip.loss.{name}": ends for name, ends in loss.intervals.items()}
    parts.not_measured |= {f"round_trip.{name}": reason for name, reason in loss.not_measured.items()}


def _add_bounds(parts: _Parts, doubt: str, bounds: Mapping[Quantity, float]) -> None:
    """Adds the largest loss that transfers allow, and none to a direction without one."""
    for quantity in _DIRECTIONS:
        if quantity in bounds:
            most = bounds[quantity]
            ends = {"loss.clean": [most, 0.0, most]}
            parts.add(f"{quantity}.loss", quantity, losses.constant(most), ends, {})
        else:
            parts.not_measured[f"{quantity}.loss"] = f"{doubt}; a TCP transfer would bound it"
    given = " and ".join(f"{most:.2g} in the {name}" for name, most in bounds.items())
    loss = f"its loss is the largest that TCP transfers allow, {given}" if bounds else "it has no loss"
    parts.warnings.append(f"{doubt}: they are no losses of the link, and {loss}")


def _aligned(one: Series) -> Series:
    """The series on the grid of slots; one without a date, so that most variance lies between slots."""
    if one.is_absolute:
        return one
    present = one.where(one.present)

    def between(shift: float) -> float:
        _, index = np.unique(series.slots_of(present.times + shift), return_inverse=True)
        means = np.bincount(index, present.values) / np.bincount(index)
        return float(np.var(means[index]))

    shift = max(np.arange(0.0, SLOT_S, _PHASE_STEP_S).tolist(), key=between)
    return replace(one, times=one.times + shift)


def described(measured: Sequence[Series]) -> dict[str, Any]:
    """The dates, hours and load of series."""
    loads = sorted({each.load for each in measured})
    found: dict[str, Any] = {"load": " and ".join(loads)}
    dated = [each for each in measured if each.is_absolute]
    if dated:
        days = np.unique(np.concatenate([np.unique(each.times // 86_400) for each in dated]))
        found["dates"] = [_date(day * 86_400).strftime("%Y-%m-%d") for day in days.tolist()]
        found["hours"] = _hours(dated)
    return found


def _hours(dated: Sequence[Series]) -> str:
    """The hours of the day that were measured, in UTC."""
    seen = np.unique(np.concatenate([np.unique(each.times // 3_600 % 24) for each in dated])).astype(int)
    first = [hour for hour in seen.tolist() if (hour - 1) % 24 not in seen]
    if not first:
        return "all day"
    spans = []
    for hour in first:
        last = hour
        while (last + 1) % 24 in seen:
            last = (last + 1) % 24
        spans.append(f"{hour:02}:00 to {(last + 1) % 24:02}:00")
    return f"{', '.join(spans)} UTC"


def _date(unix_s: float) -> datetime:
    return datetime.fromtimestamp(unix_s, UTC)


def rounded(value: Any) -> Any:
    """A document with numbers of few digits; shares still add up to 1."""
    if isinstance(value, dict):
        found = {key: rounded(each) for key, each in value.items()}
        if "shares" in found:
            found["shares"] = _shares(value["shares"])
        return found
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def _shares(shares: Mapping[str, float]) -> dict[str, float]:
    short = {part: round(share, _SHARE_DIGITS) for part, share in shares.items()}
    largest = max(short, key=lambda part: short[part])
    rest = 1 - sum(share for part, share in short.items() if part != largest)
    return {**short, largest: round(rest, _SHARE_DIGITS)}
