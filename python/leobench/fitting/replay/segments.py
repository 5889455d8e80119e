"""The TCP segments of a capture, by connection: over IPv4 or IPv6, on the link types that hosts capture."""

from __future__ import annotations

import ipaddress
import struct
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from leobench.errors import InputError
from leobench.fitting.replay import pcap

if TYPE_CHECKING:
    from pathlib import Path

    End = tuple[bytes, int]

FIN, SYN, ACK = 0x01, 0x02, 0x10

_TCP, _UDP = 6, 17
# EtherTypes: IPv4 and IPv6, and tags of VLANs before them.
_IP_TYPES, _TAGS = {0x0800, 0x86DD}, {0x8100, 0x88A8}
# Link types: Ethernet, both versions of Linux cooked, raw IP, and the loopback of BSD.
_ETHERNET, _COOKED, _COOKED_2 = 1, 113, 276
_RAW, _LOOPBACK = {12, 14, 101, 228, 229}, {0, 108}
# IPv6 extension headers that have a length: hop by hop, routing, destination.
_EXTENSIONS = {0, 43, 60}
_MSS, _SACK = 2, 5
# Bytes of an Ethernet, an IPv6 and a TCP header.
_HEADERS = 74


class Segment(NamedTuple):
    """A TCP segment.

    Attributes:
        ns: UNIX nanoseconds.
        seq: Sequence number.
        ack: Acknowledgement number.
        flags: `FIN`, `SYN`, `ACK` and others.
        size: Bytes of payload on the wire.
        headers: Bytes of its IP and TCP headers.
    """

    ns: int
    seq: int
    ack: int
    flags: int
    size: int
    headers: int


@dataclass
class Conversation:
    """A connection. Its ends are 0, which the first captured packet came from, and 1.

    Attributes:
        ends: Address and port of each.
        payload: Bytes of payload that each sent.
        mss: The maximum segment size that each announced; none where its SYN is missing.
        sack: Blocks of selective acknowledgements, by the number of the segment.
    """

    ends: tuple[End, End]
    payload: list[int] = field(default_factory=lambda: [0, 0])
    mss: list[int | None] = field(default_factory=lambda: [None, None])
    sack: dict[int, tuple[int, ...]] = field(default_factory=dict)
    _columns: array[int] = field(default_factory=lambda: array("q"))

    def __str__(self) -> str:
        return f"{_shown(self.ends[0])} - {_shown(self.ends[1])}"

    def __len__(self) -> int:
        return len(self._columns) // 7

    def add(self, end: int, segment: Segment, options: bytes) -> None:
        """Takes a segment that an end sent."""
        number = len(self)
        for kind, value in _options(options):
            if kind == _MSS and segment.flags & SYN and len(value) == 2:
                self.mss[end] = struct.unpack("!H", value)[0]
            elif kind == _SACK and len(value) % 8 == 0:
                self.sack[number] = struct.unpack(f"!{len(value) // 4}I", value)
        self.payload[end] += segment.size
        self._columns.extend((end, *segment))

    def __getitem__(self, number: int) -> tuple[int, Segment]:
        """The end that sent a segment, and the segment."""
        if not 0 <= number < len(self):
            raise IndexError(number)
        end, *columns = self._columns[7 * number : 7 * number + 7]
        return end, Segment(*columns)


def read(file: Path) -> list[Conversation]:
    """The connections of a capture, in the order of their first packets.

    Raises:
        InputError: If it is no capture, has no TCP, or not the whole headers of it.
    """
    found: list[Conversation] = []
    current: dict[frozenset[End], Conversation] = {}
    datagrams = 0
    for frame in pcap.frames(file):
        start = _ip_at(file, frame)
        packet = None if start is None else _Packet.of(frame.data[start:], frame.length - start)
        if packet is None:
            if len(frame.data) < min(frame.length, _HEADERS):
                raise _cut(file, frame)
            continue
        datagrams += packet.protocol == _UDP
        if packet.protocol == _TCP:
            _take(file, frame, packet, current, found)
    if not found:
        udp = f", and {datagrams} of UDP" if datagrams else ""
        raise InputError(
            f"{file}: has no packet of TCP{udp}; "
            "allowed: the capture of a TCP transfer; for QUIC, the sender's qlog"
        )
    return found


