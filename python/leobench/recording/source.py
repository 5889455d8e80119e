"""The text of a measurement's file, which may be compressed."""

from __future__ import annotations

import csv
import gzip
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leobench.errors import InputError
from leobench.files import open_regular
from leobench.recording.readings import Place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader
    from pathlib import Path

# Bytes of text: two days of pings every 100 ms have about 150 MB.
_LARGEST = 250_000_000
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Source:
    """A text, and the file that it is from."""

    file: Path
    text: str

    @classmethod
    def read(cls, file: Path) -> Source:
        """Reads a file, and decompresses it if it is of gzip.

        Raises:
            InputError: If it cannot be read, is too large, is empty, or is not text.
        """
        try:
            with open_regular(file) as opened:
                content = _content(opened)
            text = content.decode("utf-8-sig")
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise InputError(f"{file}: is damaged; allowed: complete gzip files") from None
        except UnicodeDecodeError as error:
            raise InputError(f"{file}: is not text, at byte {error.start}; allowed: UTF-8") from None
        except OSError as error:
            raise InputError(f"{file}: cannot be read: {error.strerror}; allowed: a measurement") from error
        if len(content) > _LARGEST:
            raise InputError(f"{file}: is too large; allowed: at most {_LARGEST // 1_000_000} MB of text")
        if not text.strip():
            raise InputError(f"{file}: is empty; allowed: a measurement")
        return cls(file, text)

    def lines(self) -> Iterator[tuple[Place, str]]:
        """The lines with their places."""
        for line, text in enumerate(self.text.split("\n"), 1):
            yield Place(self.file, line), text.removesuffix("\r")

    def is_json(self) -> bool:
        """Whether this may be a JSON object."""
        return self.text.lstrip().startswith("{")

    def columns(self) -> list[str]:
        """The names of the columns, if this is a CSV; cells that no CSV has, if not."""
        first = self.text.partition("\n")[0]
        try:
            return [cell.strip() for cell in next(csv.reader([first]), [])]
        except csv.Error:
            return []

    def rows(self) -> Iterator[tuple[Place, dict[str, str]]]:
        """The rows of a CSV by its columns, with their places; blank lines are none.

        Raises:
            InputError: If a row has more or fewer cells than columns, or quotes without end.
        """
        columns = self.columns()
        reader = csv.reader(self.text.splitlines(keepends=True), strict=True)
        try:
            for cells in reader:
                place = Place(self.file, reader.line_num)
                if reader.line_num == 1 or not cells:
                    continue
                if len(cells) != len(columns):
                    raise place.wrong(f"has {len(cells)} cells; allowed: {len(columns)}, as the first line")
                yield place, dict(zip(columns, map(str.strip, cells), strict=True))
        except csv.Error as error:
            raise Place(self.file, reader.line_num).wrong(f"is not CSV: {error}") from None


def _content(opened: BufferedReader) -> bytes:
    """The content of a file, decompressed, up to one byte more than is allowed."""
    if not opened.peek(len(_GZIP)).startswith(_GZIP):
        return opened.read(_LARGEST + 1)
    with gzip.open(opened) as decompressed:
        return decompressed.read(_LARGEST + 1)
