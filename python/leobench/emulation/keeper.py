"""A process that undoes changes when the process that made them has ended, however that ended."""

from __future__ import annotations

import itertools
import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# More descriptors than a process has.
_DESCRIPTORS = 65_536


class Keeper:
    """A child of this process that outlives it.

    It waits for a pipe to close, which this process and the children that it makes later hold. So it acts
    when all of them have ended or closed it, after a kill -9 too.
    """

    def __init__(self, undo: Callable[[], None], needed: Sequence[int] = ()) -> None:
        """Starts it; `undo` runs in it, at the end, and has these descriptors only."""
        waits, self._held = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            try:
                _wait(waits, needed)
                undo()
            finally:
                os._exit(0)
        os.close(waits)

    def close(self) -> None:
        """Waits until everything is undone."""
        os.close(self._held)
        os.waitpid(self._process, 0)


def _wait(pipe: int, needed: Sequence[int]) -> None:
    """Waits for the end of a pipe, without anything else of this process: no signal, terminal or file."""
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(null, standard)
    kept = sorted({2, pipe, *needed, _DESCRIPTORS})
    for low, high in itertools.pairwise(kept):
        os.closerange(low + 1, high)
    while os.read(pipe, 1):
        pass
