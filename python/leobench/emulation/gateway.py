"""The far host's end of a way out: its device, its routes, its translation and its name service."""

from __future__ import annotations

import socket
from ipaddress import IPv6Interface
from typing import TYPE_CHECKING, Any

from leobench.emulation import forwarding, hosts, name_service, nft
from leobench.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from ipaddress import IPv4Interface, IPv4Network, IPv6Network

    from leobench._core import Emulation
    from leobench.emulation.hosts import Host, Made
    from leobench.emulation.way_out import Joint

# The far host's device.
DEVICE = "way-out"
_LINK_LOCAL = 0xFE80 << 112
_MESSAGE = 4_096
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 (a prefix of no bits, not an address to listen at)


def connect(
    joint: Joint,
    channel: socket.socket,
    emulation: Emulation,
    known: Sequence[Host],
    made: Mapping[str, Made],
    beyond: Sequence[IPv4Network | IPv6Network] = (),
) -> None:
    """Gives the far host its end, and leads all other addresses to it. Leaves this thread there.

    Args:
        joint: The way out.
        channel: The way to its other end.
        emulation: The network.
        known: The hosts.
        made: The same, as they were made.
        beyond: Networks behind other hosts.

    Raises:
        RunError: If the other end refuses.
    """
    number = next(number for number, host in enumerate(known) if host.name == joint.asked.far)
    far = known[number]
    made[far.name].enter()
    sockets = name_service.listen(far.addresses)
    with channel:
        handed = [made[far.name].network, *(each.fileno() for each in sockets)]
        socket.send_fds(channel, [b"far host"], handed)
        said = channel.recv(_MESSAGE).decode()
    for each in sockets:
        each.close()
    if said != "connected":
        raise RunError(said or "--way-out: the caller's network cannot be reached any more")
    _configure(joint, far, [host for host in known if host is not far], beyond)
    near = next(host for host in known if host.name == joint.asked.near)
    nft.load(_rules(joint, near))
    for first in _EVERYWHERE:
        emulation.lead_to(first, 0, number)


def _configure(
    joint: Joint, far: Host, others: Sequence[Host], beyond: Sequence[IPv4Network | IPv6Network]
) -> None:
    """Sets up the device: it is the way to everything but the other hosts."""
    from pyroute2 import IPRoute

    silence(DEVICE)
    with IPRoute() as route:
        index = route.link_lookup(ifname=DEVICE)[0]
        first = far.interfaces[0]
        link = route.link_lookup(ifname=first.device)[0]
        for place, family in first.families():
            networks = [f"{address}/{(32, 128)[place]}" for address in addresses(others, place)]
            networks += [str(network) for network in beyond if network.version == (4, 6)[place]]
            for network in networks:
                ways = {"family": family, "dst": network, "oif": link}
                route.route("add", **ways, prefsrc=far.addresses[place])
        route.link("set", index=index, state="up")
        add_addresses(route, index, joint, 1)
        for place, family in first.families():
            default = {"family": family, "dst": f"{_EVERYWHERE[place]}/0"}
            route.route("del", **default, oif=link)
            # Without a way out, the far host answers that there is no route.
            if place == 0 or joint.v6:
                gateway = str(joint.strip.end(0)[place].ip)
                route.route("add", **default, oif=index, gateway=gateway)
    forward()


def forward() -> None:
    """Lets the host that this thread is on forward packets."""
    for family in ("ipv4", "ipv6"):
        forwarding.write(f"{family}/conf/all/forwarding", "1")


def add_addresses(route: Any, index: int, joint: Joint, end: int) -> None:
    """Gives the device at an end of a way out its addresses."""
    v4, v6 = joint.strip.end(end)
    add_address(route, index, v4)
    if joint.v6:
        add_address(route, index, v6)
        # Forwarded packets make the kernel look for the other end from a link-local address only.
        add_address(route, index, link_local(1 + end))


def link_local(number: int) -> IPv6Interface:
    """The link-local address of this number."""
    return IPv6Interface((_LINK_LOCAL + number, 64))


def add_address(route: Any, index: int, address: IPv4Interface | IPv6Interface) -> None:
    """Gives a device an address that can be used at once."""
    flags = {"flags": hosts.IFA_F_NODAD} if isinstance(address, IPv6Interface) else {}
    route.addr("add", index=index, address=str(address.ip), prefixlen=address.network.prefixlen, **flags)


def silence(device: str) -> None:
    """Keeps a device of this thread's host from sending IPv6 of its own accord."""
    place = f"ipv6/conf/{device}/"
    if forwarding.exists(place):
        for name, value in (("addr_gen_mode", "1"), ("accept_ra", "0")):
            forwarding.write(place + name, value)


def addresses(of: Sequence[Host], place: int) -> list[str]:
    """Every address that hosts have or may get, of a family."""
    return [
        address
        for host in of
        for address in (
            host.addresses[place],
            *(interface.addresses[place] for interface in host.interfaces),
        )
    ]


def _rules(joint: Joint, near: Host) -> str:
    lead = [
        f'iifname "{DEVICE}" meta nfproto {family} meta l4proto {{ tcp, udp }} '
        f"th dport {exposed.outer} dnat {name} to {wrapped}:{exposed.inner}"
        for exposed in joint.asked.exposed
        for family, name, wrapped in (
            ("ipv4", "ip", near.addresses[0]),
            ("ipv6", "ip6", f"[{near.addresses[1]}]"),
        )
    ]
    return "\n".join(
        [
            "table inet leobench {",
            "chain prerouting {",
            "type nat hook prerouting priority -100; policy accept;",
            *lead,
            "}",
            "chain postrouting {",
            "type nat hook postrouting priority 100; policy accept;",
            f'oifname "{DEVICE}" masquerade',
            "}",
            "}",
        ]
    )
