"""The output of `ping -D` (iputils), with `-O` or without."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leobench.errors import cut
from leobench.recording.readings import TIME, Probe, Quantity, Reading, number
from leobench.recording.sequences import complete
from leobench.recording.times import Order

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leobench.recording.source import Source

_ANSWER = re.compile(
    r"\[(?P<time>[^\]]*)\] \d+ bytes from .*\bicmp_seq=(?P<number>\S+) .*\btime=(?P<rtt>\S+) ms"
)
_ICMP_SEQ = Quantity("icmp_seq", "", 65_535)


def detect(source: Source) -> bool:
    """Whether this is output of `ping`."""
    return "icmp_seq=" in source.text


def read(source: Source) -> Reading:
    """Reads the answers, each printed when it came, and finds by their numbers what is missing between them.

    Raises:
        InputError: If `ping` was run without `-D`, or a line of an answer is not whole.
    """
    return Reading(complete(_answers(source)))


def _answers(source: Source) -> Iterator[tuple[int, Probe] | None]:
    order = Order()
    for place, line in source.lines():
        if line.startswith("PING "):
            order = Order()
            yield None
        # Requests without an answer have lines of their own: with `-O`, or where a router reports them.
        if " bytes from " not in line or "(DUP!)" in line:
            continue
        if not line.startswith("["):
            raise place.wrong("the answer has no time; run `ping -D`")
        found = _ANSWER.match(line)
        if found is None:
            raise place.wrong(f"{cut(repr(line))} is not an answer as `ping -D` prints it")
        came = number(found["time"], "the time", place)
        TIME.check(came, place)
        order.check(came, place)
        sequence = number(found["number"], "icmp_seq", place)
        _ICMP_SEQ.check(sequence, place)
        rtt = number(found["rtt"], "time=", place) / 1e3
        yield int(sequence), Probe(came - rtt, rtt, place)
