"""Delegation of an IPv6 prefix to the router of a LAN, as providers do it (RFC 8415, IA_PD).

    router: the user's DHCPv6 client on $WAN ~ near link ~ the host at its other end: a server (`__main__`)

The server stands for the provider's edge. Its messages cross the emulated link: the network leads the group
of servers and two link-local addresses to these hosts, and all prefixes of the pool to the router.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Interface, IPv6Network
from typing import TYPE_CHECKING

from leobench.emulation import gateway
from leobench.emulation.delegation.dhcpv6 import SERVERS
from leobench.errors import InputError, RunError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leobench._core import Emulation
    from leobench.emulation.hosts import Host, Made

# Lengths of prefixes that are worth delegating: a network of a LAN has 64 bits (RFC 4291 section 2.5.1).
SHORTEST, LONGEST = 48, 64
# RFC 3849: prefixes for documentation, which nobody has.
_FIRST = IPv6Address("2001:db8:6c60::")
# The pool has 16 prefixes.
_POOL_BITS = 4
# The link-local addresses of both ends. Those of the LAN have small numbers.
_ROUTER, _SERVER = (gateway.link_local(0x6C65_0000 + number) for number in (1, 2))


@dataclass(frozen=True)
class Delegation:
    """A delegation, as it is asked for.

    Attributes:
        router: The host that prefixes are delegated to.
        length: The length of a prefix.
    """

    router: str
    length: int

    @property
    def pool(self) -> IPv6Network:
        """All prefixes that may be delegated."""
        return IPv6Network((_FIRST, self.length - _POOL_BITS))

    def check(self, known: Sequence[Host]) -> None:
        """Checks it against the hosts of a scenario.

        Raises:
            InputError: If it cannot be.
        """
        router = next(host for host in known if host.name == self.router)
        if router.moves:
            raise InputError(f"--delegate-prefix: {self.router} migrates; allowed: a host that does not")
        first = router.interfaces[0]
        if len(first.families()) == 1:
            raise InputError(
                f"--delegate-prefix: the link {first.link} carries no IPv6; "
                "allowed: an `mtu` of 1280 bytes or more"
            )


def connect(asked: Delegation, emulation: Emulation, known: Sequence[Host], made: Mapping[str, Made]) -> None:
    """Starts the server, and leads packets to it and to the router. Leaves this thread on the router.

    Raises:
        RunError: If the server cannot serve.
    """
    number, router = next(each for each in enumerate(known) if each[1].name == asked.router)
    wan = router.interfaces[0]
    far, server, device = next(
        (place, host, interface.device)
        for place, host in enumerate(known)
        for interface in host.interfaces
        if host is not router and interface.link == wan.link
    )
    for address, length, to in (
        (SERVERS, 128, far),
        (_SERVER.ip, 128, far),
        (_ROUTER.ip, 128, number),
        (asked.pool.network_address, asked.pool.prefixlen, number),
    ):
        emulation.lead_to(str(address), length, to)
    made[server.name].enter()
    _add_address(device, _SERVER)
    _serve(asked, server.name, device)
    made[router.name].enter()
    _add_address(wan.device, _ROUTER)


def _add_address(device: str, address: IPv6Interface) -> None:
    from pyroute2 import IPRoute

    with IPRoute() as route:
        gateway.add_address(route, route.link_lookup(ifname=device)[0], address)


def _serve(asked: Delegation, host: str, device: str) -> None:
    """Starts the server on the host that this thread is on, and waits until it serves."""
    told = {"device": device, "pool": str(asked.pool), "length": asked.length}
    process = subprocess.Popen(  # noqa: S603 (this interpreter, and JSON of our own)
        [sys.executable, "-P", "-m", "leobench.emulation.delegation", json.dumps(told)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,  # an interrupt at the terminal is for the programs
    )
    process.returncode = 0  # it is waited for with the programs
    said = process.stdout.readline() if process.stdout is not None else b""
    if said != b"serving\n":
        raise RunError(f"--delegate-prefix: {host}: {said.decode().strip() or 'its server ended'}")
