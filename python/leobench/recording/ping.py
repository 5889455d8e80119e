"""The output of `ping -D` (iputils), with `-O` or without."""

from __future__ import annotations

import re

from leobench.errors import InputError
from leobench.recording.readings import Probe, Reading

_ANSWER = re.compile(r"^\[(\d+\.\d+)\] .*icmp_seq=(\d+) .*time=([\d.]+) ms")
# Sequence numbers have 16 bits.
_NUMBERS = 1 << 16


def read(text: str) -> Reading:
    """Reads the answers, each printed when it came, and finds by their numbers what is missing between them.

    A request without an answer counts as sent where its number lies between its neighbours' sendings.

    Raises:
        InputError: If there are no times (`ping` was run without `-D`), or numbers run backwards.
    """
    if "icmp_seq=" in text and not any(_ANSWER.match(line) for line in text.splitlines()):
        raise InputError("the answers have no times; run `ping -D`")
    answers: dict[int, Probe] = {}
    ahead = last = 0
    for line in text.splitlines():
        if not (found := _ANSWER.match(line)) or "(DUP!)" in line:
            continue
        number, rtt = int(found[2]), float(found[3]) / 1e3
        # An answer may be late by some numbers; a step back by half of all is the counter's overflow.
        if number + ahead < last - _NUMBERS // 2:
            ahead += _NUMBERS
        last = max(last, number + ahead)
        answers[number + ahead] = Probe(float(found[1]) - rtt, (rtt / 2, rtt / 2))
    return Reading(_complete(answers))


def _complete(answers: dict[int, Probe]) -> list[Probe]:
    """All probes from the first answered to the last one."""
    probes: list[Probe] = []
    before: tuple[int, Probe] | None = None
    for number in sorted(answers):
        probe = answers[number]
        if before is not None:
            former, sent = before
            step = (probe.at - sent.at) / (number - former)
            probes += [Probe(sent.at + missing * step, None) for missing in range(1, number - former)]
        probes.append(probe)
        before = (number, probe)
    return probes
