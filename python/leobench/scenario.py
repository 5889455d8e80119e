"""Loading a scenario file, with values replaced."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from os import PathLike

    from leobench._core import Scenario

# What becomes of the flows: they run, they are looked at, or programs run instead.
FlowUse = Literal["required", "optional", "unused"]
# Characters of a name in a scenario.
_LONGEST_NAME = 100


def load(
    scenario: str | PathLike[str],
    seed: int | None = None,
    overrides: Mapping[str, object] | Iterable[tuple[str, object]] | None = None,
    *,
    flows: FlowUse = "required",
) -> Scenario:
    """Reads and checks a scenario; the other arguments are those of `leobench.run`.

    Args:
        scenario: The scenario file; `-` is the standard input.
        seed: Seed of all randomness.
        overrides: Values to replace in the scenario, or pairs of place and value, one after the other.
        flows: Of `required` flows there is at least one, and of `optional` ones there may be none. Flows that
            are `unused` may also be such that they could not run over this network. A scenario that may do
            without flows may do without a name, too: it has that of its file.

    Raises:
        ScenarioError: If the scenario is wrong.
        InputError: If the scenario is no path, `overrides` are not by place, or an override is not text.
    """
    from leobench import standard_input
    from leobench.errors import ScenarioError
    from leobench.files import as_path, similar

    file = as_path("scenario", scenario, "the path of a scenario file, TOML or JSON")
    pairs = _texts(overrides)
    if seed is not None:
        pairs.append(("seed", str(seed)))
    if scenario == standard_input.NAME:
        return load_text(standard_input.text(), standard_input.SHOWN, pairs, flows=flows, folder=Path())
    try:
        return _load_file(file, file.stem, pairs, flows)
    except ScenarioError as error:
        _refuse_other(file)
        if not os.path.lexists(file):
            raise ScenarioError(f"{error}{similar(file)}") from None
        raise


def load_text(
    text: str,
    shown: str,
    overrides: Iterable[tuple[str, object]] = (),
    *,
    flows: FlowUse = "required",
    folder: Path | None = None,
) -> Scenario:
    """Reads and checks a scenario in TOML or JSON that is in no file.

    Args:
        text: The scenario.
        shown: What messages call it; its name unless it has one.
        overrides: Pairs of a place and a value to replace there, one after the other.
        flows: As of `load`.
        folder: Where the data files are that it names.

    Raises:
        ScenarioError: If the scenario is wrong.
        InputError: If an override is not text.
    """
    from leobench import data_files
    from leobench.errors import ScenarioError

    is_json = text.lstrip("\ufeff \t\r\n").startswith("{")
    found = [] if folder is None else data_files.places(text, folder, is_json=is_json)
    with tempfile.TemporaryDirectory(prefix="leobench-") as place:
        file = Path(place) / ("scenario.json" if is_json else "scenario.toml")
        file.write_text(text, encoding="utf-8")
        try:
            return _load_file(file, shown, [*found, *_texts(overrides)], flows)
        except ScenarioError as error:
            raise ScenarioError(str(error).replace(str(file), shown)) from None


def _load_file(file: Path, name: str, pairs: list[tuple[str, str]], flows: FlowUse) -> Scenario:
    """Reads a file, with a name for a scenario that has none and needs none."""
    from leobench import _core
    from leobench.errors import ScenarioError

    try:
        return _core.Scenario.load(file, pairs, flows)
    except ScenarioError as error:
        if flows == "required" or str(error) != f"{file}: name: is required but missing":
            raise
    return _core.Scenario.load(file, [("name", as_name(name)), *pairs], flows)


def as_name(text: str) -> str:
    """The name of a scenario that is most like a text."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", text)[:_LONGEST_NAME].strip("-.") or "scenario"


def _texts(overrides: object) -> list[tuple[str, str]]:
    """Overrides as the core takes them.

    Raises:
        InputError: If they are not by place, or are not text.
    """
    from leobench.errors import InputError, cut

    pairs = [(place, _as_text(value)) for place, value in _pairs(overrides)]
    for place, value in pairs:
        try:
            f"{place}{value}".encode()
        except UnicodeEncodeError:
            raise InputError(
                f"{cut(place)} = {cut(value)}: is not text; allowed: characters that UTF-8 encodes"
            ) from None
    return pairs


def _refuse_other(file: Path) -> None:
    """Names the right command if the file is something else of leobench's."""
    from leobench import folder
    from leobench.errors import ScenarioError
    from leobench.files import is_campaign

    if folder.is_part(file):
        results = file if file.is_dir() else file.parent
        raise ScenarioError(
            f"{file}: is part of the results of a run, not a scenario; `leobench plot {results}` draws them; "
            f"allowed: a scenario file, or a file with the value of `scenario` in {results / folder.MANIFEST}"
        ) from None
    if is_campaign(file):
        raise ScenarioError(
            f"{file}: is a campaign, not a scenario; `leobench sweep {file}` checks and runs it"
        ) from None


def _pairs(overrides: object) -> list[tuple[str, object]]:
    """Overrides as pairs of place and value.

    Raises:
        InputError: If they are not by place.
    """
    from leobench.errors import InputError, cut

    given = overrides.items() if isinstance(overrides, Mapping) else overrides or ()
    if not isinstance(given, Iterable) or isinstance(given, str):
        given = (None,)
    pairs: list[tuple[str, object]] = []
    for pair in given:
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)):
            raise InputError(
                f"overrides = {cut(repr(overrides))}: are not values by place; "
                'allowed: a dictionary such as {"links.uplink.delay": "10 ms"}'
            )
        pairs.append(pair)
    return pairs


def _as_text(value: object) -> str:
    """An override as it would be typed after `--set`."""
    from leobench.overrides import as_text

    if value is None:
        return ""
    return value if isinstance(value, str) else as_text(value)
