"""A CSV of probes: when each was answered, its number, and its round trip."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from leobench.errors import InputError
from leobench.recording import times
from leobench.recording.readings import ROUND_TRIP, Place, Probe, Reading, number
from leobench.recording.sequences import complete

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leobench.recording.source import Source

# Columns that may hold the round trip, and how many of their units a second has; `rtt` as `ping` prints it.
_ROUND_TRIPS = {"rtt_ms": 1e3, "rtt_s": 1.0, "rtt_us": 1e6, "rtt": 1e3}
_NUMBERS = ("sequence", "seq", "icmp_seq")
COLUMNS = (
    f"a time ({', '.join(times.COLUMNS)}), a round trip ({', '.join(_ROUND_TRIPS)}), "
    f"and perhaps a number ({', '.join(_NUMBERS)})"
)
# Milliseconds: less than a satellite's round trip, so that seconds are not taken for milliseconds.
_LEAST_MS = 1.0


def detect(source: Source) -> bool:
    """Whether this is a CSV with such columns."""
    columns = source.columns()
    return times.column(columns) is not None and any(name in columns for name in _ROUND_TRIPS)


def read(source: Source) -> Reading:
    """Reads the probes. Those whose round trip is empty or -1, or whose number is missing, have no answer.

    Raises:
        InputError: If columns are missing, a cell is not plausible, or times go back.
    """
    columns = source.columns()
    time = times.column(columns)
    rtt = next((name for name in _ROUND_TRIPS if name in columns), None)
    if time is None or rtt is None:
        raise InputError(f"{source.file}: lacks columns; needed: {COLUMNS}")
    sequence = next((name for name in _NUMBERS if name in columns), None)
    order = times.Order()
    numbered, plain = [], []
    for place, row in source.rows():
        came = times.seconds(row[time], place)
        order.check(came, place)
        round_trip = _round_trip(row[rtt], rtt, place)
        if sequence is None:
            plain.append(Probe(came - (round_trip or 0.0), round_trip, place))
        elif round_trip is not None:
            numbered.append((_whole(row[sequence], place), Probe(came - round_trip, round_trip, place)))
    probes = complete(numbered) if sequence is not None else plain
    if rtt == "rtt":
        _check_unit(probes, source)
    return Reading(probes)


def _round_trip(cell: str, name: str, place: Place) -> float | None:
    if not cell:
        return None
    value = number(cell, name, place)
    if value == -1:
        return None
    if name == "rtt_s" and value > ROUND_TRIP.most:
        raise place.wrong(
            f"the round trip is {value:g} s; allowed: from 0 to {ROUND_TRIP.most:g} s; "
            "are they in ms? Then name the column `rtt_ms`"
        )
    ROUND_TRIP.check(value / _ROUND_TRIPS[name], place)
    return value / _ROUND_TRIPS[name]


def _whole(cell: str, place: Place) -> int:
    value = number(cell, "the number", place)
    if not value.is_integer():
        raise place.wrong(f"the number is {value:g}; allowed: a whole number")
    return int(value)


def _check_unit(probes: Sequence[Probe], source: Source) -> None:
    """Refuses a column `rtt` that can hardly be in milliseconds."""
    answered = [probe.rtt_s * 1e3 for probe in probes if probe.rtt_s is not None]
    if answered and statistics.median(answered) < _LEAST_MS:
        raise InputError(
            f"{source.file}:1: the column `rtt` does not state its unit, and its median is "
            f"{statistics.median(answered):.3g}; allowed: `rtt_s`, `rtt_ms` or `rtt_us`"
        )
