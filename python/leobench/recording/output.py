"""The files that a measurement becomes: all of them, or none."""

from __future__ import annotations

import os
import stat
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from leobench import unfinished
from leobench.errors import InputError
from leobench.folder import refusing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def admit(targets: Sequence[Path], inputs: Sequence[Path], *, force: bool) -> None:
    """Checks that these files may be written.

    Raises:
        InputError: If one is there already, unless `force` is given, is another one, or an input.
    """
    used = {os.path.realpath(file): "one of the measurements" for file in inputs}
    for target in targets:
        with refusing(target):
            place = os.path.realpath(target)
            try:
                mode = Path(place).stat().st_mode
            except FileNotFoundError:
                mode = None
        if place in used:
            raise InputError(f"{target}: is {used[place]}; choose another file")
        used[place] = "given twice"
        if mode is None:
            continue
        if not force:
            raise InputError(f"{target}: exists already; choose another file, or replace it with --force")
        if not stat.S_ISREG(mode):
            what = "Is a directory" if stat.S_ISDIR(mode) else "is a pipe, a device or a socket"
            raise InputError(f"{target}: cannot be written to: {what}")


def write(texts: Mapping[Path, Iterable[str]]) -> None:
    """Writes text files; those that were there are replaced once all are complete.

    Raises:
        InputError: If one cannot be written. Then all are as they were.
    """
    with ExitStack() as stack:
        written = []
        for target, text in texts.items():
            place = Path(os.path.realpath(target))
            partial = unfinished.beside(place, "partial")
            stack.callback(_remove, partial)
            with refusing(target), partial.open("x", encoding="utf-8") as opened:
                opened.writelines(text)
            written.append((target, place, partial))
        for target, place, partial in written:
            with refusing(target):
                partial.replace(place)


def _remove(partial: Path) -> None:
    with suppress(OSError):
        partial.unlink()
