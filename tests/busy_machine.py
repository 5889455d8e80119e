"""Whether other programs keep this machine from real time, found out without leobench."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# What a run in real time may be late by at p99, and stand still for at most, in seconds.
LATENESS, STALL = 1e-3, 20e-3
# Of its time, each of as many busy programs as there are processors gets so much of one at least.
SHARE = 0.8

# Sleeps as leobench's driver does, on one processor and before the driver if that is allowed, until its input
# ends, and prints by how much it overslept.
_SLEEPER = """\
import os, select, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(2))
except PermissionError:
    pass
late, due = [], time.monotonic()
while not select.select([0], [], [], max(0, due - time.monotonic()))[0]:
    late.append(time.monotonic() - due)
    due = time.monotonic() + 1e-3
late.sort()
print(late[-1 - len(late) // 100], late[-1])
"""

# Computes for a third of a second, and prints how much of a processor it had.
_BURNER = """\
import time
begin, cpu = time.monotonic(), time.process_time()
while time.monotonic() < begin + 0.33:
    pass
print((time.process_time() - cpu) / (time.monotonic() - begin))
"""


class Witness:
    """Programs that sleep beside a run, one on each processor, and are held up when the run is."""

    def __init__(self) -> None:
        self._sleepers = [_start(_SLEEPER, str(number)) for number in sorted(os.sched_getaffinity(0))]

    def says(self) -> str | None:
        """Why this machine was too slow or too busy for real time since the start; nothing if it was not."""
        late = [tuple(map(float, said.split())) for said in _said(self._sleepers)]
        self._sleepers = []
        p99, longest = (max(column) for column in zip(*late, strict=True))
        if p99 > LATENESS or longest > STALL:
            return (
                "a program that only sleeps wakes up "
                f"{p99 * 1e3:.2f} ms late at p99, {longest * 1e3:.1f} at most"
            )
        share = min(map(float, _said([_start(_BURNER) for _ in late])))
        if share < SHARE:
            return f"a program that only computes gets {share:.0%} of a processor"
        return None

    def leave(self) -> None:
        """Ends the programs, whatever they would say."""
        _said(self._sleepers)


@contextlib.contextmanager
def witness() -> Iterator[Witness]:
    """A witness of what goes on in the block."""
    witness = Witness()
    try:
        yield witness
    finally:
        witness.leave()


def _start(program: str, *args: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, *args]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _said(programs: list[subprocess.Popen[str]]) -> list[str]:
    """What programs print once their input has ended, which it does for all before they are waited for."""
    for program in programs:
        assert program.stdin is not None
        program.stdin.close()
        program.stdin = None
    return [program.communicate(timeout=60)[0] for program in programs]
