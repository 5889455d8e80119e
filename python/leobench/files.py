"""The kinds of files that users name."""

from __future__ import annotations

import itertools
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Bytes of a scenario or campaign file; that of the core, which a test compares.
LARGEST_FILE = 16_000_000
# Entries of a folder among which similar names are looked for.
_MOST_ENTRIES = 10_000
# Folders of a checkout with the files that are shipped.
_SHIPPED = ("scenarios", "campaigns")


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


def is_scenario(table: Mapping[str, object]) -> bool:
    """Whether a file with this table is a scenario, correct or not."""
    return "links" in table and "nodes" in table and not {"scenario", "extends"} & table.keys()


def similar(file: Path) -> str:
    """The file that perhaps was meant by one that is not there: "; did you mean `scenarios/ka.toml`?".

    It is looked for beside the file, and among the scenarios and campaigns that are shipped.
    """
    checkout = Path(__file__).parents[2]
    shipped = [root / name for root in (Path(), checkout) for name in _SHIPPED]
    named: dict[str, Path] = {}
    for found in itertools.chain.from_iterable(map(_inputs, [file.parent, *shipped])):
        named.setdefault(found.stem, found)  # those beside the file come first
    meant = nearest(file.stem, named)
    return "" if meant is None else f"; did you mean `{named[meant]}`?"


def _inputs(folder: Path) -> Iterator[Path]:
    """The files of a folder that may be scenarios or campaigns."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in itertools.islice(entries, _MOST_ENTRIES):
            if entry.name.endswith((".toml", ".json")) and entry.is_file():
                yield folder / entry.name

