"""A CSV of a Starlink dish's own statistics, with the names of its gRPC interface as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.errors import InputError
from leobench.recording import times
from leobench.recording.readings import LOSS, Probe, Rate, Reading, number

if TYPE_CHECKING:
    from leobench.recording.source import Source

LATENCY, DROPS, RATE = "pop_ping_latency_ms", "pop_ping_drop_rate", "downlink_throughput_bps"
_COLUMNS = (LATENCY, DROPS, RATE)
# How many seconds a row stands for: the dish keeps one a second.
_ROW_S = 1.0


def detect(source: Source) -> bool:
    """Whether this is a CSV with such columns."""
    columns = source.columns()
    return any(name in columns for name in _COLUMNS)


def read(source: Source) -> Reading:
    """Reads the latency, the part of pings dropped, and the downlink's throughput, as far as they are there.

    All pings of a second dropped is a probe without an answer; a part of them dropped is a rate with a loss.

    Raises:
        InputError: If columns are missing, or a cell is not plausible.
    """
    columns = source.columns()
    time = times.column(columns)
    if time is None or not detect(source):
        needed = f"one of {', '.join(times.COLUMNS)} and one of {', '.join(_COLUMNS)}"
        raise InputError(f"{source.file}: lacks columns; needed: {needed}")
    probes, rates = [], []
    for place, row in source.rows():
        at = times.seconds(row[time], place)
        latency, drops, bps = (number(row[name], name, place) if row.get(name) else None for name in _COLUMNS)
        if drops is not None:
            LOSS.check(drops, place)
        if LATENCY in columns:
            answered = latency is not None and (drops is None or drops < 1)
            probes.append(Probe(at, latency / 1e3 if answered and latency is not None else None, place))
        if bps is not None:
            rates.append(Rate(at, _ROW_S, bps, place, drops or 0.0))
    return Reading(probes, rates)
