"""The JSON of `iperf3 --json`, of either end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.errors import InputError, cut
from leobench.recording import json_source
from leobench.recording.readings import LENGTH, Place, Quantity, Rate, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leobench.recording.json_source import Item
    from leobench.recording.source import Source

_ARRAY = "intervals"
# Below zero where packets arrive that iperf3 had counted as lost before (github.com/esnet/iperf/issues/914).
_LOST = Quantity("lost_percent", " %", 100.0, -100.0)

# Seconds by which the starts and lengths of intervals may be off.
_ROUNDING_S = 0.01


def detect(source: Source) -> bool:
    """Whether this is such JSON."""
    return source.is_json() and f'"{_ARRAY}"' in source.text


def read(source: Source) -> Reading:
    """Reads the rate of every interval, all streams together, and the part lost where UDP tells it.

    Raises:
        InputError: If the text is no such JSON, or of a test that failed, or a value is not plausible.
    """
    whole, intervals = json_source.read(source, _ARRAY)
    if whole.has("error"):
        raise InputError(f"{source.file}: iperf3 failed: {cut(str(whole.get('error')))}")
    start = whole.number("start", "timestamp", "timesecs")
    return Reading(rates=list(_rates(start, intervals)))


def _rates(start: float, intervals: Sequence[Item]) -> Iterator[Rate]:
    before: tuple[float, Place] | None = None
    for each in intervals:
        if each.has("sum", "omitted") and each.get("sum", "omitted") is True:
            continue
        length = each.number("sum", "seconds")
        LENGTH.check(length, each.place)
        bps = each.number("sum", "bits_per_second")
        loss = None
        if each.has("sum", "lost_percent"):
            percent = each.number("sum", "lost_percent")
            _LOST.check(percent, each.place)
            loss = max(0.0, percent) / 100
        begin = each.number("sum", "start")
        if each.has("sum", "end") and (end := each.number("sum", "end")) < begin:
            raise each.place.wrong(
                f"the interval ends at {end:g} s and starts at {begin:g} s; allowed: ends after starts"
            )
        if before is not None and begin < before[0] - _ROUNDING_S:
            raise each.place.wrong(
                f"the interval starts at {begin:g} s, before that of line {before[1].line} ends, "
                f"at {before[0]:g} s; allowed: one interval after the other"
            )
        before = begin + length, each.place
        if length > 0:
            yield Rate(start + begin, length, bps, each.place, loss)
        elif each is not intervals[-1]:
            raise each.place.wrong(
                "the interval has no length; allowed: above 0 s, except in the last interval"
            )
