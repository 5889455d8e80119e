"""Running leobench as a program of its own."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

LEOBENCH = [sys.executable, "-m", "leobench"]
# What a busy machine may do to the clock is not what most tests in real time are about.
PATIENT = ("--lateness", "10000", "--stall", "10000", "--set", "real.busy=1", "--set", "real.waited=1")


def leobench(*args: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a command line to its end."""
    return subprocess.run(
        [*LEOBENCH, *map(str, args)],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def start(*args: object, cwd: Path, own_group: bool = False) -> subprocess.Popen[str]:
    """Starts a command line and lets it run, on request in a process group of its own."""
    return subprocess.Popen(
        [*LEOBENCH, *map(str, args)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=own_group,
    )


def children_of(process: int) -> list[int]:
    """The processes that a process has started."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            told = (entry / "stat").read_text(encoding="utf-8", errors="replace")
            # Behind the name: the state, and the parent.
            if int(told.rpartition(")")[2].split()[1]) == process:
                found.append(int(entry.name))
    return found


def wait_until_gone(mark: str) -> None:
    """Waits until no process has this in its command line."""
    limit = time.monotonic() + 60
    while any(mark in command for command in _commands()):
        assert time.monotonic() < limit, f"a program is left: {mark}"
        time.sleep(0.05)


def _commands() -> list[str]:
    commands = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            commands.append((process / "cmdline").read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue  # it has just ended
    return commands
