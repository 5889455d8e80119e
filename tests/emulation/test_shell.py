"""A shell on a host: its prompt, its jobs, its exit code, and the terminal that it gives back."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import termios
import time
from typing import TYPE_CHECKING

import pytest

from tests.support.programs import LEOBENCH, PATIENT, leobench, wait_until_gone

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("hosts")

LINK = ("--rate", "20Mbps", "--delay", "5ms")
# Bash without the files of whoever runs the tests: as in a fresh account.
BASHRC = "PS1='> '\n"


class Terminal:
    """A command on a terminal of its own, as its leader or below a script that goes on."""

    def __init__(self, words: list[str], home: Path, shell: str) -> None:
        self.said = ""
        self.process, self._terminal = pty.fork()
        if self.process == 0:
            os.chdir(home)
            os.environ.update(HOME=str(home), SHELL=shell, TERM="dumb")
            os.execv(words[0], words)  # noqa: S606 (no shell is wanted)

    def write(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def wait_for(self, text: str, seconds: float = 30) -> str:
        """Reads until a text has come since the last one that was waited for; all up to it."""
        limit = time.monotonic() + seconds
        os.set_blocking(self._terminal, False)
        while text not in self.said:
            assert time.monotonic() < limit, f"{text!r} does not come: {self.said}"
            try:
                self.said += os.read(self._terminal, 10_000).decode(errors="replace")
            except BlockingIOError:
                time.sleep(0.01)
            except OSError:
                break
        before, found, self.said = self.said.partition(text)
        assert found, f"{text!r} did not come: {before}"
        return before

    def foreground(self) -> int:
        return os.tcgetpgrp(self._terminal)

    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self._terminal)[3] & termios.ECHO)

    def end(self) -> int:
        """The exit code of the command."""
        _, status = os.waitpid(self.process, 0)
        os.close(self._terminal)
        return os.waitstatus_to_exitcode(status)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / ".bashrc").write_text(BASHRC, encoding="utf-8")
    return tmp_path


def shell_words(*more: str) -> list[str]:
    return [*LEOBENCH, "shell", *LINK, *PATIENT, *more]


def found(shell: str) -> str:
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"{shell} is not installed")
    return path


def test_jobs_of_the_shell_are_stopped_continued_and_interrupted(home: Path) -> None:
    """By the keys of the terminal, which the shell and leobench survive."""
    mark = f"3607.{os.getpid()}"
    terminal = Terminal(shell_words(), home, found("bash"))
    terminal.wait_for("leobench: a shell on client; near host: client, far host: server; `exit` ends it")
    terminal.wait_for("[leobench client] > ")
    terminal.write(f"sleep {mark}\n")
    time.sleep(0.5)
    terminal.write("\x1a")
    terminal.wait_for("Stopped")
    terminal.wait_for("> ")
    terminal.write("jobs; fg\n")
    terminal.wait_for(f"sleep {mark}\r\n")
    terminal.wait_for(f"sleep {mark}\r\n")
    time.sleep(0.5)
    terminal.write("\x03")
    terminal.wait_for("> ")
    terminal.write("echo the code is $?, on $LEOBENCH_HOST\n")
    terminal.wait_for("the code is 130, on client\r\n")
    terminal.write("suspend\n")
    terminal.wait_for("> ")
    terminal.write("exit 3\n")
    terminal.wait_for("leobench: valid: ")
    assert terminal.end() == 3
    wait_until_gone(mark)


@pytest.mark.parametrize("shell", ["bash", "dash", "zsh", "fish"])
def test_the_terminal_comes_back(shell: str, home: Path) -> None:
    """Below a script, which has the terminal again, with its settings, and the exit code of each shell."""
    script = f'{" ".join(shell_words())}\necho "it is $?"\nread -r line\necho "got $line"\n'
    (home / ".zshrc").touch()
    terminal = Terminal([found("sh"), "-c", script], home, found(shell))
    terminal.wait_for("`exit` ends it\r\n")
    time.sleep(1 if shell in ("bash", "dash") else 3)
    terminal.write("sh -c 'exit 0'; exit 5\n")
    terminal.wait_for("it is 5\r\n", 60)
    assert terminal.foreground() == terminal.process
    assert terminal.echoes()
    terminal.write("a line\n")
    terminal.wait_for("got a line\r\n")
    assert terminal.end() == 0


def test_without_a_terminal_the_shell_reads_commands(tmp_path: Path) -> None:
    ended = subprocess.run(
        [*shell_words("--quiet"), "--out", "out"],
        input="getent hosts server\nexit 4\n",
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"SHELL": found("sh")},
        timeout=60,
    )
    assert (ended.returncode, ended.stderr) == (4, "")
    assert ended.stdout.endswith("server\n")
    assert (tmp_path / "out" / "scenario.json").is_file()


def test_hanging_up_ends_everything(home: Path) -> None:
    mark = f"3608.{os.getpid()}"
    terminal = Terminal(shell_words(), home, found("bash"))
    terminal.wait_for("[leobench client] > ")
    terminal.write(f"sleep {mark} & sleep {mark}\n")
    time.sleep(0.5)
    os.kill(terminal.process, signal.SIGHUP)
    assert terminal.end() in {129, -signal.SIGHUP}
    wait_until_gone(mark)


def test_a_shell_that_is_not_there_is_refused(tmp_path: Path) -> None:
    ended = leobench("shell", *LINK, cwd=tmp_path, SHELL="/no/such/shell")
    assert ended.returncode == 2
    said = "leobench: /no/such/shell: no such program; install it, or give its whole path\n"
    assert ended.stderr.endswith(said)


def test_a_command_is_for_emulate(tmp_path: Path) -> None:
    ended = leobench("shell", "starlink", "--", "ping", cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.count("\n") == 1


def test_the_standard_input_is_the_shells(tmp_path: Path) -> None:
    ended = leobench("shell", "-", cwd=tmp_path)
    said = "leobench: -: the standard input is the shell's; allowed: a scenario file\n"
    assert (ended.returncode, ended.stderr) == (2, said)
