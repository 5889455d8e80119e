"""The JSON of `irtt client -o FILE` (version 0.9)."""

from __future__ import annotations

import json
from typing import Any

from leobench.errors import InputError
from leobench.recording.readings import Probe, Reading


def read(text: str) -> Reading:
    """Reads the round trips. One-way delays are their halves: those that irtt gives need synchronised clocks.

    Raises:
        InputError: If the text is no such JSON.
    """
    try:
        trips = json.loads(text)["round_trips"]
        return Reading(sorted((_probe(trip) for trip in trips), key=lambda probe: probe.at))
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"is not the JSON of irtt: {error!r}") from None


def _probe(trip: dict[str, Any]) -> Probe:
    at = trip["timestamps"]["client"]["send"]["wall"] / 1e9
    if trip["lost"] not in {False, "false"}:
        return Probe(at, None)
    rtt = trip["delay"]["rtt"] / 1e9
    return Probe(at, (rtt / 2, rtt / 2))
