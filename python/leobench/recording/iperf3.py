"""The JSON of `iperf3 --json`, of either end."""

from __future__ import annotations

import json

from leobench.errors import InputError
from leobench.recording.readings import Rate, Reading


def read(text: str) -> Reading:
    """Reads the rate of every interval, all streams together, and the part lost where UDP tells it.

    Raises:
        InputError: If the text is no such JSON, or of a test that failed.
    """
    try:
        said = json.loads(text)
        if "error" in said:
            raise InputError(f"iperf3 failed: {said['error']}")
        start = float(said["start"]["timestamp"]["timesecs"])
        sums = [interval["sum"] for interval in said["intervals"]]
        rates = [
            Rate(
                start + each["start"],
                each["seconds"],
                each["bits_per_second"],
                each["lost_percent"] / 100 if "lost_percent" in each else None,
            )
            for each in sums
            if not each.get("omitted", False) and each["seconds"] > 0
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"is not the JSON of iperf3: {error!r}") from None
    return Reading(rates=rates)
