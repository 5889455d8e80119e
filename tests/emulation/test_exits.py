"""How programs end: their exit codes, and who gets an interrupt."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.paths import ROOT
from tests.support.programs import LEOBENCH, PATIENT, leobench, start, wait_until_gone

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("hosts")

ONE_FLOW = ROOT / "scenarios" / "one-flow.toml"
COUNT = (sys.executable, str(Path(__file__).with_name("host_programs.py")), "count", "-")


def test_every_program_has_its_exit_code(tmp_path: Path) -> None:
    """The last but one is asked to end, and the one before it does not listen."""
    others = ["sh -c 'exit 3'", "true", "sh -c 'trap \"\" TERM; sleep 3604'", "sleep 3604"]
    words = [word for other in others for word in ("--on", "server", other)]
    main = ("--host", "client", "--", "sh", "-c", "sleep 0.5; exit 7")
    ended = leobench("emulate", ONE_FLOW, *PATIENT, "--out", "out", *words, *main, cwd=tmp_path)
    assert ended.returncode == 7
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    codes = [(program["host"], program["exit_code"]) for program in manifest["programs"]]
    assert codes == [("server", 3), ("server", 0), ("server", None), ("server", 143), ("client", 7)]
    assert manifest["exit_code"] == 7
    said, *rest = ended.stderr.splitlines()
    assert said == "leobench: server: `sh -c exit 3` failed before the main program ended: exit code 3"
    assert not any("failed" in line for line in rest)


def alone(process: int) -> None:
    os.kill(process, signal.SIGINT)


def group(process: int) -> None:
    os.killpg(process, signal.SIGINT)


def through_terminal(words: list[str], interrupt: Callable[[int, int], None]) -> str:
    """The output of a command on a terminal of its own, interrupted once it has printed `ready` twice."""
    process, terminal = pty.fork()
    if process == 0:
        os.execv(words[0], words)  # noqa: S606 (no shell is wanted)
    said = b""
    try:
        while said.count(b"interrupts") < 2:
            try:
                said += os.read(terminal, 1_000)
            except OSError:  # the last process has closed it
                break
            if said.count(b"ready") == 2:
                said = said.replace(b"ready", b"begun")
                interrupt(process, terminal)
    finally:
        os.close(terminal)
        os.waitpid(process, 0)
    return said.decode()


@pytest.mark.parametrize("how", ["key", "key twice", "alone", "group"])
def test_programs_get_an_interrupt_once(how: str) -> None:
    """Whether the terminal sends it to all, somebody sends it to the group, or to leobench alone."""

    def interrupt(process: int, terminal: int) -> None:
        if "key" in how:
            os.write(terminal, b"\x03")
            if "twice" in how:
                # Longer than a program may be held up: two signals that wait are one.
                time.sleep(0.7)
                os.write(terminal, b"\x03")
        else:
            {"alone": alone, "group": group}[how](process)

    counted = " ".join(COUNT)
    words = ["emulate", str(ONE_FLOW), *PATIENT, "--on", "server", counted, "--", *COUNT]
    said = through_terminal([*LEOBENCH, *words], interrupt)
    expected = "2" if "twice" in how else "1"
    assert re.findall(r"(\d+) interrupts", said) == [expected] * 2, said


def test_an_interrupt_of_leobench_alone_ends_the_session(tmp_path: Path) -> None:
    """As Ctrl-C does: a shell that waits for a program ends only if that program is interrupted, too."""
    mark = f"3605.{os.getpid()}"
    command = f"echo ready; sleep {mark}; echo not reached"
    other = ("--on", "server", f"sleep {mark}")
    process = start("emulate", ONE_FLOW, *PATIENT, *other, "--", "sh", "-c", command, cwd=tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(1)  # A shell that is interrupted before it waits for its program goes on to wait.
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, ""), errors
    # How programs end that were interrupted is no failure.
    assert "failed" not in errors
    wait_until_gone(mark)


def test_an_interrupt_of_leobench_alone_before_the_main_program(tmp_path: Path) -> None:
    roles = ("--settle", "60000", "--on", "server", "echo ready", "--on", "client", "echo not reached")
    process = start("emulate", ONE_FLOW, *PATIENT, *roles, cwd=tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=30)
    assert (process.returncode, said) == (130, "")
    assert errors == "leobench: interrupted; nothing was written\n"


def test_a_network_that_breaks_off_ends_the_session(tmp_path: Path) -> None:
    """Here by its tables, which soon grow too large. The main program does not end when asked to."""
    changes = {"limits.tables": "10 kB", "record.interval": "100 us", "duration": "10 ms", "warm_up": "0 s"}
    set_ = [word for place, value in changes.items() for word in ("--set", f"{place}={value}")]
    main = ("--", "sh", "-c", "trap '' TERM; sleep 3606")
    began = time.monotonic()
    ended = leobench("emulate", ONE_FLOW, *PATIENT, *set_, "--out", "out", *main, cwd=tmp_path)
    assert ended.returncode == 1
    assert "that is more than `limits.tables`, 10 kB" in ended.stderr
    assert time.monotonic() - began < 60
    assert list(tmp_path.iterdir()) == []
