"""The caller's network namespace, as far as a way out needs it: its routes, and networks that are free."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv4Network, IPv6Interface, IPv6Network, ip_network
from typing import TYPE_CHECKING, Any

from leobench.emulation import forwarding
from leobench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection

    Network = IPv4Network | IPv6Network

# Devices of ours; rules of firewalls may allow them by this name and an asterisk.
DEVICE = "leobench"
# Networks for measurements between networks (RFC 2544 appendix C.2.2): nobody's on the Internet.
_NETWORKS = IPv4Network("198.18.0.0/15")
# Unique local addresses (RFC 4193): "leobeno" and a number.
_NETWORKS_V6 = 0xFD6C_656F_6265_6E6F
_SLOTS = 32_768
_LOCAL_TABLE = 255
_FIRST = {4: "0.0.0.0", 6: "::"}  # noqa: S104 (a prefix of no bits, not an address to listen at)


@dataclass(frozen=True)
class Strip:
    """The network between the caller's namespace and the far host.

    Attributes:
        slot: Its number.
    """

    slot: int

    @property
    def device(self) -> str:
        """The name of the caller's device."""
        return f"{DEVICE}{self.slot}"

    def end(self, place: int) -> tuple[IPv4Interface, IPv6Interface]:
        """The addresses of an end: 0 is the caller, 1 the far host."""
        first = int(_NETWORKS.network_address) + 4 * self.slot
        first_v6 = (_NETWORKS_V6 << 64) + (self.slot << 16)
        return (IPv4Interface((first + 1 + place, 30)), IPv6Interface((first_v6 + 1 + place, 112)))

    def networks(self) -> tuple[IPv4Network, IPv6Network]:
        """That of each family."""
        v4, v6 = self.end(0)
        return v4.network, v6.network


@dataclass(frozen=True)
class Surveyed:
    """The routes of the caller's namespace.

    Attributes:
        devices: The devices by which packets leave it.
        defaults: The address families that have a default route, 4 and 6.
        networks: The networks that it has a route to.
        mtu: The MTU of the device of the default route.
    """

    devices: tuple[str, ...]
    defaults: frozenset[int]
    networks: tuple[Network, ...]
    mtu: int

    def free(self, taken: Collection[int]) -> Strip:
        """A network that no route leads to, and whose number is not taken.

        Raises:
            InputError: If there is none.
        """
        for strip in map(Strip, range(_SLOTS)):
            overlaps = any(
                own.version == other.version and own.overlaps(other)
                for own in strip.networks()
                for other in self.networks
            )
            if strip.slot not in taken and strip.device not in self.devices and not overlaps:
                return strip
        raise InputError(f"routes of this network namespace take all of {_NETWORKS}; a way out needs a part")


def survey() -> Surveyed:
    """Reads the routes of this network namespace.

    Raises:
        InputError: If it has no default route.
    """
    from pyroute2 import IPRoute

    devices: dict[str, None] = {}
    networks: list[Network] = []
    defaults: dict[int, int] = {}
    with IPRoute() as route:
        names = {link["index"]: (link.get_attr("IFLA_IFNAME"), link) for link in route.get_links()}
        routes = [each for family in (2, 10) for each in route.get_routes(family=family)]
        for each in routes:
            out = [name for name in _out(each, names) if name != "lo"]
            if each.get_attr("RTA_TABLE", each["table"]) == _LOCAL_TABLE or not out:
                continue
            version = 4 if each["family"] == 2 else 6
            first = each.get_attr("RTA_DST") or _FIRST[version]
            network = ip_network(f"{first}/{each['dst_len']}")
            if network.is_link_local or network.is_multicast:
                continue
            # The session of another way out has its own.
            devices.update({name: None for name in out if not name.startswith(DEVICE)})
            if network.prefixlen == 0:
                defaults.setdefault(version, _mtu(names, out[0]))
            else:
                networks.append(network)
    if 4 not in defaults:
        raise InputError("this network namespace has no default route over IPv4, so there is no way out")
    return Surveyed(tuple(devices), frozenset(defaults), tuple(networks), defaults[4])


def translates_v6(known: Surveyed) -> bool:
    """Whether IPv6 has a way out: a default route, and a kernel that forwards it by device, or does anyway.

    To forward by `all` would make this machine ignore router advertisements, and lose its default route.
    """
    if 6 not in known.defaults:
        return False
    return forwarding.read(FORWARDING_V6) == "1" or forwarding.exists(force_v6(known.devices[0]))


FORWARDING_V6 = "ipv6/conf/all/forwarding"


def force_v6(device: str) -> str:
    """The setting that has IPv6 forwarded by device (Linux 6.17)."""
    return f"ipv6/conf/{device}/force_forwarding"


def force_v4(device: str) -> str:
    """That of IPv4."""
    return f"ipv4/conf/{device}/forwarding"


def _out(route: Any, names: dict[int, tuple[str, Any]]) -> list[str]:
    """The devices that a route leads to."""
    hops = route.get_attr("RTA_MULTIPATH") or []
    indexes = [hop["oif"] for hop in hops] or [route.get_attr("RTA_OIF")]
    return [names[index][0] for index in indexes if index in names]


def _mtu(names: dict[int, tuple[str, Any]], device: str) -> int:
    return next(int(link.get_attr("IFLA_MTU")) for name, link in names.values() if name == device)
