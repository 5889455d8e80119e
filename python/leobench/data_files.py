"""The data files that a scenario names, whose paths start from the scenario's folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

# The keys of a scenario whose values are files or folders.
KEYS = frozenset({"file", "delay_file", "elements", "gateway_list", "track", "hypatia", "manifest"})


def places(text: str, folder: Path, *, is_json: bool) -> list[tuple[str, str]]:
    """The data files of a scenario in TOML or JSON: the place of each in the scenario, and its whole path.

    Nothing is found in a text that is neither: whoever reads it says what is wrong.
    """
    from leobench.errors import InputError
    from leobench.files import read_toml

    try:
        table = json.loads(text.removeprefix("\ufeff")) if is_json else read_toml(Path(), text)
    except (ValueError, RecursionError, InputError):
        return []
    return list(_found(table, (), folder.absolute()))


def absolute(value: Any, folder: Path, key: str = "") -> Any:
    """A part of a scenario, under its key, with the whole paths of its data files."""
    if isinstance(value, dict):
        return {name: absolute(each, folder, name) for name, each in value.items()}
    if isinstance(value, list):
        return [absolute(each, folder) for each in value]
    if key in KEYS and isinstance(value, str):
        return str(folder.absolute() / value)
    return value


def _found(value: Any, path: tuple[str, ...], folder: Path) -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [found for name, each in value.items() for found in _found(each, (*path, name), folder)]
    if path and path[-1] in KEYS and isinstance(value, str):
        return [(".".join(path), str(folder / value))]
    return []
