"""Programs or flows on hosts: a sandbox of processes around the driver, which leaves nothing behind.

This process makes a child, which leaves the namespaces of processes and mounts. Its own child is the first
process of the new ones: it makes the hosts, starts the programs if there are any, and drives the network.
Each dies with its parent, and with the first process of a namespace the kernel kills all others. No namespace
and no device has a name outside, so all of them vanish with the processes, even if this one is killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from leobench.emulation import (
    ends,
    hosts,
    interrupts,
    kernel,
    moves,
    name_service,
    sockets,
    spin,
    terminals,
)
from leobench.emulation.programs import NETWORK_ENDED, Exit, Supervisor
from leobench.emulation.surroundings import Surroundings
from leobench.errors import InputError, RunError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leobench._core import Scenario
    from leobench.emulation.programs import Program
    from leobench.emulation.surroundings import Opened
    from leobench.engine import Recording

    Progress = Callable[[float, float, int], object]

# Longer than anybody waits; the driver is stopped when the main program has ended.
_FOREVER_S = 1e9
_NONE = Surroundings()
# Time between two reports of progress.
_REPORT_EVERY_S = 0.1


@dataclass(frozen=True)
class Settings:
    """How the network follows the clock; times in seconds, as in the table `real` of a scenario.

    Attributes:
        lateness: By how much 99 of 100 packets may be late.
        stall: For how long the driver may stand still.
        spin: How long before something is due the driver does not sleep any more.
        settle: How long the other programs have before the main one starts.
        busy: The share of their time for which the processors may be at work while programs need them.
        waited: The share of any tenth of a second for which a program may wait for a processor.
    """

    lateness: float
    stall: float
    spin: float
    settle: float
    busy: float
    waited: float

    @classmethod
    def of(cls, scenario: Scenario) -> Settings:
        """Those of a scenario."""
        return cls(*scenario.real)


@dataclass(frozen=True)
class Ended:
    """The outcome of a session.

    Attributes:
        code: The exit code of the main program; that of a shell if a signal ended it.
        summary: The summary of the network, as JSON.
        verdict: How far the times can be trusted; and the round-trip times of QUIC's spin bit, as `spin`.
        stalls: By flow of the scenario, from when to when (in seconds) it stood still, if it did.
        connected: Names of the flows whose handshake was completed by at least one end.
        exits: How each program ended.
    """

    code: int
    summary: str
    verdict: dict[str, Any]
    stalls: dict[str, tuple[float, float]] = field(default_factory=dict)
    connected: Sequence[str] = ()
    exits: tuple[Exit, ...] = ()


def run(
    scenario: Scenario,
    programs: Sequence[Program],
    settings: Settings,
    recording: Recording,
    progress: Progress | None = None,
    surroundings: Surroundings = _NONE,
) -> Ended:
    """Runs programs on the hosts of a scenario until the last one, the main program, ends.

    Without a program, the flows of the scenario run on the hosts, as long as the scenario says.

    Args:
        scenario: The scenario.
        programs: What runs where.
        settings: How the network follows the clock.
        recording: What is written.
        progress: Called about ten times a second with the seconds that have passed, those that the sources
            run, and a zero. Its exceptions end the run.
        surroundings: What there is beside the hosts.

    Raises:
        InputError: If this machine or user cannot have the surroundings, or a program that should listen
            fails instead.
        RunError: If the sandbox cannot be made, or the network breaks off.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    with surroundings.opened() as opened:
        job = _Job(scenario, programs, settings, recording, opened)
        if programs:
            kept = terminals.kept() if programs[-1].is_shell else contextlib.nullcontext()
            with interrupts.told() as interrupted, kept:
                said = _reported(job, progress, interrupted)
        else:
            said = _reported(job, progress, None)
    if not said:
        raise RunError("the emulation was killed; its network and its hosts are gone")
    told = json.loads(said)
    if "interrupted" in told:
        raise KeyboardInterrupt
    if "refused" in told:
        raise InputError(told["refused"])
    if "error" in told:
        raise RunError(told["error"])
    verdict = {**told["verdict"], "spin": spin.summary(told["spin"])}
    exits = tuple(Exit(*each) for each in told["exits"])
    if programs and recording.tables is not None:
        sockets.write_table(told["sockets"], recording.tables)
    return Ended(told["code"], told["summary"], verdict, told["stalls"], told["connected"], exits)


@dataclass(frozen=True)
class _Job:
    """The arguments of `run`, for the processes of the sandbox."""

    scenario: Scenario
    programs: Sequence[Program]
    settings: Settings
    recording: Recording
    surroundings: Opened


def _reported(job: _Job, progress: Progress | None, interrupted: int | None) -> bytes:
    """Runs a sandbox, and returns what it reports; nothing if it was killed.

    Args:
        job: What it works on.
        progress: That of `run`.
        interrupted: Tells of interrupts of this process, which are the programs' affair; they end the run
            unless given.
    """
    reports, report = os.pipe()
    with contextlib.nullcontext() if interrupted is None else interrupts.held():
        child = os.fork()
        if child == 0:
            os.close(reports)
            _leave(lambda: _isolate(job, report, interrupted), report)
    os.close(report)
    try:
        job.surroundings.serve()
        with os.fdopen(reports, "rb") as pipe:
            if progress is not None:
                _wait_for(pipe.fileno(), job.scenario, progress)
            return pipe.read()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _wait_for(report: int, scenario: Scenario, progress: Progress) -> None:
    """Tells how far a run is until it reports."""
    began = time.monotonic()
    while not select.select([report], [], [], _REPORT_EVERY_S)[0]:
        progress(time.monotonic() - began, scenario.duration, 0)


