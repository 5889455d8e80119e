"""Files that users name: opening them, and telling their kinds apart."""

from __future__ import annotations

import errno
import stat
import tomllib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from io import BufferedReader
    from pathlib import Path

# Bytes of a scenario or campaign file.
LARGEST_FILE = 16_000_000


def open_regular(file: Path) -> BufferedReader:
    """Opens a regular file for reading, and nothing else.

    A pipe blocks until somebody writes to it, and a device may have no end.

    Raises:
        OSError: If it cannot be opened, or is something else, which `strerror` says.
    """
    mode = file.stat().st_mode
    if stat.S_ISREG(mode):
        return file.open("rb")
    what = "is a folder" if stat.S_ISDIR(mode) else "is a pipe, a device or a socket"
    raise OSError(errno.EINVAL, what, str(file))


def read_text(file: Path) -> str:
    """The text of a regular file in UTF-8.

    Raises:
        OSError: As `open_regular`.
        UnicodeDecodeError: If it is not text.
    """
    with open_regular(file) as opened:
        return opened.read().decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def is_campaign(file: Path) -> bool:
    """Whether it is a campaign file, correct or not."""
    try:
        readable = file.stat().st_size <= LARGEST_FILE
        table = tomllib.loads(read_text(file).removeprefix("\ufeff")) if readable else {}
    except (OSError, ValueError, RecursionError):
        return False
    return "extends" in table or (
        "scenario" in table and bool({"replicates", "metrics", "grid", "variants"} & table.keys())
    )
