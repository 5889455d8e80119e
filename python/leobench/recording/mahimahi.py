"""Rates as a trace of Mahimahi: the millisecond of every opportunity to send 1,500 bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leobench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leobench.recording.schedule import Table

# Seconds by which sums of fractions may be off.
_ROUNDING = 1e-9
# Bits of an opportunity.
_OPPORTUNITY = 8 * 1_500
# Opportunities that the channel `trace` reads.
_MOST = 100_000_000
# Opportunities that are in memory at once.
_PIECE = 1_000_000


def check(table: Table) -> None:
    """Refuses a table that makes too long a trace, or one without an opportunity.

    Raises:
        InputError: If it does.
    """
    opportunities = table.bits() / _OPPORTUNITY
    if not 1 <= opportunities <= _MOST:
        raise InputError(
            f"--mahimahi: the rates make {opportunities:,.0f} opportunities of 1,500 bytes; "
            f"allowed: from 1 to {_MOST:,}"
        )


def lines(table: Table) -> Iterator[str]:
    """The lines of the trace, many at a time: milliseconds, not decreasing, of what the rows carry.

    An opportunity comes when its bits have accrued; while the link is down none do.
    """
    bits = 0.0
    for row, until in table.pieces():
        rate = row.rate_bps or 0 if row.up else 0
        if rate == 0:
            continue
        accrued = bits + rate * (until - row.at)
        count = int((accrued + rate * _ROUNDING) / _OPPORTUNITY)
        for first in range(0, count, _PIECE):
            numbers = np.arange(first, min(first + _PIECE, count)) + 1
            times = row.at + (numbers * _OPPORTUNITY - bits) / rate
            millis = np.maximum(1, np.rint(times * 1e3)).astype(np.int64)
            yield "\n".join(map(str, millis.tolist())) + "\n"
        bits = max(0.0, accrued - count * _OPPORTUNITY)
