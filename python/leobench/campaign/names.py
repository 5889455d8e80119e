"""Names of variants: readable, unique, and valid as file names."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

ALLOWED: Final = (
    "letters, digits and `.`, `_`, `-`, `+`, `,`, `=`, up to 100 of them, a letter or digit first"
)
_LONGEST: Final = 100


def is_sound(name: str) -> bool:
    """Whether a name is valid as a file name on every system."""
    return re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+,=-]*", name) is not None and len(name) <= _LONGEST


def derive(combinations: Sequence[Mapping[str, object]]) -> list[str]:
    """Names such as `limit=7-packets,streams=4` for combinations of values by place.

    A place is shortened to the fewest last words that distinguish it from the others. Names that are too
    long or not unique end in a digest of their values.
    """
    places = list(dict.fromkeys(place for values in combinations for place in values))
    labels = {place: _label(place, places) for place in places}
    names = [
        ",".join(f"{labels[place]}={_slug(value)}" for place, value in values.items()) or "base"
        for values in combinations
    ]
    counts = Counter(map(str.casefold, names))
    return [
        name
        if counts[name.casefold()] == 1 and is_sound(name)
        else f"{name[:80].lstrip('.-_+,=')}-{_digest(values)}"
        for name, values in zip(names, combinations, strict=True)
    ]


def _label(place: str, places: Sequence[str]) -> str:
    words = place.split(".")
    for length in range(1, len(words)):
        tail = words[-length:]
        if sum(other.split(".")[-length:] == tail for other in places) == 1:
            return _safe(".".join(tail))
    return _safe(place)


def _slug(value: object) -> str:
    if isinstance(value, Mapping):
        return "-".join(
            _slug(held) if key == "kind" else f"{_safe(key)}-{_slug(held)}" for key, held in value.items()
        )
    if isinstance(value, list | tuple):
        return "-".join(map(_slug, value))
    if isinstance(value, bool):
        return "true" if value else "false"
    return _safe(str(value))


def _safe(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", text).strip("-") or "-"


def _digest(values: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:8]
