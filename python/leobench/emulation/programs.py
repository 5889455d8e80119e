"""The programs of a session, as the first process of its sandbox starts them and waits for them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from leobench.emulation import interrupts, listening, terminals
from leobench.errors import InputError, RunError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from leobench.emulation.hosts import Made

# What the first process of the sandbox is sent when the network has broken off.
NETWORK_ENDED = signal.SIGUSR1
# How long the other programs have after they were asked to end.
_GRACE_S = 1.0
# How long what a server has left behind has to listen: a daemon's first process ends at once.
_DAEMON_S = 1.0
# How long they have to end without being asked.
_OWN_END_S = 0.2
# Time between two looks at whether a server listens.
_LOOK_EVERY_S = 0.01


@dataclass(frozen=True)
class Program:
    """A program on a host.

    Attributes:
        host: The host's name.
        words: The program and its arguments.
        listens_within: For how many seconds the main program waits until this one listens; `None` if it does
            not wait for it.
        is_shell: Whether it is a shell for a user, which takes the terminal.
        environment: Variables of its environment, besides those of this process.
    """

    host: str
    words: tuple[str, ...]
    listens_within: float | None = None
    is_shell: bool = False
    environment: tuple[tuple[str, str], ...] = ()

    def command(self) -> str:
        """The command as messages show it."""
        return " ".join(self.words)


@dataclass(frozen=True)
class Exit:
    """How a program ended.

    Attributes:
        code: Its exit code; that of a shell if a signal ended it; None if it did not end when asked to.
        failed_early: Whether it failed by itself while the main program ran.
        cpu_s: Its processor time in seconds, with that of processes that it waited for; 0 if it did not
            end.
    """

    code: int | None
    failed_early: bool
    cpu_s: float = 0.0


class Supervisor:
    """Runs programs on hosts until the last of them, the main program, ends."""

    def __init__(self, programs: Sequence[Program], made: Mapping[str, Made]) -> None:
        self._programs, self._made = programs, made
        self._main = len(programs) - 1
        # The place of each program that runs, by its process.
        self._running: dict[int, int] = {}
        self._codes: list[int | None] = [None] * len(programs)
        self._cpu_s = [0.0] * len(programs)
        self._failed: set[int] = set()
        self._interrupted = self._to_pass_on = self._network_ended = False

    def run(self, settle_s: float, is_driven: Callable[[], bool]) -> list[Exit]:
        """Starts the programs, the main one after `settle_s`, and asks the others to end when it has ended.

        Raises:
            RunError: If one cannot be started.
            InputError: If one that should listen fails instead.
            KeyboardInterrupt: If the session is interrupted before the main program starts.
        """
        if self._programs[self._main].is_shell:
            terminals.take()
        self._start_others(settle_s)
        signal.signal(signal.SIGINT, self._interrupt)
        signal.signal(interrupts.PASSED_ON, self._pass_on)
        signal.signal(NETWORK_ENDED, self._end)
        self._start(self._main)
        if self._to_pass_on:
            self._pass_on()
        while self._main in self._running.values() and is_driven() and not self._network_ended:
            self._note_failure(self._reap(os.WUNTRACED))
        # A server that serves once ends by itself.
        self._await(_OWN_END_S)
        for process in self._running:
            os.kill(process, signal.SIGTERM)
        self._await(_GRACE_S)
        return [
            Exit(code, place in self._failed, self._cpu_s[place]) for place, code in enumerate(self._codes)
        ]

    def _start_others(self, settle_s: float) -> None:
        """Starts all programs but the main one, and waits until that may start, too."""
        begun = time.monotonic()
        for place, program in enumerate(self._programs[: self._main]):
            if program.listens_within is None:
                self._start(place)
                continue
            self._made[program.host].enter()
            before = listening.sockets()
            self._start(place)
            self._await_listener(place, before, program.listens_within)
        if any(program.listens_within is None for program in self._programs[: self._main]):
            time.sleep(max(0.0, begun + settle_s - time.monotonic()))

    def _await_listener(self, place: int, before: set[tuple[str, str]], seconds: float) -> None:
        """Waits until a new socket of its host listens, at most so long."""
        program = self._programs[place]
        self._made[program.host].enter()
        limit = time.monotonic() + seconds
        daemon_limit = 0.0
        while not listening.sockets() - before:
            self._reap(os.WNOHANG)
            code = self._codes[place]
            if code == 0:  # what it has left behind may listen in a moment
                daemon_limit = daemon_limit or time.monotonic() + _DAEMON_S
            if code or (daemon_limit and time.monotonic() > daemon_limit):
                raise InputError(
                    f"{program.host}: `{program.command()}` ended before it listened: exit code {code}"
                )
            if time.monotonic() > limit:
                said = f"was not listening after {seconds:g} s; starting the main program anyway"
                sys.stderr.write(f"leobench: {program.host}: `{program.command()}` {said}\n")
                sys.stderr.flush()
                return
            time.sleep(_LOOK_EVERY_S)

    def _start(self, place: int) -> None:
        """Starts a program on its host: with the standard input of this process if it is the main one."""
        program = self._programs[place]
        self._made[program.host].enter()
        try:
            process = subprocess.Popen(  # noqa: S603 (the user's own words)
                program.words,
                stdin=None if place == self._main else subprocess.DEVNULL,
                env={**os.environ, "LEOBENCH_HOST": program.host, **dict(program.environment)},
            )
        except OSError as error:
            raise RunError(f"{program.words[0]}: cannot be started: {error.strerror}") from error
        process.returncode = 0  # it is waited for with all others
        self._running[process.pid] = place

    def _note_failure(self, ended: int | None) -> None:
        if ended is not None and ended != self._main and self._codes[ended] != 0 and not self._interrupted:
            self._failed.add(ended)

    def _interrupt(self, *_: object) -> None:
        """Leaves an interrupt to the programs, which have it, too; how they end then is no failure."""
        self._interrupted = True

    def _pass_on(self, *_: object) -> None:
        """Interrupts the group of the main program, as a terminal would, now or once it has started."""
        self._interrupted = self._to_pass_on = True
        for process in self._main_process():
            _interrupt_group(process)
            self._to_pass_on = False

    def _end(self, *_: object) -> None:
        """Ends the main program, and so the wait for it: there is nothing left that it could do."""
        self._network_ended = True
        for process in self._main_process():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def _main_process(self) -> list[int]:
        """The process of the main program, if it runs."""
        return [process for process, place in self._running.items() if place == self._main]

    def _await(self, seconds: float) -> None:
        """Waits for programs to end, at most so long."""
        limit = time.monotonic() + seconds
        while self._running and time.monotonic() < limit:
            if self._reap(os.WNOHANG) is None:
                time.sleep(0.01)

    def _reap(self, options: int) -> int | None:
        """Waits for any process, as the first one of a namespace must: programs leave some behind.

        Returns:
            The place of the program that ended, if one did.
        """
        try:
            process, status, used = os.wait4(-1, options)
        except ChildProcessError:
            return None
        if os.WIFSTOPPED(status):
            # Nobody else could continue the shell itself (`suspend`); other stopped processes are its jobs.
            if self._running.get(process) == self._main and self._programs[self._main].is_shell:
                os.kill(process, signal.SIGCONT)
            return None
        place = self._running.pop(process, None)
        if place is not None:
            code = os.waitstatus_to_exitcode(status)
            self._codes[place] = code if code >= 0 else 128 - code
            self._cpu_s[place] = used.ru_utime + used.ru_stime
        return place


def _interrupt_group(leading: int) -> None:
    """Interrupts the processes of the sandbox that are in the group of one of them."""
    with contextlib.suppress(ProcessLookupError):
        group = os.getpgid(leading)
        for process in (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()):
            with contextlib.suppress(ProcessLookupError):
                if process != os.getpid() and os.getpgid(process) == group:
                    os.kill(process, signal.SIGINT)
