"""Files that users name: opening and writing them, and telling their kinds apart."""

from __future__ import annotations

import errno
import itertools
import os
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench import unfinished
from leobench.errors import InputError, cut, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from io import BufferedReader

# Bytes of a scenario or campaign file; that of the core, which a test compares.
LARGEST_FILE = 16_000_000
# Entries of a folder among which similar names are looked for.
_MOST_ENTRIES = 10_000
# Folders of a checkout with the files that are shipped, and those that the package has them in.
_SHIPPED = ("scenarios", "campaigns")
_TEMPLATES = Path(__file__).parent / "templates"


def read_toml(file: Path, text: str) -> dict[str, Any]:
    """Parses a text as the core parses scenarios, with the same limits.

    Raises:
        InputError: If it is not TOML or exceeds a limit; the message names the file, the line and the column.
    """
    from leobench import _core

    return _core.read_toml(str(file), text)


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


def as_path(name: str, given: object, meant: str) -> Path:
    """The path of a file or folder that a program gives as an argument.

    Args:
        name: The name of the argument.
        given: Its value.
        meant: What is allowed, for the message.

    Raises:
        InputError: If it is not text or an object with a path, or empty.
    """
    text = given.__fspath__() if isinstance(given, os.PathLike) else given
    if not isinstance(text, str):
        raise InputError(
            f"{name} = {cut(repr(given))}: is not a path but of type {type(given).__name__}; allowed: {meant}"
        )
    if not text:
        raise InputError(f"{name}: is empty; allowed: {meant}")
    return Path(text)


def reason(error: OSError, file: Path) -> str:
    """The reason why a file cannot be written, naming the folder that is missing or is a file instead."""
    if isinstance(error, FileNotFoundError) and not file.parent.exists():
        return f"there is no folder `{file.parent}`"
    if isinstance(error, NotADirectoryError | FileExistsError):
        for parent in file.parents:
            if parent.is_file():
                return f"`{parent}` is a file, not a folder"
    return error.strerror or str(error)


@contextmanager
def writing(file: Path) -> Iterator[None]:
    """Refuses a file that the statements inside cannot write.

    Raises:
        InputError: In place of an `OSError`.
    """
    try:
        yield
    except OSError as error:
        raise InputError(f"{file}: cannot be written: {reason(error, file)}") from error


def write_text(file: Path, text: str) -> None:
    """Writes a text file as a whole: if it cannot be written, what was there stays.

    A link stands for what it leads to; a pipe or a device is written to as it is.

    Raises:
        InputError: If it cannot be written.
    """
    with writing(file):
        place = Path(os.path.realpath(file))
        if place.exists() and not place.is_file():
            place.write_text(text, encoding="utf-8", newline="\n")
            return
        partial = unfinished.beside(place, "partial")
        try:
            partial.write_text(text, encoding="utf-8", newline="\n")
            if place.exists():
                partial.chmod(stat.S_IMODE(place.stat().st_mode))
            partial.replace(place)
        finally:
            with suppress(OSError):
                partial.unlink()


def refuse_existing(file: Path) -> None:
    """Refuses a file that `--out` names and that is there already, unless it is a pipe or a device.

    Raises:
        InputError: If it is.
    """
    special = file.exists() and not (file.is_file() or file.is_dir())
    if os.path.lexists(file) and not special:
        raise InputError(
            f"{file}: exists already; choose another file with --out, or replace it with --force"
        )


def is_campaign(file: Path) -> bool:
    """Whether it is a campaign file, correct or not."""
    try:
        readable = file.stat().st_size <= LARGEST_FILE
        table = read_toml(file, read_text(file).removeprefix("\ufeff")) if readable else {}
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

    It is looked for beside the file, and among the scenarios and campaigns that are shipped. Outside a
    checkout, these are templates to copy first.
    """
    checkout = Path(__file__).parents[2]
    shipped = [root / name for root in (Path(), checkout) for name in _SHIPPED]
    named: dict[str, Path] = {}
    for found in itertools.chain.from_iterable(map(_inputs, [file.parent, *shipped])):
        named.setdefault(found.stem, found)  # those beside the file come first
    meant = nearest(file.stem, named)
    if meant is not None:
        return f"; did you mean `{named[meant]}`?"
    templates = {found.stem: found for name in _SHIPPED for found in _inputs(_TEMPLATES / name)}
    meant = nearest(file.stem, templates)
    return "" if meant is None else f"; did you mean the template that `leobench new {meant}` copies?"


def _inputs(folder: Path) -> Iterator[Path]:
    """The files of a folder that may be scenarios or campaigns."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in itertools.islice(entries, _MOST_ENTRIES):
            if entry.name.endswith((".toml", ".json")) and entry.is_file():
                yield folder / entry.name
