"""The kinds of files that users name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leobench.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

# Bytes of a scenario or campaign file; that of the core, which a test compares.
LARGEST_FILE = 16_000_000


def read_toml(file: Path, text: str) -> dict[str, Any]:
    """What a text says, as the core reads scenarios, with the same limits.

    Raises:
        InputError: If it is not TOML, or beyond a limit; the message names the file, the line and the column.
    """
    from leobench import _core

    return _core.read_toml(str(file), text)


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
        table = read_toml(file, file.read_text(encoding="utf-8-sig")) if readable else {}
    except (OSError, ValueError, InputError):
        return False
    return "extends" in table or (
        "scenario" in table and bool({"replicates", "metrics", "grid", "variants"} & table.keys())
    )
