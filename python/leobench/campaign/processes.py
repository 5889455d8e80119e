"""Worker processes of this machine, which survive neither their campaign nor an accident."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from leobench.campaign.task import attempt
from leobench.errors import LeobenchError, RunError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future
    from multiprocessing.connection import Connection

    from leobench.campaign.plan import PlannedRun
    from leobench.campaign.task import Outcomes

# How often workers may die before the campaign gives up: once is an accident, more looks like want of memory.
RESTARTS = 3


def available() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_processes(runs: Sequence[PlannedRun], tables: Sequence[str], workers: int) -> Outcomes:
    """Does runs in processes; where one is killed, new ones do what is left.

    Raises:
        RunError: If processes are killed again and again.
    """
    left = list(runs)
    for _ in range(RESTARTS + 1):
        lost: list[PlannedRun] = []
        with _pool(min(workers, len(left))) as pool:
            yield from attempt(pool, left, tables, lost)
        if not lost:
            return
        left = lost
    raise RunError(
        f"worker processes were killed {RESTARTS + 1} times, the last time with {len(left)} runs left; "
        "if memory ran out, fewer --workers need less"
    )


def refuse_nested() -> None:
    """Checks that this is not a worker process that is only reading the user's program again.

    Raises:
        LeobenchError: If it is.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise LeobenchError(
            "a program that runs campaigns is read again by every worker process: put the call below "
            '`if __name__ == "__main__":`, or give workers=1'
        )


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """A pool whose processes are started afresh and end with it, at once if it is left by an exception.

    Forking would copy the locks of Polars' threads but not the threads, so `spawn`. Every worker holds the
    reading end of a pipe that only this process can write to: when it is closed, on purpose or because this
    process was killed, workers end in the middle of what they do.
    """
    spawn = multiprocessing.get_context("spawn")
    lifeline, ours = spawn.Pipe(duplex=False)
    pool = _Pool(workers, spawn, _start, (lifeline,))
    try:
        yield pool
    except BaseException:
        ours.close()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        ours.close()
        lifeline.close()


class _Pool(ProcessPoolExecutor):
    """Ctrl-C reaches every process of a terminal: here only this one heeds it and ends the others.

    Processes are started as work is submitted, and inherit what signals are blocked then.
    """

    def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return super().submit(*args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(lifeline: Connection) -> None:
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def _end_with(lifeline: Connection) -> None:
    try:
        lifeline.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)
