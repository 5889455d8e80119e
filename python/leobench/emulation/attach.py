"""Hosts that are containers: a network namespace that exists already gets the devices of a host.

The devices vanish when the session ends, and their addresses and routes with them: the host's own addresses
are on a device of their own. The rules by which packets from a device's address leave by that device stay, so
a `Keeper` removes them. Other settings of the namespace are left as they are.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leobench.emulation import forwarding, gateway, hosts, kernel
from leobench.emulation.keeper import Keeper
from leobench.errors import InputError, RunError, allowed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leobench.emulation.hosts import Host, Made

# The device of a host's own addresses.
_OWN = "leobench"
# `linux/rtnetlink.h` leaves numbers from 5 on to users: the origin of our rules.
_PROTOCOL = 76
_CONTAINER = "container:"
_ENGINES = ("docker", "podman")
_EEXIST = 17
# Loose mode (RFC 3704 section 2.4): packets to a device's own address may come in by another device.
_LOOSE = "2"


@dataclass(frozen=True)
class Attachment:
    """A host that is a container.

    Attributes:
        host: The host's name.
        process: A process of the container.
        namespace: A descriptor of its network namespace.
    """

    host: str
    process: str
    namespace: int


def attachments(given: Sequence[str], names: Sequence[str]) -> tuple[Attachment, ...]:
    """The containers that words such as `HOST=PID` or `HOST=container:NAME` mean.

    Raises:
        InputError: If there is no such host, process or container, or this user may not enter it.
    """
    found: list[Attachment] = []
    own = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    for words in given:
        try:
            attachment = _attachment(words, names)
            if os.path.sameopenfile(attachment.namespace, own):
                raise InputError(
                    f"process {attachment.process} has the network of this machine, not of a container"
                )
            if any(os.path.sameopenfile(attachment.namespace, each.namespace) for each in found):
                raise InputError("another host of the scenario is in that network already")
        except InputError as error:
            raise InputError(f"--attach {words}: {error}") from None
        found.append(attachment)
    os.close(own)
    return tuple(found)


def _attachment(given: str, names: Sequence[str]) -> Attachment:
    host, _, where = given.partition("=")
    if not where:
        raise InputError(f"is not a pair; allowed: HOST=PID or HOST={_CONTAINER}NAME")
    if host not in names:
        raise InputError(f"{host} is not a host of the scenario; {allowed(host, names)}")
    if os.geteuid() != 0:
        raise InputError("only root may put devices into another network namespace; run as root")
    process = _process(where.removeprefix(_CONTAINER)) if where.startswith(_CONTAINER) else where
    if not re.fullmatch(r"[1-9]\d*", process):
        raise InputError(f"{where} is neither a process nor {_CONTAINER}NAME")
    try:
        namespace = os.open(f"/proc/{process}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise InputError(f"there is no process {process}") from None
    except OSError as error:
        raise InputError(f"process {process}: {error.strerror}") from None
    return Attachment(host, process, namespace)


def _process(name: str) -> str:
    """The first process of a container, as its engine tells.

    Raises:
        InputError: If no engine knows such a container that runs.
    """
    engines = [engine for engine in _ENGINES if shutil.which(engine) is not None]
    if not engines:
        raise InputError("neither docker nor podman is installed; allowed: the number of a process")
    for engine in engines:
        words = [engine, "container", "inspect", "--format", "{{.State.Pid}}", "--", name]
        told = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 (no shell)
        if told.returncode == 0 and told.stdout.strip() not in ("", "0"):
            return told.stdout.strip()
    raise InputError(f"{' and '.join(engines)} know no such container that runs; start it first")


def keeper(attachments: Sequence[Attachment]) -> Keeper:
    """Removes the rules of a session, and of one before that was killed with its keeper, at the end."""

    def undo() -> None:
        for each in attachments:
            kernel.enter(each.namespace)
            _remove_rules()

    return Keeper(undo, [each.namespace for each in attachments])


def make(host: Host, others: Sequence[Host], attached: Attachment) -> Made:
    """Makes a host of a container, and leaves this thread there.

    Raises:
        RunError: If it has such devices already.
    """
    from pyroute2 import IPRoute

    kernel.enter(attached.namespace)
    namespaces = hosts.name_this(host.name)
    try:
        devices, offloads = hosts.open_devices(host)
        hosts.open_device(_OWN)  # open until this process ends
    except OSError as error:
        raise RunError(
            f"--attach {host.name}={attached.process}: its devices cannot be made there: {error.strerror}"
        ) from None
    for device in (_OWN, *(interface.device for interface in host.interfaces)):
        gateway.silence(device)
        forwarding.write(f"ipv4/conf/{device}/rp_filter", _LOOSE)
    _remove_rules()
    with IPRoute() as route:
        index = route.link_lookup(ifname=_OWN)[0]
        route.link("set", index=index, state="up")
        for address, length in zip(host.addresses, (32, 128), strict=True):
            route.addr("add", index=index, address=address, prefixlen=length, flags=hosts.IFA_F_NODAD)
        for number in range(len(host.interfaces)):
            _join(route, host, number, others)
    return hosts.Made(namespaces, devices, offloads)


def _join(route: Any, host: Host, number: int, others: Sequence[Host]) -> None:
    """Sets up a device. The first one leads to the other hosts, and everywhere if nothing did before."""
    interface = host.interfaces[number]
    index = route.link_lookup(ifname=interface.device)[0]
    hosts.prepare(route, index, interface)
    route.link("set", index=index, state="up")
    table = hosts.FIRST_TABLE + number
    for place, family in interface.families():
        address, length = interface.addresses[place], (32, 128)[place]
        route.addr("add", index=index, address=address, prefixlen=length, flags=hosts.IFA_F_NODAD)
        route.rule("add", family=family, src=address, table=table, priority=table, protocol=_PROTOCOL)
        default = {"family": family, "dst": ("0.0.0.0/0", "::/0")[place], "oif": index}
        route.route("add", **default, table=table)
        if number == 0:
            for other in gateway.addresses(others, place):
                way = default | {"dst": f"{other}/{length}"}
                route.route("add", **way, prefsrc=host.addresses[place])
            _add_unless_there(route, default | {"prefsrc": host.addresses[place]})


def _add_unless_there(route: Any, way: dict[str, Any]) -> None:
    from pyroute2 import NetlinkError

    try:
        route.route("add", **way)
    except NetlinkError as error:
        if error.code != _EEXIST:
            raise


def _remove_rules() -> None:
    from pyroute2 import IPRoute

    with IPRoute() as route:
        for family in (2, 10):
            for rule in route.get_rules(family=family):
                if rule.get_attr("FRA_PROTOCOL") == _PROTOCOL:
                    table = rule.get_attr("FRA_TABLE")
                    route.rule("del", family=family, table=table, priority=rule.get_attr("FRA_PRIORITY"))
