"""The table of a `schedule` channel from probes and rates, by the rule of `docs/reference/recording.md`."""

from __future__ import annotations

import statistics
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leobench.errors import InputError
from leobench.overrides import as_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from leobench.recording.readings import Probe, Rate, Reading

HEADER = "time,rate,delay,loss,up"
# Days that a recording may last. A wrong time lasts longer.
_MOST_DAYS = 31
# Steps in a second, by which rows are told apart: seconds since 1970 have no finer ones in a double.
_MICROS = 1_000_000


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
    """The state of a link from `at` on, in seconds from the start; a rate of `None` keeps the one before."""

    at: float
    rate_bps: int | None
    delay_s: float
    loss: float
    up: bool

    def text(self) -> str:
        """The row as CSV."""
        at = f"{self.at:.6f}".rstrip("0").rstrip(".")
        rate = "" if self.rate_bps is None else f"{self.rate_bps} bps"
        return f"{at} s,{rate},{self.delay_s * 1e3:.3f} ms,{self.loss:.6g},{str(self.up).lower()}"


@dataclass(frozen=True)
class Table:
    """The rows of a measurement, and when the last one ends, in seconds from the start."""

    rows: list[Row]
    end: float

    def pieces(self) -> Iterator[tuple[Row, float]]:
        """Each row with its end."""
        ends = [*(row.at for row in self.rows[1:]), self.end]
        yield from zip(self.rows, ends, strict=True)

    def bits(self) -> float:
        """The bits that the rows can carry until the end; none while the link is down."""
        return sum((row.rate_bps or 0) * (until - row.at) for row, until in self.pieces() if row.up)

    def text(self) -> str:
        """The table as CSV."""
        return "\n".join([HEADER, *(row.text() for row in self.rows)]) + "\n"

    def channel(self, file: str) -> str:
        """The line of a scenario whose link has this table from a file as its channel."""
        mean = f"{max(1, round(self.bits() / self.end)) / 1e6:.6f}".rstrip("0").rstrip(".")
        return f'channel = {{ kind = "schedule", file = {as_text(file)}, mean_rate = "{mean} Mbps" }}'


def table(reading: Reading, rule: Rule) -> Table:
    """The rows of a measurement, from its first second on; equal ones in a row are one.

    Raises:
        InputError: If no rate was measured and none is given, the link is never up, or the measurements lie
            too far apart.
    """
    if not reading.rates and rule.rate_bps is None:
        raise InputError("no rate was measured; give one with --rate, or a file of iperf3 or a dish")
    _check_span(reading)
    bins = _Bins(reading, rule)
    found: list[Row] = []
    for number in bins.changes():
        row = bins.row(number)
        if not found or _holds(found[-1]) != _holds(row):
            found.append(row)
    if not any(row.up for row in found):
        raise InputError("the link is never up: every rate is zero, or every probe lost in an interruption")
    return Table(found, bins.end / _MICROS)


def _holds(row: Row) -> tuple[int | None, float, float, bool]:
    return row.rate_bps, row.delay_s, row.loss, row.up


def _check_span(reading: Reading) -> None:
    """Refuses measurements that lie too far apart, and names that which is farthest from all others."""
    times = reading.times()
    if max(times) - min(times) <= _MOST_DAYS * 86_400:
        return
    middle = statistics.median(times)
    measurements: list[Probe | Rate] = [*reading.probes, *reading.rates]
    farthest = max(measurements, key=lambda each: abs(each.at - middle))
    days = abs(farthest.at - middle) / 86_400
    raise farthest.place.wrong(
        f"the time is {days:,.1f} days from the median of all; "
        f"allowed: recordings of at most {_MOST_DAYS} days, by one clock"
    )


@dataclass(frozen=True)
class _Piece:
    """From and until when a rate holds, in microseconds from the start."""

    begin: int
    until: int
    rate: Rate


