"""The readings of a measurement, whatever measured them. None can be made of a value that no network has."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from leobench.errors import InputError, cut

if TYPE_CHECKING:
    from pathlib import Path

# Probes that a recording may have: a day of one every 20 ms.
MOST_PROBES = 5_000_000


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file, from 1."""

    file: Path
    line: int

    def wrong(self, problem: str) -> InputError:
        """The error that says what is wrong there."""
        return InputError(f"{self.file}:{self.line}: {problem}")


@dataclass(frozen=True)
class Quantity:
    """A number that measurements state.

    Attributes:
        name: What messages call it.
        unit: Its unit, in messages.
        most: The largest plausible value.
        least: The least.
    """

    name: str
    unit: str
    most: float
    least: float = 0.0

    def check(self, value: float, place: Place) -> None:
        """Refuses a value that is not finite or not plausible.

        Raises:
            InputError: At the place that states it.
        """
        if not self.least <= value <= self.most:
            raise place.wrong(
                f"the {self.name} is {value:.15g}{self.unit}; "
                f"allowed: from {self.least:g} to {self.most:,.15g}{self.unit}"
            )


# Seconds since 1970, or since some start: until the year 5138. Milliseconds since 1970 are more.
TIME = Quantity("time", " s", 1e11)
# The first answer may come before a clock that counts from some start has counted to its round trip.
SENT = Quantity("time", " s", TIME.most, -120.0)
# A datagram may live for two minutes (RFC 1122, section 3.3.2, and RFC 9293: the maximum segment lifetime).
ROUND_TRIP = Quantity("round trip", " s", 120.0)
LENGTH = Quantity("length of the interval", " s", 86_400.0)
RATE = Quantity("rate", " bit/s", 1e12)
LOSS = Quantity("loss", "", 1.0)
SEQUENCE = Quantity("sequence number", "", 2.0**32 - 1)


@dataclass(frozen=True, slots=True)
class Probe:
    """A probe of the round trip.

    Attributes:
        at: When it was sent, in seconds since 1970 or since some start.
        rtt_s: Its round trip; `None` if no answer came.
        place: The line that tells of it, or of the next answer if none does.

    Raises:
        InputError: If a number is not plausible.
    """

    at: float
    rtt_s: float | None
    place: Place

    def __post_init__(self) -> None:
        SENT.check(self.at, self.place)
        if self.rtt_s is not None:
            ROUND_TRIP.check(self.rtt_s, self.place)


@dataclass(frozen=True, slots=True)
class Rate:
    """The rate of a transfer in an interval.

    Attributes:
        at: Its start, by the same clock as that of probes.
        length: In seconds.
        bps: Bits per second.
        place: The line it was read from.
        loss: The share of packets lost, if the transfer reports it.

    Raises:
        InputError: If a number is not plausible.
    """

    at: float
    length: float
    bps: float
    place: Place
    loss: float | None = None

    def __post_init__(self) -> None:
        TIME.check(self.at, self.place)
        LENGTH.check(self.length, self.place)
        RATE.check(self.bps, self.place)
        if self.loss is not None:
            LOSS.check(self.loss, self.place)


@dataclass(frozen=True)
class Reading:
    """The probes and rates of a measurement, in order of time."""

    probes: list[Probe] = field(default_factory=list)
    rates: list[Rate] = field(default_factory=list)

    def __add__(self, other: Reading) -> Reading:
        probes = sorted([*self.probes, *other.probes], key=lambda probe: probe.at)
        return Reading(probes, sorted([*self.rates, *other.rates], key=lambda rate: rate.at))

    def start(self) -> float:
        """The time of the first measurement."""
        return min(self.times())

    def times(self) -> list[float]:
        """When each probe was sent, and each interval began."""
        return [*(probe.at for probe in self.probes), *(rate.at for rate in self.rates)]


def number(stated: object, name: str, place: Place) -> float:
    """A finite number that a file states, as text or as a number of JSON.

    Raises:
        InputError: At the place, if it is none.
    """
    if isinstance(stated, str | int | float) and not isinstance(stated, bool):
        try:
            value = float(stated)
        except (ValueError, OverflowError):
            value = math.nan
        if math.isfinite(value):
            return value + 0.0  # no negative zero
    shown = "missing" if stated is None else cut(repr(stated))
    raise place.wrong(f"{name} is {shown}; allowed: a finite number")
