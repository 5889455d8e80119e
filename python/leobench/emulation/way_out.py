"""A way out: the caller's network, as the hosts of a scenario reach it through the far host.

    near host ~ emulated link ~ far host --veth-- the caller's network namespace -- its network

The far host translates the addresses of the hosts, the caller's kernel those of the veth pair. In the core,
the prefix of all addresses leads to the far host. `Outside` is the part in the caller's namespace, and
`gateway` that on the far host, which another process makes: it hands the namespace and the sockets of its
name service over a pair of sockets, and then the device comes.

Nothing is left, whatever ends the session: the device goes with the far host's namespace, the rules with the
socket of the process that made them (`nft.OwnedTable`), and settings are restored (`forwarding`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leobench.emulation import forwarding, name_service, nft, uplinks
from leobench.emulation.keeper import Keeper
from leobench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leobench.emulation.uplinks import Strip, Surveyed

# Room for a reason, and descriptors handed over: the namespace, and sockets of two families and two kinds.
_MESSAGE, _DESCRIPTORS = 4_096, 5


@dataclass(frozen=True)
class Exposed:
    """A port of the caller's network that leads to one of the near host, over TCP and UDP.

    Attributes:
        outer: That of the caller's network.
        inner: That of the near host.
    """

    outer: int
    inner: int


@dataclass(frozen=True)
class WayOut:
    """A way out, as it is asked for.

    Attributes:
        far: The host that has it.
        near: The host that exposed ports lead to.
        exposed: The exposed ports.
    """

    far: str
    near: str
    exposed: tuple[Exposed, ...] = ()


@dataclass(frozen=True)
class Joint:
    """Facts about a way out that both of its ends need.

    Attributes:
        asked: What is asked for.
        strip: The network between them.
        v6: Whether IPv6 has a way out.
        mtu: The MTU of its devices.
    """

    asked: WayOut
    strip: Strip
    v6: bool
    mtu: int


class Outside:
    """The part in the caller's network namespace."""

    def __init__(self, joint: Joint, servers: Sequence[str]) -> None:
        self.joint = joint
        self._servers = servers
        self._ours, self.channel = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._stopped = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._thread: threading.Thread | None = None

    def serve(self) -> None:
        """Waits in a thread for the far host, gives it its device, and relays questions for names.

        The processes of the sandbox must have been made: `channel` is theirs from now on.
        """
        self.channel.close()
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def close(self) -> None:
        """Ends it."""
        with contextlib.suppress(OSError):
            self._ours.shutdown(socket.SHUT_RDWR)
        self._stopped.set()
        if self._loop is not None and self._task is not None:
            with contextlib.suppress(RuntimeError):  # the loop has just ended
                self._loop.call_soon_threadsafe(self._task.cancel)
        if self._thread is not None:
            self._thread.join()
        self._ours.close()
        self.channel.close()

    def _work(self) -> None:
        _, descriptors, _, _ = socket.recv_fds(self._ours, _MESSAGE, _DESCRIPTORS)
        if not descriptors:  # the sandbox ended before
            return
        namespace, *listening = descriptors
        sockets = [socket.socket(fileno=each) for each in listening]
        try:
            _connect(self.joint, namespace)
            said = b"connected"
        except Exception as error:  # whatever it is: the far host waits for a word
            said = f"--way-out: {error}".encode()[:_MESSAGE]
        finally:
            os.close(namespace)
        with contextlib.suppress(OSError):
            self._ours.send(said)
        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run(self._relay(sockets))

    async def _relay(self, sockets: Sequence[socket.socket]) -> None:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        if not self._stopped.is_set():
            await name_service.relay(sockets, self._servers)


@contextlib.contextmanager
def outside(asked: WayOut) -> Iterator[Outside]:
    """Opens a way out in this network namespace, and closes it.

    Raises:
        InputError: If there is none from here, or this user may not open it.
    """
    rules = nft.ruleset()
    known = uplinks.survey()
    v6 = uplinks.translates_v6(known)
    _check_firewall(rules, v6=v6)
    servers = name_service.servers()
    name_service.check(servers)
    with contextlib.ExitStack() as held:
        for exposed in asked.exposed:
            _hold(exposed, held)
        claim = forwarding.Claim.own()
        keeper = Keeper(lambda: forwarding.release(claim))
        held.callback(keeper.close)
        strip = _claim(claim, known, v6=v6)
        joint = Joint(asked, strip, v6, known.mtu)
        silent = [
            (family, device)
            for family, setting in (("ipv4", uplinks.force_v4), ("ipv6", uplinks.force_v6))
            for device in known.devices
            if setting(device) in claim.settings
        ]
        table = nft.OwnedTable(strip.device, _rules(joint, silent))
        held.callback(table.close)
        opened = Outside(joint, servers)
        held.callback(opened.close)
        yield opened


