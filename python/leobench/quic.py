"""QUIC connections for programs: leobench's own stack, without sockets or clocks.

A program calls `receive` for every datagram, and `handle_timer` when the time of `timer` has come. After
either, and after every call of its own, it sends what `transmit` returns, and looks at `events`:

    client = Connection(is_client=True, server_name="example.net", certificate=certificate)
    for datagram in client.transmit(now_ns=0):
        socket.sendto(datagram, address)

Times are whole nanoseconds from any origin. Connection IDs follow from the seed; TLS draws its own random
numbers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING

from leobench import _core
from leobench.errors import InputError, allowed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from ipaddress import IPv4Address, IPv6Address

# RFC 9000 section 16: the largest variable-length integer, such as an error code or a stream's number.
_LARGEST_VARINT = (1 << 62) - 1
_LARGEST_TIME = (1 << 63) - 1

# Keys of a `quic` transport that a program may set. The others concern the network or the streams of a flow.
PARAMETERS = (
    "ack_eliciting_threshold",
    "congestion",
    "connection_window",
    "idle_timeout",
    "initial_rtt",
    "key_update",
    "max_ack_delay",
    "pacing",
    "payload",
    "protection",
    "retry",
    "stream_window",
)


@dataclass(frozen=True)
class Event:
    """Something that happened to a connection."""


@dataclass(frozen=True)
class HandshakeCompleted(Event):
    """The handshake is complete: streams may be opened."""


@dataclass(frozen=True)
class StreamData(Event):
    """The next bytes of a stream. The first of them show that the peer has opened it."""

    stream: int
    data: bytes


@dataclass(frozen=True)
class StreamFinished(Event):
    """A stream ended, after all its bytes."""

    stream: int


@dataclass(frozen=True)
class StreamReset(Event):
    """The peer abandoned a stream (`RESET_STREAM`)."""

    stream: int
    code: int


@dataclass(frozen=True)
class StreamStopped(Event):
    """The peer wants no more of a stream (`STOP_SENDING`)."""

    stream: int
    code: int


@dataclass(frozen=True)
class StreamAcknowledged(Event):
    """The peer has acknowledged all bytes of a stream and its end."""

    stream: int


@dataclass(frozen=True)
class DatagramReceived(Event):
    """The peer sent an unreliable datagram (RFC 9221)."""

    data: bytes


@dataclass(frozen=True)
class DatagramAcknowledged(Event):
    """The unreliable datagram of this number has arrived."""

    number: int


@dataclass(frozen=True)
class DatagramLost(Event):
    """The unreliable datagram of this number was lost, unless an acknowledgement follows after all."""

    number: int


@dataclass(frozen=True)
class PeerClose:
    """The error code and reason with which the peer closed a connection (RFC 9000 section 19.19)."""

    code: int
    by_application: bool
    reason: str


@dataclass(frozen=True)
class ConnectionLost(Event):
    """The connection is over. Nothing happens after it."""

    reason: str
    close: PeerClose | None


_EVENTS: dict[str, type[Event]] = {
    kind.__name__: kind
    for kind in (
        HandshakeCompleted,
        StreamData,
        StreamFinished,
        StreamReset,
        StreamStopped,
        StreamAcknowledged,
        DatagramReceived,
        DatagramAcknowledged,
        DatagramLost,
    )
}


def _whole(name: str, value: int, largest: int) -> int:
    if type(value) is not int or not 0 <= value <= largest:
        raise InputError(f"{name} = {value!r}: allowed: a whole number from 0 to {largest}")
    return value


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{name} = {value!r}: allowed: True, False")
    return value


def _address(source: tuple[str, int]) -> tuple[IPv4Address | IPv6Address, int]:
    try:
        address, port = source
        return ip_address(address), _whole("source[1]", port, 65_535)
    except (TypeError, ValueError) as error:
        raise InputError(
            f'source = {source!r}: allowed: an address and a port, ("10.0.0.1", 4433)'
        ) from error


def _unusable(value: object) -> object:
    raise InputError(f"{value!r}: is not a valid value; allowed: values that a scenario can hold")


class Sessions:
    """Tickets of earlier connections, with which later ones are resumed (RFC 8446 section 4.6.1).

    A client uses each ticket once, and a server accepts it once. Connections that share an object share its
    tickets; a client and a server may.
    """

    def __init__(self, *, early_data: bool = False) -> None:
        """Makes a memory without tickets.

        Args:
            early_data: Whether clients send 0-RTT data, and servers accept it. Whoever has seen it can send
                it again to another server of the same name: it must do no harm twice (RFC 8446 section 8).

        Raises:
            InputError: If that is neither true nor false.
        """
        self._core = _core.QuicSessions(_flag("early_data", early_data))

    def with_early_data(self, *, early_data: bool) -> Sessions:
        """The same tickets, for ends that allow 0-RTT data or none."""
        other = object.__new__(Sessions)
        other._core = self._core.with_early(_flag("early_data", early_data))
        return other


class Connection:
    """One end of a QUIC connection (RFC 9000).

    Streams have the numbers of RFC 9000, section 2.1. Data is handed out as it becomes complete, and then
    counts as read: flow control does not wait for the program.
    """

    def __init__(  # noqa: PLR0913 (keywords only)
        self,
        *,
        is_client: bool,
        now_ns: int = 0,
        server_name: str = "leobench",
        certificate: bytes = b"",
        private_key: bytes = b"",
        protocols: Iterable[str] = ("leobench",),
        bidirectional_streams: int = 100,
        unidirectional_streams: int = 100,
        datagrams: bool = False,
        seed: int = 0,
        parameters: Mapping[str, object] | None = None,
        sessions: Sessions | None = None,
    ) -> None:
        """Makes an end: a client that is about to send its first packet, or a server that waits for one.

        Args:
            is_client: Whether it opens the connection.
            now_ns: The time.
            server_name: The name that a client asks for.
            certificate: The server's certificate in DER. A client accepts this one only, whatever its dates.
            private_key: The server's private key in DER (PKCS #8).
            protocols: Application protocols (ALPN), the preferred one first.
            bidirectional_streams: How many bidirectional streams the peer may have open at a time.
            unidirectional_streams: How many unidirectional streams the peer may have open at a time.
            datagrams: Whether it takes unreliable datagrams (RFC 9221).
            seed: The root of connection IDs.
            parameters: Keys of a `quic` transport in a scenario, those of `PARAMETERS`, with their values
                there, such as `{"stream_window": "64 kB"}`. With `{"protection": "null"}`, nothing is
                encrypted, and certificates are not needed.
            sessions: Tickets of earlier connections with the same certificate and protocols. A client with a
                ticket that allows 0-RTT data may open streams at once.

        Raises:
            InputError: If an argument cannot be used.
        """
        given = dict(parameters or {})
        for name in given:
            if name not in PARAMETERS:
                raise InputError(f"{name}: a connection has no such parameter; {allowed(name, PARAMETERS)}")
        values = {"stack": "own", "protection": "tls", **given}
        if values["protection"] == "tls" and not certificate:
            raise InputError("certificate: is missing; allowed: the server's certificate in DER")
        if values["protection"] == "tls" and not is_client and not private_key:
            raise InputError("private_key: is missing; allowed: the server's private key in DER (PKCS #8)")
        if values["protection"] != "tls" and sessions is not None:
            raise InputError(f"sessions: protection {values['protection']!r} has no tickets; allowed: None")
        if not isinstance(sessions, Sessions | None):
            raise InputError(f"sessions = {sessions!r}: allowed: a `leobench.quic.Sessions`, or None")
        self._now = 0
        self._core = _core.QuicConnection(
            is_client,
            self._instant(now_ns),
            json.dumps(values, default=_unusable),
            server_name,
            certificate,
            private_key,
            [protocol.encode() for protocol in protocols],
            (
                _whole("bidirectional_streams", bidirectional_streams, 1 << 60),
                _whole("unidirectional_streams", unidirectional_streams, 1 << 60),
            ),
            bool(datagrams),
            _whole("seed", seed, (1 << 64) - 1),
            None if sessions is None else sessions._core,
        )

    def _instant(self, now_ns: int) -> int:
        now = _whole("now_ns", now_ns, _LARGEST_TIME)
        if now < self._now:
            raise InputError(f"now_ns = {now}: is before the last call; allowed: from {self._now}")
        self._now = now
        return now

    def receive(self, datagram: bytes, now_ns: int, source: tuple[str, int] | None = None) -> None:
        """Takes a datagram of the peer.

        Args:
            datagram: The datagram.
            now_ns: The time.
            source: The address and the port it came from; where the peer is known to be if not given. A
                server follows its client to another address, and validates it (RFC 9000 section 9.3).

        Raises:
            InputError: If the source is no address and port.
        """
        self._core.receive(self._instant(now_ns), datagram, None if source is None else _address(source))

    def transmit_to(self, now_ns: int) -> list[tuple[bytes, tuple[str, int]]]:
        """The datagrams to send now, and the address and port that each is for."""
        return self._core.transmit_to(self._instant(now_ns))

    def transmit(self, now_ns: int) -> list[bytes]:
        """The datagrams to send now."""
        return self._core.transmit(self._instant(now_ns))

    def timer(self) -> int | None:
        """When to call `handle_timer` if nothing arrives before, in nanoseconds; `None` for never."""
        return self._core.timer(self._now)

    def handle_timer(self, now_ns: int) -> None:
        """Does what is due: a call too early does nothing."""
        self._core.on_timer(self._instant(now_ns))

    def events(self) -> Iterator[Event]:
        """Yields the events since the last call, in order."""
        while (told := self._core.next_event()) is not None:
            name, values = told
            if name == "ConnectionLost":
                reason, close = values
                yield ConnectionLost(reason, None if close is None else PeerClose(*close))
            else:
                yield _EVENTS[name](*values)

    def open(self, *, unidirectional: bool = False) -> int | None:
        """Opens a stream: its number, or `None` before the handshake and while the peer allows no more.

        A client that may send 0-RTT data need not wait for the handshake.
        """
        return self._core.open(unidirectional)

    def write(self, stream: int, data: bytes) -> bool:
        """Writes to a stream, whatever flow control lets go now; whether the stream takes bytes at all."""
        return self._core.write(_whole("stream", stream, _LARGEST_VARINT), data)

    def finish(self, stream: int) -> bool:
        """Ends a stream after what was written; whether it was open."""
        return self._core.finish(_whole("stream", stream, _LARGEST_VARINT))

    def reset(self, stream: int, code: int) -> bool:
        """Abandons a stream with an error code (`RESET_STREAM`); whether there was something to abandon."""
        code = _whole("code", code, _LARGEST_VARINT)
        return self._core.reset(_whole("stream", stream, _LARGEST_VARINT), code)

    def stop(self, stream: int, code: int, now_ns: int) -> bool:
        """Asks the peer to send no more on a stream (`STOP_SENDING`); whether it had not ended yet.

        Afterwards, no event concerns what the peer sends on it.
        """
        code = _whole("code", code, _LARGEST_VARINT)
        return self._core.stop(self._instant(now_ns), _whole("stream", stream, _LARGEST_VARINT), code)

    def send_datagram(self, data: bytes) -> int | None:
        """Sends an unreliable datagram as soon as window and pacing let it.

        Returns:
            The number by which events name it; `None` if it is not sent, for the peer takes none, none yet or
            none so large, or too many wait.
        """
        return self._core.send_datagram(data)

    def largest_datagram(self) -> int | None:
        """Bytes of the largest unreliable datagram that can be sent now; `None` if the peer takes none."""
        return self._core.largest_datagram()

    def close(self, code: int, reason: str, now_ns: int) -> None:
        """Closes the connection with an error code of the application. Unsent data is dropped."""
        self._core.close(self._instant(now_ns), _whole("code", code, _LARGEST_VARINT), reason)

    def update_keys(self, now_ns: int) -> bool:
        """Starts a key update (RFC 9001 section 6); whether the handshake and the last update are settled."""
        return self._core.update_keys(self._instant(now_ns))

    def early_data_accepted(self) -> bool | None:
        """Whether the server accepted 0-RTT data; `None` if there was none, or before a client knows.

        What was written to streams arrives either way: a client sends again what the server has rejected.
        """
        return self._core.early_data()

    def is_closed(self) -> bool:
        """Whether the connection is over and forgotten: it sends no more, whatever arrives."""
        return self._core.is_closed()
