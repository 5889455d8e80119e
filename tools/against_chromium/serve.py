"""A server: `python -m tools.against_chromium.serve h2 PORT SITE READY`.

The site is an HTTP Archive, or a folder whose files it serves. The protocol is `h2`, `http/1.1` or `h3`, as
ALPN names them. It writes the fingerprint of its certificate to the file READY once it listens.
`TCP_NOTSENT_LOWAT` keeps little in the socket that no other response can overtake, as servers that honour
priorities set it.
"""

from __future__ import annotations

import asyncio
import contextlib
import mimetypes
import socket
import ssl
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tools.against_chromium import certificate, har, http1, http2, http3
from tools.against_chromium.shapes import Resource

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter

    from tools.against_chromium.shapes import Site

NOTSENT_LOWAT = 16_384


def files(folder: Path) -> Site:
    """The files of a folder by their paths."""
    return {
        f"/{file.name}": Resource(
            mimetypes.guess_type(file.name)[0] or "application/octet-stream", file.read_bytes()
        )
        for file in folder.iterdir()
        if file.is_file()
    }


async def serve(site: Site, protocol: str, port: int, ready: Path) -> None:
    """Serves a site on all addresses until it is cancelled; writes a file once it listens."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "certificate.pem"
        fingerprint = certificate.write(file)
        if protocol == "h3":
            await http3.start(site, port, file)
        else:
            await start(site, protocol, port, file)
        draft = ready.with_suffix(".draft")
        draft.write_text(fingerprint, encoding="ascii")
        draft.rename(ready)
        await asyncio.Event().wait()


async def start(site: Site, protocol: str, port: int, file: Path) -> None:
    """Listens for connections over TLS and TCP."""

    async def connected(reader: StreamReader, writer: StreamWriter) -> None:
        plain: socket.socket = writer.get_extra_info("socket")
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, NOTSENT_LOWAT)
        writer.transport.set_write_buffer_limits(high=1, low=0)
        with contextlib.suppress(ConnectionError, ssl.SSLError, asyncio.IncompleteReadError):
            if protocol == "h2":
                await http2.Server(site, reader, writer).run()
            else:
                await http1.answer(site, reader, writer)
        writer.close()

    context = certificate.context(file, protocol)
    server = await asyncio.start_server(connected, port=port, ssl=context, family=socket.AF_INET)
    await server.start_serving()


def main() -> None:
    """Serves an archive or a folder."""
    protocol, port, source, ready = sys.argv[1:]
    site = files(Path(source)) if Path(source).is_dir() else har.site(Path(source))
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(site, protocol, int(port), Path(ready)))


if __name__ == "__main__":
    main()
