"""Worker processes with bounds on time and memory: an abort of one is caught, and attributed to its case."""

from __future__ import annotations

import multiprocessing
import resource
import signal
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.process import BaseProcess

    Judge = Callable[[Any], str | None]


@dataclass(frozen=True)
class Bounds:
    """The resources that a case may use.

    Attributes:
        seconds: Wall time.
        memory: Bytes of address space of a worker.
    """

    seconds: float = 30.0
    memory: int = 4_000_000_000


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    case: Any = None
    began: float = field(default_factory=time.monotonic)


def judged(
    cases: Iterable[Any], judge: Judge, bounds: Bounds, workers: int = 2
) -> Iterator[tuple[Any, str | None]]:
    """Every case with what is wrong about it, in the order in which they end; `None` if nothing is.

    Args:
        cases: What is judged, made when a worker is free.
        judge: Judges a case in a worker.
        bounds: What a case may take.
        workers: The number of processes.
    """
    waiting = iter(cases)
    crew: list[_Worker] = []
    try:
        while True:
            while len(crew) < workers and _assign(crew, waiting, judge, bounds):
                pass
            busy = [worker for worker in crew if worker.case is not None]
            if not busy:
                return
            ready = wait([worker.pipe for worker in busy], timeout=0.2)
            for worker in busy:
                # Whatever made this process late, a verdict that is there counts.
                if worker.pipe in ready or worker.pipe.poll():
                    verdict = _received(worker)
                elif time.monotonic() - worker.began > bounds.seconds:
                    verdict = f"takes more than {bounds.seconds:g} s"
                    worker.process.kill()
                    worker.process.join()
                else:
                    continue
                yield worker.case, verdict
                if not worker.process.is_alive() or not _hand(worker, waiting):
                    crew.remove(worker)
                    _end(worker)
    finally:
        for worker in crew:
            _end(worker)


def _assign(crew: list[_Worker], waiting: Iterator[Any], judge: Judge, bounds: Bounds) -> bool:
    """Starts a worker on the next case, if there is one."""
    try:
        case = next(waiting)
    except StopIteration:
        return False
    context = multiprocessing.get_context("spawn")
    pipe, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, judge, bounds), daemon=True)
    process.start()
    theirs.close()
    worker = _Worker(process, pipe)
    # The first word comes when the imports are done, which count for no case.
    if pipe.poll(120):
        pipe.recv()
    crew.append(worker)
    _send(worker, case)
    return True


def _hand(worker: _Worker, waiting: Iterator[Any]) -> bool:
    """Hands the next case to a worker that lives, if there is one."""
    try:
        case = next(waiting)
    except StopIteration:
        return False
    _send(worker, case)
    return True


def _send(worker: _Worker, case: Any) -> None:
    worker.case, worker.began = case, time.monotonic()
    worker.pipe.send(case)


def _received(worker: _Worker) -> str | None:
    try:
        verdict: str | None = worker.pipe.recv()
    except (EOFError, OSError):
        worker.process.join(5)
        code = worker.process.exitcode
        died = signal.Signals(-code).name if code is not None and code < 0 else f"exit code {code}"
        return f"kills the process: {died}"
    return verdict


def _end(worker: _Worker) -> None:
    worker.pipe.close()
    worker.process.kill()
    worker.process.join()


def _work(pipe: Connection, judge: Judge, bounds: Bounds) -> None:
    """The life of a worker."""
    resource.setrlimit(resource.RLIMIT_AS, (bounds.memory, bounds.memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    from leobench import _core

    pipe.send(_core.__version__)
    while True:
        try:
            case = pipe.recv()
        except EOFError:
            return
        pipe.send(judge(case))
