"""`leobench.quic.Connection`, by two of them that exchange datagrams."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from leobench import InputError, quic
from tests.quic.plans import HOST, MS, SECOND, identity
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping


class Pair:
    """A client and a server, 10 ms from each other."""

    def __init__(self, *, datagrams: bool = False, parameters: Mapping[str, object] | None = None) -> None:
        self.now = SECOND
        self.ends = [
            quic.Connection(
                is_client=is_client, now_ns=self.now, datagrams=datagrams, **tls(), parameters=parameters
            )
            for is_client in (True, False)
        ]
        self.happened: list[list[quic.Event]] = [[], []]

    def rest(self) -> None:
        """Lets datagrams pass until neither end has any, and no timer is due within a second."""
        while True:
            sent = [end.transmit(self.now) for end in self.ends]
            if any(sent):
                self.now += 10 * MS
                for end, datagrams in zip(reversed(self.ends), sent, strict=True):
                    for datagram in datagrams:
                        end.receive(datagram, self.now)
            else:
                timers = [timer for end in self.ends if (timer := end.timer()) is not None]
                if not timers or min(timers) > self.now + SECOND:
                    break
                self.now = min(timers)
                for end in self.ends:
                    end.handle_timer(self.now)
            for end, events in zip(self.ends, self.happened, strict=True):
                events.extend(end.events())


def tls() -> dict[str, Any]:
    server = identity("ed25519", 0)
    return {"server_name": HOST, "certificate": server.der, "private_key": server.key_der}


def test_bytes_go_both_ways() -> None:
    pair = Pair(parameters={"stream_window": "20 kB"})
    client, server = pair.ends
    assert client.open() is None
    pair.rest()
    stream = client.open()
    assert stream == 0
    assert client.write(0, bytes(range(256)) * 400)
    assert client.finish(0)
    assert not client.write(0, b"late")
    pair.rest()
    told = pair.happened[1]
    assert (
        b"".join(event.data for event in told if isinstance(event, quic.StreamData))
        == bytes(range(256)) * 400
    )
    assert told[-1] == quic.StreamFinished(0)
    assert pair.happened[0] == [quic.HandshakeCompleted(), quic.StreamAcknowledged(0)]
    assert server.write(0, b"thanks")
    assert server.reset(0, 7)
    assert not server.reset(0, 8)
    pair.rest()
    assert quic.StreamReset(0, 7) in pair.happened[0]
    second = server.open(unidirectional=True)
    assert second == 3
    server.write(3, b"news")
    pair.rest()
    assert client.stop(3, 9, pair.now)
    pair.rest()
    assert quic.StreamData(3, b"news") in pair.happened[0]
    assert quic.StreamStopped(3, 9) in pair.happened[1]


def test_the_example_of_the_guide(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "howto" / "quic-in-python.md").read_text(encoding="utf-8")
    code, output = re.findall(r"^```(?:python|text)\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    exec(code, {})  # noqa: S102 (of the guide)
    assert capsys.readouterr().out == output


def test_a_close_is_told_and_forgotten() -> None:
    pair = Pair()
    pair.rest()
    assert pair.ends[1].update_keys(pair.now)
    pair.ends[1].close(1 << 40, "enough", pair.now)
    pair.rest()
    close = quic.PeerClose(code=1 << 40, by_application=True, reason="enough")
    assert pair.happened[0][-1] == quic.ConnectionLost(
        "closed by the peer: application error 0x10000000000 enough", close
    )
    assert pair.happened[1][-1] == quic.ConnectionLost("closed by the application", None)
    assert all(end.is_closed() for end in pair.ends)


def test_datagrams_are_sent_to_those_who_take_them() -> None:
    pair = Pair(datagrams=True, parameters={"retry": True, "protection": "null"})
    client = pair.ends[0]
    assert client.send_datagram(b"early") is None
    assert client.largest_datagram() is None
    pair.rest()
    assert client.send_datagram(b"unreliable") == 0
    largest = client.largest_datagram()
    assert largest is not None
    assert client.send_datagram(bytes(largest + 1)) is None
    pair.rest()
    assert quic.DatagramReceived(b"unreliable") in pair.happened[1]
    assert quic.DatagramAcknowledged(0) in pair.happened[0]
    pair = Pair()
    pair.rest()
    assert pair.ends[0].send_datagram(b"unwanted") is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"parameters": {"window": 1}}, "window: a connection has no such parameter; allowed: `ack_elic"),
        ({"parameters": {"stream_window": "much"}}, "stream_window"),
        ({"parameters": {"payload": "1 kB"}}, "payload = .*allowed: from 1.2 kB"),
        ({"parameters": {"payload": b"1"}}, "b'1': is not a valid value"),
        ({"certificate": b""}, "certificate: is missing"),
        ({"certificate": b"nonsense", "is_client": False}, "certificate"),
        ({"private_key": b"", "is_client": False}, "private_key: is missing"),
        ({"server_name": "no name"}, 'server name "no name"'),
        ({"now_ns": -1}, "now_ns = -1: allowed: a whole number from 0 to 9223372036854775807"),
        ({"now_ns": 0.5}, "now_ns = 0.5: allowed: a whole number"),
        ({"seed": 1 << 64}, "seed = 18446744073709551616: allowed"),
        ({"bidirectional_streams": True}, "bidirectional_streams = True: allowed"),
    ],
)
def test_bad_arguments(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        quic.Connection(**({"is_client": True} | tls() | given))


def test_bad_calls() -> None:
    client = quic.Connection(is_client=True, now_ns=10, **tls())
    with pytest.raises(InputError, match="now_ns = 9: is before the last call; allowed: from 10"):
        client.transmit(9)
    with pytest.raises(InputError, match="code = 4611686018427387904: allowed"):
        client.reset(0, 1 << 62)
    assert not client.write(0, b"before the handshake")
    assert not client.stop(5, 1, 10)
    assert not client.update_keys(10)


def test_a_server_answers_where_its_client_is() -> None:
    """It follows a client whose address changes, and says for each datagram where it goes."""
    pair = Pair()
    client, server = pair.ends
    pair.rest()
    stream = client.open(unidirectional=True)
    assert stream is not None
    client.write(stream, b"hello")
    there, received = ("192.0.2.7", 4433), 0
    for datagram in client.transmit(pair.now):
        received += len(datagram)
        server.receive(datagram, pair.now + 10 * MS, there)
    sizes = [len(datagram) for datagram, to in server.transmit_to(pair.now + 10 * MS) if to == there]
    # RFC 9000 section 8.1: until the address is validated, three times what came from it.
    assert 0 < sum(sizes) <= 3 * received


@pytest.mark.parametrize("source", ["nowhere", ("nowhere", 1), ("10.0.0.1",), ("10.0.0.1", 70_000), 7])
def test_a_source_that_is_no_address_is_refused(source: Any) -> None:
    server = quic.Connection(is_client=False, parameters={"protection": "null"})
    with pytest.raises(InputError, match="allowed: "):
        server.receive(b"", 0, source)


def test_every_timer_can_be_handled() -> None:
    """RFC 9002 section 6.2.1: a probe timeout doubles without an answer; here it stops after 16 doublings."""
    client, _ = Pair().ends
    client.transmit(SECOND)
    last, waits = SECOND, []
    for _ in range(60):
        timer = client.timer()
        assert timer is not None
        client.handle_timer(timer)
        client.transmit(timer)
        waits.append(timer - last)
        last = timer
    assert waits[0] == 999 * MS, "three times the initial round trip"
    assert waits[:17] == [waits[0] << doublings for doublings in range(17)]
    assert set(waits[17:]) == {waits[16]}


def test_a_timer_beyond_the_end_of_time_is_none() -> None:
    client, _ = Pair().ends
    end = (1 << 63) - 1
    client.transmit(end - SECOND // 2)
    assert client.timer() is None
    client.handle_timer(end)
    assert client.timer() is None
