"""Adaptive shaping by delay and load: the algorithm of cake-autorate, over `tc`.

    examples/router.sh 8 40 --up 4 8 12 --down 20 40 60 server

The rule is that of https://github.com/lynxthecat/cake-autorate (its README and `defaults.sh`). A reflector
is pinged 20 times a second. A one-way delay, or half of a round trip, is compared with a baseline that falls
fast and rises slowly. In each direction,

- if 3 of the last 6 delays exceed the baseline by 30 ms (bufferbloat), the rate is cut, by 1 % to 25 % the
  larger their mean is, at most every 0.3 s;
- otherwise, if the load is above 75 % of the rate, the rate is raised, by up to 4 % for each measurement of
  the load (every 0.2 s), and not within 0.3 s of a cut;
- otherwise the rate returns to its base by 1 % a second.

`Baseline`, `Direction` and `Autorate` are handed the time, loads and delays. `run` owns the clock, the pings
and `tc`: pings -> `Autorate.on_delays` -> rates -> `tc`; bytes sent by the devices -> `Autorate.on_loads`.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import struct
import subprocess
import sys
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True)
class Settings:
    """The parameters of the rule; times in seconds.

    Attributes:
        delayed: Delays above the baseline by more than this are bufferbloat.
        raised_most: Up to this mean of the delays above the baseline, a rate is raised the most.
        cut_most: From this mean on, a rate is cut the most.
        window: The number of delays that are looked at.
        needed: How many of them have to be bufferbloat.
        high_load: The load, as a share of the rate, from which a rate is raised.
        raises: The least and the greatest factor of a raise.
        cuts: The least and the greatest factor of a cut.
        returns: The factors of a return to the base, from above and from below.
        after_cut: The time after a cut without another change.
        between_returns: The time between two steps of a return.
        slowly: The weight of a delay above the baseline in the baseline.
        fast: That of a delay below.
        silence: The time without an answer after which rates are set to their minimum.
    """

    delayed: float = 0.030
    raised_most: float = 0.010
    cut_most: float = 0.060
    window: int = 6
    needed: int = 3
    high_load: float = 0.75
    raises: tuple[float, float] = (1.0, 1.04)
    cuts: tuple[float, float] = (0.99, 0.75)
    returns: tuple[float, float] = (0.99, 1.01)
    after_cut: float = 0.3
    between_returns: float = 1.0
    slowly: float = 0.001
    fast: float = 0.9
    silence: float = 10.0


@dataclass(frozen=True)
class Limits:
    """The rates of a direction in bit/s."""

    minimum: float
    base: float
    maximum: float


# Bits of the longest packet: at low rates, one of them already delays a ping.
_PACKET_BITS = 12_000


class Baseline:
    """The delay of the path without queues, estimated."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._value: float | None = None

    def above(self, delay: float) -> float:
        """Takes a delay into the baseline, and returns by how much it is above."""
        if self._value is None:
            self._value = delay
        weight = self._settings.slowly if delay >= self._value else self._settings.fast
        self._value += weight * (delay - self._value)
        return delay - self._value


class Direction:
    """The shaper's rate in one direction."""

    def __init__(self, limits: Limits, settings: Settings, now: float) -> None:
        self._limits, self._settings = limits, settings
        self.rate = limits.base
        self._above: deque[float] = deque([0.0] * settings.window, settings.window)
        self._late: deque[bool] = deque([False] * settings.window, settings.window)
        self._high_load = self._new_load = False
        self._cut = self._changed = now

    def on_load(self, achieved: float) -> None:
        """Takes the rate that was sent since the last load, in bit/s."""
        self._high_load, self._new_load = achieved > self._settings.high_load * self.rate, True

    def on_delay(self, now: float, above: float) -> None:
        """Takes a delay above the baseline, and changes the rate by the rule."""
        rule = self._settings
        packet = _PACKET_BITS / self.rate
        delayed = rule.delayed + packet
        self._above.append(above)
        self._late.append(above > delayed)
        mean = sum(self._above) / rule.window
        if sum(self._late) >= rule.needed:
            if now > self._cut + rule.after_cut:
                self._scale(_between(rule.cuts, mean, delayed, rule.cut_most + packet))
                self._cut = self._changed = now
        elif self._high_load:
            if self._new_load and now > self._cut + rule.after_cut:
                self._scale(_between(rule.raises, mean, delayed, rule.raised_most + packet))
                self._new_load, self._changed = False, now
        elif now > self._changed + rule.between_returns:
            self._return()
            self._changed = now

    def to_minimum(self) -> None:
        """Sets the rate to its minimum, as nothing comes back."""
        self.rate = self._limits.minimum

    def _return(self) -> None:
        down, up = self._settings.returns
        base = self._limits.base
        self.rate = max(self.rate * down, base) if self.rate > base else min(self.rate * up, base)

    def _scale(self, factor: float) -> None:
        self.rate = min(max(self.rate * factor, self._limits.minimum), self._limits.maximum)


