"""The terminal of an interactive shell on a host.

A shell with job control takes the terminal for its own process group and gives it back when it ends. It can
do neither if it starts in a group outside of its namespace of processes, which has no number there. So the
first process of the sandbox makes a group of its own, in which the shell starts. leobench takes the terminal
back at the end, with the settings that it had.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import termios
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_STDIN = 0
_SIGTTOU = frozenset({signal.SIGTTOU})


def is_ours() -> bool:
    """Whether the standard input is a terminal, and this process group is in its foreground."""
    try:
        return os.isatty(_STDIN) and os.tcgetpgrp(_STDIN) == os.getpgrp()
    except OSError:
        return False


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Gives this process group the terminal back at the end of the block, with its settings."""
    if not is_ours():
        yield
        return
    group, settings = os.getpgrp(), termios.tcgetattr(_STDIN)
    try:
        yield
    finally:
        sys.stdout.flush()
        with contextlib.suppress(OSError, termios.error):  # the terminal has gone
            _hand_over(group)
            termios.tcsetattr(_STDIN, termios.TCSADRAIN, settings)


def take() -> None:
    """Moves the first process of a sandbox into a group of its own, in the foreground if its old one was."""
    was_ours = is_ours()
    os.setpgid(0, 0)
    if was_ours:
        _hand_over(os.getpgrp())


def _hand_over(group: int) -> None:
    """Puts a process group in the foreground: whoever is in the background may not without a signal."""
    former = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGTTOU)
    try:
        os.tcsetpgrp(_STDIN, group)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)
