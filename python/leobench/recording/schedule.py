"""The table of a `schedule` channel from probes and rates, by the rule that `docs/recording.md` states."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leobench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leobench.recording.readings import Probe, Rate, Reading

HEADER = "time,rate,delay,loss,up"


@dataclass(frozen=True)
class Rule:
    """How measurements become rows; times in seconds.

    Attributes:
        bin: The length of a row.
        interruption: So many probes lost in a row are an interruption.
        rate_bps: The rate of rows without a measured one.
    """

    bin: float = 0.1
    interruption: int = 3
    rate_bps: float | None = None


@dataclass(frozen=True)
class Row:
    """What holds from `at` on, in seconds from the start; `None` is what the row before has."""

    at: float
    rate_bps: float | None
    delay_s: float | None
    loss: float
    up: bool

    def text(self) -> str:
        """The row as CSV."""
        rate = "" if self.rate_bps is None else f"{self.rate_bps:.0f} bps"
        delay = "" if self.delay_s is None else f"{self.delay_s * 1e3:.3f} ms"
        return f"{self.at:.6g} s,{rate},{delay},{self.loss:.6g},{str(self.up).lower()}"


def rows(reading: Reading, rule: Rule) -> list[Row]:
    """The rows of a measurement, from its first second on; equal ones in a row are one.

    Raises:
        InputError: If no rate was measured and none is given.
    """
    if not reading.rates and rule.rate_bps is None:
        raise InputError("no rate was measured; give one with --rate, or a file of iperf3 or a dish")
    start = reading.start()
    bins = _Bins(reading, rule, start)
    found: list[Row] = []
    for number in range(bins.count):
        row = bins.row(number)
        if not found or _holds(found[-1]) != _holds(row):
            found.append(row)
    return found


def _holds(row: Row) -> tuple[float | None, float | None, float, bool]:
    return row.rate_bps, row.delay_s, row.loss, row.up


class _Bins:
    """Measurements by the row that they belong to."""

    def __init__(self, reading: Reading, rule: Rule, start: float) -> None:
        self.rule, self.start = rule, start
        self.delays: dict[int, list[float]] = {}
        self.sent: dict[int, int] = {}
        self.lost: dict[int, int] = {}
        self.down: set[int] = set()
        self.rates: dict[int, Rate] = {}
        last = 0
        for probe in reading.probes:
            last = max(last, self._number(probe.at))
            self._count(probe)
        for begin, end in _interruptions(reading.probes, rule.interruption):
            self.down |= set(range(self._number(begin), self._number(end)))
        for rate in reading.rates:
            for number in range(self._number(rate.at), self._number(rate.at + rate.length - 1e-9) + 1):
                self.rates.setdefault(number, rate)
                last = max(last, number)
        self.count = last + 1
        self.delay: float | None = None
        self.rate = rule.rate_bps if rule.rate_bps is not None else next(iter(reading.rates)).bps

    def _number(self, at: float) -> int:
        return max(0, int((at - self.start) / self.rule.bin + 1e-9))

    def _count(self, probe: Probe) -> None:
        number = self._number(probe.at)
        self.sent[number] = self.sent.get(number, 0) + 1
        if probe.delays_s is None:
            self.lost[number] = self.lost.get(number, 0) + 1
        else:
            self.delays.setdefault(number, []).append(sum(probe.delays_s) / 2)

    def row(self, number: int) -> Row:
        """The row of a bin; what was not measured in it is as before."""
        if delays := self.delays.get(number):
            self.delay = round(statistics.median(delays), 6)
        elif number == 0:
            self.delay = round(next(iter(self.delays.values()), [0.0])[0], 6)
        measured = self.rates.get(number)
        if measured is not None:
            self.rate = round(measured.bps)
        up = number not in self.down and self.rate > 0
        loss = 0.0
        if up and self.lost.get(number):
            loss = self.lost[number] / self.sent[number]
        elif up and measured is not None and measured.loss:
            loss = measured.loss
        # A whole bin's loss without an interruption is that of its few probes: it must not stop the link.
        return Row(
            number * self.rule.bin, self.rate if self.rate > 0 else None, self.delay, min(loss, 0.99), up
        )


def _interruptions(probes: Sequence[Probe], least: int) -> Iterator[tuple[float, float]]:
    """From the first of so many lost probes in a row to the next answered one, by the times of sending."""
    lost: list[float] = []
    for probe in probes:
        if probe.delays_s is None:
            lost.append(probe.at)
            continue
        if len(lost) >= least:
            yield lost[0], probe.at
        lost = []
    if len(lost) >= least:
        yield lost[0], lost[-1]
