"""Places in a scenario, such as `flows.main.streams[0].source.rate`, which campaigns replace."""

from __future__ import annotations

import functools
import itertools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_RECORD = ("record", "record.messages", "record.series", "record.packets")


def refusal(place: str) -> str | None:
    """The reason why a campaign may not replace a place, and what is allowed; `None` if it may."""
    if not place.strip() or not _steps(place):
        return "is not a place; allowed: names separated by dots, such as `links.uplink.delay`"
    if place == "seed":
        return "the seeds of runs are derived from the campaign's `seed`; allowed: any other place"
    if place in _RECORD:
        return "the campaign's `tables` decide what runs record; allowed: any other place"
    return None


def overlap(one: str, other: str) -> bool:
    """Whether two places are the same, or one is part of the other."""
    return _is_part(one, other) or _is_part(other, one)


def merge(first: Mapping[str, object], then: Mapping[str, object]) -> dict[str, object]:
    """Values of both by place, in the order to put them into a scenario; the second takes precedence."""
    return {place: value for place, value in first.items() if place not in then} | dict(then)


def shadowed(places: Iterable[str]) -> tuple[str, str] | None:
    """The first place, in order of replacement, that a later one contains, and that later one."""
    pairs = itertools.combinations(places, 2)
    return next(((earlier, later) for earlier, later in pairs if _is_part(earlier, later)), None)


def _is_part(place: str, whole: str) -> bool:
    outer = _steps(whole)
    return _steps(place)[: len(outer)] == outer


@functools.lru_cache(maxsize=4096)
def _steps(place: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[^.\[\]]+", place))
