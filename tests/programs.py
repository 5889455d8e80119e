"""Running leobench as a program of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LEOBENCH = [sys.executable, "-m", "leobench"]
# What a busy machine may do to the clock is not what most tests in real time are about.
PATIENT = ("--lateness", "10000", "--stall", "10000")


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
