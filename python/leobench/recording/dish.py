"""A CSV of a Starlink dish's own statistics, with the names of its gRPC interface as columns."""

from __future__ import annotations

import csv
import io
from datetime import datetime

from leobench.errors import InputError
from leobench.recording.readings import Probe, Rate, Reading

LATENCY, DROPS, RATE = "pop_ping_latency_ms", "pop_ping_drop_rate", "downlink_throughput_bps"
COLUMNS = (LATENCY, DROPS, RATE)
# The columns that may hold the time, and how many seconds a row stands for: the dish keeps one a second.
_TIMES = ("datetimestamp_utc", "timestamp", "unix_s", "time")
_ROW_S = 1.0


def read(text: str) -> Reading:
    """Reads the latency, the part of pings dropped, and the downlink's throughput, as far as they are there.

    All pings of a second dropped is a probe without an answer; a part of them dropped is a rate with a loss.

    Raises:
        InputError: If columns are missing, or a cell is not a number.
    """
    rows = csv.DictReader(io.StringIO(text))
    names = rows.fieldnames or []
    time = next((name for name in _TIMES if name in names), None)
    if time is None or not any(name in names for name in COLUMNS):
        columns = f"one of {', '.join(_TIMES)} and one of {', '.join(COLUMNS)}"
        raise InputError(f"lacks columns; needed: {columns}")
    probes, rates = [], []
    for row in rows:
        try:
            at = _seconds(row[time])
            drops = float(row.get(DROPS) or 0)
            latency, bps = row.get(LATENCY), row.get(RATE)
            if LATENCY in names:
                half = float(latency) / 2e3 if latency and drops < 1 else None
                probes.append(Probe(at, None if half is None else (half, half)))
            if bps:
                rates.append(Rate(at, _ROW_S, float(bps), drops))
        except ValueError as error:
            raise InputError(f"line {rows.line_num}: {error}") from None
    return Reading(probes, rates)


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return datetime.fromisoformat(text).timestamp()
