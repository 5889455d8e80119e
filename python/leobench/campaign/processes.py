"""Worker processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import resource_tracker
from multiprocessing.reduction import ForkingPickler
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from leobench.errors import InputError, LeobenchError, RunError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

    Call = tuple[Callable[..., object], tuple[object, ...], dict[str, object]]
    Answer = tuple[object, BaseException | None]

P = ParamSpec("P")
T = TypeVar("T")

# Killed workers that an executor replaces; more than a few suggest that memory is short.
REPLACEMENTS = 3

# Seconds after which a wait looks for signals: one that comes just before the wait begins does not wake it.
_AWAKE_S = 0.25

# Seconds that a process may take to end after its pipe closed.
_ENDING_S = 5.0

_GUARD = 'put the call below `if __name__ == "__main__":`, or give workers=1'

# The name of worker processes, and the exit code of one that imports a program without the guard.
_NAME, _UNGUARDED = "leobench-worker", 117


def available() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def refuse_nested() -> None:
    """Refuses to start a campaign in a worker process, which imports the user's program again.

    A worker of `WorkerProcesses` exits without a word: the calling process says why.

    Raises:
        LeobenchError: If this process is a worker of another executor.
    """
    process = multiprocessing.current_process()
    if getattr(process, "_inheriting", False):
        if process.name == _NAME:
            raise SystemExit(_UNGUARDED)
        raise LeobenchError(f"every worker process imports a program that runs campaigns again: {_GUARD}")


def refuse_forking(executor: Executor) -> None:
    """Refuses executors that fork this process: inherited locks deadlock.

    A fork inherits the locks that threads of Polars hold, but not the threads that release them
    (https://docs.pola.rs/user-guide/misc/multiprocessing/).

    Raises:
        InputError: If the executor forks.
    """
    if isinstance(executor, ProcessPoolExecutor):
        context = executor._mp_context
        if context is not None and context.get_start_method() == "fork":
            raise InputError(
                "executor: forks its processes, which deadlock on inherited locks; "
                'give it mp_context=multiprocessing.get_context("spawn")'
            )


def as_completed(futures: Iterable[Future[T]]) -> Iterator[Future[T]]:
    """The futures in the order in which they complete.

    The function of `concurrent.futures` of this name waits for ever if a signal comes just before it waits.
    """
    completed: SimpleQueue[Future[T]] = SimpleQueue()
    count = 0
    for future in futures:
        future.add_done_callback(completed.put)
        count += 1
    while count:
        try:
            future = completed.get(timeout=_AWAKE_S)
        except Empty:
            continue
        count -= 1
        yield future


class WorkerProcesses(Executor):
    """An executor that survives killed workers and whose workers do not outlive it.

    `concurrent.futures.ProcessPoolExecutor` is unsuitable: all its workers share one result pipe, so it
    hangs if a worker is killed while writing to it. Here each worker has its own pipe and its own thread in
    this process. A killed worker is replaced and its call repeated; after too many, the call raises
    `RunError`. It also raises `RunError` if a call exits its worker, and `InputError` if a worker exits
    before it takes calls. Calls and their results are pickled.

    Leaving the context by an exception, such as Ctrl-C, kills the workers during their calls.
    """

    def __init__(self, workers: int) -> None:
        _refuse_standard_input()
        # Started first: it unblocks the signals that `_serve` blocks.
        resource_tracker.ensure_running()
        self._calls: SimpleQueue[tuple[Future[Any], Call] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._shut = self._broken = False
        self._killed = 0
        self._workers = [_Worker() for _ in range(workers)]
        self._threads = [
            threading.Thread(target=self._serve, args=(worker,), daemon=True) for worker in self._workers
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """As for any executor."""
        future: Future[T] = Future()
        with self._lock:
            if self._shut:
                raise RuntimeError("the executor was shut down and takes no more calls")
            self._calls.put((future, (fn, args, kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """As for any executor; a worker ends when no call is left for it."""
        with self._lock:
            self._shut = True
        with suppress(Empty):
            while cancel_futures:
                given = self._calls.get_nowait()
                if given is not None and given[0].cancel():
                    given[0].set_running_or_notify_cancel()
        for _ in self._threads:
            self._calls.put(None)
        if wait:
            for thread in self._threads:
                thread.join()

    def kill_workers(self) -> None:
        """Ends at once: running calls raise `BrokenExecutor`, waiting ones are cancelled."""
        with self._lock:
            self._broken = True
            for worker in self._workers:
                worker.kill()
        self.shutdown(cancel_futures=True)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.kill_workers()
        try:
            self.shutdown()
        except BaseException:  # interrupted at its end: no thread may outlive the block
            self.kill_workers()
            raise

    def _serve(self, worker: _Worker) -> None:
        """The main function of a thread: passes one call after the other to its worker."""
        # Ctrl-C reaches every process of a terminal; workers inherit the blocked signal and leave it to us.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        while (given := self._calls.get()) is not None:
            future, call = given
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result, error = self._ask(worker, call)
            except Exception as raised:
                result, error = None, raised
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)
        with self._lock:
            worker.end()

    def _ask(self, worker: _Worker, call: Call) -> Answer:
        """The result or exception of a call, which is repeated if its worker is killed."""
        while True:
            # One at a time: starting a process also reaps those that have ended.
            with self._lock:
                if self._broken:
                    raise BrokenExecutor("the workers were killed")
                worker.start()
            with suppress(EOFError, OSError):
                return worker.ask(call)
            with self._lock:
                code, started = worker.exit_code(), worker.is_started
                worker.end()
                if self._broken:
                    continue
                _refuse_exit(code, started=started)
                self._killed += 1
                if self._killed > REPLACEMENTS:
                    raise RunError(
                        f"worker processes were killed {self._killed} times, the last{_by_signal(code)} "
                        "during this run; if memory ran out, give fewer workers"
                    )


def _refuse_exit(code: int | None, *, started: bool) -> None:
    """Raises the error for a worker that exited by itself, if it did."""
    if code is None or code < 0:
        return
    if started:
        raise RunError(
            f"its worker process ended by itself with exit code {code}; a Python scheduler, or what it "
            "imports, must not exit the process"
        )
    if code == _UNGUARDED:
        raise InputError(f"every worker process imports the calling program again: {_GUARD}")
    raise InputError(
        "a worker process, which imports the calling program again, could not start: it exited with code "
        f"{code} while importing; make the program importable, or give workers=1"
    )


def _refuse_standard_input() -> None:
    """Refuses a program that workers cannot import again, as it is no file.

    Raises:
        InputError: If the calling program is read from standard input.
    """
    main = sys.modules["__main__"]
    file = getattr(main, "__file__", None)
    if getattr(main, "__spec__", None) is None and file == "<stdin>":
        raise InputError(
            "workers: a program read from standard input cannot have worker processes: each imports it; "
            "give workers=1, or write the program to a file"
        )


def _by_signal(code: int | None) -> str:
    try:
        return f" by {signal.Signals(-(code or 0)).name}"
    except ValueError:
        return ""


class _Worker:
    """A process that answers calls through its own pipe once it is started."""

    _process: SpawnProcess | None = None
    _connection: Connection
    is_started = False

    def start(self) -> None:
        """Spawns the process if there is none: a fork would copy the locks of Polars, but not its threads."""
        if self._process is None:
            spawn = multiprocessing.get_context("spawn")
            self._connection, theirs = spawn.Pipe()
            # Only the worker keeps its end open, so that reading ends when it dies.
            with theirs:
                process = spawn.Process(target=_work, args=(theirs,), name=_NAME, daemon=True)
                process.start()
            self._process = process
            self.is_started = False

    def ask(self, call: Call) -> Answer:
        """The result or exception of a call; raises `EOFError` or `OSError` if the process is killed."""
        if not self.is_started:
            self._connection.recv_bytes()  # sent once the calling program is imported
            self.is_started = True
        self._connection.send(call)
        answer: Answer = self._connection.recv()
        return answer

    def exit_code(self) -> int | None:
        """The exit code of the process, whose pipe has ended; negative is a signal, `None` if it goes on."""
        if self._process is None:
            return None
        self._process.join(_ENDING_S)
        return self._process.exitcode

    def kill(self) -> None:
        """Kills the process if there is one."""
        if self._process is not None:
            self._process.kill()

    def end(self) -> None:
        """Kills the process if there is one, and frees its resources."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
            self._process = None
            self._connection.close()


def _work(connection: Connection) -> None:
    """The main function of a worker: answers calls until its parent kills it or dies."""
    threading.Thread(target=_die_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        connection.send_bytes(b"started")
        while True:
            connection.send_bytes(_answer(connection.recv_bytes()))


def _answer(call: bytes) -> bytes:
    """Executes a pickled call and pickles its result or exception."""
    try:
        function, args, kwargs = ForkingPickler.loads(call)
        return bytes(ForkingPickler.dumps((function(*args, **kwargs), None)))
    except BaseException as error:
        try:
            return bytes(ForkingPickler.dumps((None, error)))
        except Exception:
            return bytes(ForkingPickler.dumps((None, RuntimeError(repr(error)))))


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
