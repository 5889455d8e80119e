"""Analysis of a log of packets: segments, retransmissions, bytes in order, and data sent by timers."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .link import MILLISECOND

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .link import Packet

TCP = 6
SYN, ACK = 0x02, 0x10
SACK = 5
WRAP = 1 << 32


@dataclass(frozen=True, slots=True)
class Segment:
    """A TCP segment; `blocks` are those of its SACK option."""

    at: int
    delivered: int | None
    cause: str
    seq: int
    ack: int
    payload: int
    flags: int
    blocks: tuple[tuple[int, int], ...]


def parse(packet: Packet) -> Segment | None:
    """The segment in an IP packet, if it is one of TCP over IPv4."""
    data = packet.data
    if len(data) < 40 or data[0] >> 4 != 4 or data[9] != TCP:
        return None
    header = (data[0] & 15) * 4
    length = struct.unpack_from("!H", data, 2)[0]
    seq, ack, offset, flags = struct.unpack_from("!IIBB", data, header + 4)
    options = header + (offset >> 4) * 4
    blocks = tuple(_blocks(data[header + 20 : options]))
    return Segment(packet.at, packet.delivered, packet.cause, seq, ack, length - options, flags, blocks)


def _blocks(options: bytes) -> Iterable[tuple[int, int]]:
    at = 0
    while at < len(options) and options[at] != 0:
        if options[at] == 1:
            at += 1
            continue
        length = options[at + 1]
        if options[at] == SACK:
            for start in range(at + 2, at + length, 8):
                yield struct.unpack_from("!II", options, start)
        at += length


def segments(packets: Iterable[Packet]) -> list[Segment]:
    """The segments of a log in the order they were sent, numbered from the first byte (below 4 GB)."""
    parsed = [segment for packet in packets if (segment := parse(packet)) is not None]
    first = next((segment.seq + 1 for segment in parsed if segment.flags & SYN), 0)
    return [
        Segment(s.at, s.delivered, s.cause, (s.seq - first) % WRAP, s.ack, s.payload, s.flags, s.blocks)
        for s in parsed
    ]


def retransmissions(sent: Sequence[Segment]) -> list[Segment]:
    """The segments that carry data sent before."""
    highest = 0
    again = []
    for segment in sent:
        if segment.payload:
            if segment.seq < highest:
                again.append(segment)
            highest = max(highest, segment.seq + segment.payload)
    return again


def delivered_in_order(sent: Sequence[Segment]) -> int:
    """Bytes that the receiver could hand on by the end of the log."""
    spans = sorted(
        (segment.seq, segment.seq + segment.payload)
        for segment in sent
        if segment.payload and segment.delivered is not None
    )
    edge = 0
    for start, end in spans:
        if start > edge:
            break
        edge = max(edge, end)
    return edge


def acknowledged(acks: Sequence[Segment]) -> list[tuple[int, int]]:
    """When the sender learned of how many bytes in all, in order of time."""
    first = next((ack.ack for ack in acks if ack.flags & SYN), 1)
    told = sorted((ack.delivered, (ack.ack - first) % WRAP) for ack in acks if ack.delivered is not None)
    edge = 0
    grown = []
    for at, total in told:
        if total > edge:
            edge = total
            grown.append((at, total))
    return grown


def by_timers(sent_at: Sequence[int], acked_at: Sequence[int], span: tuple[int, int]) -> list[int]:
    """When data was sent within `span`, over 5 ms after the last acknowledgement: by a timer. Nanoseconds."""
    last = max((at for at in acked_at if at < span[1]), default=span[0])
    return [at for at in sent_at if max(last + 5 * MILLISECOND, span[0]) < at < span[1]]


def since(totals: Sequence[tuple[int, int]], start: int, amount: int) -> float | None:
    """Seconds from `start` until `amount` bytes more have been acknowledged than then."""
    before = max((total for at, total in totals if at <= start), default=0)
    reached = next((at for at, total in totals if total >= before + amount), None)
    return None if reached is None else (reached - start) / 1e9
