"""Tables that are being written: the row groups so far, completed to a Parquet file that every reader takes.

The core writes row groups one by one, and their places at the end of the file. Until then, the headers of
pages tell them: the pages of a column follow each other, the columns are those of the table, and every row
group but the last has as many rows as a batch of the recorder. Source: `parquet.thrift` of Parquet's format.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from leobench.report.content import Table
from leobench.report.thrift import BINARY, I32, I64, LIST, STRUCT, Reader, Struct, Value, encoded

if TYPE_CHECKING:
    from collections.abc import Mapping

# Rows of a row group: `BATCH_ROWS` of the recorder, which a test compares.
BATCH_ROWS = 8_192

_MAGIC = b"PAR1"
_SNAPPY = 1
_PLAIN, _RLE = 0, 3
_DATA, _DICTIONARY = 0, 2


class Empty:
    """A table without rows, as the core writes it: the columns that its files have.

    Raises:
        ValueError: If the bytes are no such file.
    """

    def __init__(self, data: bytes) -> None:
        (size,) = struct.unpack("<I", data[-8:-4])
        self.footer = Reader(data[-8 - size : -8]).struct()
        root, *columns = self.footer[2].value
        self.columns = [(column[1].value, column[4].value) for column in columns]
        if len(self.columns) != root[5].value:
            raise ValueError("columns within columns")


def completed(data: bytes, empty: Empty) -> Table:
    """The whole row groups at the beginning of a file that is being written, as a file of its own."""
    if data[-4:] == _MAGIC and len(data) > len(_MAGIC):
        (size,) = struct.unpack("<I", data[-8:-4])
        return Table(Reader(data[-8 - size : -8]).struct()[3].value, data)
    groups: list[Struct] = []
    end = len(_MAGIC)
    while (group := _row_group(data, end, empty)) is not None:
        described, end = group
        groups.append(described)
    rows = BATCH_ROWS * len(groups)
    footer = encoded({**empty.footer, 3: Value(I64, rows), 4: Value(LIST, groups, STRUCT)})
    return Table(
        rows, b"".join((_MAGIC, data[len(_MAGIC) : end], footer, struct.pack("<I", len(footer)), _MAGIC))
    )


def _row_group(data: bytes, start: int, empty: Empty) -> tuple[Struct, int] | None:
    """The row group at `start` and its end; `None` if it is not there as a whole."""
    chunks = []
    at = start
    for kind, name in empty.columns:
        try:
            chunk, at = _chunk(data, at, kind, name)
        except (EOFError, ValueError, KeyError):
            return None
        chunks.append(chunk)
    group = {1: Value(LIST, chunks, STRUCT), 2: Value(I64, at - start), 3: Value(I64, BATCH_ROWS)}
    return group, at


def _chunk(data: bytes, start: int, kind: int, name: bytes) -> tuple[Struct, int]:
    """The column chunk at `start`, and its end."""
    at, values, whole = start, 0, 0
    dictionary = first = None
    encodings = {_PLAIN, _RLE}
    while values < BATCH_ROWS:
        reader = Reader(data, at)
        header = reader.struct()
        end = reader.at + header[3].value
        if end > len(data):
            raise EOFError
        if header[1].value == _DICTIONARY:
            dictionary = at
        elif header[1].value == _DATA:
            page = header[5].value
            values += page[1].value
            encodings.add(page[2].value)
            first = at if first is None else first
        else:
            raise ValueError(f"page of type {header[1].value}")
        whole += header[2].value + reader.at - at
        at = end
    if values > BATCH_ROWS or first is None:
        raise ValueError("a row group of another size")
    about: Struct = {
        1: Value(I32, kind),
        2: Value(LIST, sorted(encodings), I32),
        3: Value(LIST, [name], BINARY),
        4: Value(I32, _SNAPPY),
        5: Value(I64, values),
        6: Value(I64, whole),
        7: Value(I64, at - start),
        9: Value(I64, first),
    }
    if dictionary is not None:
        about[11] = Value(I64, dictionary)
    return {2: Value(I64, start), 3: Value(STRUCT, about)}, at


def empties() -> Mapping[str, Empty]:
    """Every table without rows, from a run of a millisecond that records none."""
    import tempfile
    from pathlib import Path

    from leobench import engine
    from leobench.scenario import load

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "nothing.toml"
        file.write_text(_NOTHING, encoding="utf-8")
        made = engine.run(load(file), engine.Recording())
    return {name: Empty(data) for name, data in made.tables.items()}


_NOTHING = """
name = "nothing"
duration = "1 ms"
record = { messages = false, series = false }
[nodes.a]
[nodes.b]
[links.ab]
between = ["a", "b"]
rate = "1 Mbps"
[flows.none]
transport = "udp"
from = "a"
to = "b"
source = { kind = "cbr", rate = "1 kbps", size = "100 B" }
"""
