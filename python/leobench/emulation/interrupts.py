"""SIGINT that leobench alone was sent, which its programs get, too.

Ctrl-C in a terminal interrupts all processes of a group: leobench, its sandbox and the programs. `kill -INT`
with the process of leobench interrupts that alone, and the signal itself does not tell: to a whole group,
`kill` sends the same. So the outer process of the sandbox, which is in the same group, is a witness: it keeps
SIGINT blocked. If none waits there when leobench gets one, the programs have got none either.
"""

from __future__ import annotations

import os
import select
import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# What the first process of the sandbox is sent for a SIGINT that leobench alone was sent.
PASSED_ON = signal.SIGUSR2

_SIGINT = frozenset({signal.SIGINT})
# Longer than a signal takes from the first process of a group to the last.
_GROUP_S = 0.05


@contextmanager
def told() -> Iterator[int]:
    """A pipe with a byte for each SIGINT of this process, which goes on, unless it ignores them."""
    pipe, tell = os.pipe()
    former = signal.getsignal(signal.SIGINT)
    if former is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda *_: os.write(tell, b"."))
    try:
        yield pipe
    finally:
        signal.signal(signal.SIGINT, former)
        os.close(tell)
        os.close(pipe)


@contextmanager
def held() -> Iterator[None]:
    """Lets SIGINT wait until the end of the block; in children that are made meanwhile it stays blocked."""
    former = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGINT)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


def release() -> None:
    """Lets this thread, a child of one that held them, take SIGINT."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGINT)


def pass_on(told: int, sandbox: int, over: int) -> None:
    """Sends `PASSED_ON` to a process for what is `told` of SIGINT and this group did not get.

    SIGINT must be blocked in this process, and have been so since before anything could be told.

    Args:
        told: The pipe that tells.
        sandbox: The process that it is passed on to.
        over: Descriptor of a pipe that ends when that process does.
    """
    shared_at = -1.0
    while over not in select.select([told, over], [], [])[0]:
        time.sleep(_GROUP_S)
        os.read(told, 4_096)
        if signal.sigtimedwait(_SIGINT, 0) is not None:
            shared_at = time.monotonic()
        elif time.monotonic() > shared_at + 2 * _GROUP_S:  # else it may be the last one of some in a row
            os.kill(sandbox, PASSED_ON)
