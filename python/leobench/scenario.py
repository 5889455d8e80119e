"""Loading a scenario file, with values replaced."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from leobench._core import Scenario

# What becomes of the flows: they run, they are looked at, or programs run instead.
FlowUse = Literal["required", "optional", "unused"]


def load(
    scenario: str | PathLike[str],
    seed: int | None = None,
    overrides: Mapping[str, object] | Iterable[tuple[str, object]] | None = None,
    *,
    flows: FlowUse = "required",
) -> Scenario:
    """Reads and checks a scenario; the other arguments are those of `leobench.run`.

    Args:
        scenario: The scenario file.
        seed: Seed of all randomness.
        overrides: Values to replace in the scenario, or pairs of place and value, one after the other.
        flows: Of `required` flows there is at least one, and of `optional` ones there may be none. Flows that
            are `unused` may also be such that they could not run over this network.

    Raises:
        ScenarioError: If the scenario is wrong.
        InputError: If the scenario is no path, `overrides` are not by place, or an override is not text.
    """
    from leobench import _core
    from leobench.errors import InputError, ScenarioError, cut
    from leobench.files import as_path, similar

    file = as_path("scenario", scenario, "the path of a scenario file, TOML or JSON")
    pairs = [(place, _as_text(value)) for place, value in _pairs(overrides)]
    if seed is not None:
        pairs.append(("seed", str(seed)))
    for place, value in pairs:
        try:
            f"{place}{value}".encode()
        except UnicodeEncodeError:
            raise InputError(
                f"{cut(place)} = {cut(value)}: is not text; allowed: characters that UTF-8 encodes"
            ) from None
    try:
        return _core.Scenario.load(scenario, pairs, flows)
    except ScenarioError as error:
        _refuse_other(file)
        if not os.path.lexists(file):
            raise ScenarioError(f"{error}{similar(file)}") from None
        raise


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
