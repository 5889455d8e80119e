"""Thrift's compact protocol, as far as the metadata of Parquet files needs it.

Source: "Thrift Compact protocol encoding" of the Apache Thrift specification. A struct is a dictionary from
the numbers of its fields to values with their types.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# Types of the compact protocol.
TRUE, FALSE, I8, I16, I32, I64, DOUBLE, BINARY, LIST, STRUCT = 1, 2, 3, 4, 5, 6, 7, 8, 9, 12
_SET = 10

Struct = dict[int, "Value"]


@dataclass(frozen=True)
class Value:
    """A value with its type; of a list, the type of its elements is `element`."""

    kind: int
    value: Any
    element: int = 0


class Reader:
    """Reads values from bytes, from a position on.

    Every method raises `EOFError` where the bytes end, and `ValueError` where they are no such value.
    """

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at

    def struct(self) -> Struct:
        """The fields of a struct."""
        fields: Struct = {}
        number = 0
        while (head := self._byte()) != 0:
            delta, kind = head >> 4, head & 15
            number = number + delta if delta else self._zigzag()
            fields[number] = self._value(kind)
        return fields

    def _value(self, kind: int) -> Value:
        read: dict[int, Callable[[], Any]] = {
            TRUE: lambda: True,
            FALSE: lambda: False,
            I8: self._byte,
            **dict.fromkeys((I16, I32, I64), self._zigzag),
            DOUBLE: lambda: self._bytes(8),
            BINARY: lambda: self._bytes(self._varint()),
            STRUCT: self.struct,
        }
        if kind in (LIST, _SET):
            return self._list(kind)
        if kind not in read:
            raise ValueError(f"type {kind} of the compact protocol")
        return Value(kind, read[kind]())

    def _list(self, kind: int) -> Value:
        head = self._byte()
        size, element = head >> 4, head & 15
        if size == 15:
            size = self._varint()
        if element in (TRUE, FALSE):
            return Value(kind, [self._byte() == TRUE for _ in range(size)], element)
        return Value(kind, [self._value(element).value for _ in range(size)], element)

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _bytes(self, size: int) -> bytes:
        found = self.data[self.at : self.at + size]
        if len(found) < size:
            raise EOFError
        self.at += size
        return found

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise ValueError("a number of more than 64 bits")

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)


def encoded(fields: Struct) -> bytes:
    """A struct as bytes."""
    made = bytearray()
    last = 0
    for number, value in sorted(fields.items()):
        delta = number - last
        if 0 < delta < 16:
            made.append(delta << 4 | value.kind)
        else:
            made.append(value.kind)
            made += _varint(_zigzag(number))
        last = number
        made += _content(value)
    made.append(0)
    return bytes(made)


def _content(value: Value) -> bytes:
    held = value.value
    if value.kind in (LIST, _SET):
        return _elements(held, value.element)
    written: dict[int, Callable[[], bytes]] = {
        **dict.fromkeys((TRUE, FALSE), bytes),
        I8: lambda: bytes([held]),
        **dict.fromkeys((I16, I32, I64), lambda: _varint(_zigzag(held))),
        DOUBLE: lambda: bytes(held),
        BINARY: lambda: _varint(len(held)) + bytes(held),
        STRUCT: lambda: encoded(held),
    }
    return written[value.kind]()


def _elements(held: list[Any], element: int) -> bytes:
    size = len(held)
    head = bytes([size << 4 | element]) if size < 15 else bytes([0xF0 | element]) + _varint(size)
    if element in (TRUE, FALSE):
        return head + bytes(TRUE if each else FALSE for each in held)
    return head + b"".join(_content(Value(element, each)) for each in held)


def _varint(value: int) -> bytes:
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    made.append(value)
    return bytes(made)


def _zigzag(value: int) -> int:
    return value << 1 if value >= 0 else (-value << 1) - 1
