"""0-RTT data: between two ends of ours, and in meetings with aioquic of ends that have met before."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from leobench import InputError, quic
from tests.quic.meetings import Meeting
from tests.quic.parties import Own
from tests.quic.plans import MS, NAMES, Plan, Tickets, Trouble, draw
from tests.quic.test_connection import tls

DELAY = 10 * MS


def arrival(sessions: tuple[quic.Sessions, quic.Sessions]) -> tuple[int, list[bool | None]]:
    """When the first bytes of a client arrive, 10 ms away, and whether each end holds 0-RTT data accepted."""
    client, server = (
        quic.Connection(is_client=is_client, **tls(), sessions=own)
        for is_client, own in zip((True, False), sessions, strict=True)
    )
    stream = client.open(unidirectional=True)
    now, arrived = 0, 0
    for step in range(12):
        if stream is None:
            stream = client.open(unidirectional=True)
        if stream is not None and step < 3:
            client.write(stream, b"hello")
        flight = client.transmit(now), server.transmit(now)
        now += DELAY
        for end, datagrams in zip((server, client), flight, strict=True):
            for datagram in datagrams:
                end.receive(datagram, now)
        if not arrived and any(isinstance(event, quic.StreamData) for event in server.events()):
            arrived = now
    return arrived, [client.early_data_accepted(), server.early_data_accepted()]


def test_it_saves_a_round_trip_unless_it_is_rejected() -> None:
    sessions = quic.Sessions(early_data=True)
    # Hello; answer; the end of the handshake, with the data.
    assert arrival((sessions, sessions)) == (3 * DELAY, [None, None])
    assert arrival((sessions, sessions)) == (DELAY, [True, True])
    refuses = sessions.with_early_data(early_data=False)
    assert arrival((sessions, refuses)) == (3 * DELAY, [False, None])
    # Resumed without it.
    assert arrival((refuses, sessions)) == (3 * DELAY, [None, None])


def test_null_protection_has_no_tickets() -> None:
    with pytest.raises(InputError, match="sessions: protection 'null' has no tickets"):
        quic.Connection(is_client=True, parameters={"protection": "null"}, sessions=quic.Sessions())


def test_what_is_no_memory_of_tickets_is_refused() -> None:
    with pytest.raises(InputError, match=r"sessions = 3: allowed: a `leobench.quic.Sessions`, or None"):
        quic.Connection(is_client=True, **tls(), sessions=3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="early_data = 'no': allowed: True, False"):
        quic.Sessions(early_data="no")  # type: ignore[arg-type]


def met_before(seed: int, *, own_is_client: bool, accepts: bool) -> Plan:
    """A meeting of ends whose earlier one has left a ticket."""
    plan = replace(draw(seed, 20_000), own_is_client=own_is_client)
    # After a Retry, aioquic 1.7.2 sends the data of its 0-RTT packets no second time.
    retry = plan.retry and own_is_client
    plan = replace(plan, retry=retry, tickets=Tickets(quic.Sessions(early_data=True)))
    assert plan.tickets is not None
    first = replace(plan, trouble=(Trouble(), Trouble()), streams=(([], []), ([], [])), close=None)
    Meeting(replace(first, key_updates=([], []), datagrams=([], [])), Counter()).hold()
    plan.tickets.accepts = accepts
    return plan


@pytest.mark.parametrize("accepts", [True, False])
@pytest.mark.parametrize("own_is_client", [True, False])
def test_meetings(*, own_is_client: bool, accepts: bool) -> None:
    tally: Counter[str] = Counter()
    for seed in range(30):
        meeting = Meeting(met_before(seed, own_is_client=own_is_client, accepts=accepts), tally)
        meeting.hold()
        own = meeting.ends[0].party
        assert isinstance(own, Own)
        # A server has no name for what it rejects.
        assert own.connection.early_data_accepted() is (accepts or (False if own_is_client else None)), seed
    client = NAMES[0 if own_is_client else 1]
    assert tally[f"0-RTT datagrams from: {client}"] > 60
