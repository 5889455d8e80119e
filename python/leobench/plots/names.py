"""Names for readers: of runs by the differences between them, of the values of places, and of metrics."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leobench.errors import InputError, allowed, near

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from leobench.result import Result

# Units by the suffixes of the words of a metric's path.
_SUFFIXES = {"_bps": "bit/s", "_ms": "ms", "_s": "s", "_bytes": "B"}
_STATISTICS = {
    "mean": ("mean", "mean"),
    "p50": ("median", "median"),
    "p95": ("95 % quantile of", "p95"),
    "p99": ("99 % quantile of", "p99"),
    "max": ("largest", "largest"),
}
_MOST_METRICS = 10  # that a message lists
_TERMS = {"completion": "completion time", "rtt": "RTT", "fairness jain": "Jain's fairness"}


@dataclass(frozen=True)
class Metric:
    """A metric in words.

    Attributes:
        words: Its quantity, such as `delay`.
        statistic: The last word of its path if that is a statistic, such as `p95`; otherwise empty.
        owner: The flow, stream or link that it belongs to, if any.
        unit: The unit of its values, if any.
        part: The part of the summary that it is in, such as `flows`.
    """

    words: str
    statistic: str
    owner: str
    unit: str
    part: str

    @property
    def label(self) -> str:
        """The quantity and its owner in full, such as `95 % quantile of delay of main`."""
        return self._of(0) + (f" of {self.owner}" if self.owner else "")

    @property
    def head(self) -> str:
        """The quantity in short, such as `p95 delay`."""
        return self._of(1)

    def _of(self, length: int) -> str:
        return f"{_STATISTICS[self.statistic][length]} {self.words}" if self.statistic else self.words


def metric(path: str) -> Metric:
    """A metric's path, such as `flows.main.delay_ms.p95`, in words."""
    parts, owner = path.split("."), ""
    part_of = parts[0]
    if parts[0] in ("flows", "links") and len(parts) > 2:
        owner, parts = parts[1], parts[2:]
    if parts[0] in ("streams", "paths") and len(parts) > 2:
        owner, parts = f"{owner}, {parts[1]}", parts[2:]
    unit, words = "", []
    for part in parts:
        suffix = _suffix(part)
        unit = _SUFFIXES.get(suffix, unit)
        bare = part.removesuffix(suffix).replace("_", " ")
        words.append(_TERMS.get(bare, bare))
    statistic = words.pop() if words[-1] in _STATISTICS and len(words) > 1 else ""
    return Metric(" ".join(words), statistic, owner, unit, part_of)


def find_metric(word: str, known: Sequence[str]) -> str:
    """The metric of this path, or the only one whose path ends in these words.

    Raises:
        InputError: If there is none, or several.
    """
    found = find_metrics(word, known)
    if len(found) > 1:
        meant = ", ".join(f"`{path}` ({metric(path).label})" for path in found[:_MOST_METRICS])
        more = f", and {len(found) - _MOST_METRICS} more" if len(found) > _MOST_METRICS else ""
        raise InputError(
            f"--metric = {word}: {len(found)} metrics end so, and a figure shows one; allowed: {meant}{more}"
        )
    return found[0]


def find_metrics(word: str, known: Sequence[str]) -> list[str]:
    """The metric of this path, or all whose paths end in these words.

    Raises:
        InputError: If there is none.
    """
    if word in known:
        return [word]
    found = [
        metric
        for metric in known
        if any(f".{path}".endswith(f".{word}") for path in (metric, without_units(metric)))
    ]
    if not found:
        text = allowed(word, known)
        if "did you mean" not in text:
            text += near(word, sorted({without_units(metric).rpartition(".")[2] for metric in known}))
        raise InputError(f"--metric = {word}: the campaign has no such metric; {text}")
    return found


def without_units(path: str) -> str:
    """A metric's path whose words have no units."""
    return ".".join(part.removesuffix(_suffix(part)) for part in path.split("."))


def _suffix(part: str) -> str:
    """The unit at the end of a word of a metric's path."""
    return next((each for each in _SUFFIXES if part.endswith(each)), "")


def varied(runs: pl.DataFrame) -> list[str]:
    """The places in which the variants of a campaign's runs differ."""
    columns = runs.columns
    every = columns[columns.index("variant") + 1 : columns.index("replicate")]
    return [place for place in every if runs[place].n_unique() > 1]


def as_text(runs: pl.DataFrame, places: Sequence[str]) -> pl.DataFrame:
    """The runs with the values of places as text: tables without their braces and without what all have."""
    import polars as pl

    texts = runs.with_columns(
        pl.col(place).map_elements(_text, pl.String, skip_nulls=False) for place in places
    )
    return texts.with_columns(_without_common(texts[place]) for place in places)


def _text(value: object) -> str:
    """A value of a place as text: tables without their braces, their kind first."""
    if value is None:
        return "unchanged"
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return re.sub(r"\bkind = ", "", re.sub(r"[{}\"]", "", text)).strip() if text.startswith("{") else text


def _without_common(values: pl.Series) -> pl.Series:
    """The texts of tables without the parts that all of them have, which tell none apart."""
    import polars as pl

    known = values.unique(maintain_order=True).to_list()
    parts = {text: re.split(r", (?![^\[]*\])", text) for text in known}
    common = set.intersection(*(set(each) for each in parts.values()))
    short = {text: ", ".join(part for part in each if part not in common) for text, each in parts.items()}
    unique = len(set(short.values())) == len(known) and all(short.values())
    return values.replace_strict(short, return_dtype=pl.String) if unique else values


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
