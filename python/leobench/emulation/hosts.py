"""The hosts of a scenario: each a network namespace with a TUN device for every link it is attached to."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import struct
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench.emulation import kernel

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from leobench._core import Scenario

DEVICE = Path("/dev/net/tun")
_OTHER_DEVICE = f"is not a TUN device; remove it and create one (mknod {DEVICE} c 10 200)"

# `linux/if_tun.h`: the requests, and a device for IP packets with no header but that of offloads.
_TUNSETIFF, _TUNSETOFFLOAD, _TUNGETFEATURES = 0x4004_54CA, 0x4004_54D0, 0x8004_54CF
_IFF_TUN, _IFF_NO_PI, _IFF_VNET_HDR = 0x0001, 0x1000, 0x4000
# Checksums, and long segments of TCP over IPv4 and IPv6, with ECN too.
_TUN_F_TCP = 0x01 | 0x02 | 0x04 | 0x08
# Several datagrams of UDP at once, over IPv4 and IPv6 (Linux 6.2).
_TUN_F_UDP = 0x20 | 0x40
# `linux/if.h`: the longest name of a device, without the zero at its end.
_LONGEST_NAME = 15
_LONGEST_HOST_NAME = 64
# The largest MTU of a TUN device.
_LONGEST_PACKET = 65_535
# What the kernel gives to a device of which nobody says more, and what programs expect.
_USUAL_MTU = 1_500
# How many packets wait in a device for the driver: 20 ms of 1.4 Gbit/s in packets of 700 bytes.
_WAITING = 5_000
_FAMILIES = (socket.AF_INET, socket.AF_INET6)
# The least MTU over which a host speaks IPv6 (RFC 8200 section 5).
_LEAST_MTU_V6 = 1_280
# `linux/if_addr.h`: an IPv6 address that may be used at once, without asking who else has it.
IFA_F_NODAD = 0x02
# `net/ipv4/ping.c`: the last group that may be allowed to ping.
_LAST_GROUP = 2**31 - 1
# The metric of ways over links that do not change, on a host whose other links do.
_LAST_RESORT = 1_000
# The first of the routing tables that packets from an interface's address use.
FIRST_TABLE = 1_000


def device_fault() -> str | None:
    """Why `DEVICE`, which exists, gives no TUN devices; `None` if it does."""
    import errno
    import fcntl

    try:
        descriptor = os.open(DEVICE, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ENODEV, errno.ENXIO):
            return "has no driver; load the kernel module `tun` (modprobe tun)"
        if error.errno == errno.EPERM:
            return f"cannot be opened in this container; start it with --device {DEVICE}"
        if error.errno != errno.EISDIR:
            return f"cannot be opened: {error.strerror}"
        return _OTHER_DEVICE
    try:
        fcntl.ioctl(descriptor, _TUNGETFEATURES, bytes(4))
    except OSError:
        return _OTHER_DEVICE
    finally:
        os.close(descriptor)
    return None


class Offloads(StrEnum):
    """Work that devices take over from hosts, as network cards do."""

    NONE = "none"
    # Checksums, and the cutting of long segments.
    SEGMENTS = "segments"
    # Of several datagrams at once, too.
    DATAGRAMS = "datagrams"


# The most that devices are asked for.
OFFLOADS = Offloads.DATAGRAMS


@dataclass(frozen=True)
class Interface:
    """A host's attachment to a link.

    Attributes:
        link: The link's name in the scenario.
        device: The name of the device on the host.
        addresses: The IPv4 and the IPv6 address.
        mtu: Bytes of the longest packet.
        neighbour: On a host that moves, for a link that stays: the addresses of the host at its other end.
    """

    link: str
    device: str
    addresses: tuple[str, str]
    mtu: int
    neighbour: tuple[str, str] | None = None

    def families(self) -> list[tuple[int, int]]:
        """The address families that the link carries, each with the place of its address."""
        return [
            (place, family)
            for place, family in enumerate(_FAMILIES)
            if family == socket.AF_INET or self.mtu >= _LEAST_MTU_V6
        ]


@dataclass(frozen=True)
class Host:
    """A node of a scenario as a host.

    Attributes:
        name: The node's name.
        addresses: The IPv4 and the IPv6 address that stay whatever happens to its links.
        interfaces: One for every link.
        moves: Whether it has the addresses of the links in use only, instead of one that stays.
        unused: The links that it does not use at the start.
    """

    name: str
    addresses: tuple[str, str]
    interfaces: tuple[Interface, ...]
    moves: bool = False
    unused: frozenset[str] = frozenset()


def of(scenario: Scenario, *, moving: bool = True) -> list[Host]:
    """The hosts of a scenario, in its order; those that migrate change addresses if they may be `moving`."""
    from leobench import _core

    changing = _changing(scenario) if moving else {}
    places = _core.places(scenario)
    own = {name: (addresses[0], addresses[1]) for name, addresses, _ in places}
    ends: dict[str, list[str]] = {}
    for name, _, links in places:
        for link, _, _ in links:
            ends.setdefault(link, []).append(name)
    hosts = []
    for name, _, links in places:
        used, unused = changing.get(name, (set(), set()))
        devices = _device_names([link for link, _, _ in links])
        interfaces = []
        for (link, its, mtu), device in zip(links, devices, strict=True):
            stays = name in changing and link not in used | unused
            others = [own[other] for other in ends[link] if other != name and stays]
            interfaces.append(Interface(link, device, (its[0], its[1]), _mtu(mtu), *others[:1]))
        hosts.append(Host(name, own[name], tuple(interfaces), name in changing, frozenset(unused)))
    return hosts


def table(hosts: Iterable[Host], aliases: Mapping[str, str] | None = None) -> str:
    """The text of `/etc/hosts`: a host's name is its IPv4 address, and with `.v6` behind it the other one.

    Args:
        hosts: The hosts.
        aliases: Other names, with the host of each.
    """
    lines = ["127.0.0.1 localhost", "::1 localhost"]
    for host in hosts:
        others = [alias for alias, name in (aliases or {}).items() if name == host.name]
        names = [host.name, *others]
        lines.append(" ".join([host.addresses[0], *names]))
        lines.append(" ".join([host.addresses[1], *(f"{name}.v6" for name in names)]))
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Made:
    """A host that was made.

    Attributes:
        namespaces: Descriptors of its namespaces, that of networks first.
        devices: Descriptors of its devices, in the order of the interfaces.
        offloads: What its devices take over: the kernel tells.
    """

    namespaces: tuple[int, ...]
    devices: tuple[int, ...]
    offloads: Offloads

    @property
    def network(self) -> int:
        """The descriptor of its network namespace."""
        return self.namespaces[0]

    def enter(self) -> None:
        """Enters the host with this thread."""
        for namespace in self.namespaces:
            kernel.enter(namespace)


def make(host: Host) -> Made:
    """Makes a host, and leaves this thread on it."""
    namespaces = _enter_new(host.name, kernel.CLONE_NEWNET | kernel.CLONE_NEWUTS)
    devices, offloads = open_devices(host)
    _settle()
    _configure(host)
    return Made(namespaces, devices, offloads)


def make_without_links(name: str) -> Made:
    """Makes a host that no link leads to, with nothing but a loopback, and leaves this thread on it."""
    from pyroute2 import IPRoute

    namespaces = _enter_new(name, kernel.CLONE_NEWNET | kernel.CLONE_NEWUTS)
    _settle()
    with IPRoute() as route:
        route.link("set", index=route.link_lookup(ifname="lo")[0], state="up")
    return Made(namespaces, (), OFFLOADS)


def name_this(name: str) -> tuple[int, ...]:
    """Makes this thread's place a host of this name, in the network namespace that it is in."""
    return _enter_new(name, kernel.CLONE_NEWUTS)