def _claim(claim: forwarding.Claim, known: Surveyed, *, v6: bool) -> Strip:
    """Chooses a network, and lets the kernel forward between it and the devices that lead out."""
    wanted = [(uplinks.force_v4(device), "1") for device in known.devices]
    if v6 and forwarding.read(uplinks.FORWARDING_V6) != "1":
        wanted += [(uplinks.force_v6(device), "1") for device in known.devices]
    with forwarding.locked():
        others = forwarding.claims(claim)
        strip = known.free({each.slot for each in others if each.is_alive()})
        claim.slot = strip.slot
        forwarding.change(claim, [each for each in wanted if forwarding.exists(each[0])], others)
    return strip


def _check_firewall(rules: str, *, v6: bool) -> None:
    """Checks that no other chain drops what is forwarded: a packet has to be accepted by all of them.

    Raises:
        InputError: If one does.
    """
    if f'"{uplinks.DEVICE}*"' in rules:
        return  # a rule allows our devices
    for family, table, chain in nft.dropping_chains(rules):
        if family not in {"ip", "inet", *(["ip6"] if v6 else [])}:
            continue
        docker = "chain DOCKER-USER" in rules
        tool = "ip6tables" if family == "ip6" else "iptables"
        allowed = " and ".join(
            f"`{tool} -I {'DOCKER-USER' if docker else chain} -{way} {uplinks.DEVICE}+ -j ACCEPT`"
            if (table, chain) == ("filter", "FORWARD")
            else f'`nft insert rule {family} {table} {chain} {way}ifname "{uplinks.DEVICE}*" accept`'
            for way in ("i", "o")
        )
        raise InputError(
            f"the chain {chain} of the table {family} {table} drops forwarded packets (its policy), "
            f"so there is no way out; {allowed} allow it"
        )


def _hold(exposed: Exposed, held: contextlib.ExitStack) -> None:
    """Keeps a port of this namespace from other programs: its packets go to the near host.

    Raises:
        InputError: If one has it.
    """
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        holder = held.enter_context(socket.socket(socket.AF_INET6, kind))
        try:
            holder.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            holder.bind(("::", exposed.outer))
        except OSError as error:
            raise InputError(
                f"--expose {exposed.outer}: the port cannot be taken: {error.strerror}; "
                f"allowed: a port that is free, such as --expose {_other(exposed.outer)}:{exposed.inner}"
            ) from None


def _other(port: int) -> int:
    return port + 10_000 if port < 50_000 else port - 10_000


def _rules(joint: Joint, silent: Sequence[tuple[str, str]]) -> str:
    """The chains of the caller's namespace.

    Args:
        joint: The way out.
        silent: The families and devices that packets were not forwarded from before: only those of sessions
            are now.
    """
    device = joint.strip.device
    inner = [str(address.ip) for address in joint.strip.end(1)]
    networks = joint.strip.networks()
    lead = [
        f"fib daddr type local meta nfproto {family} meta l4proto {{ tcp, udp }} "
        f"th dport {exposed.outer} dnat {name} to {address};"
        for exposed in joint.asked.exposed
        for family, name, address in zip(("ipv4", "ipv6"), ("ip", "ip6"), inner, strict=True)
        if name == "ip" or joint.v6
    ]
    translate = [
        f'{name} saddr {network} oifname != "{device}" masquerade;'
        for name, network in zip(("ip", "ip6"), networks, strict=True)
    ]
    closed = [
        f'meta nfproto {family} iifname "{each}" oifname != "{uplinks.DEVICE}*" drop;'
        for family, each in silent
    ]
    return f"""
        chain prerouting {{
            type nat hook prerouting priority -100; policy accept;
            iifname "{device}" accept; {" ".join(lead)}
        }};
        chain output {{
            type nat hook output priority -100; policy accept;
            oifname "lo" ip daddr 127.0.0.0/8 accept; ip6 daddr ::1 accept; {" ".join(lead)}
        }};
        chain postrouting {{
            type nat hook postrouting priority 100; policy accept; {" ".join(translate)}
        }};
        chain forward {{
            type filter hook forward priority 0; policy accept;
            ct state established,related accept;
            iifname "{device}" accept;
            oifname "{device}" ct status dnat accept;
            oifname "{device}" drop;
            {" ".join(closed)}
        }};
    """


def _connect(joint: Joint, namespace: int) -> None:
    """Makes the pair of devices, with the other one in the far host's namespace, and sets up this one."""
    from pyroute2 import IPRoute

    from leobench.emulation import gateway

    device = joint.strip.device
    with IPRoute() as route:
        peer = {"ifname": gateway.DEVICE, "net_ns_fd": namespace, "mtu": joint.mtu}
        route.link("add", ifname=device, kind="veth", peer=peer, mtu=joint.mtu)
        index = route.link_lookup(ifname=device)[0]
        gateway.add_addresses(route, index, joint, 0)
        route.link("set", index=index, state="up")
    wanted = [uplinks.force_v4(device)]
    if joint.v6 and forwarding.read(uplinks.FORWARDING_V6) != "1":
        wanted.append(uplinks.force_v6(device))
    for place in wanted:
        if forwarding.read(place) != "1":
            forwarding.write(place, "1")
