"""Worker processes as an executor like any other."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import BrokenExecutor, CancelledError, Future, wait
from typing import TYPE_CHECKING

import pytest

import leobench
from leobench.campaign import processes
from leobench.campaign.processes import WorkerProcesses

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def pair() -> Iterator[WorkerProcesses]:
    with WorkerProcesses(2) as executor:
        yield executor


def begin_and_sleep(begun: Path) -> None:
    begun.touch()
    time.sleep(60)


def die(begun: Path) -> int:
    """Is killed over its first three calls."""
    times = len(begun.read_text()) if begun.exists() else 0
    if times < 3:
        begun.write_text("x" * (times + 1))
        os.kill(os.getpid(), signal.SIGKILL)
    return times


def wait_for(file: Path) -> None:
    deadline = time.monotonic() + 30
    while not file.exists():
        assert time.monotonic() < deadline
        time.sleep(0.005)


class UnpicklableError(Exception):
    def __reduce__(self) -> str:
        raise TypeError("stays here")


def fail_unpicklably() -> None:
    raise UnpicklableError("what happened")


def test_calls_are_answered_by_processes_that_are_kept(pair: WorkerProcesses) -> None:
    assert pair.submit(divmod, 7, 2).result() == (3, 1)
    assert pair.submit(int, "ff", base=16).result() == 255
    assert list(pair.map(pow, range(50), [2] * 50)) == [number**2 for number in range(50)]
    answered = {pair.submit(os.getpid).result() for _ in range(20)}
    assert len(answered) <= 2
    assert os.getpid() not in answered


def test_workers_work_at_the_same_time(tmp_path: Path) -> None:
    executor = WorkerProcesses(2)
    for name in "ab":
        executor.submit(begin_and_sleep, tmp_path / name)
    wait_for(tmp_path / "a")
    wait_for(tmp_path / "b")
    executor.kill_workers()


def test_what_a_call_raises_comes_back(pair: WorkerProcesses) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        pair.submit(int, "x").result()
    assert isinstance(pair.submit(exit, 3).exception(), SystemExit)
    with pytest.raises(RuntimeError, match=r"UnpicklableError\('what happened'\)"):
        pair.submit(fail_unpicklably).result()


def test_what_cannot_be_sent_is_refused_and_breaks_nothing(pair: WorkerProcesses) -> None:
    assert isinstance(pair.submit(lambda: 1).exception(), Exception)  # a call
    assert isinstance(pair.submit(threading.Lock).exception(), TypeError)  # a result
    assert pair.submit(abs, -1).result() == 1


def test_shutdown_finishes_what_was_submitted_and_takes_no_more() -> None:
    executor = WorkerProcesses(1)
    futures = [executor.submit(abs, -number) for number in range(5)]
    executor.shutdown()
    assert [future.result(timeout=0) for future in futures] == list(range(5))
    with pytest.raises(RuntimeError, match="shut down"):
        executor.submit(abs, 1)
    executor.shutdown()


def test_shutdown_can_cancel_what_is_not_yet_begun(tmp_path: Path) -> None:
    executor = WorkerProcesses(1)
    begun = executor.submit(begin_and_sleep, tmp_path / "begun")
    wait_for(tmp_path / "begun")
    waiting = [executor.submit(abs, 1) for _ in range(3)]
    executor.shutdown(wait=False, cancel_futures=True)
    assert wait(waiting, timeout=5).done == set(waiting)
    assert all(future.cancelled() for future in waiting)
    assert begun.running()
    executor.kill_workers()
    assert isinstance(begun.exception(timeout=0), BrokenExecutor)


def test_left_by_an_exception_it_kills_what_is_under_way(tmp_path: Path) -> None:
    futures: list[Future[None]] = []

    def interrupted() -> None:
        with WorkerProcesses(1) as executor:
            futures.extend(executor.submit(begin_and_sleep, tmp_path / name) for name in "ab")
            wait_for(tmp_path / "a")
            raise KeyboardInterrupt

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert time.monotonic() - started < 30
    with pytest.raises(BrokenExecutor):
        futures[0].result(timeout=0)
    with pytest.raises(CancelledError):
        futures[1].result(timeout=0)
    assert not (tmp_path / "b").exists()


def test_a_call_is_repeated_when_its_worker_is_killed_three_times_in_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with WorkerProcesses(2) as executor:
        assert executor.submit(die, tmp_path / "first").result() == 3
        with pytest.raises(leobench.RunError, match="were killed 4 times, the last by SIGKILL during this"):
            executor.submit(die, tmp_path / "second").result()
        assert executor.submit(abs, -1).result() == 1
    monkeypatch.setattr(processes, "REPLACEMENTS", 2)
    with WorkerProcesses(1) as executor, pytest.raises(leobench.RunError, match="were killed 3 times"):
        executor.submit(die, tmp_path / "third").result()


@pytest.mark.parametrize("code", [0, 9])
@pytest.mark.parametrize("before", [0, 1])
def test_a_call_that_exits_its_process_is_blamed_for_it(code: int, before: int) -> None:
    with WorkerProcesses(1) as executor:
        for _ in range(before):
            assert executor.submit(abs, -1).result() == 1
        with pytest.raises(leobench.RunError, match=f"ended by itself with exit code {code};") as raised:
            executor.submit(os._exit, code).result()
        assert "__main__" not in str(raised.value)
        assert executor.submit(abs, -1).result() == 1


def test_interrupted_at_its_end_it_leaves_no_thread(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    genuine, calls = WorkerProcesses.shutdown, list[bool]()

    def shutdown(self: WorkerProcesses, wait: bool = True, *, cancel_futures: bool = False) -> None:
        calls.append(cancel_futures)
        if len(calls) == 1:
            raise KeyboardInterrupt
        genuine(self, wait, cancel_futures=cancel_futures)

    monkeypatch.setattr(WorkerProcesses, "shutdown", shutdown)
    before = set(threading.enumerate())
    executor = WorkerProcesses(1)
    with pytest.raises(KeyboardInterrupt), executor:  # noqa: PT012 (leaving the block is what raises)
        executor.submit(begin_and_sleep, tmp_path / "begun")
        wait_for(tmp_path / "begun")
    assert not [thread for thread in set(threading.enumerate()) - before if thread.is_alive()]
