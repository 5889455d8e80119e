"""Readings of a claim: other plausible meanings of the same sentence, as data written before any run."""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from leobench.errors import InputError, allowed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leobench.papers.claims import Claim

# The reading that a claim states itself.
STATED = "stated"

# The most other readings of a claim, or along one of its axes, and the most axes.
MOST, MOST_AXES = 3, 3

# Between the ids of readings that are taken together.
AND = "+"


@dataclass(frozen=True)
class Reading:
    """Another plausible meaning of a claim.

    Attributes:
        id: Unique among the readings of the paper.
        says: What it takes the claim to mean, or what it changes in the set-up.
        source: Where it comes from: a place in a text, or the authors' published code.
        because: Why it is plausible.
        campaign: The campaign file to judge it by, without suffix, instead of the figure's.
        overrides: Values by place that every run of it replaces.
        instead: Metrics and values that it puts in place of those that a claim names.
        at: Where the file has it; for messages.
        parts: The readings that it takes together, one of each of several axes; empty unless it does.
    """

    id: str
    says: str
    source: str
    because: str
    campaign: str = ""
    overrides: Mapping[str, object] = field(default_factory=dict)
    instead: Mapping[str, str] = field(default_factory=dict)
    at: str = field(default="", compare=False)
    parts: tuple[Reading, ...] = ()

    @property
    def needs_runs(self) -> bool:
        """Whether it is judged by runs of its own."""
        return bool(self.campaign or self.overrides)


_KEYS = tuple(each.name for each in dataclasses.fields(Reading) if each.name not in ("at", "parts"))
_REQUIRED = ("id", "says", "source", "because")
_KINDS = {"overrides": dict, "instead": dict}


def parse(entries: Any, file: str) -> dict[str, Reading]:
    """The readings of a paper by id.

    Raises:
        InputError: If one is wrong; the text names the place.
    """
    if not isinstance(entries, list):
        raise InputError(f"{file}: readings: is not an array of tables; allowed: `[[readings]]`")
    found: dict[str, Reading] = {}
    for index, entry in enumerate(entries):
        reading = _reading(entry, f"{file}: readings[{index}]")
        if reading.id in found:
            raise InputError(f'{reading.at}.id = "{reading.id}": appears twice; allowed: each id once')
        found[reading.id] = reading
    return found


def _reading(entry: Any, at: str) -> Reading:
    if not isinstance(entry, dict):
        raise InputError(f"{at}: is not a table; allowed: `[[readings]]`")
    refuse_kinds(entry, _KEYS, _KINDS, at)
    for key in _REQUIRED:
        if not entry.get(key):
            raise InputError(f"{at}: `{key}` is missing; allowed: a string")
    if entry["id"] == STATED:
        raise InputError(f'{at}.id = "{STATED}": is the claim as written; allowed: any other id')
    if AND in entry["id"]:
        raise InputError(f'{at}.id = "{entry["id"]}": has a `{AND}`; allowed: an id without')
    for old, new in entry.get("instead", {}).items():
        if not isinstance(new, str):
            raise InputError(f'{at}.instead."{old}" = {new!r}; allowed: a string')
    if not any(entry.get(key) for key in ("campaign", "overrides", "instead")):
        raise InputError(f"{at}: changes nothing; allowed: `campaign`, `overrides` or `instead`")
    return Reading(**entry, at=at)


def refuse_kinds(
    entry: Mapping[str, object], keys: Sequence[str], kinds: Mapping[str, type], at: str
) -> None:
    """Checks that a table has known keys only, with values of their kinds: strings, unless `kinds` says so.

    Raises:
        InputError: If it does not.
    """
    for key, value in entry.items():
        if key not in keys:
            raise InputError(f"{at}.{key}: unknown key; {allowed(key, keys)}")
        kind = kinds.get(key, str)
        if not isinstance(value, kind):
            raise InputError(f"{at}.{key} = {value!r}; allowed: a TOML value that is a {kind.__name__}")


