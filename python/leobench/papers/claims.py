"""Claims of papers as data: the statement, its source, and the relation between metrics that it implies."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from leobench.errors import InputError
from leobench.files import read_text, read_toml
from leobench.papers import readings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from leobench.papers.readings import Reading

STATISTICS = ("mean", "correlation", "difference", "ratio", "spread")

# Those of one group of runs, which compare nothing.
_ALONE = ("mean", "correlation")

# The value of `along` for a claim that compares several metrics instead of the values of a place.
METRIC = "metric"

_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_RELATION = re.compile(
    rf"(?P<statistic>[a-z]+) (?:(?P<sign>[<>]) (?P<bound>{_NUMBER})"
    rf"|within \[(?P<low>{_NUMBER}), (?P<high>{_NUMBER})\])"
)
_FORM = (
    f"one of {', '.join(STATISTICS)}, followed by `< 0.1`, `> 1` or `within [0.9, 1.1]`, such as `ratio > 1`"
)


@dataclass(frozen=True)
class Relation:
    """A statistic and the open range that it must lie in for a claim to hold.

    Attributes:
        statistic: One of `STATISTICS`; `docs/reference/claims.md` defines them.
        low: Lower end of the range.
        high: Upper end of the range.
    """

    statistic: str
    low: float
    high: float

    @classmethod
    def parse(cls, text: str) -> Relation:
        """Reads a relation such as `ratio > 1` or `mean within [0.9, 1.1]`.

        Raises:
            ValueError: If it is not a relation.
        """
        match = _RELATION.fullmatch(text)
        if match is None or match["statistic"] not in STATISTICS:
            raise ValueError(f"not a relation; allowed: {_FORM}")
        low, high = float("-inf"), float("inf")
        if match["sign"] == "<":
            high = float(match["bound"])
        elif match["sign"] == ">":
            low = float(match["bound"])
        else:
            low, high = float(match["low"]), float(match["high"])
        if not low < high:
            raise ValueError("an empty range; allowed: the lower end first")
        return cls(match["statistic"], low, high)

    def __str__(self) -> str:
        if self.low == float("-inf"):
            return f"{self.statistic} < {self.high:g}"
        if self.high == float("inf"):
            return f"{self.statistic} > {self.low:g}"
        return f"{self.statistic} within [{self.low:g}, {self.high:g}]"


@dataclass(frozen=True)
class Claim:
    """A claim of a paper.

    Attributes:
        id: Unique among the claims of the paper.
        figure: The figure it is about.
        stated: The place in the paper.
        says: The statement in our words.
        needs: The feature that leobench lacks to judge it; if given, all fields below are empty.
        metric: The metric of each run; empty if the claim compares several, `along = "metric"`.
        unit: Of that number, if it has one.
        relation: The condition on the metric.
        because: The source of the bound.
        where: Only variants with these values, by place; a list allows any of its values.
        along: The place whose values are compared.
        values: Those values, in the order of the relation; all unless given.
        each: Places; the claim is judged for each combination of their values.
        readings: Its other plausible meanings.
    """

    id: str
    figure: str
    stated: str
    says: str
    needs: str = ""
    metric: str = ""
    unit: str = ""
    relation: Relation | None = None
    because: str = ""
    where: Mapping[str, object] = field(default_factory=dict)
    along: str = ""
    values: Sequence[object] = ()
    each: Sequence[str] = ()
    readings: tuple[Reading, ...] = ()

    @property
    def ours(self) -> bool:
        """Whether no paper makes it."""
        return self.stated.startswith("ours")


_KEYS = tuple(each.name for each in dataclasses.fields(Claim))
_ALWAYS = ("id", "figure", "stated", "says")
_TO_JUDGE = ("relation", "because")
_KINDS = {"where": dict, "values": list, "each": list, "readings": list}


def read(file: Path) -> list[Claim]:
    """The claims in a file.

    Raises:
        InputError: If the file is wrong; the text names the place.
    """
    try:
        table = read_toml(file, read_text(file))
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: cannot be read: {error}") from error
    entries = table.get("claims")
    if not table.keys() <= {"claims", "readings"} or not isinstance(entries, list):
        raise InputError(f"{file}: allowed: `[[claims]]`, `[[readings]]` and nothing else")
    known = readings.parse(table.get("readings", []), str(file))
    claims = [_claim(entry, known, f"{file}: claims[{index}]") for index, entry in enumerate(entries)]
    ids = [claim.id for claim in claims]
    for id_ in ids:
        if ids.count(id_) > 1:
            raise InputError(f'{file}: id = "{id_}": appears twice')
    used = {part.id for claim in claims for reading in claim.readings for part in reading.parts or (reading,)}
    for reading in known.values():
        if reading.id not in used:
            raise InputError(
                f'{reading.at}.id = "{reading.id}": no claim uses it; allowed: readings that a claim lists'
            )
    return claims


def _claim(entry: Any, known: Mapping[str, Reading], at: str) -> Claim:
    if not isinstance(entry, dict):
        raise InputError(f"{at}: is not a table; allowed: `[[claims]]`")
    readings.refuse_kinds(entry, _KEYS, _KINDS, at)
    missing = [key for key in _required(entry) if not entry.get(key)]
    if missing:
        raise InputError(f"{at}: `{missing[0]}` is missing")
    listed = readings.of_claim(entry.get("readings", []), known, at)
    if "relation" not in entry:
        return Claim(**{**entry, "readings": listed})
    try:
        relation = Relation.parse(entry["relation"])
    except ValueError as error:
        raise InputError(f'{at}.relation = "{entry["relation"]}": {error}') from None
    alone = relation.statistic in _ALONE
    if alone == bool(entry.get("along")):
        needed = "compares nothing" if alone else "compares values of a place"
        raise InputError(f"{at}.along: `{relation.statistic}` {needed}")
    claim = Claim(**{**entry, "relation": relation, "readings": listed})
    for index, reading in enumerate(listed):
        if not readings.changes(claim, reading):
            raise InputError(
                f'{at}.readings[{index}] = "{reading.id}": does not change this claim; '
                f"allowed: a reading whose `instead` names something that the claim names"
            )
    return claim


def _required(entry: Mapping[str, object]) -> tuple[str, ...]:
    if "needs" in entry:
        return _ALWAYS
    return (*_ALWAYS, "values" if entry.get("along") == METRIC else "metric", *_TO_JUDGE)
