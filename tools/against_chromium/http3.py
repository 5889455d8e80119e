"""HTTP/3 by aioquic, which serves streams in turns, a packet each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.asyncio.server import serve
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated, QuicEvent

if TYPE_CHECKING:
    from pathlib import Path

    from tools.against_chromium.shapes import Site


class Connection(QuicConnectionProtocol):
    """The server's end of a connection."""

    def __init__(self, *args: Any, site: Site, **more: Any) -> None:
        super().__init__(*args, **more)
        self._site = site
        self._http: H3Connection | None = None

    def quic_event_received(self, event: QuicEvent) -> None:
        """Answers requests."""
        if isinstance(event, ProtocolNegotiated):
            self._http = H3Connection(self._quic)
        if self._http is None:
            return
        for heard in self._http.handle_event(event):
            if isinstance(heard, HeadersReceived):
                self._answer(self._http, heard)

    def _answer(self, http: H3Connection, request: HeadersReceived) -> None:
        resource = self._site.get(dict(request.headers)[b":path"].decode("ascii"))
        kind, content = ("text/plain", b"") if resource is None else (resource.kind, resource.content)
        headers = [
            (b":status", b"404" if resource is None else b"200"),
            (b"content-type", kind.encode("ascii")),
            (b"content-length", str(len(content)).encode("ascii")),
            (b"cache-control", b"no-store"),
        ]
        http.send_headers(request.stream_id, headers)
        http.send_data(request.stream_id, content, end_stream=True)
        self.transmit()


async def start(site: Site, port: int, certificate: Path) -> None:
    """Listens on all addresses of IPv4, with CUBIC."""
    settings = QuicConfiguration(
        is_client=False, alpn_protocols=list(H3_ALPN), congestion_control_algorithm="cubic"
    )
    settings.load_cert_chain(certificate)
    await serve("0.0.0.0", port, configuration=settings, create_protocol=_maker(site))  # noqa: S104 (a host)


def _maker(site: Site) -> Any:
    return lambda *args, **more: Connection(*args, site=site, **more)
