"""Meetings whose client is behind a NAT that gives it another port or address, or both, several times."""

from __future__ import annotations

import dataclasses
from random import Random
from typing import TYPE_CHECKING

from tests.quic.meetings import Link, Meeting
from tests.quic.parties import ADDRESS, Aio, Own
from tests.quic.plans import AIO, MS, OWN, SECOND, Plan, Trouble, Way, draw

if TYPE_CHECKING:
    from collections import Counter

Address = tuple[str, int]

# By then the handshake is over: a server need not follow its client before.
FIRST = 2 * SECOND
SIZE = 700_000
# A round trip takes 100 ms, so that a stream takes at least 4.4 s.
WINDOW = 16_000


class Addressed(bytes):
    """A datagram with the address of the client."""

    client: Address = ADDRESS

    @classmethod
    def of(cls, datagram: bytes, client: Address) -> Addressed:
        made = cls(datagram)
        made.client = client
        return made


def plan_of(seed: int, *, own_is_client: bool, lost: float) -> Plan:
    """Two streams, with data both ways, and a client that always has something to say: a NAT maps what comes
    from inside only.
    """
    random = Random(f"rebinding {seed}")  # noqa: S311
    trouble = Trouble(lost=lost, late=0.1 if lost else 0.0, by=20 * MS)
    ways = [Way(random.randbytes(SIZE), None, None) for _ in range(4)]
    streams = [(ways[0], ways[1]), (ways[2], ways[3])]
    client = OWN if own_is_client else AIO
    words = [(at * 100 * MS, random.randbytes(100)) for at in range(1, 200)]
    return dataclasses.replace(
        draw(seed, 1),
        own_is_client=own_is_client,
        delay=50 * MS,
        trouble=(trouble, trouble),
        stream_window=(WINDOW, WINDOW),
        connection_window=(4 * WINDOW, 4 * WINDOW),
        allowed=(100, 100),
        idle=(30 * SECOND, 30 * SECOND),
        streams=tuple((streams, []) if end == client else ([], []) for end in (OWN, AIO)),
        key_updates=([], []),
        datagrams=(words, []) if client == OWN else ([], words),
        retry=False,
        close=(client, None, 7, "done"),
    )


class Nat(Link):
    """A link behind a NAT, which forgets a mapping when it makes another."""

    def __init__(self, plan: Plan, tally: Counter[str]) -> None:
        super().__init__(plan)
        self.client = OWN if plan.own_is_client else AIO
        self.tally = tally
        self.mappings: list[tuple[int, Address]] = [(0, ADDRESS)]
        at = FIRST
        for number in range(1, 5):
            at += self.random.randint(200, 800) * MS
            address, port = self.mappings[-1][1]
            what = self.random.choice(["port", "address", "both"])
            tally[f"rebindings: {what}"] += 1
            if what != "port":
                address = f"192.0.2.{number}"
            if what != "address":
                port = 4433 + number
            self.mappings.append((at, (address, port)))

    def mapped(self, now: int) -> Address:
        """The client's address outside."""
        return next(address for at, address in reversed(self.mappings) if at <= now)

    def send(self, now: int, sender: int, datagram: bytes, tally: Counter[str]) -> None:
        if sender == self.client:
            datagram = Addressed.of(datagram, self.mapped(now))
        super().send(now, sender, datagram, tally)

    def damage(self, datagram: bytes) -> bytes:
        assert isinstance(datagram, Addressed)
        return Addressed.of(super().damage(datagram), datagram.client)

    def arrival(self, now: int) -> tuple[int, bytes, bool] | None:
        found = super().arrival(now)
        if found is None:
            return None
        receiver, datagram, is_new = found
        assert isinstance(datagram, Addressed)
        if receiver == self.client and datagram.client != self.mapped(now):
            self.tally["datagrams to an address of before"] += 1
            return self.arrival(now)
        if receiver == self.client and datagram.client != ADDRESS:
            self.tally["datagrams to an address of later"] += 1
        return receiver, datagram, is_new


class OwnServer(Own):
    """Our server, which is told where datagrams come from."""

    def receive(self, datagram: bytes, now: int) -> None:
        assert isinstance(datagram, Addressed)
        self.connection.receive(datagram, now, datagram.client)

    def transmit(self, now: int) -> list[bytes]:
        return [Addressed.of(data, client) for data, client in self.connection.transmit_to(now)]


class AioServer(Aio):
    """aioquic's server."""

    def receive(self, datagram: bytes, now: int) -> None:
        assert isinstance(datagram, Addressed)
        if self.connection is None:
            super().receive(datagram, now)
        else:
            self.connection.receive_datagram(datagram, datagram.client, now / SECOND)

    def transmit(self, now: int) -> list[bytes]:
        answers, self.answers = self.answers, []
        sent: list[bytes] = [Addressed.of(data, ADDRESS) for data in answers]
        if self.connection is not None:
            sent += [Addressed.of(data, to) for data, to in self.connection.datagrams_to_send(now / SECOND)]
        return sent


class RebindingMeeting(Meeting):
    """A plan that is played behind a NAT."""

    def __init__(self, plan: Plan, tally: Counter[str]) -> None:
        super().__init__(plan, tally)
        self.link = self.nat = Nat(plan, tally)
        server = AIO if plan.own_is_client else OWN
        self.ends[server].party = AioServer(plan) if plan.own_is_client else OwnServer(plan)

    def check(self) -> None:
        super().check()
        assert self.now > self.nat.mappings[-1][0], "the last rebinding came too late"
