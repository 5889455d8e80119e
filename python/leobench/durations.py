"""Times of a resolved scenario, such as `500 ms`, as numbers."""

from __future__ import annotations

_NANOSECONDS = {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9}


def nanoseconds(text: str) -> int:
    """The nanoseconds of a time."""
    number, unit = text.split()
    return round(float(number) * _NANOSECONDS[unit])


def seconds(text: str) -> float:
    """The seconds of a time."""
    return nanoseconds(text) / 1e9