class _Bins:
    """Measurements by the row that they belong to."""

    def __init__(self, reading: Reading, rule: Rule) -> None:
        self.start, self.bin = reading.start(), round(rule.bin * _MICROS)
        self.delays: dict[int, list[float]] = {}
        self.sent: dict[int, int] = {}
        self.lost: dict[int, int] = {}
        for probe in reading.probes:
            self._count(probe)
        # From and up to which row, one after the other.
        self.down = [
            (self._number(begin), self._number(end))
            for begin, end in _interruptions(reading.probes, rule.interruption)
        ]
        self.pieces = list(self._pieces(reading.rates))
        probed = (max(self.sent) + 1) * self.bin if self.sent else 0
        # A row that only the end of an interval lies in ends with it.
        self.end = max(probed, self.pieces[-1].until if self.pieces else 0)
        self.delay = next(iter(self.delays.values()), [0.0])[0]
        measured = [rate.bps for rate in reading.rates]
        # A table begins with a rate. Of zeros, it takes the first that is none, and is down there.
        self.rate = round(rule.rate_bps or measured[0])
        self.first_rate = self.rate or next((round(bps) for bps in measured if round(bps) > 0), 0)

    def changes(self) -> list[int]:
        """The rows that may differ from the one before, in order."""
        probed = [number for sent in self.sent for number in (sent, sent + 1)]
        edges = [number for first, until in self.down for number in (first, until)]
        for piece in self.pieces:
            first, last = piece.begin // self.bin, piece.until // self.bin
            edges += [first, first + 1, last, last + 1]
        return sorted({0, *(number for number in (*probed, *edges) if number * self.bin < self.end)})

    def row(self, number: int) -> Row:
        """The row of a bin; what was not measured in it is as before."""
        if delays := self.delays.get(number):
            self.delay = statistics.median(delays)
        inside = self._inside(number)
        bps = self.rate
        if inside:
            bps = round(_mean((rate.bps, weight) for rate, weight in inside))
            # What holds until the next interval is the last one's rate, not the mean of a row.
            self.rate = round(inside[-1][0].bps)
        up = not self._is_down(number) and bps > 0
        loss = 0.0
        if up and self.lost.get(number):
            loss = self.lost[number] / self.sent[number]
        elif up:
            loss = _mean((rate.loss, weight) for rate, weight in inside if rate.loss is not None)
        rate = bps or (self.first_rate if number == 0 else None)
        # A whole bin's loss without an interruption is that of its few probes: it must not stop the link.
        return Row(number * self.bin / _MICROS, rate, round(self.delay, 6), min(loss, 0.99), up)

    def _micros(self, at: float) -> int:
        return round((at - self.start) * _MICROS)

    def _number(self, at: float) -> int:
        return self._micros(at) // self.bin

    def _count(self, probe: Probe) -> None:
        number = self._number(probe.at)
        self.sent[number] = self.sent.get(number, 0) + 1
        if probe.rtt_s is None:
            self.lost[number] = self.lost.get(number, 0) + 1
        else:
            self.delays.setdefault(number, []).append(probe.rtt_s / 2)

    def _pieces(self, rates: Sequence[Rate]) -> Iterator[_Piece]:
        """When each rate holds; where intervals overlap, the first does."""
        free = 0
        for rate in rates:
            at = self._micros(rate.at)
            begin, until = max(free, at), max(at + 1, self._micros(rate.at + rate.length))
            if begin < until:
                yield _Piece(begin, until, rate)
                free = until

    def _inside(self, number: int) -> list[tuple[Rate, int]]:
        """The rates in a row, each with the microseconds of the row in which it holds."""
        begin, until = number * self.bin, (number + 1) * self.bin
        first = bisect_right(self.pieces, begin, key=lambda piece: piece.until)
        after = bisect_left(self.pieces, until, key=lambda piece: piece.begin)
        return [
            (piece.rate, min(piece.until, until) - max(piece.begin, begin))
            for piece in self.pieces[first:after]
        ]

    def _is_down(self, number: int) -> bool:
        index = bisect_right(self.down, number, key=lambda piece: piece[0]) - 1
        return index >= 0 and number < self.down[index][1]


def _mean(weighted: Iterable[tuple[float, int]]) -> float:
    """The mean of values by their weights; 0 without any."""
    values = list(weighted)
    # Of one value it is that value, to the last digit.
    if len({value for value, _ in values}) == 1:
        return values[0][0]
    total = sum(weight for _, weight in values)
    return sum(value * weight for value, weight in values) / total if total else 0.0


def _interruptions(probes: Sequence[Probe], least: int) -> Iterator[tuple[float, float]]:
    """From the first of so many lost probes in a row to the next answered one, by the times of sending."""
    lost: list[float] = []
    for probe in probes:
        if probe.rtt_s is None:
            lost.append(probe.at)
            continue
        if len(lost) >= least:
            yield lost[0], probe.at
        lost = []
    if len(lost) >= least:
        yield lost[0], lost[-1]
