"""The data files that a scenario names, whose paths start from the scenario's folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# The keys of a scenario whose values are files or folders.
KEYS = frozenset(
    {"file", "delay_file", "elements", "gateway_list", "track", "hypatia", "manifest", "har", "place_list"}
)


def places(text: str, folder: Path, *, is_json: bool) -> list[tuple[str, str]]:
    """The data files of a scenario in TOML or JSON: the place of each in the scenario, and its whole path."""
    values = _values(_table(text, is_json=is_json), ())
    return [(place, str(folder.absolute() / file)) for place, file in values]


def recorded_pages(text: str, overrides: Mapping[str, object], *, is_json: bool) -> set[str]:
    """The recorded pages that a scenario or its overrides name; a resolved scenario has their objects."""
    replaced = {"table": _table(text, is_json=is_json)}
    replaced.update((f"{number}.{place}", value) for number, (place, value) in enumerate(overrides.items()))
    return {file for place, file in _values(replaced, ()) if place.rsplit(".", 1)[-1] == "har"}


def _table(text: str, *, is_json: bool) -> Any:
    """Reads a scenario. An empty one if it is neither TOML nor JSON: whoever reads it says what is wrong."""
    from leobench.errors import InputError
    from leobench.files import read_toml

    try:
        return json.loads(text.removeprefix("\ufeff")) if is_json else read_toml(Path(), text)
    except (ValueError, RecursionError, InputError):
        return {}


def absolute(value: Any, folder: Path, key: str = "") -> Any:
    """A part of a scenario, under its key, with the whole paths of its data files."""
    if isinstance(value, dict):
        return {name: absolute(each, folder, name) for name, each in value.items()}
    if isinstance(value, list):
        return [absolute(each, folder) for each in value]
    if key in KEYS and isinstance(value, str):
        return str(folder.absolute() / value)
    return value


def _values(value: Any, path: tuple[str, ...]) -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [found for name, each in value.items() for found in _values(each, (*path, name))]
    place = ".".join(path)
    if place.rsplit(".", 1)[-1] in KEYS and isinstance(value, str):
        return [(place, value)]
    return []
