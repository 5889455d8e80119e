"""Rates as a trace of Mahimahi: the millisecond of every opportunity to send 1,500 bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leobench.recording.schedule import Row

# Seconds by which sums of fractions may be off.
_ROUNDING = 1e-9
# Bits of an opportunity.
_OPPORTUNITY = 8 * 1_500


def opportunities(rows: Sequence[Row], end: float) -> Iterator[int]:
    """The milliseconds, not decreasing, of what the rows carry up to `end` seconds.

    An opportunity comes when its bits have accrued; while the link is down none do.
    """
    bits = 0.0
    for row, until in zip(rows, [*(row.at for row in rows[1:]), end], strict=True):
        rate = (row.rate_bps or 0.0) if row.up else 0.0
        now = row.at
        while rate > 0 and (at := now + (_OPPORTUNITY - bits) / rate) <= until + _ROUNDING:
            yield max(1, round(at * 1e3))
            now, bits = at, 0.0
        bits += rate * max(0.0, until - now)
