"""HTTP/1.1 with connections that are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter

    from tools.against_chromium.shapes import Site


async def answer(site: Site, reader: StreamReader, writer: StreamWriter) -> None:
    """Answers the requests of a connection one after the other."""
    while line := await reader.readline():
        while (await reader.readline()).strip():
            pass
        resource = site.get(line.split()[1].decode("ascii"))
        status = "404 Not Found" if resource is None else "200 OK"
        kind, content = ("text/plain", b"") if resource is None else (resource.kind, resource.content)
        head = (
            f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(content)}\r\n"
            "cache-control: no-store\r\naccess-control-allow-origin: *\r\n\r\n"
        )
        writer.write(head.encode("ascii") + content)
        await writer.drain()
