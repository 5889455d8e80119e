"""Measurements of other tools, as the table of a `schedule` channel.

A file per format (`ping`, `probes`, `irtt`, `iperf3`, `dish`) reads probes or rates out of a `source`. They
are checked where they are made (`readings`). `schedule` turns them into rows by a stated rule, `mahimahi`
makes a trace of the rates for other tools, and `output` writes both or none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from leobench.errors import InputError, allowed
from leobench.recording import dish, iperf3, irtt, ping, probes
from leobench.recording.source import Source

if TYPE_CHECKING:
    from pathlib import Path

    from leobench.recording.readings import Reading


class Format(Protocol):
    """The interface of a format's module."""

    def detect(self, source: Source) -> bool:
        """Whether a text is of this format."""

    def read(self, source: Source) -> Reading:
        """Reads a text of this format."""


FORMATS: dict[str, Format] = {"dish": dish, "iperf3": iperf3, "irtt": irtt, "ping": ping, "probes": probes}


def format_of(source: Source) -> str | None:
    """The format of a measurement, as its content tells; None if it is of none."""
    return next((name for name, form in FORMATS.items() if form.detect(source)), None)


def read(file: Path, kind: str | None) -> Reading:
    """Reads a measurement; its format is found from its content unless it is given.

    Raises:
        InputError: If the file cannot be read, or is not what it says.
    """
    source = Source.read(file)
    found = kind or format_of(source)
    if found is None:
        raise InputError(
            f"{file}: has an unknown format; name it with --kind; {allowed('', FORMATS)}; "
            f"`probes` is a CSV with columns for {probes.COLUMNS}"
        )
    reading = FORMATS[found].read(source)
    if not reading.probes and not reading.rates:
        raise InputError(f"{file}: contains no measurements in the format of {found}")
    return reading
