"""The two stacks that meet, each behind the same interface."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Protocol

from aioquic._buffer import Buffer
from aioquic.quic import events as aio
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.packet import (
    QuicHeader,
    QuicPacketType,
    encode_quic_retry,
    encode_quic_version_negotiation,
    pull_quic_header,
)
from aioquic.quic.retry import QuicRetryTokenHandler
from aioquic.tls import Epoch, SessionTicket

from leobench import quic
from tests.quic.plans import AIO, HOST, OWN, SECOND, Plan, identity

ADDRESS = ("10.0.0.1", 4433)
PROTOCOL = "meeting"


@dataclass(frozen=True)
class Lost:
    """How a connection ended, as an end tells: closed by the peer's application or stack, or by itself."""

    how: str
    code: int | None = None
    reason: str = ""


class Party(Protocol):
    """One end, of either stack. Times are in nanoseconds."""

    def receive(self, datagram: bytes, now: int) -> None: ...
    def handle_timer(self, now: int) -> None: ...
    def transmit(self, now: int) -> list[bytes]: ...
    def timer(self) -> int | None: ...
    def events(self) -> list[quic.Event | Lost]: ...
    def open(self, *, unidirectional: bool) -> int | None: ...
    def write(self, stream: int, data: bytes) -> None: ...
    def finish(self, stream: int) -> None: ...
    def reset(self, stream: int, code: int) -> bool: ...
    def stop(self, stream: int, code: int, now: int) -> bool: ...
    def send_datagram(self, data: bytes) -> bool: ...
    def close(self, code: int, reason: str, now: int) -> None: ...
    def update_keys(self, now: int) -> bool: ...
    def sends_early(self) -> bool: ...


class Own:
    """Our end."""

    def __init__(self, plan: Plan) -> None:
        server = identity(*plan.identity)
        parameters: dict[str, object] = {"payload": f"{plan.payload[OWN]} B"}
        windows = {"stream_window": plan.stream_window[OWN], "connection_window": plan.connection_window[OWN]}
        parameters |= {name: f"{size} B" for name, size in windows.items() if size is not None}
        parameters["retry"] = plan.retry and not plan.own_is_client
        if plan.idle[OWN] is not None:
            parameters["idle_timeout"] = f"{plan.idle[OWN]} ns"
        self.connection = quic.Connection(
            is_client=plan.own_is_client,
            server_name=HOST,
            certificate=server.der,
            private_key=b"" if plan.own_is_client else server.key_der,
            protocols=[PROTOCOL],
            bidirectional_streams=plan.allowed[0],
            unidirectional_streams=plan.allowed[1],
            datagrams=True,
            seed=plan.seed,
            parameters=parameters,
            sessions=self._sessions(plan),
        )
        self.may_be_early = plan.own_is_client and plan.tickets is not None

    @staticmethod
    def _sessions(plan: Plan) -> quic.Sessions | None:
        if plan.tickets is None:
            return None
        if plan.own_is_client:
            return plan.tickets.own
        return plan.tickets.own.with_early_data(early_data=plan.tickets.accepts)

    def receive(self, datagram: bytes, now: int) -> None:
        self.connection.receive(datagram, now)

    def handle_timer(self, now: int) -> None:
        self.connection.handle_timer(now)

    def transmit(self, now: int) -> list[bytes]:
        return self.connection.transmit(now)

    def timer(self) -> int | None:
        return self.connection.timer()

    def events(self) -> list[quic.Event | Lost]:
        return [
            self._lost(event) if isinstance(event, quic.ConnectionLost) else event
            for event in self.connection.events()
        ]

    @staticmethod
    def _lost(event: quic.ConnectionLost) -> Lost:
        if event.close is not None:
            how = "application" if event.close.by_application else "transport"
            return Lost(how, event.close.code, event.close.reason)
        ends = {"timed out": "idle", "closed by the application": "self"}
        return Lost(ends.get(event.reason, "error"), None, event.reason)

    def open(self, *, unidirectional: bool) -> int | None:
        return self.connection.open(unidirectional=unidirectional)

    def write(self, stream: int, data: bytes) -> None:
        self.connection.write(stream, data)

    def finish(self, stream: int) -> None:
        self.connection.finish(stream)

    def reset(self, stream: int, code: int) -> bool:
        self.connection.reset(stream, code)
        return True

    def stop(self, stream: int, code: int, now: int) -> bool:
        return self.connection.stop(stream, code, now)

    def send_datagram(self, data: bytes) -> bool:
        return self.connection.send_datagram(data) is not None

    def close(self, code: int, reason: str, now: int) -> None:
        self.connection.close(code, reason, now)

    def update_keys(self, now: int) -> bool:
        return self.connection.update_keys(now)

    def sends_early(self) -> bool:
        # Without a ticket, no stream can be opened yet.
        return self.may_be_early