def _between(factors: tuple[float, float], mean: float, first: float, last: float) -> float:
    """The first factor where the mean delay is `first`, the last one at `last` and beyond, linear between."""
    share = min(max((mean - first) / (last - first), 0.0), 1.0)
    return factors[0] + share * (factors[1] - factors[0])


class Autorate:
    """The rates of both directions, upload first."""

    def __init__(self, limits: tuple[Limits, Limits], settings: Settings, now: float) -> None:
        self._settings = settings
        self.directions = tuple(Direction(each, settings, now) for each in limits)
        self._baselines = tuple(Baseline(settings) for _ in limits)
        self._heard = now

    def rates(self) -> list[float]:
        """The rates in bit/s."""
        return [each.rate for each in self.directions]

    def on_loads(self, achieved: Sequence[float]) -> None:
        """Takes the rates that were sent since the last loads, in bit/s."""
        for direction, rate in zip(self.directions, achieved, strict=True):
            direction.on_load(rate)

    def on_delays(self, now: float, delays: Sequence[float]) -> None:
        """Takes the one-way delays that a probe saw, in seconds."""
        self._heard = now
        for direction, baseline, delay in zip(self.directions, self._baselines, delays, strict=True):
            direction.on_delay(now, baseline.above(delay))

    def on_time(self, now: float) -> None:
        """Sets rates to their minimum if no probe has come back for too long."""
        if now > self._heard + self._settings.silence:
            for direction in self.directions:
                direction.to_minimum()


_DAY_MS = 86_400_000
_RECEIVED = 65_535


class Probe(Protocol):
    """The body of a kind of ICMP message that is answered (RFC 792)."""

    request: int
    answer: int

    def body(self) -> bytes:
        """What follows the identifier and the number of a request."""

    def delays(self, body: bytes) -> tuple[float, float]:
        """One-way delays in seconds, upload first, given what an answer has there."""


class RoundTrips:
    """Echo messages, with half of the round trip for each direction."""

    request, answer = 8, 0

    def body(self) -> bytes:
        """The time when it is sent."""
        return struct.pack("!Q", time.monotonic_ns())

    def delays(self, body: bytes) -> tuple[float, float]:
        """Half of the round trip, twice."""
        half = (time.monotonic_ns() - struct.unpack_from("!Q", body)[0]) / 2e9
        return half, half


class Timestamps:
    """Timestamp messages: times since midnight UT in ms. Clocks may differ, as only changes count."""

    request, answer = 13, 14

    def body(self) -> bytes:
        """The time when it is sent, and room for the other end's times."""
        return struct.pack("!III", self._now(), 0, 0)

    def delays(self, body: bytes) -> tuple[float, float]:
        """From the sending to the other end, and from there back."""
        sent, received, answered = struct.unpack_from("!III", body)
        return _since(sent, received), _since(answered, self._now())

    @staticmethod
    def _now() -> int:
        return time.time_ns() // 1_000_000 % _DAY_MS


