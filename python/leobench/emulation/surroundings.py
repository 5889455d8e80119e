"""Surroundings of the hosts of a scenario: a way out, a LAN behind a host, containers, dishes."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leobench.emulation import attach, cgnat, delegation, gateway, hosts, lan, name_service, nft, way_out
from leobench.emulation.dish.process import Processes
from leobench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from leobench._core import Emulation
    from leobench.emulation.attach import Attachment
    from leobench.emulation.cgnat import Cgnat
    from leobench.emulation.delegation import Delegation
    from leobench.emulation.dish import Dishes
    from leobench.emulation.hosts import Host, Made
    from leobench.emulation.lan import Lan
    from leobench.emulation.way_out import Outside, WayOut


@dataclass(frozen=True)
class Surroundings:
    """Surroundings of the hosts of a scenario.

    Attributes:
        way_out: The way out, if there is one.
        lan: The LAN behind a host, if there is one.
        attachments: The hosts that are containers.
        dishes: The dishes that answer on hosts, if there are any.
        cgnat: The carrier-grade NAT before a host, if there is one.
        delegation: The delegation of IPv6 prefixes to the LAN's router, if there is one.
    """

    way_out: WayOut | None = None
    lan: Lan | None = None
    attachments: tuple[Attachment, ...] = ()
    dishes: Dishes | None = None
    cgnat: Cgnat | None = None
    delegation: Delegation | None = None

    @property
    def more_hosts(self) -> tuple[str, ...]:
        """Names of hosts beside those of the scenario; programs run on the first of them by default."""
        return () if self.lan is None else (lan.NAME,)

    def check(self, known: Sequence[Host]) -> None:
        """Checks them against the hosts of a scenario.

        Raises:
            InputError: If they do not go together.
        """
        moving = {host.name for host in known if host.moves}
        for host in (each.host for each in self.attachments):
            if host in moving:
                raise InputError(f"--attach {host}: the host migrates, which a container cannot")
        if self.way_out is not None and self.way_out.far in moving:
            raise InputError(f"--way-out: {self.way_out.far} migrates; allowed: a host that does not")
        attached = {each.host for each in self.attachments}
        for dish in self.dishes.dishes if self.dishes is not None else ():
            if dish.host in attached:
                raise InputError(
                    f"--attach {dish.host}: the host has a dish; allowed: --attach without --dish"
                )
        if self.cgnat is not None:
            nft.program()
            if self.cgnat.near in moving | attached:
                raise InputError(
                    f"--cgnat: {self.cgnat.near} migrates or is a container; allowed: another host"
                )
        if self.lan is not None:
            self.lan.check([host.name for host in known])
        if self.delegation is not None:
            self.delegation.check(known)

    @contextlib.contextmanager
    def opened(self) -> Iterator[Opened]:
        """Opens what is in the caller's network namespace, and closes it.

        Raises:
            InputError: If this machine or user cannot have it.
        """
        with contextlib.ExitStack() as held:
            if self.attachments:
                held.callback(attach.keeper(self.attachments).close)
            outside = None
            if self.way_out is not None:
                try:
                    outside = held.enter_context(way_out.outside(self.way_out))
                except InputError as error:
                    raise InputError(f"--way-out: {error}") from None
            yield Opened(self, outside)


@dataclass(frozen=True)
class Opened:
    """Surroundings whose part in the caller's network namespace is open.

    Attributes:
        asked: The surroundings.
        outside: The caller's end of the way out, if there is one.
    """

    asked: Surroundings
    outside: Outside | None

    def serve(self) -> None:
        """Begins to serve the sandbox, whose processes have been made."""
        if self.outside is not None:
            self.outside.serve()

    def table(self, known: Sequence[Host], aliases: Mapping[str, str]) -> str:
        """The text of `/etc/hosts`, with other names of hosts."""
        return hosts.table(known, aliases) + ("" if self.asked.lan is None else self.asked.lan.names())

    def resolver(self, known: Sequence[Host]) -> str:
        """The text of `/etc/resolv.conf`: without a name server, unknown names are refused at once."""
        if self.asked.way_out is None:
            return ""
        far = next(host for host in known if host.name == self.asked.way_out.far)
        return name_service.resolver(far.addresses[0])

    def make(self, known: Sequence[Host]) -> dict[str, Made]:
        """Makes the hosts."""
        attached = {each.host: each for each in self.asked.attachments}
        made = {}
        for host in known:
            if host.name in attached:
                others = [other for other in known if other is not host]
                made[host.name] = attach.make(host, others, attached[host.name])
            else:
                made[host.name] = hosts.make(host)
        return made

    def connect(
        self, emulation: Emulation, known: Sequence[Host], made: dict[str, Made]
    ) -> Callable[[], None]:
        """Connects the hosts to what there is beside them, which becomes a host as well.

        Returns:
            A function to call when the network starts.

        Raises:
            RunError: If that fails.
        """
        beyond = [*(() if self.asked.lan is None else lan.NETWORKS)]
        beyond += [] if self.asked.cgnat is None else [cgnat.NETWORK]
        beyond += [] if self.asked.delegation is None else [self.asked.delegation.pool]
        if self.outside is not None:
            gateway.connect(self.outside.joint, self.outside.channel, emulation, known, made, beyond)
        if self.asked.cgnat is not None:
            cgnat.connect(self.asked.cgnat, emulation, known, made)
        if self.asked.delegation is not None:
            delegation.connect(self.asked.delegation, emulation, known, made)
        if self.asked.lan is not None:
            made[lan.NAME] = lan.connect(self.asked.lan, emulation, known, made)
        dishes = self.asked.dishes
        return Processes(dishes, made).begin if dishes is not None else lambda: None
