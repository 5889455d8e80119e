"""Whether other programs keep this machine from real time, found out without leobench."""

from __future__ import annotations

import os
import subprocess
import sys

# What a run in real time may be late by at p99, and stand still for at most, in seconds.
LATENESS, STALL = 1e-3, 20e-3
# Of its time, each of as many busy programs as there are processors gets so much of one at least.
SHARE = 0.8

# Sleeps as leobench's driver does, at its priority if that is allowed, and prints by how much it overslept.
_SLEEPER = """\
import os, time
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
except PermissionError:
    pass
late = []
for _ in range(300):
    due = time.monotonic() + 1e-3
    time.sleep(1e-3)
    late.append(time.monotonic() - due)
late.sort()
print(late[296], late[-1])
"""

# Computes for a third of a second, and prints how much of a processor it had.
_BURNER = """\
import time
begin, cpu = time.monotonic(), time.process_time()
while time.monotonic() < begin + 0.33:
    pass
print((time.process_time() - cpu) / (time.monotonic() - begin))
"""


def witness() -> str | None:
    """Why this machine is too slow or too busy for real time at the moment; nothing if it is not."""
    p99, longest = map(float, _run(_SLEEPER, 1)[0].split())
    if p99 > LATENESS or longest > STALL:
        return (
            f"a program that only sleeps wakes up {p99 * 1e3:.2f} ms late at p99, {longest * 1e3:.1f} at most"
        )
    share = min(map(float, _run(_BURNER, os.cpu_count() or 1)))
    if share < SHARE:
        return f"a program that only computes gets {share:.0%} of a processor"
    return None


def _run(program: str, count: int) -> list[str]:
    """The outputs of `count` copies of a program that run side by side."""
    command = [sys.executable, "-c", program]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    return [process.communicate(timeout=60)[0] for process in running]
