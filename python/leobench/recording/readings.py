"""What a measurement has told, whatever measured it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Probe:
    """A probe of the round trip.

    Attributes:
        at: When it was sent, in seconds since 1970 or since some start.
        delays_s: The delays there and back; `None` if no answer came.
    """

    at: float
    delays_s: tuple[float, float] | None


@dataclass(frozen=True)
class Rate:
    """What a transfer got in an interval.

    Attributes:
        at: Its start, by the same clock as that of probes.
        length: In seconds.
        bps: Bits per second.
        loss: The part of the packets that was lost, if the transfer knows.
    """

    at: float
    length: float
    bps: float
    loss: float | None = None


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
        return min([*(probe.at for probe in self.probes), *(rate.at for rate in self.rates)])