def _take(
    file: Path,
    frame: pcap.Frame,
    packet: _Packet,
    current: dict[frozenset[End], Conversation],
    found: list[Conversation],
) -> None:
    data = packet.payload
    header = data[12] >> 4 << 2 if len(data) > 12 else 20
    if len(data) < header:
        raise _cut(file, frame)
    source_port, to_port, seq, ack, _, flags = struct.unpack_from("!HHIIBB", data)
    source, to = (packet.source, source_port), (packet.to, to_port)
    key = frozenset((source, to))
    conversation = current.get(key)
    fresh = flags & (SYN | ACK) == SYN and conversation is not None and any(conversation.payload)
    if conversation is None or fresh:
        conversation = current[key] = Conversation((source, to))
        found.append(conversation)
    end = int(source != conversation.ends[0])
    size = max(packet.length - header, 0)
    segment = Segment(frame.ns, seq, ack, flags, size, packet.headers + header)
    conversation.add(end, segment, data[20:header])


class _Packet(NamedTuple):
    """An IP packet: its payload as captured, the payload's length on the wire, and that of headers."""

    protocol: int
    source: bytes
    to: bytes
    payload: bytes
    length: int
    headers: int

    @classmethod
    def of(cls, data: bytes, wire: int) -> _Packet | None:
        """The packet in these bytes, of which so many were on the wire; none if it is no whole one of IP."""
        version = data[0] >> 4 if data else 0
        if version == 4 and len(data) >= 20:
            header = (data[0] & 0x0F) << 2
            total, fragment = struct.unpack_from("!H2xH", data, 2)
            if fragment & 0x1FFF:
                return None
            # Segments that the device is to cut have a total length of 0 if it has no room for theirs.
            length = (total or wire) - header
            return cls(data[9], data[12:16], data[16:20], data[header:], length, header)
        if version != 6 or len(data) < 40:
            return None
        length, kind, at = struct.unpack_from("!H", data, 4)[0] or wire - 40, data[6], 40
        while kind in _EXTENSIONS and at + 2 <= len(data):
            kind, at = data[at], at + 8 * (data[at + 1] + 1)
        return cls(kind, data[8:24], data[24:40], data[at:], length + 40 - at, at)


def _ip_at(file: Path, frame: pcap.Frame) -> int | None:
    """The place in a frame at which its IP packet begins; none if it has none."""
    data, link = frame.data, frame.link
    if link in _RAW:
        return 0
    if link in _LOOPBACK:
        return 4
    if link not in (_ETHERNET, _COOKED, _COOKED_2):
        raise InputError(
            f"{file}: has the link type {link}; "
            "allowed: Ethernet, raw IP, Linux cooked (tcpdump -i any) or loopback"
        )
    kind_at, at = {_ETHERNET: (12, 14), _COOKED: (14, 16), _COOKED_2: (0, 20)}[link]
    while len(data) >= at:
        kind = struct.unpack_from("!H", data, kind_at)[0]
        if kind in _IP_TYPES:
            return at
        if kind not in _TAGS:
            return None
        kind_at, at = at + 2, at + 4
    return None


def _cut(file: Path, frame: pcap.Frame) -> InputError:
    return InputError(
        f"{file}: packets are cut to {len(frame.data)} bytes, within their headers; "
        "allowed: from 128 (tcpdump --snapshot-length=128)"
    )


def _options(data: bytes) -> list[tuple[int, bytes]]:
    """The options of a TCP header with their values; those before a damaged one."""
    found, at = [], 0
    while at < len(data) and data[at]:
        if data[at] == 1:
            at += 1
            continue
        size = data[at + 1] if at + 1 < len(data) else 0
        if size < 2:
            break
        found.append((data[at], data[at + 2 : at + size]))
        at += size
    return found


def _shown(end: End) -> str:
    address = ipaddress.ip_address(end[0])
    return f"[{address}]:{end[1]}" if address.version == 6 else f"{address}:{end[1]}"
