"""The signals that end the program: each raises `KeyboardInterrupt`, so that unfinished files are removed."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

# Seconds after which a signal is sent again whose exception was swallowed.
_AGAIN_S = 0.01


class Interruptions:
    """The signals that this program got from `handle` on, until `end`."""

    def __init__(self) -> None:
        self.received: list[int] = []
        self._again: threading.Timer | None = None

    def handle(self) -> None:
        """Makes exceptions of signals."""
        sys.unraisablehook = self._swallowed
        _set(self._raise)

    def end(self) -> None:
        """Lets signals end the process: nothing is left to be removed."""
        if self._again is not None:
            self._again.cancel()
        _set(signal.SIG_DFL)

    def _raise(self, signum: int, frame: object) -> NoReturn:
        del frame
        self.received.append(signum)
        raise KeyboardInterrupt

    def _swallowed(self, unraisable: sys.UnraisableHookArgs) -> None:
        """Sends a signal again whose exception ended in a finalizer or a callback of the interpreter."""
        if self.received and isinstance(unraisable.exc_value, KeyboardInterrupt):
            # From another thread, and later: here, it would be swallowed again.
            self._again = threading.Timer(_AGAIN_S, os.kill, (os.getpid(), self.received[-1]))
            self._again.start()
        else:
            sys.__unraisablehook__(unraisable)


def _set(handler: Callable[[int, object], NoReturn] | signal.Handlers) -> None:
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signum = getattr(signal, name, None)
        # Ignored signals stay ignored: `nohup`, and background jobs of a script.
        if signum is not None and signal.getsignal(signum) is not signal.SIG_IGN:
            signal.signal(signum, handler)
