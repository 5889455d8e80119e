"""Safe output: names and messages come from users' files and must not control the terminal.

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
    """Text with escapes in place of unprintable characters; newlines and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    escaped = "".join(
        char if char.isprintable() or char in "\n\t" else char.encode("unicode_escape").decode()
        for char in text
    )
    return escaped.encode(encoding or "utf-8", "backslashreplace").decode(encoding or "utf-8")


def on_one_line(text: str) -> str:
    """Text with escapes in place of line breaks."""
    return text.replace("\r", "\\r").replace("\n", "\\n")


def warn(text: str) -> None:
    """Prints a warning on one line of the standard error."""
    print(f"leobench: warning: {on_one_line(text)}", file=sys.stderr)


@contextmanager
def warnings_on_lines() -> Iterator[None]:
    """Prints leobench's own warnings of Python as `warn` does, each time; others as Python does."""
    import warnings

    with warnings.catch_warnings():
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if category.__module__.startswith("leobench."):
                warn(str(message))
            else:
                usual(message, category, *place, **more)

        warnings.showwarning = show
        warnings.filterwarnings("always", module="leobench")
        yield


def print_json(value: object) -> None:
    """Prints a value as JSON, with JSON's escapes for unprintable characters."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    if shown(text, sys.stdout.encoding) != text:
        text = json.dumps(value, indent=2)
    # ASCII's DEL is the only control character that JSON does not escape by itself.
    print(text.replace("\x7f", "\\u007f"))


def draw(text: str, stream: TextIO) -> None:
    """Writes terminal control sequences unchanged."""
    genuine: TextIO = stream._stream if isinstance(stream, _Escaping) else stream
    genuine.write(text)
    genuine.flush()


@contextmanager
def escaping() -> Iterator[None]:
    """Passes everything printed through `shown`."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (_Escaping(stream) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def open_closed() -> None:
    """Opens closed standard streams; otherwise the next opened files would take their descriptors.

    Writing to the replacement of standard output fails, as in other programs. The replacement of standard
    error discards everything.
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
    """A stream that passes text through `shown`."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(shown(text, self._stream.encoding))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
