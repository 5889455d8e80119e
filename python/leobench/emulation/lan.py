"""A LAN behind a host, which becomes a router: `lan` --veth-- router ~ emulated links ~ the other hosts.

The user's own program sets the router up. Its devices to the links are those that it has anyway, so whatever
shapes or translates there is before the emulated link.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv6Interface
from typing import TYPE_CHECKING

from leobench.emulation import forwarding, gateway, hosts, nft
from leobench.errors import InputError, RunError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leobench._core import Emulation
    from leobench.emulation.hosts import Host, Made

# The host on the LAN.
NAME = "lan"
# The router's device there, and the host's.
_DEVICE, _OTHER_DEVICE, _HOST_DEVICE = "lan", "lan-side", "eth0"
# The command that stands for address translation and nothing else.
NAT = "nat"
ROUTER = (IPv4Interface("192.168.1.1/24"), IPv6Interface("fd6c:656f:6265:6e6c::1/64"))
HOST = (IPv4Interface("192.168.1.2/24"), IPv6Interface("fd6c:656f:6265:6e6c::2/64"))
NETWORKS = tuple(address.network for address in ROUTER)


@dataclass(frozen=True)
class Lan:
    """A LAN, as it is asked for.

    Attributes:
        router: The host that it is behind.
        command: The words of the program that sets up the router; `nat` for address translation only.
        advertised: Whether the host takes addresses that the router advertises (RFC 4862).
    """

    router: str
    command: tuple[str, ...]
    advertised: bool = False

    def check(self, names: Sequence[str]) -> None:
        """Checks it against the names of the scenario's hosts.

        Raises:
            InputError: If it cannot be.
        """
        if NAME in names:
            raise InputError(f"--router: a host of the scenario is called `{NAME}`, as the LAN's would be")
        if self.command == (NAT,):
            nft.program()
        elif shutil.which(self.command[0]) is None:
            raise InputError(
                f"--router: {self.command[0]}: no such program; allowed: a program that sets up the router, "
                f"or `{NAT}`"
            )

    @staticmethod
    def names() -> str:
        """Lines of `/etc/hosts`: the host on the LAN, and its router."""
        pairs = ((HOST, NAME), (ROUTER, f"router.{NAME}"))
        return "".join(f"{v4.ip} {name}\n{v6.ip} {name}.v6\n" for (v4, v6), name in pairs)


def connect(lan: Lan, emulation: Emulation, known: Sequence[Host], made: Mapping[str, Made]) -> Made:
    """Makes the host on the LAN, and runs the router's program. Leaves this thread on the router.

    Raises:
        RunError: If that fails.
    """
    from pyroute2 import IPRoute

    number = next(number for number, host in enumerate(known) if host.name == lan.router)
    router = known[number]
    host = hosts.make_without_links(NAME)
    # A link may have the name that the device would have.
    device = _OTHER_DEVICE if _DEVICE in _devices(router) else _DEVICE
    made[router.name].enter()
    with IPRoute() as route:
        peer = {"ifname": _HOST_DEVICE, "net_ns_fd": host.network}
        route.link("add", ifname=device, kind="veth", peer=peer)
    gateway.forward()
    ends = ((made[router.name], device, ROUTER), (host, _HOST_DEVICE, HOST))
    # A device whose other end is down drops what the kernel sends for a new address.
    for end, its, _ in ends:
        end.enter()
        _raise(its)
    for end, its, addresses in ends:
        end.enter()
        _address(its, addresses)
    if lan.advertised:
        forwarding.write(f"ipv6/conf/{_HOST_DEVICE}/accept_ra", "1")
    with IPRoute() as route:
        for family, first, address in ((2, "0.0.0.0/0", ROUTER[0].ip), (10, "::/0", ROUTER[1].ip)):
            route.route("add", family=family, dst=first, gateway=str(address))
    for network in NETWORKS:
        emulation.lead_to(str(network.network_address), network.prefixlen, number)
    made[router.name].enter()
    _set_up(lan, router, device)
    return host


def _devices(router: Host) -> list[str]:
    return [interface.device for interface in router.interfaces]


def _raise(device: str) -> None:
    """Brings up a device of this thread's host."""
    from pyroute2 import IPRoute

    gateway.silence(device)
    with IPRoute() as route:
        route.link("set", index=route.link_lookup(ifname=device)[0], state="up")


def _address(device: str, addresses: tuple[IPv4Interface, IPv6Interface]) -> None:
    """Gives it addresses."""
    from pyroute2 import IPRoute

    with IPRoute() as route:
        index = route.link_lookup(ifname=device)[0]
        number = int(addresses[0].ip) & 0xFF
        for address in (*addresses, gateway.link_local(number)):
            gateway.add_address(route, index, address)


def _set_up(lan: Lan, router: Host, device: str) -> None:
    """Translates addresses, or runs the user's program, to its end."""
    outward = _devices(router)
    if lan.command == (NAT,):
        devices = ", ".join(f'"{each}"' for each in outward)
        nft.load(
            "table inet router {\nchain postrouting {\n"
            "type nat hook postrouting priority 100; policy accept;\n"
            f"oifname {{ {devices} }} masquerade\n}}\n}}\n"
        )
        return
    told = {
        "LAN": device,
        "WAN": outward[0],
        "WANS": " ".join(outward),
        "LAN_NETWORK": str(ROUTER[0].network),
        "LAN_NETWORK_V6": str(ROUTER[1].network),
        "LEOBENCH_HOST": router.name,
    }
    code = subprocess.run(  # noqa: S603 (the user's own words)
        lan.command, env=os.environ | told, stdin=subprocess.DEVNULL, check=False
    ).returncode
    if code != 0:
        raise RunError(f"--router: `{shlex.join(lan.command)}` failed: exit code {code}")