def _leave(work: Any, report: int) -> NoReturn:
    """Does the work of a child and ends it, without its parent's clean-up; tells of a failure."""
    try:
        work()
    except KeyboardInterrupt:
        with os.fdopen(os.dup(report), "w", encoding="utf-8") as pipe:
            json.dump({"interrupted": True}, pipe)
    except InputError as error:
        with os.fdopen(os.dup(report), "w", encoding="utf-8") as pipe:
            json.dump({"refused": str(error)}, pipe)
    except BaseException as error:
        with os.fdopen(os.dup(report), "w", encoding="utf-8") as pipe:
            json.dump({"error": str(error) or type(error).__name__}, pipe)
    os._exit(0)


def _isolate(job: _Job, report: int, interrupted: int | None) -> None:
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), lambda *_: None)
    # As SIGINT in the sandbox, until the main program is there to be interrupted.
    signal.signal(interrupts.PASSED_ON, signal.default_int_handler)
    _enter_namespaces()
    kernel.die_with_parent()
    alive, life = os.pipe()
    over, works = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(life)
        os.close(over)
        kernel.die_with_parent()
        os.set_blocking(alive, False)
        if _is_closed(alive):  # the parent ended before it could be asked for
            os._exit(0)
        _leave(lambda: _drive(job, report), report)
    os.close(report)
    os.close(works)
    if interrupted is not None:
        interrupts.pass_on(interrupted, child, over)
    os.waitpid(child, 0)


def _enter_namespaces() -> None:
    """Leaves the namespaces of processes and mounts; a user becomes root of a namespace of users for it."""
    if os.geteuid() == 0:
        kernel.unshare(kernel.CLONE_NEWPID | kernel.CLONE_NEWNS)
    else:
        kernel.enter_user_namespace(kernel.CLONE_NEWUSER | kernel.CLONE_NEWPID | kernel.CLONE_NEWNS)


def _is_closed(pipe: int) -> bool:
    try:
        return os.read(pipe, 1) == b""
    except BlockingIOError:
        return False


def _drive(job: _Job, report: int) -> None:
    """The first process of the sandbox."""
    if job.programs:
        # Until the main program is there to be interrupted.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        interrupts.release()
    from leobench import _core

    known = hosts.of(job.scenario, moving=bool(job.programs))
    aliases = ends.of(job.scenario).aliases
    _mount(job.surroundings.table(known, aliases), job.surroundings.resolver(known))
    made = job.surroundings.make(known)
    devices = []
    for host in known:
        addresses = [list(interface.addresses) for interface in host.interfaces]
        attached = list(zip(addresses, made[host.name].devices, strict=True))
        devices.append((host.name, attached, made[host.name].network))
    settings, recording = job.settings, job.recording
    emulation = _core.Emulation(
        job.scenario,
        devices,
        not job.programs,
        recording.tables,
        recording.qlog,
        recording.pcap,
        recording.snaplen,
        settings.lateness,
        settings.stall,
        settings.spin,
        settings.busy,
        settings.waited,
        next((each.offloads for each in made.values() if each.devices), hosts.OFFLOADS),
    )
    begin = job.surroundings.connect(emulation, known, made)
    if any(host.moves for host in known):
        moves.follow(emulation, known, made)
    ended: dict[str, Any] = {}
    watch = sockets.SocketWatch(made) if job.programs and recording.tables else None

    def follow() -> None:
        try:
            if watch is not None:
                watch.start()
            begin()
            seconds = _FOREVER_S if job.programs else None
            ended["summary"], verdict, ended["stalls"], ended["connected"], shown = emulation.run(seconds)
            ended["verdict"], ended["spin"] = json.loads(verdict), json.loads(shown)
        except Exception as error:
            ended["error"] = str(error)
        if "main" not in ended:
            os.kill(1, NETWORK_ENDED)

    signal.signal(NETWORK_ENDED, lambda *_: None)
    driver = threading.Thread(target=follow)
    driver.start()
    exits: list[Exit] = []
    if job.programs:
        exits = Supervisor(job.programs, made).run(settings.settle, driver.is_alive)
        ended["main"] = True
        emulation.stop()
    driver.join()
    ended["sockets"] = [] if watch is None else watch.close()
    ended["code"] = (exits[-1].code if exits else None) or 0
    ended["exits"] = [[each.code, each.failed_early, each.cpu_s] for each in exits]
    told = {"error": ended["error"]} if "error" in ended else ended
    with os.fdopen(report, "w", encoding="utf-8") as pipe:
        json.dump(told, pipe)


def _mount(table: str, resolver: str) -> None:
    """Lets this sandbox see its own processes, the names of its hosts, and its name server."""
    kernel.mount("none", "/", "none", kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("proc", "/proc", "proc")
    # Services of this machine that would answer for names past the network are not there.
    others = [(service, "") for service in name_service.SERVICES]
    for target, text in (("/etc/hosts", table), (str(name_service.RESOLVER), resolver), *others):
        if not Path(target).exists():
            continue
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="leobench-") as file:
            file.write(text)
            file.flush()
            Path(file.name).chmod(0o644)
            # The file goes on to exist where it is mounted.
            kernel.mount(file.name, target, "none", kernel.MS_BIND)
