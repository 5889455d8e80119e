"""The kinds of files that users name."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# Bytes of a scenario or campaign file.
LARGEST_FILE = 16_000_000


def is_device(file: Path) -> bool:
    """Whether it is a device, such as `/dev/zero`, which may have no end."""
    try:
        return file.is_char_device() or file.is_block_device()
    except OSError:  # such as an overlong name: reading it reports the error
        return False


def is_campaign(file: Path) -> bool:
    """Whether it is a campaign file, correct or not."""
    try:
        # A pipe would block, or has been read already.
        readable = file.is_file() and file.stat().st_size <= LARGEST_FILE
        table = tomllib.loads(file.read_text(encoding="utf-8-sig")) if readable else {}
    except (OSError, ValueError, RecursionError):
        return False
    return "extends" in table or (
        "scenario" in table and bool({"replicates", "metrics", "grid", "variants"} & table.keys())
    )
