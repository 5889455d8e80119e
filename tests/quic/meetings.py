"""Meetings of leobench's QUIC with aioquic: bytes in virtual time through a link that loses, repeats,
reorders and damages datagrams. Both applications do what a plan says, and every byte is checked.
"""

from __future__ import annotations

import heapq
import itertools
import os
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from leobench import quic
from tests.quic.parties import Aio, Lost, Own, Party
from tests.quic.plans import AIO, MS, NAMES, OWN, SECOND, Plan, Way

if TYPE_CHECKING:
    from collections import Counter

LIMIT = 1_000 * SECOND
# What is shown of an application's close before the handshake is complete (RFC 9000 section 10.2.3).
APPLICATION_ERROR = 0x0C


class Link:
    """Datagrams on their way."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.random = Random(f"link {plan.seed}")  # noqa: S311
        self.flying: list[tuple[int, int, int, bytes, int]] = []
        self.arrived = {-1}
        self.order = itertools.count()
        self.last = [0, 0]

    def send(self, now: int, sender: int, datagram: bytes, tally: Counter[str]) -> None:
        trouble = self.plan.trouble[sender]
        if self.random.random() < trouble.lost:
            tally["datagrams lost"] += 1
            return
        number = next(self.order)
        copies = 1 + (self.random.random() < trouble.repeated)
        tally["datagrams repeated"] += copies - 1
        for _ in range(copies):
            damaged = self.random.random() < trouble.damaged
            tally["datagrams damaged"] += damaged
            content = self.damage(datagram) if damaged else datagram
            extra = self.random.randint(0, trouble.by) if self.random.random() < trouble.late else 0
            at = now + self.plan.delay + extra
            tally["datagrams overtaken"] += at < self.last[sender]
            self.last[sender] = max(self.last[sender], at)
            # Damaged copies have no number, for they do not count as arrivals.
            content_of = -1 if damaged else number
            heapq.heappush(self.flying, (at, next(self.order), 1 - sender, content, content_of))

    def arrival(self, now: int) -> tuple[int, bytes, bool] | None:
        """The next datagram that arrives by now: where, what, and whether it is the first intact copy."""
        if not self.flying or self.flying[0][0] > now:
            return None
        _, _, receiver, content, content_of = heapq.heappop(self.flying)
        is_new = content_of not in self.arrived
        self.arrived.add(content_of)
        return receiver, content, is_new

    def damage(self, datagram: bytes) -> bytes:
        """Flips a few bits, or cuts the end off."""
        if self.random.random() < 0.25:
            return datagram[: self.random.randrange(len(datagram))]
        content = bytearray(datagram)
        for _ in range(self.random.randint(1, 3)):
            # Headers are where damage is not simply found by a tag.
            end = min(40, len(content)) if self.random.random() < 0.5 else len(content)
            content[self.random.randrange(end)] ^= 1 << self.random.randrange(8)
        return bytes(content)


@dataclass
class Sending:
    way: Way
    written: bool = False
    reset_due: int | None = None
    done: bool = False


@dataclass
class Receiving:
    way: Way
    read: int = 0
    done: bool = False
    stopped: bool = False


class Application:
    """The application of one end: follows the plan and checks what it receives."""

    def __init__(self, plan: Plan, end: int, party: Party, tally: Counter[str]) -> None:
        self.plan, self.end, self.party, self.tally = plan, end, party, tally
        self.opened = [0, 0]
        self.sending: dict[int, Sending] = {}
        self.receiving: dict[int, Receiving] = {}
        self.established = False
        self.lost: tuple[int, Lost] | None = None
        self.key_updates = list(plan.key_updates[end])
        self.datagrams = list(plan.datagrams[end])
        self.datagrams_sent: list[bytes] = []
        self.datagrams_arrived: list[bytes] = []

    def count(self, what: str, number: int = 1) -> None:
        self.tally[f"{what}: {NAMES[self.end]}"] += number

    def is_settled(self) -> bool:
        own, peer = self.plan.streams[self.end], self.plan.streams[1 - self.end]
        sends = len(own[0]) + len(own[1]) + len(peer[0])
        receives = len(own[0]) + len(peer[0]) + len(peer[1])
        every: list[Sending | Receiving] = [*self.sending.values(), *self.receiving.values()]
        full = (len(self.sending), len(self.receiving)) == (sends, receives)
        return full and all(part.done for part in every)

    def reads(self, stream: int) -> Receiving:
        """The receiving part of a stream, and with it the sending part of a bidirectional one of the peer."""
        if stream & 2 == 0 and self.plan.opener(stream) != self.end and stream not in self.sending:
            self.sending[stream] = Sending(self.plan.way(self.end, stream))
        if stream not in self.receiving:
            self.receiving[stream] = Receiving(self.plan.way(1 - self.end, stream))
        return self.receiving[stream]

    def look(self, now: int) -> None:
        """Takes the events of its end."""
        stopped: set[int] = set()
        for event in self.party.events():
            match event:
                case quic.HandshakeCompleted():
                    self.established = True
                case Lost():
                    assert self.lost is None, "lost twice"
                    self.lost = (now, event)
                    self.count(f"connections that ended by {event.how} at")
                case quic.StreamStopped(stream, code):
                    assert self.plan.way(self.end, stream).stop_at is not None, f"stream {stream} is stopped"
                    assert code == self.plan.code(stream, stop=True)
                    self.sending[stream].done = True
                    self.count("STOP_SENDING arrived at")
                case quic.DatagramReceived(data):
                    assert data not in self.datagrams_arrived, "a datagram arrived twice"
                    assert any(data == sent for _, sent in self.plan.datagrams[1 - self.end])
                    self.datagrams_arrived.append(data)
                    self.count("unreliable datagrams arrived at")
                case quic.StreamAcknowledged(stream):
                    self.sending[stream].done = True
                case quic.StreamData(stream, _) | quic.StreamFinished(stream) | quic.StreamReset(stream, _):
                    part = self.reads(stream)
                    # Some was told together with what led to the stop; aioquic goes on telling.
                    if stream not in stopped and not (self.end == AIO and part.stopped):
                        self.read(now, part, event)
                        if part.stopped:
                            stopped.add(stream)

    def read(self, now: int, part: Receiving, event: quic.Event) -> None:
        """Takes what comes of a stream."""
        match event:
            case quic.StreamData(stream, data):
                assert not part.done or not data, f"data after the end of stream {stream}"
                expected = part.way.data[part.read : part.read + len(data)]
                assert data == expected, f"wrong data on stream {stream}"
                part.read += len(data)
                self.tally["bytes"] += len(data)
                due = part.way.stop_at is not None and part.read >= part.way.stop_at and not part.done
                if due and self.party.stop(stream, self.plan.code(stream, stop=True), now):
                    part.done = part.stopped = True
            case quic.StreamFinished(stream):
                assert not part.done, f"stream {stream} ends twice"
                assert part.read == len(part.way.data), f"stream {stream} ends early"
                part.done = True
                self.count("streams that ended at")
            case quic.StreamReset(stream, code):
                assert not part.done, f"stream {stream} is reset after its end"
                assert part.way.reset_at is not None, f"stream {stream} is reset"
                assert code == self.plan.code(stream, stop=False)
                part.done = True
                self.count("RESET_STREAM arrived at")

    def next(self) -> list[int]:
        """When it does something by itself."""
        if self.lost is not None:
            return []
        resets = [
            part.reset_due for part in self.sending.values() if not part.done and part.reset_due is not None
        ]
        return resets + self.key_updates + [at for at, _ in self.datagrams[:1]]

    def act(self, now: int) -> None:
        """Opens streams and writes to them."""
        if self.lost is not None or not (self.established or self.party.sends_early()):
            return
        for kind, planned in enumerate(self.plan.streams[self.end]):
            while self.opened[kind] < len(planned):
                stream = self.party.open(unidirectional=kind == 1)
                if stream is None:
                    break
                self.opened[kind] += 1
                self.sending[stream] = Sending(self.plan.way(self.end, stream))
                if kind == 0:
                    self.reads(stream)
        for stream, part in self.sending.items():
            if not part.done:
                self.send(now, stream, part)
        if not self.established:
            return
        while self.key_updates and self.key_updates[0] <= now:
            self.key_updates.pop(0)
            self.count("key updates by", int(self.party.update_keys(now)))
        self.send_datagrams(now)

    def send_datagrams(self, now: int) -> None:
        while self.datagrams and self.datagrams[0][0] <= now:
            _, data = self.datagrams.pop(0)
            if self.party.send_datagram(data):
                self.datagrams_sent.append(data)

    def send(self, now: int, stream: int, part: Sending) -> None:
        way = part.way
        size = len(way.data) if way.reset_at is None else way.reset_at[0]
        if not part.written:
            part.written = True
            if size > 0:
                self.party.write(stream, way.data[:size])
            if way.reset_at is None:
                self.party.finish(stream)
                # aioquic does not tell what was acknowledged.
                part.done = self.end == AIO
            else:
                part.reset_due = now + way.reset_at[1]
        if part.reset_due is not None and part.reset_due <= now:
            part.done = self.party.reset(stream, self.plan.code(stream, stop=False))


class Meeting:
    """A plan that is played."""

    def __init__(self, plan: Plan, tally: Counter[str]) -> None:
        self.plan, self.tally = plan, tally
        parties: list[Party] = [Own(plan), Aio(plan)]
        self.ends = [Application(plan, end, party, tally) for end, party in enumerate(parties)]
        self.link = Link(plan)
        self.now = 0
        self.heard = [0, 0]
        self.retried = [False, False]

    def hold(self) -> None:
        """Plays it to its end, and checks what became of it."""
        while True:
            for end in self.ends:
                self.step(end)
            self.close_if_due()
            if all(end.lost is not None for end in self.ends):
                break
            self.now = self.next()
            assert self.now < LIMIT, "takes too long"
            while (arrival := self.link.arrival(self.now)) is not None:
                receiver, datagram, is_new = arrival
                if is_new:
                    self.heard[receiver] = self.now
                self.ends[receiver].party.receive(datagram, self.now)
                self.ends[receiver].look(self.now)
        self.check()

    def step(self, end: Application) -> None:
        end.party.handle_timer(self.now)
        end.look(self.now)
        end.act(self.now)
        for datagram in end.party.transmit(self.now):
            self.show(end, datagram)
            # RFC 9000 section 17.2.5; version 1.
            is_version_1 = datagram[1:5] == b"\0\0\0\1"
            self.retried[end.end] |= datagram[0] >> 4 == 0xF and is_version_1
            # RFC 9000 section 17.2.3.
            end.count("0-RTT datagrams from", int(datagram[0] >> 4 == 0xD and is_version_1))
            self.link.send(self.now, end.end, datagram, self.tally)
        end.look(self.now)

    def show(self, end: Application, datagram: bytes) -> None:
        if os.environ.get("MEETING_SHOW"):
            text = f"{self.now / SECOND:.6f} {NAMES[end.end]} sends {len(datagram)} bytes"
            print(text, datagram[:8].hex())  # noqa: T201

    def next(self) -> int:
        timers = [timer for end in self.ends if (timer := end.party.timer()) is not None]
        plans = [at for end in self.ends for at in end.next()]
        if self.plan.close is not None and self.plan.close[1] is not None:
            plans.append(self.plan.close[1])
        arrivals = [self.link.flying[0][0]] if self.link.flying else []
        # What is overdue waits for something else to happen first, such as the handshake.
        soon = (
            [max(timer, self.now + 1) for timer in timers] + arrivals + [at for at in plans if at > self.now]
        )
        assert soon, "nothing will ever happen"
        return min(soon)

    def close_if_due(self) -> None:
        if self.plan.close is None:
            return
        closer, at, code, reason = self.plan.close
        due = all(end.is_settled() for end in self.ends) if at is None else self.now >= at
        end = self.ends[closer]
        if due and end.established and end.lost is None and not getattr(end.party, "closed_by_itself", False):
            end.party.close(code, reason, self.now)
            self.step(end)

    def check(self) -> None:
        plan = self.plan
        if plan.close is None or plan.close[1] is None:
            assert all(end.is_settled() for end in self.ends)
        if plan.close is None:
            idle = min(idle for idle in plan.idle if idle is not None)
            for end in self.ends:
                assert end.lost is not None
                at, lost = end.lost
                assert lost.how == "idle"
                # RFC 9000 section 10.1; some time for the rounding of seconds.
                assert at >= self.heard[end.end] + idle - MS
                trouble = plan.trouble[end.end]
                # A datagram that overtakes the end of the handshake cannot be read.
                if trouble.lost + trouble.damaged + trouble.late == 0:
                    assert sorted(end.datagrams_sent) == sorted(self.ends[1 - end.end].datagrams_arrived)
        else:
            self.check_close(*plan.close)
        self.count()

    def check_close(self, closer: int, _: int | None, code: int, reason: str) -> None:
        how, seen = (self.ends[end].lost for end in (closer, 1 - closer))
        assert how is not None
        assert seen is not None
        assert how[1].how == "self"
        trouble = self.plan.trouble[closer]
        told = {
            "application": (seen[1].code, seen[1].reason) == (code, reason),
            "transport": not self.ends[1 - closer].established and seen[1].code == APPLICATION_ERROR,
            # The close got lost, or what would have had it repeated.
            "idle": trouble.lost + trouble.damaged > 0,
        }
        assert told.get(seen[1].how, False), seen

    def count(self) -> None:
        plan, tally = self.plan, self.tally
        tally["meetings"] += 1
        tally[f"meetings with this client: {NAMES[OWN if plan.own_is_client else AIO]}"] += 1
        tally["meetings with a large certificate"] += plan.identity[1] > 0
        for end, name in enumerate(NAMES):
            tally[f"connections after a Retry by: {name}"] += self.retried[end] and self.ends[end].established
            windows = [plan.stream_window[end], plan.connection_window[end]]
            tally[f"meetings with 64 streams from: {name}"] += len(plan.streams[end][1]) == 64
            tally[f"meetings with a window below 4 kB at: {name}"] += any(
                size is not None and size < 4_000 for size in windows
            )
            tally[f"meetings with huge windows at: {name}"] += all(
                size is None or size == 1 << 40 for size in windows
            )
