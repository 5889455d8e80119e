"""Names of runs in a figure of several, from the differences between them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from leobench.result import Result

# More differences than this would fill the legend: runs then go by name and seed, or by their folders.
_MOST = 3

# Tables of a scenario that do not change what happens in a run; scenarios of older versions lack some.
_WITHOUT_EFFECT = ("record.", "limits.")


def of_runs(results: Sequence[Result]) -> list[str]:
    """A name for every run: the values that differ between their scenarios, names and seeds.

    With too many differences, runs are named by scenario and seed; if these are not unique, by folder or
    number.
    """
    scenarios = [dict(_leaves(result.scenario, "")) for result in results]
    seeds = [str(result.summary["seed"]) for result in results]
    names = [str(result.summary["scenario"]) for result in results]
    places = [
        place
        for place in _all(scenarios)
        if place not in ("name", "description", "seed") and not place.startswith(_WITHOUT_EFFECT)
    ]
    differing = [place for place in places if len({each.get(place) for each in scenarios}) > 1]
    told = [place for place in differing if not _follows(place, differing)]
    parts = [[] if len(told) > _MOST else _parts(each, told) for each in scenarios]
    if len(set(names)) > 1:
        parts = [[name, *part] for name, part in zip(names, parts, strict=True)]
    if len(set(seeds)) > 1:
        parts = [[*part, f"seed {seed}"] for part, seed in zip(parts, seeds, strict=True)]
    labels = [", ".join(part) for part in parts]
    if len(set(labels)) == len(labels):
        return labels
    folders = [str(result.folder or f"run {number}") for number, result in enumerate(results, 1)]
    return folders if len(set(folders)) == len(folders) else [f"run {at + 1}" for at in range(len(results))]


def _leaves(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Every value of a resolved scenario by its place, elements of arrays by their names or numbers."""
    if isinstance(value, dict):
        for key, held in value.items():
            yield from _leaves(held, f"{place}.{key}" if place else key)
    elif isinstance(value, list):
        for number, held in enumerate(value):
            name = held.get("name", number) if isinstance(held, dict) else number
            yield from _leaves(held, f"{place}.{name}")
    else:
        yield place, str(value)


def _all(scenarios: Sequence[Mapping[str, str]]) -> list[str]:
    return list(dict.fromkeys(place for scenario in scenarios for place in scenario))


def _follows(place: str, differing: Sequence[str]) -> bool:
    """Whether a place differs only because the kind of its table differs."""
    words = place.split(".")
    outer = len(words) - (2 if words[-1] == "kind" else 1)
    return any(".".join([*words[:length], "kind"]) in differing for length in range(1, outer + 1))


def _parts(scenario: Mapping[str, str], told: Sequence[str]) -> list[str]:
    """The values of the places that a scenario has; if it has none, the first place that it is without."""
    words = {place: _words(place, told) for place in told}
    found = [f"{words[place]} {scenario[place]}" for place in told if place in scenario]
    return found or [f"without {each}" for each in list(words.values())[:1]]


def _words(place: str, told: Sequence[str]) -> str:
    """As many of the last words of a place as make it unique, without the word `kind`."""
    bare = [re.sub(r"\.kind$", "", each) for each in (place, *told)]
    return short(bare[0], bare[1:])


def short(place: str, places: Sequence[str]) -> str:
    """As many of the last words of a place as make it unique; the number of an element is no word alone."""
    words, others = place.split("."), [each.split(".") for each in places if each != place]
    for length in range(1, len(words)):
        if not words[-length].isdigit() and all(other[-length:] != words[-length:] for other in others):
            return ".".join(words[-length:])
    return place
