"""Carrier-grade NAT: the near host has an address of 100.64.0.0/10, and all others see a public one.

    programs (100.64.0.1) -- the near host's kernel: conntrack ~ emulated links (203.0.113.1) ~ other hosts

The near host's kernel stands for the carrier's NAT as well: it translates where packets leave for a link. It
keeps the port where that is free, so a mapping is the same for all destinations, and lets in nothing but
packets of the very address and port that the near host has sent to (a port-restricted NAT). What has no
mapping is dropped before it becomes one.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from typing import TYPE_CHECKING

from leobench.emulation import forwarding, nft

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leobench._core import Emulation
    from leobench.emulation.hosts import Host, Made

# RFC 6598: of the address space between subscribers and carriers, 100.64.0.0/10.
NEAR = IPv4Address("100.64.0.1")
# RFC 5737: an address for examples, which nobody has.
PUBLIC = IPv4Address("203.0.113.1")
NETWORK = IPv4Network(PUBLIC)
# RFC 4787 REQ-5: two minutes at least, and five are recommended.
UDP_TIMEOUT_S = 300
# RFC 5382 REQ-5: two hours and four minutes when established, four minutes before and after.
_ESTABLISHED_S, _TRANSITORY_S = 7_440, 240
_TRANSITORY = ("syn_sent", "syn_recv", "fin_wait", "close_wait", "last_ack", "time_wait")
# RFC 5508 REQ-1: a minute at least.
_ICMP_S = 60


@dataclass(frozen=True)
class Cgnat:
    """A carrier-grade NAT, as it is asked for.

    Attributes:
        near: The host behind it.
        udp_timeout_s: Seconds without a packet after which a mapping of UDP is forgotten.
    """

    near: str
    udp_timeout_s: int = UDP_TIMEOUT_S


def connect(asked: Cgnat, emulation: Emulation, known: Sequence[Host], made: Mapping[str, Made]) -> None:
    """Sets up the host, and leads the public address to it. Leaves this thread there.

    Raises:
        RunError: If the kernel refuses the rules.
    """
    number, near = next(each for each in enumerate(known) if each[1].name == asked.near)
    made[near.name].enter()
    _readdress(near)
    nft.load(_rules(near))
    for name, seconds in _timeouts(asked).items():
        forwarding.write(f"netfilter/nf_conntrack_{name}", str(seconds))
    emulation.lead_to(str(PUBLIC), 32, number)


def _readdress(near: Host) -> None:
    """Lets the host use its shared address first."""
    from pyroute2 import IPRoute

    first = near.interfaces[0]
    with IPRoute() as route:
        index = route.link_lookup(ifname=first.device)[0]
        # The first address of a device is the one that a router translates to.
        own = {"index": index, "address": first.addresses[0], "prefixlen": 32}
        route.addr("del", **own)
        route.addr("add", index=index, address=str(NEAR), prefixlen=32)
        route.addr("add", **own)
        route.route("replace", dst="0.0.0.0/0", oif=index, prefsrc=str(NEAR))


def _rules(near: Host) -> str:
    """Translation of all but the host's addresses in the scenario, which let nobody in.

    Its chain comes before that of a router on this host: one translation does both.
    """
    own = ", ".join([near.addresses[0], *(each.addresses[0] for each in near.interfaces)])
    links = ", ".join(f'"{each.device}"' for each in near.interfaces)
    return f"""table ip cgnat {{
chain postrouting {{
type nat hook postrouting priority 90; policy accept;
oifname {{ {links} }} ip saddr != {{ {own} }} snat to {PUBLIC}
}}
chain prerouting {{
type filter hook prerouting priority -50; policy accept;
iifname {{ {links} }} icmp type {{ timestamp-request, timestamp-reply }} drop
iifname {{ {links} }} ip daddr {PUBLIC} drop
iifname {{ {links} }} ip daddr {{ {own} }} ct state new drop
}}
}}
"""


def _timeouts(asked: Cgnat) -> dict[str, int]:
    """Seconds by the kernel's names: before and after a first answer."""
    return {
        "udp_timeout": asked.udp_timeout_s,
        "udp_timeout_stream": asked.udp_timeout_s,
        "icmp_timeout": _ICMP_S,
        "tcp_timeout_established": _ESTABLISHED_S,
        **{f"tcp_timeout_{state}": _TRANSITORY_S for state in _TRANSITORY},
    }
