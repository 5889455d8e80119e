"""The JSON of `irtt client -o FILE` (version 0.9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.errors import cut
from leobench.recording import json_source
from leobench.recording.readings import Probe, Reading

if TYPE_CHECKING:
    from leobench.recording.json_source import Item
    from leobench.recording.source import Source

_ARRAY = "round_trips"
_ANSWERED = (False, "false")
# What was lost, as far as irtt knows: anything, the request, the answer.
_LOST = (True, "true", "true_up", "true_down")


def detect(source: Source) -> bool:
    """Whether this is such JSON."""
    return source.is_json() and f'"{_ARRAY}"' in source.text


def read(source: Source) -> Reading:
    """Reads the round trips. One-way delays are their halves: those that irtt gives need synchronised clocks.

    Raises:
        InputError: If the text is no such JSON, or a value is not plausible.
    """
    _, trips = json_source.read(source, _ARRAY)
    return Reading(sorted(map(_probe, trips), key=lambda probe: probe.at))


def _probe(trip: Item) -> Probe:
    at = trip.number("timestamps", "client", "send", "wall") / 1e9
    lost = trip.get("lost")
    if lost in _LOST:
        return Probe(at, None, trip.place)
    if lost not in _ANSWERED:
        raise trip.place.wrong(
            f"`lost` is {cut(repr(lost))}; allowed: {', '.join(map(repr, _ANSWERED + _LOST))}"
        )
    return Probe(at, trip.number("delay", "rtt") / 1e9, trip.place)