def of_claim(listed: Sequence[object], known: Mapping[str, Reading], at: str) -> tuple[Reading, ...]:
    """The readings of a claim: those that it lists, or all combinations if it lists several axes of them.

    Raises:
        InputError: If there is no such reading, one is listed twice, there are too many, or two contradict
            each other.
    """
    if not any(isinstance(each, list) for each in listed):
        return _axis(listed, known, f"{at}.readings")
    if len(listed) > MOST_AXES:
        raise InputError(f"{at}.readings: has {len(listed)} axes; allowed: at most {MOST_AXES}")
    axes: list[tuple[Reading, ...]] = []
    for index, ids in enumerate(listed):
        if not isinstance(ids, list) or not ids:
            raise InputError(f"{at}.readings[{index}] = {ids!r}; allowed: a list of ids, as every axis is")
        axes.append(_axis(ids, known, f"{at}.readings[{index}]"))
    every = [each.id for axis in axes for each in axis]
    for id_ in every:
        if every.count(id_) > 1:
            raise InputError(f'{at}.readings: "{id_}" is on two axes; allowed: each reading once')
    chosen = itertools.product(*((None, *axis) for axis in axes))
    parts = [tuple(each for each in choice if each is not None) for choice in chosen]
    return tuple(_together(each, at) for each in parts if each)


def _axis(ids: Sequence[object], known: Mapping[str, Reading], at: str) -> tuple[Reading, ...]:
    """The readings of a list of ids."""
    if len(ids) > MOST:
        raise InputError(f"{at}: has {len(ids)}; allowed: at most {MOST} besides the claim as written")
    for index, each in enumerate(ids):
        if each not in known:
            raise InputError(f'{at}[{index}] = "{each}": no such reading; {allowed(each, known)}')
        if each in ids[:index]:
            raise InputError(f'{at}[{index}] = "{each}": appears twice; allowed: each reading once')
    return tuple(known[str(each)] for each in ids)


def _together(parts: tuple[Reading, ...], at: str) -> Reading:
    """One reading of each of several axes, taken together."""
    if len(parts) == 1:
        return parts[0]
    name = AND.join(each.id for each in parts)
    campaigns = [each.campaign for each in parts if each.campaign]
    if len(campaigns) > 1:
        raise InputError(f"{at}.readings: {name}: two name a campaign; allowed: one of them at most")
    overrides: dict[str, object] = {}
    instead: dict[str, str] = {}
    for each in parts:
        for key in (*(overrides.keys() & each.overrides), *(instead.keys() & each.instead)):
            raise InputError(f"{at}.readings: {name}: two change {key}; allowed: one of them at most")
        overrides |= each.overrides
        instead |= each.instead
    return Reading(
        name,
        " ".join(each.says for each in parts),
        "; ".join(each.source for each in parts),
        "; and ".join(each.because for each in parts),
        "".join(campaigns),
        overrides,
        instead,
        at=f"{at}.readings: {name}",
        parts=parts,
    )


def under(claim: Claim, reading: Reading) -> Claim:
    """The claim as a reading takes it."""
    if not reading.instead:
        return claim
    return dataclasses.replace(
        claim,
        metric=reading.instead.get(claim.metric, claim.metric),
        where={place: _instead(reading, value) for place, value in claim.where.items()},
        values=[_instead(reading, value) for value in claim.values],
    )


def changes(claim: Claim, reading: Reading) -> bool:
    """Whether a claim is judged by another number, or by other runs, under a reading."""
    return reading.needs_runs or under(claim, reading) != dataclasses.replace(
        claim, values=list(claim.values), where=dict(claim.where)
    )


def stated_case(case: Sequence[object], reading: Reading) -> list[object]:
    """The case of a claim as written that corresponds to one under a reading."""
    written = {new: old for old, new in reading.instead.items()}
    return [written.get(value, value) if isinstance(value, str) else value for value in case]


def _instead(reading: Reading, value: object) -> object:
    if isinstance(value, list):
        return [_instead(reading, each) for each in value]
    return reading.instead.get(value, value) if isinstance(value, str) else value
