"""The measurements of a dish, each second: bytes of its link's device, and pings to the link's other end."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import threading
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

# Seconds that a history covers, one sample each.
LENGTH = 900
# Between two pings, and how long an answer may take; in seconds.
_PING_EVERY_S = 0.1
_PATIENCE_S = 1.0
# Seconds between two samples.
_EVERY_S = 1.0
# RFC 792: the types of an echo and of its reply. The kernel fills in the identifier and the checksum.
_ECHO, _REPLY = 8, 0
_HEADER = struct.Struct("!BBHHH")
_FILLING = bytes(56)
# `asm-generic/socket.h`: the kernel says when it received a packet, by its clock of the day, as a `timespec`.
_SO_TIMESTAMPNS = 35
_TIMESPEC = struct.Struct("@ll")


@dataclass(frozen=True)
class Sample:
    """A second.

    Attributes:
        drop_rate: The share of pings without an answer, of those whose fate became known.
        latency_ms: The mean round-trip time of the others; 0 if there are none.
        down_bps: Bits per second that came over the link.
        up_bps: Bits per second that went.
    """

    drop_rate: float
    latency_ms: float
    down_bps: float
    up_bps: float


class History:
    """The samples of the last seconds."""

    def __init__(self) -> None:
        self._samples: deque[Sample] = deque(maxlen=LENGTH)
        self._count = 0
        self._lock = threading.Lock()

    def add(self, sample: Sample) -> None:
        """Adds the latest one."""
        with self._lock:
            self._samples.append(sample)
            self._count += 1

    def latest(self) -> Sample | None:
        """The latest one, once there is one."""
        with self._lock:
            return self._samples[-1] if self._samples else None

    def ring(self) -> tuple[int, list[Sample]]:
        """The number of samples so far, and a ring in which sample n is at place n modulo its length."""
        with self._lock:
            ring = [Sample(0, 0, 0, 0)] * LENGTH
            for back, sample in enumerate(reversed(self._samples), 1):
                ring[(self._count - back) % LENGTH] = sample
            return self._count, ring


class Pings:
    """Pings from a device's address, and what became of them."""

    def __init__(self, source: str, target: str) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
        self._socket.bind((source, 0))
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        self._target = target
        self._number = 0
        # By number, when it was sent, in nanoseconds of the clock of the day.
        self._waiting: dict[int, int] = {}
        self._times: list[float] = []
        self._lost = 0

    def send(self) -> None:
        """Sends the next one; one that the host refuses is lost."""
        self._number = (self._number + 1) % 2**16
        now = time.time_ns()
        try:
            self._socket.sendto(_HEADER.pack(_ECHO, 0, 0, 0, self._number) + _FILLING, (self._target, 0))
        except OSError:
            self._lost += 1
        else:
            self._waiting[self._number] = now

    def receive(self, seconds: float) -> None:
        """Takes answers for a time."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if not select.select([self._socket], [], [], left)[0]:
                return
            with contextlib.suppress(OSError):  # an error of an earlier ping
                self._take()

    def _take(self) -> None:
        answer, said, *_ = self._socket.recvmsg(
            len(_FILLING) + _HEADER.size, socket.CMSG_SPACE(_TIMESPEC.size)
        )
        kind, *_, number = _HEADER.unpack_from(answer)
        times = [_TIMESPEC.unpack(data) for _, name, data in said if name == _SO_TIMESTAMPNS]
        sent = self._waiting.pop(number, None)
        if kind == _REPLY and sent is not None and times:
            seconds, nanoseconds = times[0]
            self._times.append((seconds * 10**9 + nanoseconds - sent) / 1e6)

    def taken(self) -> tuple[float, float]:
        """The share of lost ones and the mean time in milliseconds, of those whose fate is new."""
        oldest = time.time_ns() - int(_PATIENCE_S * 1e9)
        late = [number for number, sent in self._waiting.items() if sent < oldest]
        for number in late:
            del self._waiting[number]
        lost, times = self._lost + len(late), self._times
        self._lost, self._times = 0, []
        known = lost + len(times)
        return (lost / known if known else 0.0), (sum(times) / len(times) if times else 0.0)


def follow(history: History, pings: Pings, device: str) -> None:
    """Adds a sample each second, for ever."""
    began = time.monotonic()
    next_ping, next_sample = began, began + _EVERY_S
    received, sent, since = *_bytes(device), began
    while True:
        now = time.monotonic()
        if now >= next_ping:
            pings.send()
            next_ping += _PING_EVERY_S
        if now >= next_sample:
            drop_rate, latency_ms = pings.taken()
            counted = _bytes(device)
            bits = 8 / (now - since)
            down_bps, up_bps = (counted[0] - received) * bits, (counted[1] - sent) * bits
            history.add(Sample(drop_rate, latency_ms, down_bps, up_bps))
            received, sent, since = *counted, now
            next_sample += _EVERY_S
        pings.receive(min(next_ping, next_sample) - time.monotonic())


def _bytes(device: str) -> tuple[int, int]:
    """The bytes that a device has received and sent, as its kernel counts them."""
    for line in Path("/proc/self/net/dev").read_text(encoding="ascii").splitlines():
        name, _, counts = line.partition(":")
        if name.strip() == device:
            numbers = counts.split()
            return int(numbers[0]), int(numbers[8])
    raise OSError(f"{device}: no such device")
