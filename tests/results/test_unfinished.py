"""Folders that killed runs leave behind, and their removal by the next run."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import leobench
from leobench import folder, unfinished
from leobench.errors import InputError
from tests.support.programs import start

if TYPE_CHECKING:
    import subprocess
    from types import FrameType

    from _typeshed import TraceFunction


def begun(quick: Path, out: Path) -> tuple[subprocess.Popen[str], Path]:
    """A run that takes long, and the folder it writes into."""
    before = set(out.parent.glob(".*"))
    process = start("run", quick, "--set", "duration=100000 s", "--out", out, "--quiet", cwd=quick.parent)
    deadline = time.monotonic() + 60
    while not (
        made := [entry for entry in set(out.parent.glob(".*")) - before if any(entry.glob("*.parquet"))]
    ):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return process, made[0]


def test_the_next_run_removes_what_a_killed_one_left_and_nothing_of_a_live_one(
    quick: Path, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    results.mkdir()
    killed, stale = begun(quick, results / "killed")
    live, used = begun(quick, results / "live")
    try:
        refused = start("run", quick, "--out", results / "live", "--force", cwd=quick.parent)
        said, errors = refused.communicate(timeout=60)
        assert (said, errors.count("\n")) == ("", 1)
        assert errors.startswith(
            f"leobench: {results}/live: another leobench is writing there; wait until it"
        )
        assert refused.returncode == 2
        killed.send_signal(signal.SIGKILL)
        killed.communicate(timeout=10)
        assert stale.is_dir()
        leobench.run(quick, out=results / "next")
        assert not stale.exists()
        assert (used / "events.parquet").is_file()
        assert {entry.name for entry in results.iterdir()} == {"next", used.name}
    finally:
        live.send_signal(signal.SIGINT)
        live.communicate(timeout=10)
    assert {entry.name for entry in results.iterdir()} == {"next"}


def test_one_of_several_that_start_at_once_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = unfinished.has_rival

    def look_late(made: Path) -> bool:
        time.sleep(0.1)  # Without turns, all have made their folders by now,
        found = genuine(made)
        time.sleep(0.1)  # and none has given up before the others look.
        return found

    monkeypatch.setattr(unfinished, "has_rival", look_late)
    monkeypatch.setattr(unfinished, "_TURN_S", 60)
    count = 3
    decided = threading.Barrier(count)

    def write(number: int) -> int | str:
        try:
            with folder.writing(tmp_path / "run", force=False) as partial:
                decided.wait(60)
                (partial / f"{number}.txt").touch()
        except InputError as error:
            decided.wait(60)
            return str(error)
        return number

    with ThreadPoolExecutor(count) as pool:
        outcomes = list(pool.map(write, range(count)))
    (winner,) = (outcome for outcome in outcomes if isinstance(outcome, int))
    assert [entry.name for entry in tmp_path.rglob("*")] == ["run", f"{winner}.txt"]
    assert all("another leobench is writing" in text for text in outcomes if isinstance(text, str))


def test_a_lock_on_the_folder_around_holds_nobody_up_for_long(tmp_path: Path) -> None:
    with unfinished.turn(tmp_path), folder.writing(tmp_path / "run", force=False):
        pass
    assert (tmp_path / "run").is_dir()


@pytest.mark.parametrize(
    "name", [".run.partial-00000000-01234567", ".run.partial-0123", ".run.partial-notes", ".run.txt"]
)
def test_what_is_not_of_this_machine_stays(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "notes.txt").touch()
    unfinished.clear(tmp_path)
    assert (tmp_path / name / "notes.txt").exists()


def test_a_result_that_was_being_replaced_stays_until_there_is_another(tmp_path: Path) -> None:
    replaced = unfinished.beside(tmp_path / "run", "replaced")
    replaced.mkdir()
    unfinished.clear(tmp_path)
    assert replaced.exists()
    (tmp_path / "run").mkdir()
    unfinished.clear(tmp_path)
    assert not replaced.exists()


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").touch()
    link = unfinished.beside(tmp_path / "run", "partial")
    link.symlink_to(tmp_path / "mine")
    unfinished.clear(tmp_path)
    assert (tmp_path / "mine" / "thesis.txt").exists()


def interrupting(number: int) -> TraceFunction:
    """Interrupts at the line of this number, counted as they run."""
    lines = itertools.count(1)

    def trace(frame: FrameType, event: str, argument: object) -> TraceFunction:
        del frame, argument
        if event == "line" and next(lines) == number:
            raise KeyboardInterrupt
        return trace

    return trace


def close_folders(within: Path) -> None:
    """Closes what an interruption left open, and with it unlocks it, as the end of the process would."""
    for entry in list(Path("/proc/self/fd").iterdir()):
        with suppress(FileNotFoundError):  # that of the list itself
            if entry.readlink().is_relative_to(within):
                os.close(int(entry.name))


def test_an_interruption_at_any_line_leaves_no_folder(tmp_path: Path) -> None:
    """Interrupts at the first line that runs, at the second, and so on, in Python's own modules too."""
    with unfinished.partial(tmp_path / "run") as partial:
        partial.rmdir()  # Nothing is imported any more.
    tracing = sys.gettrace()
    for number in itertools.count(1):
        sys.settrace(interrupting(number))
        try:
            with folder.writing(tmp_path / "run", force=False) as partial:
                sys.settrace(tracing)
                assert list(tmp_path.iterdir()) == [partial]
                assert number > 100, "the lines are seen"
                return
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(tracing)
            close_folders(tmp_path)
        assert list(tmp_path.iterdir()) == [], f"interrupted at line {number}"


def test_a_folder_that_is_cleared_away_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine, names = os.open, list[str]()

    def open_late(path: Path, *rest: int) -> int:
        names.append(path.name)
        if len(names) == 1:
            path.rmdir()
        return genuine(path, *rest)

    monkeypatch.setattr(os, "open", open_late)
    with unfinished.partial(tmp_path / "run") as partial:
        monkeypatch.undo()
        assert partial.is_dir()
        assert partial.name == names[1] != names[0]
        unfinished.clear(tmp_path)
        assert partial.is_dir()
