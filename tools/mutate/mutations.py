"""Mutations of TOML: of the tree that a text says, and of the text itself."""

from __future__ import annotations

import json
import re
import tomllib
from copy import deepcopy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

# What may stand in place of a value, as TOML.
HOSTILE = (
    "0", "-1", "1", "1e400", "-1e400", "1e308", "nan", "-nan", "inf", "-inf", "9223372036854775807",
    "-9223372036854775808", "9223372036854775808", "1e-400", "0.1", "-0.0", "4294967296", "true", "false",
    '""', '" "', '"0"', '"0 s"', '"-1 s"', '"1 ns"', '"50 h"', '"1200 h"', '"99999999999 h"', '"nan s"',
    '"inf s"', '"1e30 km"', '"4294967296 km"', '"0 km"', '"-3 km"', '"0 bps"', '"1 bps"', '"100000 Gbps"',
    '"1e9 Gbps"', '"0 B"', '"1 B"', '"18446744073709551616 B"', '"1 GB"', '"0 packets"', '"1 packets"',
    '"99999999999999999 packets"', '"0 BDP"', '"1e9 BDP"', '"unlimited"', '"0 dB"', '"300 dB"', '"-300 dB"',
    '"0 deg"', '"360 deg"', '"0 GHz"', '"1e300 Hz"', '"a\\u0000b"', '"\\u001b[31mred\\u0007"', '"..\\n"',
    '".."', '"/"', '"/dev/zero"', '"../../etc/passwd"', '"\\u202Eright"', '"\\U0001F680"', '"\\u0301"',
    '"é"', '"python:main"', '"os:getcwd"', '"kind"', "[]", "[[]]", "[1, 2, 3]", '["a", 1, {}]', "{}",
    '{ kind = "steady" }', "{ a = { b = { c = 1 } } }", "2026-01-01", "07:32:00", '"' + "x" * 5_000 + '"',
    "[" + "0, " * 2_000 + "0]", "[" * 60 + "]" * 60,
)  # fmt: skip

_KEYS = (
    "", " ", "a b", "..", "a.b", "a\nb", "\x00", "\x1b[2J", "\u202e", "é", "name", "kind", "x" * 300, "0",
    "-", "[0]",
)  # fmt: skip
_UNITS = (
    "ns", "us", "µs", "ms", "s", "min", "h", "d", "B", "kB", "MB", "GB", "KiB", "bps", "kbps", "Mbps",
    "Gbps", "Tbps", "km", "m", "deg", "dB", "dBm", "packets", "BDP", "K", "GHz", "%", "", "MB/s", "parsec",
)  # fmt: skip
_TOKENS = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b'"', b"'''", b'"""', b"[", b"]", b"[[", b"{", b"}", b"=", b".",
    b",", b"#", b"\r", b"\n", b"\\", b"a." * 200 + b"a=1\n", b"[" * 200, b"1e400", b"nan",
    b"\xf0\x9f\x9a\x80", b"\xe2\x80\xae",
)  # fmt: skip


class Raw(str):
    """A value as it stands in the text."""

    __slots__ = ()


class Table(list[tuple[str, Any]]):
    """The entries of a table in order; a key may come twice."""


def tree(text: str) -> Table:
    """Parses a TOML text into nested tables and raw values."""
    parsed = _of(tomllib.loads(text))
    assert isinstance(parsed, Table)  # noqa: S101
    return parsed


def _of(value: Any) -> Any:
    if isinstance(value, dict):
        return Table((key, _of(held)) for key, held in value.items())
    if isinstance(value, list):
        return [_of(held) for held in value]
    return Raw(value if isinstance(value, Raw) else _leaf(value))


def _leaf(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool) else repr(value)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


def _inline(value: Any) -> str:
    if isinstance(value, Table):
        return "{ " + ", ".join(f"{_key(key)} = {_inline(held)}" for key, held in value) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return str(value)


def text(root: Table) -> str:
    """The text that says a tree, a line for each key at the top."""
    return "".join(f"{_key(key)} = {_inline(value)}\n" for key, value in root)


def _holders(node: Any) -> list[Any]:
    """Every table and list in a tree that is not empty, itself included."""
    if not isinstance(node, list) or not node:
        return []
    held = [value for _, value in node] if isinstance(node, Table) else node
    return [node, *(each for value in held for each in _holders(value))]


def _value(holder: Any, index: int) -> Any:
    return holder[index][1] if isinstance(holder, Table) else holder[index]


