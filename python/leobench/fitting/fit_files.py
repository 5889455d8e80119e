"""Fits by name or file, as the compiled core reads them: checked, and with all defaults."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from leobench import _core
from leobench.errors import InputError
from leobench.files import read_text, write_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def is_shipped(place: Path) -> bool:
    """Whether this is the name of a fit that comes with leobench, and of no file here."""
    return str(place) in _core.shipped_fits() and not place.exists()


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
    if not is_shipped(place) and not place.is_file():
        names = ", ".join(_core.shipped_fits())
        raise InputError(f"there is no fit {place}; allowed: a file by `leobench fit`, {names}")
    found: dict[str, Any] = json.loads(_core.read_fit(str(place)))
    return found


def write_score(file: Path, score: Mapping[str, Any]) -> None:
    """Writes a score into the file of a fit.

    Raises:
        InputError: If the file cannot be written.
    """
    content = json.loads(read_text(file))
    write_text(file, json.dumps({**content, "score": score}, indent=2, ensure_ascii=False) + "\n")
