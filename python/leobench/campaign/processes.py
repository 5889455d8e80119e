"""Worker processes of this machine, which survive neither their campaign nor an accident.

`concurrent.futures.ProcessPoolExecutor` will not do: all its workers answer through one pipe, so that one
which is killed in the middle of an answer leaves the pool waiting for the rest of it for ever. Here each has
a pipe of its own.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import TYPE_CHECKING

from leobench.campaign.task import attempt
from leobench.errors import LeobenchError, RunError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

    from leobench.campaign.plan import PlannedRun
    from leobench.campaign.task import Outcomes

# How many killed workers are replaced in one go: once is an accident, more looks like want of memory.
REPLACEMENTS = 3


@dataclass(frozen=True)
class _Worker:
    process: SpawnProcess
    run: PlannedRun


def available() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_processes(runs: Sequence[PlannedRun], tables: Sequence[str], workers: int) -> Outcomes:
    """Does runs in processes, in the order in which they finish; a worker that is killed is replaced.

    Raises:
        RunError: If workers are killed again and again.
    """
    left = deque(runs)
    team: dict[Connection, _Worker] = {}
    killed = 0
    try:
        while left or team:
            while left and len(team) < workers:
                connection, process = _start(tables)
                team[connection] = _give(connection, process, left.popleft())
            for connection in _ready(team):
                worker = team.pop(connection)
                try:
                    answer = connection.recv()
                except (EOFError, OSError):
                    killed += 1
                    left.appendleft(worker.run)
                    _end(connection, worker.process)
                    if killed > REPLACEMENTS:
                        raise RunError(_killed(killed, worker.run)) from None
                    continue
                if left:
                    team[connection] = _give(connection, worker.process, left.popleft())
                else:
                    _end(connection, worker.process)
                if isinstance(answer, LeobenchError):
                    raise answer
                yield worker.run, answer
    finally:
        for connection, worker in team.items():
            _end(connection, worker.process)


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


def _start(tables: Sequence[str]) -> tuple[Connection, SpawnProcess]:
    """Starts a worker, afresh: forking would copy the locks of Polars' threads, but not the threads."""
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_work, args=(theirs, tables), daemon=True)
    # Ctrl-C reaches every process of a terminal. Workers inherit that it is blocked: only this one heeds it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    # With the worker's end open in the worker alone, its death is the end of what can be read.
    theirs.close()
    return ours, process


def _ready(team: dict[Connection, _Worker]) -> list[Connection]:
    """Waits until a worker has answered, or was killed."""
    ready = wait(list(team))
    return [connection for connection in team if connection in ready]


def _give(connection: Connection, process: SpawnProcess, run: PlannedRun) -> _Worker:
    with suppress(OSError):  # A worker that is dead already is noticed when its answer is read.
        connection.send(run)
    return _Worker(process, run)


def _end(connection: Connection, process: SpawnProcess) -> None:
    process.kill()
    process.join()
    process.close()
    connection.close()


def _work(connection: Connection, tables: Sequence[str]) -> None:
    """What a worker does: one run after the other, until its campaign's process ends it, or ends itself."""
    threading.Thread(target=_die_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            connection.send(attempt(connection.recv(), tables))


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _killed(times: int, run: PlannedRun) -> str:
    return (
        f"worker processes were killed {times} times, the last during replicate {run.replicate} of variant "
        f"{run.variant}; if memory ran out, fewer --workers need less"
    )
