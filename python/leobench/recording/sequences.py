"""Probes that never came back, found by the numbers missing between those that did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.recording.readings import MOST_PROBES, SEQUENCE, Probe

if TYPE_CHECKING:
    from collections.abc import Iterable

# ICMP's sequence numbers have 16 bits, and go on from 0.
_NUMBERS = 1 << 16
# Seconds by which rounded times of the same probe may differ.
_ROUNDING_S = 0.01


class _Run:
    """The probes of one program from its start, by their numbers without overflow."""

    def __init__(self) -> None:
        self.probes: dict[int, Probe] = {}
        self.last = 0

    def add(self, number: int, probe: Probe) -> bool:
        """Adds a probe, unless it was answered before; False if it is of a program started later.

        Then its number was there already, or was passed, and it was sent after that.
        """
        whole = self._whole(number)
        if self.probes and whole <= self.last and probe.at > self.probes[self.last].at + _ROUNDING_S:
            return False
        self.probes.setdefault(whole, probe)
        self.last = max(self.last, whole)
        return True

    def _whole(self, number: int) -> int:
        """The number without overflow: the nearest to the last one, as answers may overtake each other."""
        if number >= _NUMBERS or not self.probes:
            return number
        turns = self.last // _NUMBERS
        return min(
            (number + turn * _NUMBERS for turn in range(max(0, turns - 1), turns + 2)),
            key=lambda whole: abs(whole - self.last),
        )

    def complete(self, found: list[Probe]) -> None:
        """Appends all probes from the first to the last one told of."""
        before: tuple[int, Probe] | None = None
        for number in sorted(self.probes):
            probe = self.probes[number]
            if before is not None:
                former, sent = before
                missing = number - former - 1
                if missing + len(found) > MOST_PROBES:
                    raise probe.place.wrong(
                        f"{missing:,} probes are missing before this one; "
                        f"allowed: at most {MOST_PROBES:,} probes in all"
                    )
                step = (probe.at - sent.at) / (number - former)
                found += [Probe(sent.at + each * step, None, probe.place) for each in range(1, missing + 1)]
            found.append(probe)
            before = (number, probe)


def complete(numbered: Iterable[tuple[int, Probe] | None]) -> list[Probe]:
    """The probes in the order of a file, with those whose numbers are missing between them.

    A probe without an answer counts as sent where its number lies between its neighbours' sendings.
    Nothing is missing between two starts of a program; `None` is such a start.

    Raises:
        InputError: If a number is not plausible, or too many are missing.
    """
    runs = [_Run()]
    for each in numbered:
        if each is None:
            runs.append(_Run())
            continue
        number, probe = each
        SEQUENCE.check(number, probe.place)
        if not runs[-1].add(number, probe):
            runs.append(_Run())
            runs[-1].add(number, probe)
    found: list[Probe] = []
    for run in runs:
        run.complete(found)
    return found
