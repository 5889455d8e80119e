"""What users have measured already, as the table of a `schedule` channel.

A file per format (`ping`, `irtt`, `iperf3`, `dish`) reads probes or rates; `schedule` turns them into rows by
a stated rule, and `mahimahi` writes the rates for other tools.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.errors import InputError, allowed
from leobench.recording import dish, iperf3, irtt, ping

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from leobench.recording.readings import Reading

FORMATS: dict[str, Callable[[str], Reading]] = {
    "dish": dish.read,
    "iperf3": iperf3.read,
    "irtt": irtt.read,
    "ping": ping.read,
}


def read(file: Path, kind: str | None) -> Reading:
    """Reads a measurement; its format is found from its content unless it is given.

    Raises:
        InputError: If the file cannot be read, or is not what it says.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise InputError(f"{file}: is not text") from None
    found = kind or _found(text)
    if found is None:
        raise InputError(f"{file}: is of no known format; name it with --kind; {allowed('', FORMATS)}")
    try:
        reading = FORMATS[found](text)
    except InputError as error:
        raise InputError(f"{file}: {error}") from None
    if not reading.probes and not reading.rates:
        raise InputError(f"{file}: has no measurements that {found} prints")
    return reading


def _found(text: str) -> str | None:
    start = text.lstrip()
    if start.startswith("{"):
        return "irtt" if '"round_trips"' in text else "iperf3" if '"intervals"' in text else None
    if "icmp_seq=" in text:
        return "ping"
    return "dish" if any(name in start.partition("\n")[0] for name in dish.COLUMNS) else None
