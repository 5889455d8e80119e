"""What leobench prints: names and messages hold what others wrote, which must not control the terminal.

Within `escaping`, everything printed on standard output and standard error passes through `shown`.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO


def shown(text: str, encoding: str | None = "utf-8") -> str:
    """Text in which escapes stand for characters that cannot be printed; lines and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    escaped = "".join(
        char if char.isprintable() or char in "\n\t" else char.encode("unicode_escape").decode()
        for char in text
    )
    return escaped.encode(encoding or "utf-8", "backslashreplace").decode(encoding or "utf-8")


def on_one_line(text: str) -> str:
    """Text without its ends of lines, which are escapes as well."""
    return text.replace("\r", "\\r").replace("\n", "\\n")


def print_json(value: object) -> None:
    """Prints a value as JSON, whose own escapes stand for what cannot be printed."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    if shown(text, sys.stdout.encoding) != text:
        text = json.dumps(value, indent=2)
    # ASCII's DEL is the only control character that JSON does not escape by itself.
    print(text.replace("\x7f", "\\u007f"))


def draw(text: str, stream: TextIO) -> None:
    """Writes what controls a terminal, unchanged."""
    genuine: TextIO = stream._stream if isinstance(stream, _Escaping) else stream
    genuine.write(text)
    genuine.flush()


@contextmanager
def escaping() -> Iterator[None]:
    """Has all that is printed pass through `shown`."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (_Escaping(stream) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def open_closed() -> None:
    """Opens standard streams that were closed: the next files to be opened would be taken for them.

    Writing to what stands in for standard output fails, as it does in other programs; what stands in for
    standard error takes anything, as there is nobody to tell.
    """
    for number, flags in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError as error:
            if error.errno != errno.EBADF:
                raise
            handle = os.open(os.devnull, flags)
            if handle != number:
                os.dup2(handle, number)
                os.close(handle)
    if sys.stdout is None:
        sys.stdout = _stream(1)
    if sys.stderr is None:
        sys.stderr = _stream(2)


def _stream(number: int) -> TextIO:
    return os.fdopen(number, "w", encoding="utf-8", closefd=False)


class _Escaping:
    """A stream that is written to by way of `shown`."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(shown(text, self._stream.encoding))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
