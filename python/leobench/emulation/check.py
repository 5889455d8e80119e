"""Checks of programs, flows and the machine before a program runs on a host."""

from __future__ import annotations

import os
import platform
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from leobench import version
from leobench.emulation import containers, ends, hosts, trial
from leobench.errors import InputError, allowed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leobench._core import Scenario
    from leobench.emulation.programs import Program
    from leobench.emulation.surroundings import Surroundings

# More than that, and their devices are more than a process may open.
_MOST_HOSTS = 200
# `linux/capability.h`: what root needs for namespaces and mounts, and for devices.
_CAPABILITIES = {"CAP_SYS_ADMIN": 21, "CAP_NET_ADMIN": 12}


def checked(
    scenario: Scenario, programs: Sequence[Program], surroundings: Surroundings | None = None
) -> list[Program]:
    """The programs, each with the name of its host.

    Raises:
        InputError: If a host or a program does not exist, this machine or user cannot have hosts, or the
            scenario has what only virtual time can run.
    """
    _check_build()
    known = hosts.of(scenario)
    names = [host.name for host in known]
    usual = ends.of(scenario).near
    if surroundings is not None:
        surroundings.check(known)
        names += surroundings.more_hosts
        usual = next(iter(surroundings.more_hosts), usual)
    placed = [replace(program, host=program.host or usual) for program in programs]
    for program in placed:
        if program.host not in names:
            raise InputError(f"{program.host}: is not a host of the scenario; {allowed(program.host, names)}")
        if shutil.which(program.words[0]) is None:
            raise InputError(f"{program.words[0]}: no such program; install it, or give its whole path")
    _check_count(len(names))
    check_machine()
    return placed


def check_flows(scenario: Scenario) -> None:
    """Checks that the flows of a scenario, which is for real time, can run on this machine.

    Raises:
        InputError: If this machine or user cannot have hosts, or its kernel lacks what a flow asks for.
    """
    from leobench import _core

    _check_build()
    check_machine()
    _core.check_kernel(scenario)


def _check_build() -> None:
    """Checks that the core can drive runs in real time.

    Raises:
        InputError: If it was built without them.
    """
    from leobench import _core

    if version.REAL_TIME not in _core.FEATURES:
        raise InputError(
            f"real time: this build for {platform.system()} has none; "
            "allowed: `leobench run` in virtual time (`--engine virtual`), or leobench on Linux"
        )


def _check_count(count: int) -> None:
    if count > _MOST_HOSTS:
        raise InputError(f"nodes: {count:,} are too many for real time; allowed: up to {_MOST_HOSTS}")


def check_machine() -> None:
    """Checks that this machine and user can have hosts.

    Raises:
        InputError: If not; the text says what is missing.
    """
    if platform.system() != "Linux":
        raise InputError(f"hosts are network namespaces of Linux, and this is {platform.system()}")
    if not hosts.DEVICE.exists():
        raise InputError(f"{hosts.DEVICE}: does not exist; {containers.device_advice(hosts.DEVICE)}")
    if not os.access(hosts.DEVICE, os.R_OK | os.W_OK):
        raise InputError(
            f"{hosts.DEVICE}: cannot be opened by this user; run as root, or let the user open it"
        )
    fault = hosts.device_fault()
    if fault is not None:
        raise InputError(f"{hosts.DEVICE}: {fault}")
    if os.geteuid() == 0 and (lacking := _lacking_capabilities()):
        options = " ".join(f"--cap-add {name.removeprefix('CAP_')}" for name in lacking)
        raise InputError(
            f"root lacks {' and '.join(lacking)} here, which network namespaces need; "
            f"in a container, start it with {options}"
        )
    if os.geteuid() != 0 and (fault := trial.fault()) is not None:
        raise InputError(fault)


def _lacking_capabilities() -> list[str]:
    """The capabilities that this process needs to make hosts as root, and does not have."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    held = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("CapEff:"))
    return [name for name, bit in _CAPABILITIES.items() if not held >> bit & 1]
