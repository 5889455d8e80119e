"""Captures written by hand: packets of known times and numbers, in every format that is read."""

from __future__ import annotations

import gzip
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    # Time in ns, and a frame.
    Captured = tuple[int, bytes]

SYN, ACK, PUSH = 0x02, 0x10, 0x18
SENDER, RECEIVER = b"\x0a\x00\x00\x01", b"\x0a\x00\x00\x02"
BEGAN_NS = 1_700_000_000 * 10**9
MS = 1_000_000
# Sequence numbers of the transfers wrap after a few segments.
FIRST = (1 << 32) - 3000


def tcp(
    seq: int,
    ack: int,
    flags: int,
    *,
    size: int = 0,
    back: bool = False,
    options: bytes = b"",
    port: int = 40_000,
    six: bool = False,
) -> bytes:
    """An IP packet with a TCP segment, without checksums, its payload left out."""
    ports = (5201, port) if back else (port, 5201)
    options += b"\x00" * (-len(options) % 4)
    offset = (20 + len(options)) << 2
    header = struct.pack("!HHIIBBHHH", *ports, seq % 2**32, ack % 2**32, offset, flags, 500, 0, 0) + options
    return ip(header, 6, len(header) + size, back=back, six=six)


def ip(data: bytes, protocol: int, length: int, *, back: bool = False, six: bool = False) -> bytes:
    """An IP packet."""
    ends = (RECEIVER, SENDER) if back else (SENDER, RECEIVER)
    if six:
        both = b"".join(b"\xfd" + b"\x00" * 11 + end for end in ends)
        return struct.pack("!IHBB", 6 << 28, length, protocol, 64) + both + data
    return struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, 0, 0, 64, protocol, 0) + b"".join(ends) + data


def sack(*edges: int) -> bytes:
    """The option with blocks of selective acknowledgements."""
    return struct.pack(f"!BB{len(edges)}I", 5, 2 + 4 * len(edges), *(edge % 2**32 for edge in edges))


def handshake(rtt_ns: int = 40 * MS, *, at: int = 0, **shape: int | bool) -> list[Captured]:
    """A handshake as its client captures it; the MSS is 1000."""
    mss = b"\x02\x04" + struct.pack("!H", 1000)
    return [
        (at, tcp(FIRST - 1, 0, SYN, options=mss, **shape)),  # type: ignore[arg-type]
        (at + rtt_ns, tcp(99, FIRST, SYN | ACK, back=True, options=mss, **shape)),  # type: ignore[arg-type]
        (at + rtt_ns, tcp(FIRST, 100, ACK, **shape)),  # type: ignore[arg-type]
    ]


def transfer(count: int = 100, rtt_ns: int = 40 * MS, **shape: int | bool) -> list[Captured]:
    """A handshake and segments of 1000 bytes, one every 10 ms, each acknowledged after a round trip."""
    found = handshake(rtt_ns, **shape)
    for number in range(count):
        at, seq = rtt_ns + 10 * MS * number, FIRST + 1000 * number
        found.append((at, tcp(seq, 100, PUSH, size=1000, **shape)))  # type: ignore[arg-type]
        found.append((at + rtt_ns, tcp(100, seq + 1000, ACK, back=True, **shape)))  # type: ignore[arg-type]
    return ordered(found)


def ordered(packets: Iterable[Captured]) -> list[Captured]:
    """The packets by time."""
    return sorted(packets, key=lambda each: each[0])


# Link types, with the headers before IPv4 and IPv6.
LINKS = {
    name: (kind, tuple(before + ether + after for ether in (b"\x08\x00", b"\x86\xdd")))
    for name, kind, before, after in (
        ("ethernet", 1, bytes(12), b""),
        ("vlan", 1, bytes(12) + b"\x81\x00\x00\x05", b""),
        ("cooked", 113, bytes(14), b""),
        ("cooked 2", 276, b"", bytes(18)),
    )
} | {"raw": (101, (b"", b""))}


def pcap(
    packets: Iterable[Captured], link: str = "raw", order: str = "<", *, six: bool = False, nano: bool = False
) -> bytes:
    """A pcap of either byte order and resolution."""
    kind, heads = LINKS[link]
    magic = 0xA1B23C4D if nano else 0xA1B2C3D4
    found = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 128, kind)]
    for ns, packet in packets:
        data = heads[six] + packet
        seconds, rest = divmod(BEGAN_NS + ns, 10**9)
        found.append(
            struct.pack(order + "IIII", seconds, rest if nano else rest // 1000, len(data), _wire(data))
        )
        found.append(data)
    return b"".join(found)


def pcapng(packets: Iterable[Captured], order: str = "<") -> bytes:
    """A pcapng whose second interface has the packets, with a clock of 2**-30 s that is an hour slow."""

    def block(kind: int, body: bytes) -> bytes:
        body += b"\x00" * (-len(body) % 4)
        size = struct.pack(order + "I", len(body) + 12)
        return struct.pack(order + "I", kind) + size + body + size

    options = struct.pack(order + "HHB3xHHq", 9, 1, 0x80 | 30, 14, 8, 3600) + bytes(4)
    found = [
        block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1)),
        block(1, struct.pack(order + "HHI", 147, 0, 128)),
        block(1, struct.pack(order + "HHI", 101, 0, 128) + options),
        block(5, bytes(16)),
    ]
    for ns, packet in packets:
        ticks = (BEGAN_NS + ns - 3600 * 10**9 << 30) // 10**9
        head = struct.pack(order + "IIIII", 1, ticks >> 32, ticks & 0xFFFFFFFF, len(packet), _wire(packet))
        found.append(block(6, head + packet + b"\x00" * (-len(packet) % 4) + bytes(4)))
    return b"".join(found)


def write(file: Path, content: bytes) -> Path:
    """Writes a capture, compressed if the name says so."""
    file.write_bytes(gzip.compress(content) if file.suffix == ".gz" else content)
    return file


def cut(packets: Sequence[Captured], size: int) -> list[Captured]:
    """The packets cut to a snapshot length."""
    return [(ns, packet[:size]) for ns, packet in packets]


def _wire(data: bytes) -> int:
    return max(len(data), 1080)
