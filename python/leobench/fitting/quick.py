"""Fast readers of long recordings without oddities: a night of pings every 20 ms has two million lines.

Each returns `None` for whatever it does not know. The careful readers then read it, or say what is wrong.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from leobench.fitting import clocks
from leobench.recording import times
from leobench.recording.readings import MOST_PROBES, ROUND_TRIP, TIME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leobench.fitting.series import Floats
    from leobench.recording.source import Source

_RTT, _NUMBERS = "rtt_ms", ("sequence", "seq", "icmp_seq")
_ANSWER = re.compile(
    r"^\[(\d+\.\d+)\] \d+ bytes from [^\n]*\bicmp_seq=(\d+) [^\n]*\btime=(\d+\.?\d*) ms(?! \(DUP!\))",
    re.MULTILINE,
)
_START = re.compile("^PING ", re.MULTILINE)
_WRAP = 1 << 16
# Seconds by which rounded times of the same probe may differ.
_ROUNDING_S = 0.01


def probes(source: Source) -> tuple[Floats, Floats] | None:
    """When each probe was sent, and its round trip in ms, NaN if lost.

    Raises:
        InputError: If the clock jumps.
    """
    if "icmp_seq=" in source.text:
        return _ping(source)
    columns = source.columns()
    time = times.column(columns)
    number = next((name for name in _NUMBERS if name in columns), None)
    if time is None or number is None or _RTT not in columns:
        return None
    table = table_of(source, (time, number, _RTT))
    if table is None:
        return None
    came, sequence, rtt = table
    lost = np.isnan(rtt) | (rtt == -1)
    return _completed(source, came[~lost], sequence[~lost], rtt[~lost])


def _ping(source: Source) -> tuple[Floats, Floats] | None:
    """The answers of one or more runs of `ping -D`."""
    runs = [_run(source, text) for text in _START.split(source.text) if " bytes from " in text]
    known = [run for run in runs if run is not None]
    if not known or len(known) < len(runs):
        return None
    sent, values = zip(*known, strict=True)
    return np.concatenate(sent), np.concatenate(values)


def _run(source: Source, text: str) -> tuple[Floats, Floats] | None:
    found = _ANSWER.findall(text)
    if not found or len(found) != text.count(" bytes from ") - text.count("(DUP!)"):
        return None
    came, sequence, rtt = np.array(found, dtype=np.float64).T
    return _completed(source, came, np.unwrap(sequence, period=_WRAP), rtt)


def _completed(source: Source, came: Floats, sequence: Floats, rtt: Floats) -> tuple[Floats, Floats] | None:
    """The answers with the probes whose numbers are missing between them (`recording.sequences`)."""
    if len(came) < 2 or not _within(came, TIME.most) or not _within(rtt / 1e3, ROUND_TRIP.most):
        return None
    sent = came - rtt / 1e3
    if _restarts(sent, sequence):
        return None
    order = np.argsort(sequence, kind="stable")
    sent, sequence, rtt = sent[order], sequence[order], rtt[order]
    count = int(sequence[-1] - sequence[0]) + 1
    if (np.diff(sequence) < 1).any() or count > MOST_PROBES or (sequence % 1 != 0).any():
        return None
    clocks.check(str(source.file), sent, sequence)
    values = np.full(count, np.nan)
    values[(sequence - sequence[0]).astype(np.int64)] = rtt
    whole: Floats = np.interp(sequence[0] + np.arange(count), sequence, sent).astype(np.float64)
    return whole, values


def _restarts(sent: Floats, sequence: Floats) -> bool:
    """Whether a number comes again or was passed, though sent later: a program began anew."""
    most = np.maximum.accumulate(sequence)
    passed = np.append(False, sequence[1:] <= most[:-1])
    latest = np.maximum.accumulate(np.where(passed, -np.inf, sent))
    return bool((passed & (sent > latest + _ROUNDING_S)).any())


def _within(values: Floats, most: float) -> bool:
    return bool(((values >= 0) & (values <= most)).all())


def table_of(source: Source, columns: Sequence[str]) -> list[Floats] | None:
    """Columns of a CSV of numbers, NaN where empty; `None` if it has others, or the first is not full."""
    try:
        table = pl.read_csv(
            source.text.encode(), columns=list(columns), schema_overrides=dict.fromkeys(columns, pl.Float64)
        )
    except (pl.exceptions.PolarsError, ValueError):
        return None
    found = [table[name].to_numpy().astype(np.float64) for name in columns]
    numbers = all(
        bool(np.isfinite(each[table[name].is_not_null().to_numpy()]).all())
        for name, each in zip(columns, found, strict=True)
    )
    return found if numbers and not np.isnan(found[0]).any() else None
