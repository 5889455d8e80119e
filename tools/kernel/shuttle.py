"""Carries packets between the two namespaces, over two links in real time, and measures how late it is."""

from __future__ import annotations

import gc
import os
import random
import select
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .link import MILLISECOND, SECOND, Link, Packet
from .namespaces import Host
from .setups import MSS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .setups import Setup

# A run is usable if 99 % of deliveries are at most 1 ms late, 2.5 % of the shortest round trip here, and all
# at most 20 ms, a tenth of Linux's least retransmission timeout. Late packets stay in order.
LATE_P99_NS = 1 * MILLISECOND
LATE_MAX_NS = 20 * MILLISECOND
PRIORITY = 10
LARGEST = 65_536


@dataclass
class Carried:
    """The packets of both directions, how late they were delivered, and the reports of the two ends."""

    forward: list[Packet] = field(default_factory=list)
    backward: list[Packet] = field(default_factory=list)
    late_ns: list[int] = field(default_factory=list)
    sender: dict[str, Any] = field(default_factory=dict)
    receiver: dict[str, Any] = field(default_factory=dict)

    @property
    def late_p99_ns(self) -> int:
        """Of all deliveries, the lateness that one in a hundred exceeds."""
        return sorted(self.late_ns)[len(self.late_ns) * 99 // 100] if self.late_ns else 0

    @property
    def late_max_ns(self) -> int:
        """The latest delivery."""
        return max(self.late_ns, default=0)

    @property
    def usable(self) -> bool:
        """Whether the emulation was punctual enough."""
        return bool(self.late_ns) and self.late_p99_ns <= LATE_P99_NS and self.late_max_ns <= LATE_MAX_NS


@contextmanager
def _punctual() -> Iterator[None]:
    """Ahead of every other process, and without pauses for garbage."""
    policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except PermissionError:
        policy = -1
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        if policy >= 0:
            os.sched_setscheduler(0, policy, parameters)


class _Shuttle:
    def __init__(self, setup: Setup, hosts: tuple[Host, Host], seed: int) -> None:
        changes = setup.changes()
        draw = random.Random(f"{setup.name} {seed}")
        self.carried = Carried()
        self.tuns = [host.tun for host in hosts]
        self.links = [Link(changes, setup.queue, setup.loss, draw), Link(changes, None, 0.0, draw)]
        self.logs = [self.carried.forward, self.carried.backward]
        self.end = setup.duration_s * SECOND
        self.offset = setup.start_ms(seed) * MILLISECOND
        self.start: int | None = None

    def run(self) -> None:
        """From the first packet to the end of the setup."""
        while True:
            now = self._deliver()
            if now >= self.end:
                return
            wakes = [wake for link in self.links if (wake := link.wake()) is not None]
            if self.start is None:
                ready = select.select(self.tuns, [], [], 5.0)[0]
                if not ready:
                    raise RuntimeError("the sender sent nothing")
            else:
                wait = max(0, min([*wakes, self.end]) - (time.monotonic_ns() - self.start))
                ready = select.select(self.tuns, [], [], wait / SECOND)[0]
            for tun in ready:
                self._take(self.tuns.index(tun))

    def _now(self) -> int:
        clock = time.monotonic_ns()
        if self.start is None:
            self.start = clock - self.offset
        return clock - self.start

    def _take(self, side: int) -> None:
        while True:
            try:
                data = os.read(self.tuns[side], LARGEST)
            except BlockingIOError:
                return
            packet = Packet(self._now(), data, len(data))
            self.logs[side].append(packet)
            self.links[side].arrive(packet.at, packet)

    def _deliver(self) -> int:
        if self.start is None:
            return 0
        for link, tun in zip(self.links, reversed(self.tuns), strict=True):
            for packet in link.due(self._now()):
                os.write(tun, packet.data)
                self.carried.late_ns.append(self._now() - (packet.delivered or 0))
        return self._now()


def carry(setup: Setup, seed: int) -> Carried:
    """Runs Linux's TCP through a setup once, in as much time as it takes."""
    hosts: list[Host] = []
    try:
        hosts = [Host("sender")]
        hosts.append(Host("receiver"))
        sender, receiver = hosts
        receiver.ask("serve")
        receiver.answer()
        shuttle = _Shuttle(setup, (sender, receiver), seed)
        sender.ask("send", setup.congestion, str(MSS), str(setup.interval_ns()))
        used = sender.answer()["congestion"]
        if used != setup.congestion:
            raise RuntimeError(f"Linux uses {used} instead of {setup.congestion}")
        with _punctual():
            shuttle.run()
        for host in hosts:
            host.ask("report")
        shuttle.carried.sender, shuttle.carried.receiver = (host.answer() for host in hosts)
        return shuttle.carried
    finally:
        for host in hosts:
            host.close()