class Aio:
    """The end that is aioquic."""

    def __init__(self, plan: Plan) -> None:
        server = identity(*plan.identity)
        idle = plan.idle[AIO]
        assert idle is not None
        self.configuration = QuicConfiguration(
            is_client=not plan.own_is_client,
            alpn_protocols=[PROTOCOL],
            idle_timeout=idle / SECOND,
            max_data=plan.connection_window[AIO] or 0,
            max_stream_data=plan.stream_window[AIO] or 0,
            max_datagram_size=plan.payload[AIO],
            max_datagram_frame_size=65_535,
            server_name=HOST,
        )
        self.connection: QuicConnection | None = None
        self.established = False
        self.closed_by_itself = False
        self.retry = QuicRetryTokenHandler() if plan.retry and plan.own_is_client else None
        self.answers: list[bytes] = []
        self.tickets = plan.tickets
        if plan.own_is_client:
            self.configuration.certificate = server.certificate
            self.configuration.private_key = server.key
        else:
            self.configuration.cadata = server.pem
            if plan.tickets is not None:
                self.configuration.session_ticket = plan.tickets.last
            self.connection = QuicConnection(
                configuration=self.configuration, session_ticket_handler=self._keep
            )
            self.connection.connect(ADDRESS, now=0.0)

    def _keep(self, ticket: SessionTicket) -> None:
        if self.tickets is not None:
            self.tickets.aioquic[ticket.ticket] = self.tickets.last = ticket

    def _known(self, name: bytes) -> SessionTicket | None:
        """The session of a ticket; a server that knows none rejects 0-RTT data."""
        if self.tickets is None or not self.tickets.accepts:
            return None
        return self.tickets.aioquic.pop(name, None)

    def receive(self, datagram: bytes, now: int) -> None:
        if self.connection is None:
            self._accept(datagram, now)
        elif not self._is_foreign(datagram):
            self.connection.receive_datagram(datagram, ADDRESS, now / SECOND)

    def _is_foreign(self, datagram: bytes) -> bool:
        """Whether it has a version that a server answers without a connection."""
        return not self.configuration.is_client and self._answer_version(datagram)

    def _answer_version(self, datagram: bytes) -> bool:
        try:
            header = pull_quic_header(Buffer(data=datagram), host_cid_length=8)
        except ValueError:
            return True
        is_foreign = (
            header.version is not None and header.version not in self.configuration.supported_versions
        )
        if is_foreign and header.packet_type != QuicPacketType.VERSION_NEGOTIATION:
            self.answers.append(
                encode_quic_version_negotiation(
                    source_cid=header.destination_cid,
                    destination_cid=header.source_cid,
                    supported_versions=self.configuration.supported_versions,
                )
            )
        return is_foreign

    def _accept(self, datagram: bytes, now: int) -> None:
        """Handles a first packet as aioquic's server does. A damaged one leaves no connection behind."""
        if self._answer_version(datagram):
            return
        header = pull_quic_header(Buffer(data=datagram), host_cid_length=8)
        if header.packet_type != QuicPacketType.INITIAL or len(datagram) < 1200:
            return
        original = header.destination_cid
        retried: bytes | None = None
        if self.retry is not None:
            if not header.token:
                self._send_retry(header, now)
                return
            try:
                original = self.retry.validate_token(
                    address=ADDRESS,
                    destination_cid=header.destination_cid,
                    token=header.token,
                    now=now / SECOND,
                )
            except ValueError:
                return  # a damaged token
            retried = header.destination_cid
        connection = QuicConnection(
            configuration=self.configuration,
            original_destination_connection_id=original,
            retry_source_connection_id=retried,
            session_ticket_fetcher=self._known,
            session_ticket_handler=self._keep,
        )
        connection.receive_datagram(datagram, ADDRESS, now / SECOND)
        answer = connection.datagrams_to_send(now / SECOND)
        if answer:
            self.connection = connection
            self.answers += [data for data, _ in answer]

    def _send_retry(self, header: QuicHeader, now: int) -> None:
        assert self.retry is not None
        assert header.version is not None
        source = os.urandom(8)
        token = self.retry.create_token(
            address=ADDRESS,
            original_destination_connection_id=header.destination_cid,
            retry_source_connection_id=source,
            now=now / SECOND,
        )
        retry = encode_quic_retry(
            version=header.version,
            source_cid=source,
            destination_cid=header.source_cid,
            original_destination_cid=header.destination_cid,
            retry_token=token,
        )
        self.answers.append(retry)

    def handle_timer(self, now: int) -> None:
        if self.connection is not None:
            timer = self.timer()
            if timer is not None and timer <= now:
                self.connection.handle_timer(now / SECOND)

    def transmit(self, now: int) -> list[bytes]:
        answers, self.answers = self.answers, []
        if self.connection is None:
            return answers
        return answers + [data for data, _ in self.connection.datagrams_to_send(now / SECOND)]

    def timer(self) -> int | None:
        timer = None if self.connection is None else self.connection.get_timer()
        # Up to the nanosecond whose number of seconds is not before it.
        return None if timer is None else math.ceil(timer * SECOND) + 1_000

    def events(self) -> list[quic.Event | Lost]:
        happened: list[quic.Event | Lost] = []
        while self.connection is not None and (event := self.connection.next_event()) is not None:
            match event:
                case aio.HandshakeCompleted():
                    self.established = True
                    happened.append(quic.HandshakeCompleted())
                case aio.StreamDataReceived():
                    happened.append(quic.StreamData(event.stream_id, event.data))
                    if event.end_stream:
                        happened.append(quic.StreamFinished(event.stream_id))
                case aio.StreamReset():
                    happened.append(quic.StreamReset(event.stream_id, event.error_code))
                case aio.StopSendingReceived():
                    happened.append(quic.StreamStopped(event.stream_id, event.error_code))
                case aio.DatagramFrameReceived():
                    happened.append(quic.DatagramReceived(event.data))
                case aio.ConnectionTerminated():
                    happened.append(self._lost(event))
                case _:
                    pass
        return happened

    def _lost(self, event: aio.ConnectionTerminated) -> Lost:
        if self.closed_by_itself:
            return Lost("self")
        if event.reason_phrase == "Idle timeout":
            return Lost("idle")
        how = "application" if event.frame_type is None else "transport"
        return Lost(how, event.error_code, event.reason_phrase)

    def open(self, *, unidirectional: bool) -> int | None:
        # It keeps what the peer does not allow yet to itself.
        assert self.connection is not None
        stream = self.connection.get_next_available_stream_id(is_unidirectional=unidirectional)
        self.connection.send_stream_data(stream, b"")
        return stream

    def write(self, stream: int, data: bytes) -> None:
        assert self.connection is not None
        self.connection.send_stream_data(stream, data)

    def finish(self, stream: int) -> None:
        assert self.connection is not None
        self.connection.send_stream_data(stream, b"", end_stream=True)

    def reset(self, stream: int, code: int) -> bool:
        assert self.connection is not None
        # aioquic 1.7.2 would send RESET_STREAM for a stream that the peer does not allow yet, against
        # RFC 9000 section 4.6.
        held = self.connection._streams.get(stream)
        if held is not None and held.is_blocked:
            return False
        self.connection.reset_stream(stream, code)
        return True

    def stop(self, stream: int, code: int, now: int) -> bool:  # noqa: ARG002 (as the other end has it)
        assert self.connection is not None
        try:
            self.connection.stop_stream(stream, code)
        except ValueError:
            return False  # it has ended
        return True

    def send_datagram(self, data: bytes) -> bool:
        assert self.connection is not None
        self.connection.send_datagram_frame(data)
        return True

    def close(self, code: int, reason: str, now: int) -> None:  # noqa: ARG002 (as the other end has it)
        assert self.connection is not None
        self.closed_by_itself = True
        self.connection.close(code, reason_phrase=reason)

    def update_keys(self, now: int) -> bool:  # noqa: ARG002 (as the other end has it)
        assert self.connection is not None
        self.connection.request_key_update()
        return True

    def sends_early(self) -> bool:
        connection = self.connection
        return connection is not None and connection._cryptos[Epoch.ZERO_RTT].send.is_valid()
