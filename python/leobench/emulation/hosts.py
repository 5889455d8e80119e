"""The hosts of a scenario: each a network namespace with a TUN device for every link it is attached to."""

from __future__ import annotations

import os
import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench.emulation import kernel

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from leobench._core import Scenario

DEVICE = Path("/dev/net/tun")

# `linux/if_tun.h`: the request, and a device for IP packets without a header of its own.
_TUNSETIFF = 0x4004_54CA
_IFF_TUN, _IFF_NO_PI = 0x0001, 0x1000
# `linux/if.h`: the longest name of a device, without the zero at its end.
_LONGEST_NAME = 15
_LONGEST_HOST_NAME = 64
# The largest MTU of a TUN device.
_LONGEST_PACKET = 65_535
# What the kernel gives to a device of which nobody says more, and what programs expect.
_USUAL_MTU = 1_500
# The first of the routing tables that packets from an interface's address use.
_FIRST_TABLE = 1_000


@dataclass(frozen=True)
class Interface:
    """Where a host is attached to a link.

    Attributes:
        link: The link's name in the scenario.
        device: The name of the device on the host.
        addresses: The IPv4 and the IPv6 address.
        mtu: Bytes of the longest packet.
    """

    link: str
    device: str
    addresses: tuple[str, str]
    mtu: int


@dataclass(frozen=True)
class Host:
    """A node of a scenario as a host.

    Attributes:
        name: The node's name.
        addresses: The IPv4 and the IPv6 address that stay whatever happens to its links.
        interfaces: One for every link.
    """

    name: str
    addresses: tuple[str, str]
    interfaces: tuple[Interface, ...]


def of(scenario: Scenario) -> list[Host]:
    """The hosts of a scenario, in its order."""
    from leobench import _core

    hosts = []
    for name, addresses, links in _core.places(scenario):
        devices = _device_names([link for link, _, _ in links])
        interfaces = [
            Interface(link, device, (own[0], own[1]), _mtu(mtu))
            for (link, own, mtu), device in zip(links, devices, strict=True)
        ]
        hosts.append(Host(name, (addresses[0], addresses[1]), tuple(interfaces)))
    return hosts


def table(hosts: Iterable[Host]) -> str:
    """The text of `/etc/hosts`: a host's name is its IPv4 address, and with `.v6` behind it the other one."""
    lines = ["127.0.0.1 localhost", "::1 localhost"]
    for host in hosts:
        lines += [f"{host.addresses[0]} {host.name}", f"{host.addresses[1]} {host.name}.v6"]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Made:
    """A host that was made.

    Attributes:
        namespaces: Descriptors of its namespaces, that of networks first.
        devices: Descriptors of its devices, in the order of the interfaces.
    """

    namespaces: tuple[int, ...]
    devices: tuple[int, ...]

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
    kernel.unshare(kernel.CLONE_NEWNET | kernel.CLONE_NEWUTS)
    kernel.set_host_name(host.name[:_LONGEST_HOST_NAME])
    own = Path("/proc/thread-self/ns")
    namespaces = [os.open(own / kind, os.O_RDONLY | os.O_CLOEXEC) for kind in ("net", "uts")]
    devices = [_open(interface.device) for interface in host.interfaces]
    _settle()
    _configure(host)
    return Made(tuple(namespaces), tuple(devices))


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


def _open(name: str) -> int:
    import fcntl

    descriptor = os.open(DEVICE, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    fcntl.ioctl(descriptor, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _IFF_TUN | _IFF_NO_PI))
    return descriptor


def _settle() -> None:
    """Settings of the namespace: no packets nobody asked for, and none refused for coming another way."""
    networks = Path("/proc/sys/net")
    for path, value in [
        *((f"ipv4/conf/{each}/rp_filter", "0") for each in ("all", "default")),
        *((f"ipv6/conf/{each}/accept_ra", "0") for each in ("all", "default")),
        ("ipv4/ping_group_range", "0 2147483647"),
    ]:
        setting = networks / path
        if setting.exists():
            setting.write_text(value, encoding="ascii")
    for device in (networks / "ipv6/conf").glob("*"):
        if device.name != "lo":
            # No link-local address, for which the kernel would solicit routers.
            (device / "addr_gen_mode").write_text("1", encoding="ascii")


def _configure(host: Host) -> None:
    from pyroute2 import IPRoute

    with IPRoute() as route:
        loopback = route.link_lookup(ifname="lo")[0]
        route.link("set", index=loopback, state="up")
        for address, length in zip(host.addresses, (32, 128), strict=True):
            route.addr("add", index=loopback, address=address, prefixlen=length)
        for number, interface in enumerate(host.interfaces):
            _attach(route, host, number, interface)


def _attach(route: Any, host: Host, number: int, interface: Interface) -> None:
    """Brings up a device: what has its address leaves by it, and by the first one what has the host's own."""
    import socket

    index = route.link_lookup(ifname=interface.device)[0]
    route.link("set", index=index, mtu=interface.mtu, state="up")
    families = (socket.AF_INET, socket.AF_INET6)
    everywhere = ("0.0.0.0/0", "::/0")
    lengths = (30, 126)
    for each, family in enumerate(families):
        address = interface.addresses[each]
        route.addr("add", index=index, address=address, prefixlen=lengths[each])
        table = _FIRST_TABLE + number
        route.route("add", family=family, dst=everywhere[each], oif=index, table=table)
        route.rule("add", family=family, src=address, table=table, priority=table)
        if number == 0:
            source = host.addresses[each]
            route.route("add", family=family, dst=everywhere[each], oif=index, prefsrc=source)
