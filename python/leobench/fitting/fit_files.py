"""Fits by name or file, as the compiled core reads them: checked, and with all defaults."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from leobench import _core
from leobench.errors import InputError, allowed, cut
from leobench.files import read_text, write_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def is_shipped(place: Path) -> bool:
    """Whether this is the name of a fit that comes with leobench, and of no file here."""
    return str(place) in _core.shipped_fits() and not place.exists()


def refuse_missing(place: Path) -> None:
    """Checks that a fit or another file is there, or that a fit of this name ships.

    Raises:
        InputError: If not; the message names the fits that ship, and the nearest.
    """
    if not is_shipped(place) and not os.path.exists(place):  # noqa: PTH110 (of any name, too long ones as well)
        known = allowed(place, _core.shipped_fits()).replace("allowed: ", "allowed: a file, ", 1)
        raise InputError(f"{cut(str(place))}: is neither a file nor a fit that ships; {known}")


def is_fit(place: Path) -> bool:
    """Whether this names a fit, sound or not: one that ships, or a JSON file with a format.

    Raises:
        InputError: If the file cannot be read.
    """
    if is_shipped(place):
        return True
    if place.suffix != ".json":
        return False
    try:
        content = json.loads(read_text(place))
    except ValueError:
        return False
    return isinstance(content, dict) and "format" in content


def read(place: Path) -> dict[str, Any]:
    """The content of a fit.

    Raises:
        InputError: If there is none, or it is not sound.
    """
    refuse_missing(place)
    found: dict[str, Any] = json.loads(_core.read_fit(str(place)))
    return found


def write_score(file: Path, score: Mapping[str, Any]) -> None:
    """Writes a score into the file of a fit.

    Raises:
        InputError: If the file cannot be written.
    """
    content = json.loads(read_text(file))
    write_text(file, json.dumps({**content, "score": score}, indent=2, ensure_ascii=False) + "\n")
