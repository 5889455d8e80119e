"""The time of a row of a CSV: seconds, or a date."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from leobench.errors import cut
from leobench.recording.readings import TIME, Place, number

if TYPE_CHECKING:
    from collections.abc import Collection

# The columns that may hold it.
COLUMNS = ("datetimestamp_utc", "timestamp", "unix_s", "unix_time_s", "time_s", "time")


def column(columns: Collection[str]) -> str | None:
    """The column of the time, if there is one."""
    return next((name for name in COLUMNS if name in columns), None)


def seconds(cell: str, place: Place) -> float:
    """The seconds since 1970, or since some start. A date without a time zone is in UTC.

    Raises:
        InputError: If it is neither, or not plausible.
    """
    try:
        float(cell)
    except ValueError:
        value = _date(cell, place).timestamp()
    else:
        value = number(cell, "the time", place)
    TIME.check(value, place)
    return value


def _date(cell: str, place: Place) -> datetime:
    try:
        date = datetime.fromisoformat(cell)
    except ValueError:
        raise place.wrong(f"the time is {cut(repr(cell))}; allowed: seconds, or a date by ISO 8601") from None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
