"""The frames of a capture: pcap in either byte order, with micro- or nanoseconds, and pcapng; perhaps gzip.

dpkt 1.9.8 (2022) reads the first interface of a pcapng alone, drops lengths on the wire, and takes the end of
a truncated file for that of the capture.
"""

from __future__ import annotations

import gzip
import struct
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from leobench.errors import InputError
from leobench.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_GZIP = b"\x1f\x8b"
# Magic numbers as they are in the file, with the byte order and the nanoseconds of a unit of the clock.
_PCAP = {
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
_PCAPNG = b"\x0a\x0d\x0d\x0a"
_ORDERS = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}

# Types of blocks, and options of an interface (draft-ietf-opsawg-pcapng).
_SECTION, _INTERFACE, _SIMPLE, _PACKET = 0x0A0D0D0A, 1, 3, 6
_RESOLUTION, _OFFSET = 9, 14

# Bytes of the longest frame or block.
_LONGEST = 1 << 24


class Frame(NamedTuple):
    """A captured frame.

    Attributes:
        ns: UNIX nanoseconds.
        link: The link type, as tcpdump.org lists them.
        data: The captured bytes.
        length: Bytes on the wire.
    """

    ns: int
    link: int
    data: bytes
    length: int


def is_capture(file: Path) -> bool:
    """Whether a file begins as a capture; not if it cannot be read."""
    try:
        with _opened(file) as stream:
            magic = stream.read(4)
    except (OSError, EOFError, zlib.error):
        return False
    return magic in _PCAP or magic == _PCAPNG


def frames(file: Path) -> Iterator[Frame]:
    """The frames of a capture.

    Raises:
        InputError: If it is none, is damaged, or ends within a frame.
    """
    try:
        with _opened(file) as stream:
            magic = stream.read(4)
            if magic in _PCAP:
                yield from _pcap(_Reader(file, stream, 4), *_PCAP[magic])
            elif magic == _PCAPNG:
                yield from _pcapng(_Reader(file, stream, 4))
            else:
                raise InputError(f"{file}: is no capture; allowed: pcap or pcapng")
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(f"{file}: is damaged; allowed: complete gzip files") from None
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}; allowed: a capture") from error


@contextmanager
def _opened(file: Path) -> Iterator[BinaryIO]:
    with open_regular(file) as plain:
        if not plain.peek(len(_GZIP)).startswith(_GZIP):
            yield plain
            return
        with gzip.open(plain) as decompressed:
            yield cast("BinaryIO", decompressed)


class _Reader:
    """A stream that knows where it is, and refuses to end within a frame."""

    def __init__(self, file: Path, stream: BinaryIO, at: int) -> None:
        self._file, self._stream, self._at = file, stream, at

    def take(self, count: int, *, may_end: bool = False) -> bytes:
        """The next bytes; none at the end, where it may be.

        Raises:
            InputError: If there are fewer, or there can be no such number.
        """
        if not 0 <= count <= _LONGEST:
            raise self.wrong(f"has a block of {count:,} bytes, which is damaged")
        found = self._stream.read(count)
        if len(found) < count and not (may_end and not found):
            raise self.wrong("ends within a packet: it is truncated")
        self._at += len(found)
        return found

    def wrong(self, what: str) -> InputError:
        """The error that something is wrong here."""
        return InputError(f"{self._file}: at byte {self._at:,}: {what}; allowed: a complete pcap or pcapng")


def _pcap(reader: _Reader, order: str, unit_ns: int) -> Iterator[Frame]:
    """The frames after the magic number of a pcap (draft-ietf-opsawg-pcap)."""
    link = struct.unpack(order + "16xI", reader.take(20))[0] & 0xFFFF
    header = struct.Struct(order + "IIII")
    while found := reader.take(header.size, may_end=True):
        seconds, fraction, captured, length = header.unpack(found)
        yield Frame(seconds * 10**9 + fraction * unit_ns, link, reader.take(captured), length)


def _pcapng(reader: _Reader) -> Iterator[Frame]:
    """The frames of a pcapng after the type of its first block."""
    order, interfaces = "<", list[tuple[int, int, int]]()
    kind = _SECTION
    while True:
        size = reader.take(4)
        if kind == _SECTION:
            magic = reader.take(4)
            if magic not in _ORDERS:
                raise reader.wrong("has no byte-order magic of pcapng")
            order, interfaces = _ORDERS[magic], []
        before = 12 if kind == _SECTION else 8
        body = reader.take(struct.unpack(order + "I", size)[0] - before)[:-4]
        if kind == _INTERFACE:
            interfaces.append(_interface(reader, body, order))
        elif kind == _SIMPLE:
            raise reader.wrong("has a packet without a time")
        elif kind == _PACKET:
            yield _packet(reader, body, order, interfaces)
        following = reader.take(4, may_end=True)
        if not following:
            return
        kind = struct.unpack(order + "I", following)[0]


def _packet(reader: _Reader, body: bytes, order: str, interfaces: list[tuple[int, int, int]]) -> Frame:
    if len(body) < 20:
        raise reader.wrong("has a short packet block")
    interface, high, low, captured, length = struct.unpack_from(order + "IIIII", body)
    if interface >= len(interfaces) or captured > len(body) - 20:
        raise reader.wrong("has a damaged packet block")
    link, per_second, offset = interfaces[interface]
    ns = (high << 32 | low) * 10**9 // per_second + offset * 10**9
    return Frame(ns, link, body[20 : 20 + captured], length)


def _interface(reader: _Reader, body: bytes, order: str) -> tuple[int, int, int]:
    """The link type of an interface, units of its clock per second, and seconds to add."""
    if len(body) < 8:
        raise reader.wrong("has a short interface block")
    link, per_second, offset, at = struct.unpack_from(order + "H", body)[0], 10**6, 0, 8
    while at + 4 <= len(body):
        code, size = struct.unpack_from(order + "HH", body, at)
        value = body[at + 4 : at + 4 + size]
        if code == _RESOLUTION and size == 1:
            per_second = 1 << (value[0] & 0x7F) if value[0] & 0x80 else 10 ** value[0]
        elif code == _OFFSET and len(value) == 8:
            offset = struct.unpack(order + "q", value)[0]
        at += 4 + (size + 3) // 4 * 4
    return link, per_second, offset