def open_devices(host: Host) -> tuple[tuple[int, ...], Offloads]:
    """Makes the TUN devices of a host where this thread is; what they take over."""
    devices = [open_device(interface.device) for interface in host.interfaces]
    offloads = {_offload(device) for device in devices} or {OFFLOADS}
    return tuple(devices), offloads.pop()


def _enter_new(name: str, kinds: int) -> tuple[int, ...]:
    kernel.unshare(kinds)
    kernel.set_host_name(name[:_LONGEST_HOST_NAME])
    own = Path("/proc/thread-self/ns")
    return tuple(os.open(own / kind, os.O_RDONLY | os.O_CLOEXEC) for kind in ("net", "uts"))


def _changing(scenario: Scenario) -> dict[str, tuple[set[str], set[str]]]:
    """The hosts whose address changes, each with the links that it uses at the start, and later."""
    spec = json.loads(scenario.to_json())
    changing: dict[str, tuple[set[str], set[str]]] = {}
    for handover in spec.get("handovers", {}).values():
        if handover["kind"] == "migrate":
            first, *others = handover["links"]
            used, unused = changing.setdefault(handover["node"], (set(), set()))
            used.add(first)
            unused.update(set(others) - {first})
    return changing


def _device_names(links: Sequence[str]) -> list[str]:
    """Names that the kernel takes, as like the links' names as can be."""
    names: list[str] = []
    for number, link in enumerate(links):
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", link)[:_LONGEST_NAME]
        if name in {*names, "lo", ".", ".."}:
            name = f"{name[: _LONGEST_NAME - 4]}-{number}"
        names.append(name)
    return names


def _mtu(longest: int) -> int:
    return min(longest, _LONGEST_PACKET) if longest < _USUAL_MTU else _USUAL_MTU