def _since(begin: int, end: int) -> float:
    """Seconds between two times of a day, negative ones included."""
    return ((end - begin + _DAY_MS // 2) % _DAY_MS - _DAY_MS // 2) / 1e3


class Pinger:
    """Probes of a reflector."""

    def __init__(self, reflector: str, probe: Probe) -> None:
        self._to, self._probe = socket.gethostbyname(reflector), probe
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
        self._identifier = os.getpid() & 0xFFFF
        self._number = 0

    def send(self) -> None:
        """Sends a probe; one that cannot be sent counts as one without an answer."""
        self._number = (self._number + 1) & 0xFFFF
        head = struct.pack("!HH", self._identifier, self._number) + self._probe.body()
        unsummed = struct.pack("!BBH", self._probe.request, 0, 0) + head
        with contextlib.suppress(OSError):
            message = struct.pack("!BBH", self._probe.request, 0, _checksum(unsummed)) + head
            self._socket.sendto(message, (self._to, 0))

    def answers(self, until: float) -> Iterator[tuple[float, float]]:
        """The delays of each answer that comes until a moment of the monotonic clock."""
        while (left := until - time.monotonic()) > 0:
            self._socket.settimeout(left)
            try:
                packet, (sender, _) = self._socket.recvfrom(_RECEIVED)
            except OSError:  # nothing came, or a router says that the way is closed
                continue
            message = packet[(packet[0] & 0xF) * 4 :]
            kind, _, _, identifier, _ = struct.unpack_from("!BBHHH", message)
            if (sender, kind, identifier) == (self._to, self._probe.answer, self._identifier):
                yield self._probe.delays(message[8:])


def _checksum(message: bytes) -> int:
    """The Internet checksum (RFC 1071) of a message of even length."""
    total = sum(struct.unpack(f"!{len(message) // 2}H", message))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Shaper:
    """The discipline of a device, as `router.sh` has set it up."""

    def __init__(self, device: str) -> None:
        self._device, self._rate = device, 0.0
        shown = subprocess.run(
            ["tc", "qdisc", "show", "dev", device, "root"], capture_output=True, text=True, check=True
        ).stdout
        self._is_cake = shown.startswith("qdisc cake")

    def set(self, rate: float) -> None:
        """Changes the rate, in bit/s."""
        if abs(rate - self._rate) < 1_000:
            return
        self._rate = rate
        on, bits = f"dev {self._device}", f"{rate:.0f}bit"
        if self._is_cake:
            lines = [f"qdisc change {on} root cake bandwidth {bits}"]
        else:
            lines = [
                f"class change {on} parent 1: classid 1:1 htb rate {bits} ceil {bits} quantum 1514",
                f"qdisc change {on} parent 1:20 bfifo limit {max(15_000, rate * 0.04 / 8):.0f}",
            ]
        subprocess.run(["tc", "-batch", "-"], input="\n".join(lines) + "\n", text=True, check=True)


class Meter:
    """The rate at which a device sends."""

    def __init__(self, device: str, now: float) -> None:
        self._device = device
        self._at, self._bytes = now, self._sent()

    def rate(self, now: float) -> float:
        """The mean since the last question, in bit/s."""
        sent = self._sent()
        rate = 8 * (sent - self._bytes) / (now - self._at)
        self._at, self._bytes = now, sent
        return rate

    def _sent(self) -> int:
        for line in Path("/proc/net/dev").read_text(encoding="ascii").splitlines():
            name, _, counts = line.partition(":")
            if name.strip() == self._device:
                return int(counts.split()[8])
        raise SystemExit(f"autorate: {self._device}: no such device")


_BETWEEN_PROBES, _BETWEEN_LOADS = 0.05, 0.2


def run(args: argparse.Namespace) -> None:
    """Shapes for as long as the process lives."""
    devices = (args.up_device, args.down_device)
    now = time.monotonic()
    limits = tuple(Limits(*(1e6 * each for each in rates)) for rates in (args.up, args.down))
    rule = Autorate((limits[0], limits[1]), Settings(), now)
    shapers, meters = [Shaper(each) for each in devices], [Meter(each, now) for each in devices]
    pinger = Pinger(args.reflector, Timestamps() if args.one_way else RoundTrips())
    next_probe = next_load = now
    log = args.log.open("w", encoding="ascii", buffering=1) if args.log else None
    while True:
        for shaper, rate in zip(shapers, rule.rates(), strict=True):
            shaper.set(rate)
        now = time.monotonic()
        if now >= next_load:
            next_load = now + _BETWEEN_LOADS
            loads = [meter.rate(now) for meter in meters]
            rule.on_loads(loads)
            if log:
                log.write(",".join(f"{each / 1e6:.3f}" for each in (1e6 * now, *rule.rates(), *loads)) + "\n")
        if now >= next_probe:
            next_probe = now + _BETWEEN_PROBES
            pinger.send()
        for delays in pinger.answers(next_probe):
            rule.on_delays(time.monotonic(), delays)
            break
        rule.on_time(time.monotonic())


def main() -> int:
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = ("MINIMUM", "BASE", "MAXIMUM")
    for way in ("up", "down"):
        parser.add_argument(f"--{way}-device", required=True, metavar="DEVICE")
        parser.add_argument(f"--{way}", nargs=3, type=float, required=True, metavar=names, help="in Mbit/s")
    parser.add_argument("--one-way", action="store_true", help="ask for ICMP timestamps (default: echoes)")
    parser.add_argument("--log", type=Path, metavar="FILE", help="CSV: time (s), rates and loads (Mbit/s)")
    parser.add_argument("reflector", help="a host beyond the link that answers")
    args = parser.parse_args()
    for way in ("up", "down"):
        if not 0 < getattr(args, way)[0] <= getattr(args, way)[1] <= getattr(args, way)[2]:
            parser.error(f"--{way}: allowed: a minimum, a base and a maximum above 0, none above the next")
    run(args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
