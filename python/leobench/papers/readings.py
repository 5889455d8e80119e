"""Readings of a claim: other plausible meanings of the same sentence, as data written before any run."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from leobench.errors import InputError, allowed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leobench.papers.claims import Claim

# The reading that a claim states itself; the others of a claim are at most `MOST`.
STATED = "stated"
MOST = 3


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
    """

    id: str
    says: str
    source: str
    because: str
    campaign: str = ""
    overrides: Mapping[str, object] = field(default_factory=dict)
    instead: Mapping[str, str] = field(default_factory=dict)
    at: str = field(default="", compare=False)

    @property
    def needs_runs(self) -> bool:
        """Whether it is judged by runs of its own."""
        return bool(self.campaign or self.overrides)


_KEYS = tuple(each.name for each in dataclasses.fields(Reading) if each.name != "at")
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


def of_claim(ids: Sequence[object], known: Mapping[str, Reading], at: str) -> tuple[Reading, ...]:
    """The readings that a claim lists.

    Raises:
        InputError: If there is no such reading, one is listed twice, or there are too many.
    """
    if len(ids) > MOST:
        raise InputError(
            f"{at}.readings: has {len(ids)}; allowed: at most {MOST} besides the claim as written"
        )
    for index, each in enumerate(ids):
        if each not in known:
            raise InputError(f'{at}.readings[{index}] = "{each}": no such reading; {allowed(each, known)}')
        if each in ids[:index]:
            raise InputError(f'{at}.readings[{index}] = "{each}": appears twice; allowed: each reading once')
    return tuple(known[str(each)] for each in ids)


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
