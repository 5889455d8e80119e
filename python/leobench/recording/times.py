"""The time of a row of a CSV, seconds or a date, and the order of times in a file."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from leobench.errors import cut
from leobench.recording.readings import TIME, Place, number

if TYPE_CHECKING:
    from collections.abc import Collection

# The columns that may hold it.
COLUMNS = ("datetimestamp_utc", "timestamp", "unix_s", "unix_time_s", "time_s", "time")

# Seconds by which a clock may be put back.
_STEP_S = 60.0


class Order:
    """The order in which answers came, by the lines of a file."""

    def __init__(self) -> None:
        self._latest: tuple[float, Place] | None = None

    def check(self, came: float, place: Place) -> None:
        """Refuses an answer that came long before one of an earlier line.

        Raises:
            InputError: At its place, if it did.
        """
        if self._latest is None or came >= self._latest[0]:
            self._latest = came, place
            return
        latest, line = self._latest[0], self._latest[1].line
        if latest - came > _STEP_S:
            raise place.wrong(
                f"the answer came {latest - came:,.0f} s before that of line {line}; "
                "allowed: times in the order of the lines"
            )


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