def open_device(name: str) -> int:
    """Makes a TUN device where this thread is."""
    import fcntl

    descriptor = os.open(DEVICE, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    flags = _IFF_TUN | _IFF_NO_PI | (0 if OFFLOADS is Offloads.NONE else _IFF_VNET_HDR)
    fcntl.ioctl(descriptor, _TUNSETIFF, struct.pack("16sH22x", name.encode(), flags))
    return descriptor


def _offload(device: int) -> Offloads:
    """Lets a device take over what it can; what that is."""
    import fcntl

    if OFFLOADS is Offloads.NONE:
        return OFFLOADS
    if OFFLOADS is Offloads.DATAGRAMS:
        with contextlib.suppress(OSError):  # this kernel is older
            fcntl.ioctl(device, _TUNSETOFFLOAD, _TUN_F_TCP | _TUN_F_UDP)
            return OFFLOADS
    fcntl.ioctl(device, _TUNSETOFFLOAD, _TUN_F_TCP)
    return Offloads.SEGMENTS


def _settle() -> None:
    """Settings of the namespace: no packets nobody asked for, and none refused for coming another way."""
    networks = Path("/proc/sys/net")
    for path, value in [
        *((f"ipv4/conf/{each}/rp_filter", "0") for each in ("all", "default")),
        *((f"ipv6/conf/{each}/accept_ra", "0") for each in ("all", "default")),
        ("ipv4/ping_group_range", _groups()),
    ]:
        setting = networks / path
        if setting.exists():
            kernel.write(setting, value)
    for device in (networks / "ipv6/conf").glob("*"):
        if device.name != "lo":
            # No link-local address, for which the kernel would solicit routers.
            kernel.write(device / "addr_gen_mode", "1")


def _groups() -> str:
    """The first and the last group of this user namespace: all may ping."""
    first, _, count = Path("/proc/self/gid_map").read_text(encoding="ascii").split()[:3]
    # The kernel takes no more, and no group that the namespace lacks.
    return f"{first} {min(int(first) + int(count) - 1, _LAST_GROUP)}"


def _configure(host: Host) -> None:
    from pyroute2 import IPRoute

    with IPRoute() as route:
        loopback = route.link_lookup(ifname="lo")[0]
        route.link("set", index=loopback, state="up")
        for address, length in zip(host.addresses, (32, 128), strict=True):
            route.addr("add", index=loopback, address=address, prefixlen=length, flags=IFA_F_NODAD)
        for number, interface in enumerate(host.interfaces):
            _attach(route, host, number, interface)


def change(host: Host, number: int, *, up: bool) -> None:
    """Brings up a device of the host that this thread is on with its addresses, or takes them away."""
    from pyroute2 import IPRoute

    with IPRoute() as route:
        interface = host.interfaces[number]
        index = route.link_lookup(ifname=interface.device)[0]
        if up:
            _raise(route, host, number, index)
        else:
            route.flush_addr(index=index)
            route.link("set", index=index, state="down")


def _attach(route: Any, host: Host, number: int, interface: Interface) -> None:
    """Sets up a device: what has its address leaves by it."""
    index = route.link_lookup(ifname=interface.device)[0]
    prepare(route, index, interface)
    table = FIRST_TABLE + number
    for place, family in interface.families():
        route.rule("add", family=family, src=interface.addresses[place], table=table, priority=table)
    if interface.link not in host.unused:
        _raise(route, host, number, index)


def prepare(route: Any, index: int, interface: Interface) -> None:
    """Gives a device its MTU, and room for packets that wait for the driver."""
    route.link("set", index=index, mtu=interface.mtu, txqlen=_WAITING)


def _raise(route: Any, host: Host, number: int, index: int) -> None:
    """Brings up a device with its addresses and routes.

    What has the host's own address leaves by the first one. A host that moves uses the address of a device.
    """
    route.link("set", index=index, state="up")
    interface = host.interfaces[number]
    for each, family in interface.families():
        address = interface.addresses[each]
        # Without a neighbourhood: answers leave from the host's own address, by the route of the moment.
        length = (32, 128)[each]
        route.addr("add", index=index, address=address, prefixlen=length, flags=IFA_F_NODAD)
        way = {"family": family, "dst": ("0.0.0.0/0", "::/0")[each], "oif": index}
        route.route("add", **way, table=FIRST_TABLE + number)
        if interface.neighbour is not None:
            beside = way | {"dst": f"{interface.neighbour[each]}/{length}"}
            route.route("add", **beside, prefsrc=address)
            route.route("add", **way, prefsrc=address, priority=_LAST_RESORT + number)
        elif host.moves:
            route.route("add", **way, prefsrc=address, priority=1 + number)
        elif number == 0:
            route.route("add", **way, prefsrc=host.addresses[each])
