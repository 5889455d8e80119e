"""One direction of a link, told the time: a queue, a transmitter, loss, propagation, as in `crates/link`.

`tests/kernel/test_link.py` holds it to leobench's own, packet by packet.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

    from .setups import Step

SECOND = 1_000_000_000
MILLISECOND = 1_000_000


@dataclass(slots=True)
class Packet:
    """An IP packet, and what became of it. Times in nanoseconds from the first packet of all."""

    at: int
    data: bytes
    size: int
    delivered: int | None = None
    cause: str = ""


class Link:
    """One direction of a link.

    Hand in packets with `arrive` and fetch them with `due`, at `wake` or later. Every event is computed for
    the instant it was due. Times never decrease from call to call.
    """

    def __init__(self, changes: list[Step], queue: int | None, loss: float, random: random.Random) -> None:
        self._changes = deque(changes)
        self._limit = queue
        self._loss = loss
        self._random = random
        self._rate = 0
        self._delay = 0
        self._up = False
        self._carry = 0
        self._waiting: deque[Packet] = deque()
        self._sending: Packet | None = None
        self._sent_at = 0
        self._number = 0
        self._flying: list[tuple[int, int, Packet]] = []
        self._advance(0)

    def arrive(self, now: int, packet: Packet) -> None:
        """Takes a packet in; it waits, or is dropped if the link is down or the queue full."""
        self._advance(now)
        if not self._up:
            packet.cause = "down"
        elif self._limit is not None and len(self._waiting) >= self._limit:
            packet.cause = "queue"
        else:
            self._waiting.append(packet)
            if self._sending is None:
                self._start(now)

    def due(self, now: int) -> list[Packet]:
        """The packets that have arrived at the far end by now, each with the time it was due."""
        self._advance(now)
        arrived = []
        while self._flying and self._flying[0][0] <= now:
            at, _, packet = heapq.heappop(self._flying)
            packet.delivered = at
            arrived.append(packet)
        return arrived

    def wake(self) -> int | None:
        """When something is due next, if nothing is handed in."""
        times = [self._flying[0][0]] if self._flying else []
        if self._sending is not None:
            times.append(self._sent_at)
        if self._changes:
            times.append(self._changes[0].at_ms * MILLISECOND)
        return min(times, default=None)

    def _advance(self, now: int) -> None:
        while True:
            change = self._changes[0].at_ms * MILLISECOND if self._changes else None
            if self._sending is not None and (change is None or self._sent_at < change):
                if self._sent_at > now:
                    return
                self._finish()
            elif change is not None and change <= now:
                self._change(change, self._changes.popleft())
            else:
                return

    def _change(self, at: int, step: Step) -> None:
        rate, up = step.rate or 0, bool(step.up)
        if (rate, up) != (self._rate, self._up):
            self._carry = 0
        self._rate, self._up, self._delay = rate, up, (step.delay_ms or 0) * MILLISECOND
        if self._sending is None:
            self._start(at)

    def _start(self, at: int) -> None:
        if not (self._up and self._rate):
            return
        if not self._waiting:
            self._carry = 0
            return
        self._sending = self._waiting.popleft()
        span, self._carry = divmod(self._sending.size * 8 * SECOND + self._carry, self._rate)
        self._sent_at = at + span

    def _finish(self) -> None:
        """Ends a transmission: decides on loss and reads the delay. Packets may overtake others."""
        packet, at = self._sending, self._sent_at
        self._sending = None
        if packet is not None:
            if self._loss and self._random.random() < self._loss:
                packet.cause = "channel"
            else:
                self._number += 1
                heapq.heappush(self._flying, (at + self._delay, self._number, packet))
        self._start(at)
