"""The capture of a TCP transfer at its sender: its largest connection, as the sender's own state.

A sender knows what it sent, and acknowledgements tell what arrived, selective ones included (RFC 2018).
Bytes sent again were lost, from when selective acknowledgements told so (RFC 6675), except those that the
receiver reports as duplicates (RFC 2883). Round trips are from the newest byte that an acknowledgement
covers, if it was sent once (Karn's algorithm, RFC 6298 section 3).

Windows are not read: without a queue, capacity is bounded from below, whatever limited the sender. A capture
may begin in the middle of a connection for this reason.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from leobench.errors import InputError
from leobench.fitting.replay import segments
from leobench.fitting.replay.iperf3 import template
from leobench.fitting.replay.transfer import Transfer

if TYPE_CHECKING:
    from pathlib import Path

    from leobench.fitting.replay.segments import Conversation, Segment
    from leobench.fitting.series import Floats

# Seconds between samples: the least at which half of them have a round trip.
_STEPS_S = (0.01, 0.02, 0.05, 0.1)
# Share of the largest connection from which another one is as good a choice.
_COMPARABLE = 0.5
# Payload of a full segment whose SYN is missing.
_MSS = 1448
# Segments selectively acknowledged above a lost one (RFC 6675 section 2).
_DUPLICATES = 3
# Share of the data that a capture may miss.
_MISSED = 0.01
# Seconds within which no acknowledgement comes back through a satellite.
_NEAR_S = 1e-3
# Nanoseconds after a handshake in which a transfer has begun.
_SOON_NS = 1_000_000_000
# Nanoseconds by which packets of a capture may be in disorder: no loss is known so soon.
_DISORDER_NS = 1_000_000


def read(file: Path) -> Transfer:
    """Reads the largest connection of a capture.

    Raises:
        InputError: If it is no capture of a TCP transfer at its sender, or has several.
    """
    conversation = _largest(file, segments.read(file))
    sender = int(conversation.payload[1] > conversation.payload[0])
    account = _Account(_full(conversation, sender))
    for number in range(len(conversation)):
        end, segment = conversation[number]
        if end == sender:
            account.send(segment)
        elif segment.flags & segments.ACK and not segment.flags & segments.SYN:
            account.acknowledge(segment, conversation.sack.get(number, ()))
    handshake = _Handshake.of(conversation)
    _check(f"{file}: {conversation}", account, handshake, sender)
    if handshake is not None:
        account.begin(*handshake.rtt(sender))
    return _transfer(file, account)


def _largest(file: Path, found: list[Conversation]) -> Conversation:
    ranked = sorted(found, key=lambda each: -max(each.payload))
    most = max(ranked[0].payload)
    if not most:
        raise InputError(f"{file}: has no TCP connection that carries data")
    similar = [each for each in ranked if max(each.payload) >= _COMPARABLE * most]
    if len(similar) > 1:
        named = ", ".join(f"{each} ({max(each.payload) / 1e6:.3g} MB)" for each in similar[:4])
        more = f" and {len(similar) - 4} more" if len(similar) > 4 else ""
        raise InputError(
            f"{file}: has {len(similar)} transfers of similar size: {named}{more}; "
            f"allowed: one (tshark -r FILE -Y tcp.port=={ranked[0].ends[0][1]} -w ONE)"
        )
    return ranked[0]


def _full(conversation: Conversation, sender: int) -> int:
    """Payload of a full segment: as the receiver allows, less the options that the sender adds."""
    mss = conversation.mss[1 - sender]
    if mss is None:
        return _MSS
    sent = (
        segment for end, segment in map(conversation.__getitem__, range(len(conversation))) if end == sender
    )
    headers = next((segment.headers for segment in sent if segment.size), 0)
    # RFC 6691: the MSS counts no options. An IP header has 20 or 40 bytes, and that of TCP 20.
    base = 40 if len(conversation.ends[0][0]) == 4 else 60
    return max(mss - max(headers - base, 0), 1)


@dataclass
class _Ranges:
    """Disjoint ranges of bytes, ascending."""

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def add(self, start: int, end: int) -> tuple[int, int]:
        """Adds a range; the number of bytes that are new, and the end of the last of them."""
        first, last = bisect_left(self.ends, start), bisect_right(self.starts, end)
        fresh, top, at = 0, start, start
        for covered, until in zip(self.starts[first:last], self.ends[first:last], strict=True):
            if covered > at:
                fresh, top = fresh + covered - at, covered
            at = max(at, until)
        if end > at:
            fresh, top = fresh + end - at, end
        if first < last:
            start, end = min(start, self.starts[first]), max(end, self.ends[last - 1])
        self.starts[first:last], self.ends[first:last] = [start], [end]
        return fresh, top


@dataclass
class _Again:
    """Bytes sent again: from where to where, when, whether for the first time, and whether for nothing."""

    start: int
    end: int
    ns: int
    first: bool
    needless: bool = False


class _Account:
    """The sender's side of a connection. Sequence numbers do not wrap, and begin with the first byte."""

    def __init__(self, full: int) -> None:
        self.full = full
        self._base = 0
        self._next = self._cumulative = 0
        self._acknowledged = _Ranges()
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._times: list[int] = []
        self._repeated: set[int] = set()
        self._holes: list[tuple[int, int]] = []
        self._early: int | None = None
        self.missed = self.last_ns = self.bare_duplicates = 0
        self.payload = self.headers = 0
        self.selective = False
        self.again: list[_Again] = []
        # Rows of (ns, bytes): sent once, acknowledged, highest byte acknowledged, duplicates; round trips.
        self.sent: list[tuple[int, int]] = []
        self.delivered: list[tuple[int, int]] = []
        self.highest: list[tuple[int, int]] = []
        self.duplicates: list[tuple[int, int]] = []
        self.rtt: list[tuple[int, int]] = []

    def begin(self, ns: int, rtt_ns: int) -> None:
        """Takes the round trip of the handshake, which meets no queue, if data followed at once."""
        if self.sent[0][0] - ns <= _SOON_NS:
            self.sent.insert(0, (ns, 0))
            self.rtt.insert(0, (ns + rtt_ns, rtt_ns))

    def send(self, segment: Segment) -> None:
        """Takes a segment of the sender."""
        if segment.flags & segments.SYN:
            self._early = segment.seq + 1
        if not segment.size:
            return
        if not self.sent:
            self._begin(segment)
        start = self._unwrap(segment.seq)
        end = start + segment.size
        packets = -(-segment.size // self.full)
        self.last_ns = segment.ns
        self.payload += segment.size
        self.headers += packets * segment.headers
        if start < self._next and not self._late(start, end, segment.ns):
            self._send_again(start, min(end, self._next), segment.ns)
        if start > self._next:
            self.missed += start - self._next
            self._holes.append((self._next, start))
            self._send_first(start, segment.ns)
        if end > self._next:
            self._send_first(end, segment.ns)

    def acknowledge(self, segment: Segment, blocks: tuple[int, ...]) -> None:
        """Takes an acknowledgement."""
        if not self.sent:
            self._early = segment.ack
            return
        cumulative = self._unwrap(segment.ack)
        # The FIN has a sequence number of its own.
        beyond = max(cumulative - self._next, 0)
        if beyond > 1:
            self.missed += beyond
            self._next = cumulative
            self.sent.append((segment.ns, cumulative))
        self.bare_duplicates += not blocks and cumulative == self._cumulative < self._next
        selective = []
        for at in range(0, len(blocks), 2):
            start, end = self._unwrap(blocks[at]), self._unwrap(blocks[at + 1])
            inside = len(blocks) > 2 and self._unwrap(blocks[2]) <= start and end <= self._unwrap(blocks[3])
            if at == 0 and start < end and (end <= cumulative or inside):
                self._duplicate(start, end, segment.ns)
            elif cumulative < start < end <= self._next:
                selective.append((start, end))
                self.selective = True
        self._deliver(max(min(cumulative, self._next), 0), selective, segment.ns)

    def _begin(self, segment: Segment) -> None:
        """Begins with the first byte that was not acknowledged before the capture."""
        before = (segment.seq - self._early) & 0xFFFFFFFF if self._early is not None else 0
        # Data that the capture has not seen are in flight; a number further off is of a damaged packet.
        before = before if before < 1 << 30 else 0
        self._base = segment.seq - before
        self.sent.append((segment.ns, 0))
        if before:
            self._next = 0
            self._holes.append((0, before))
            self._send_first(before, segment.ns)
            # When these were sent is unknown, so no round trip is theirs.
            self._repeated.add(0)

    def _unwrap(self, number: int) -> int:
        """The byte of a sequence number: the one nearest to the highest that was sent."""
        off = (number - self._base - self._next + (1 << 31)) & 0xFFFFFFFF
        return self._next + off - (1 << 31)

    def _send_first(self, end: int, ns: int) -> None:
        self._starts.append(self._next)
        self._ends.append(end)
        self._times.append(ns)
        self._next = end
        self.sent.append((ns, end))

    def _late(self, start: int, end: int, ns: int) -> bool:
        """Takes a segment that the capture has after later ones, or twice (from two interfaces)."""
        at = bisect_right(self._ends, start)
        if at == len(self._ends) or ns - self._times[at] > _DISORDER_NS:
            return False
        for begin, until in reversed(self._holes):
            if begin <= start and end <= until:
                self.missed = max(self.missed - (end - start), 0)
                break
        return True

    def _send_again(self, start: int, end: int, ns: int) -> None:
        first, last = bisect_right(self._ends, start), bisect_left(self._starts, end)
        touched = range(first, last)
        self.again.append(_Again(start, end, ns, first=self._repeated.isdisjoint(touched)))
        self._repeated.update(touched)

    def _duplicate(self, start: int, end: int, ns: int) -> None:
        """Takes a report of bytes that arrived twice: they were sent again for nothing."""
        for each in reversed(self.again):
            if each.start < end and start < each.end and not each.needless:
                each.needless = True
                self.last_ns = ns
                self.duplicates.append((ns, each.end - each.start))
                return

    def _deliver(self, cumulative: int, selective: list[tuple[int, int]], ns: int) -> None:
        fresh, top = self._acknowledged.add(0, cumulative)
        # Bytes behind a hole wait for it to be filled: no round trip is theirs (as in Linux).
        first, last = bisect_right(self._ends, self._cumulative), bisect_left(self._starts, cumulative)
        if not self._repeated.isdisjoint(range(first, last)):
            top = -1
        self._cumulative = max(self._cumulative, cumulative)
        for start, end in selective:
            more, until = self._acknowledged.add(start, end)
            fresh += more
            top = max(top, until) if more else top
        if not fresh:
            return
        self.last_ns = ns
        self.delivered.append((ns, (self.delivered[-1][1] if self.delivered else 0) + fresh))
        self.highest.append((ns, self._acknowledged.ends[-1]))
        newest = bisect_left(self._ends, top)
        if newest < len(self._ends) and newest not in self._repeated and self._starts[newest] < top:
            self.rtt.append((ns, ns - self._times[newest]))


def _check(where: str, account: _Account, handshake: _Handshake | None, sender: int) -> None:
    """Refuses a capture at the wrong end, or one that missed much."""
    if not account.rtt:
        raise InputError(f"{where}: has no acknowledgements; allowed: captures of both directions")
    near = float(np.median([rtt for _, rtt in account.rtt])) / 1e9
    far = handshake is not None and handshake.rtt(sender)[1] < handshake.rtt(1 - sender)[1]
    if near < _NEAR_S or far:
        raise InputError(
            f"{where}: was captured at the receiver: acknowledgements follow by {1e3 * near:.3g} ms; "
            "allowed: a capture at the sender of the data"
        )
    if account.again and account.bare_duplicates >= _DUPLICATES and not account.selective:
        raise InputError(
            f"{where}: has losses without selective acknowledgements, which hides what arrived; "
            "allowed: transfers with SACK (RFC 2018), which hosts use unless it is turned off"
        )
    if account.missed > _MISSED * account.payload:
        raise InputError(
            f"{where}: {account.missed:,} bytes were acknowledged that the capture does not have; "
            "allowed: complete captures (a larger buffer: tcpdump --buffer-size=65536)"
        )


@dataclass(frozen=True)
class _Handshake:
    """When SYN, SYN-ACK and ACK were captured, in nanoseconds; none was sent twice."""

    client: int
    asked: int
    answered: int
    done: int

    @classmethod
    def of(cls, conversation: Conversation) -> _Handshake | None:
        """The handshake of a connection, if the capture begins with one."""
        seen: list[tuple[int, int]] = []
        times: list[int] = []
        for number in range(min(len(conversation), 6)):
            end, segment = conversation[number]
            each = end, segment.flags & (segments.SYN | segments.ACK)
            if not seen or each != seen[-1] or segment.ns - times[-1] > _DISORDER_NS:
                seen.append(each)
                times.append(segment.ns)
        if seen[:3] != [(0, segments.SYN), (1, segments.SYN | segments.ACK), (0, segments.ACK)]:
            return None
        return cls(0, *times[:3])

    def rtt(self, sender: int) -> tuple[int, int]:
        """When a sender began to measure a round trip, and its nanoseconds."""
        if sender == self.client:
            return self.asked, self.answered - self.asked
        return self.answered, self.done - self.answered


def _transfer(file: Path, account: _Account) -> Transfer:
    begin = account.sent[0][0]
    factor = (account.payload + account.headers) / account.payload
    lost = sorted(
        (_known_ns(each, account), each.end - each.start) for each in account.again if not each.needless
    )
    again = [(each.ns, each.end - each.start) for each in account.again]
    end_s = (account.last_ns - begin) / 1e9
    rtt_s = np.array([value for _, value in account.rtt], dtype=np.float64) / 1e9
    rtt_at = np.array([at - begin for at, _ in account.rtt], dtype=np.float64) / 1e9
    times, sampled = _sampled(rtt_at, rtt_s, end_s)

    def level(rows: list[tuple[int, int]]) -> Floats:
        """The latest level at each sample, in IP bytes; 0 before the first."""
        at = np.maximum.accumulate(np.array([ns - begin for ns, _ in rows]) / 1e9) if rows else np.zeros(0)
        levels = np.array([0, *(value for _, value in rows)], dtype=float)
        return np.asarray(levels[np.searchsorted(at, times, side="right")] * factor)

    def total(rows: list[tuple[int, int]]) -> Floats:
        sums = np.cumsum([value for _, value in rows])
        return level([(ns, int(value)) for (ns, _), value in zip(rows, sums, strict=True)])

    sent = level(account.sent) + total(again)
    gone = total(lost)
    passed = level(account.delivered) + total(account.duplicates)
    own: dict[str, Any] = {
        "goodput_mbps": account.delivered[-1][1] * 8e-6 / end_s if end_s > 0 else 0.0,
        "rtt_p50_ms": float(1e3 * np.median(rtt_s)),
        "rtt_p95_ms": float(1e3 * np.quantile(rtt_s, 0.95)),
        "lost_share": sum(size for _, size in lost) / account.payload,
    }
    return Transfer(
        name=str(file),
        start_s=begin / 1e9,
        times=times,
        sent=sent,
        in_flight=np.maximum(sent - gone - passed, 0.0),
        lost=gone,
        rtt_s=sampled,
        queue_limit=None,
        # A capture does not show the controller.
        template=template("tcp", "cubic"),
        own=own,
        jitter_s=0.5e-3,
    )


def _known_ns(each: _Again, account: _Account) -> int:
    """When a loss was known: three segments above it had arrived, or its bytes were sent again."""
    if not each.first:
        return each.ns
    above = each.end + _DUPLICATES * account.full
    at = bisect_left(account.highest, above, key=lambda row: row[1])
    return min(account.highest[at][0], each.ns) if at < len(account.highest) else each.ns


def _sampled(rtt_at: Floats, rtt_s: Floats, end_s: float) -> tuple[Floats, Floats]:
    """Times of samples, and the latest round trip since the one before, if there was any."""
    for step in _STEPS_S:
        times = np.arange(int(end_s / step) + 2, dtype=np.float64) * step
        newest = np.searchsorted(rtt_at, times, side="right") - 1
        fresh = np.diff(newest, prepend=-1) > 0
        if fresh.mean() >= 0.5:
            break
    latest: Floats = np.where(fresh, rtt_s[np.maximum(newest, 0)], np.nan)
    return times, latest