def _put(holder: Any, index: int, value: Any) -> None:
    holder[index] = (holder[index][0], value) if isinstance(holder, Table) else value


def _replace(holder: Any, index: int, random: Random, root: Table) -> None:
    del root
    _put(holder, index, Raw(random.choice(HOSTILE)))


def _number(holder: Any, index: int, random: Random, root: Table) -> None:
    """Another number before the same unit."""
    value = _value(holder, index)
    number = random.choice(
        ("0", "-1", "1", "1e400", "99999999999999999999", "0.0000000001", "1000000", "", "nan")
    )
    if isinstance(value, Raw) and re.search(r"\d", value):
        _put(holder, index, Raw(re.sub(r"-?[\d.]+(e\d+)?", number, value, count=1)))
    else:
        _replace(holder, index, random, root)


def _unit(holder: Any, index: int, random: Random, root: Table) -> None:
    value = _value(holder, index)
    if isinstance(value, Raw) and (found := re.fullmatch(r'"([\d.]+) ?[A-Za-zµ/%]+"', value)):
        _put(holder, index, Raw(f'"{found[1]} {random.choice(_UNITS)}"'))
    else:
        _number(holder, index, random, root)


def _drop(holder: Any, index: int, random: Random, root: Table) -> None:
    del random, root
    del holder[index]


def _rename(holder: Any, index: int, random: Random, root: Table) -> None:
    if not isinstance(holder, Table):
        _replace(holder, index, random, root)
        return
    key, value = holder[index]
    swapped = key[1:2] + key[:1] + key[2:]
    holder[index] = (random.choice((*_KEYS, swapped, key.upper(), key + "s")), value)


def _repeat(holder: Any, index: int, random: Random, root: Table) -> None:
    del root
    # Copies: a table that is moved into itself would have no end.
    holder.extend(deepcopy(holder[index]) for _ in range(random.choice((1, 1, 2, 50, 3_000))))


def _move(holder: Any, index: int, random: Random, root: Table) -> None:
    entry = holder.pop(index)
    target = random.choice(_holders(root) or [root])
    is_entry = isinstance(entry, tuple)
    if isinstance(target, Table):
        target.append(entry if is_entry else ("moved", entry))
    else:
        target.append(entry[1] if is_entry else entry)


def _nest(holder: Any, index: int, random: Random, root: Table) -> None:
    del root
    value = _value(holder, index)
    for _ in range(random.choice((1, 1, 2, 30, 70))):
        value = Table([("a", value)]) if random.random() < 0.5 else [value]
    _put(holder, index, value)


def _swap(holder: Any, index: int, random: Random, root: Table) -> None:
    """The value from somewhere else."""
    other = random.choice(_holders(root) or [root])
    if other:
        value = _value(other, random.randrange(len(other)))
        _put(holder, index, Raw(_inline(value)))


_OF_TREES: tuple[Callable[[Any, int, Random, Table], None], ...] = (
    _replace, _replace, _replace, _number, _number, _unit, _drop, _rename, _repeat, _move, _nest, _swap,
)  # fmt: skip


def mutated_tree(original: str, random: Random) -> bytes:
    """A text that says something else: one to three values or keys are changed."""
    root = tree(original)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        holders = _holders(root)
        if not holders:
            break
        holder = random.choice(holders)
        random.choice(_OF_TREES)(holder, random.randrange(len(holder)), random, root)
    return text(root).encode("utf-8", "surrogatepass")


def mutated_bytes(original: str, random: Random) -> bytes:
    """A text with other bytes here and there, whether it is TOML or not."""
    data = bytearray(original.encode())
    for _ in range(random.choice((1, 1, 2, 5))):
        at = random.randrange(len(data) + 1)
        end = min(len(data), at + random.choice((1, 3, 20, 200)))
        match random.randrange(6):
            case 0:
                data[at:end] = b""
            case 1:
                data[at:at] = data[at:end]
            case 2:
                data[at:at] = random.choice(_TOKENS)
            case 3:
                data[at:] = b""
            case 4:
                data[at:end] = random.randbytes(end - at)
            case _:
                lines = bytes(data).split(b"\n")
                random.shuffle(lines)
                data[:] = b"\n".join(lines)
    return bytes(data)


def mutated(original: str, random: Random) -> bytes:
    """One of the two: of five, four are trees."""
    return (mutated_bytes if random.random() < 0.2 else mutated_tree)(original, random)
