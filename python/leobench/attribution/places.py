"""Differences between two scenarios, as values that replace those of the first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def changes(before: Mapping[str, Any], after: Mapping[str, Any], place: str = "") -> dict[str, Any]:
    """The places where two resolved scenarios differ, with the values of the second.

    A value that the second lacks is `None`. Lists are compared as a whole.
    """
    found: dict[str, Any] = {}
    for key in dict.fromkeys((*before, *after)):
        at = f"{place}.{key}" if place else str(key)
        old, new = before.get(key), after.get(key)
        if key not in after:
            found[at] = None
        elif isinstance(old, Mapping) and isinstance(new, Mapping) and old.get("kind") == new.get("kind"):
            found |= changes(old, new, at)
        elif key not in before or old != new:
            found[at] = new
    return found
