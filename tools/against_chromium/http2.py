"""HTTP/2 with the priorities of RFC 9218: the most urgent response first, incremental ones in turns."""

from __future__ import annotations

import asyncio
import contextlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, Event, RequestReceived, StreamReset
from h2.exceptions import StreamClosedError

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter

    from tools.against_chromium.shapes import Site

# Bytes of a frame at most (the default of SETTINGS_MAX_FRAME_SIZE).
FRAME = 16_384
DEFAULT_URGENCY = 3


@dataclass
class Response:
    """A response that is not sent in whole yet.

    Attributes:
        stream: Its stream.
        urgency: From 0, the highest, to 7.
        incremental: Whether it takes turns with others.
        content: What is left of it.
        turn: The number of the frame that had it last.
    """

    stream: int
    urgency: int
    incremental: bool
    content: bytes
    turn: int = 0


def priority(field: str) -> tuple[int, bool]:
    """The urgency of a header field `priority`, and whether it is incremental."""
    urgency = re.search(r"u=([0-7])", field)
    incremental = re.search(r"(^|[\s,;])i($|[\s,;]|=\?1)", field)
    return int(urgency[1]) if urgency else DEFAULT_URGENCY, incremental is not None


def chosen(responses: list[Response]) -> Response | None:
    """The response that has the next frame: the most urgent, then those that are not incremental."""
    order = [(each.urgency, each.incremental, each.turn, each.stream) for each in responses]
    return responses[order.index(min(order))] if order else None


class Server:
    """The server's end of a connection."""

    def __init__(self, site: Site, reader: StreamReader, writer: StreamWriter) -> None:
        self._site, self._reader, self._writer = site, reader, writer
        self._http = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self._responses: list[Response] = []
        self._wake = asyncio.Event()
        self._frames = 0

    async def run(self) -> None:
        """Answers until the other end closes."""
        self._http.initiate_connection()
        self._writer.write(self._http.data_to_send())
        sending = asyncio.create_task(self._send())
        try:
            while data := await self._reader.read(65_536):
                for event in self._http.receive_data(data):
                    self._note(event)
                self._writer.write(self._http.data_to_send())
                self._wake.set()
        finally:
            sending.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await sending

    def _note(self, event: Event) -> None:
        if isinstance(event, RequestReceived):
            self._respond(event)
        elif isinstance(event, DataReceived):
            self._http.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, StreamReset):
            self._responses = [each for each in self._responses if each.stream != event.stream_id]

    def _respond(self, event: RequestReceived) -> None:
        fields = {str(name): str(value) for name, value in event.headers}
        resource = self._site.get(fields[":path"])
        content = b"" if resource is None else resource.content
        headers = [
            (":status", "404" if resource is None else "200"),
            ("content-type", "text/plain" if resource is None else resource.kind),
            ("content-length", str(len(content))),
            ("cache-control", "no-store"),
        ]
        self._http.send_headers(event.stream_id, headers, end_stream=not content)
        if content:
            urgency, incremental = priority(fields.get("priority", ""))
            self._responses.append(Response(event.stream_id, urgency, incremental, content))

    def _window(self, response: Response) -> int:
        """The bytes that flow control allows."""
        return self._http.local_flow_control_window(response.stream)

    async def _send(self) -> None:
        """Writes a frame whenever the socket has little left."""
        while True:
            await self._writer.drain()
            ready = [
                each for each in self._responses if self._http.local_flow_control_window(each.stream) > 0
            ]
            response = chosen(ready)
            if response is None:
                self._wake.clear()
                await self._wake.wait()
                continue
            length = min(FRAME, self._window(response))
            part, response.content = response.content[:length], response.content[length:]
            self._frames += 1
            response.turn = self._frames if response.incremental else 0
            if not response.content:
                self._responses.remove(response)
            with contextlib.suppress(StreamClosedError):
                self._http.send_data(response.stream, part, end_stream=not response.content)
            self._writer.write(self._http.data_to_send())
