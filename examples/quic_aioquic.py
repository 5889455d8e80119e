"""A QUIC client and server built on aioquic, which speak what `quic_go` speaks.

    python quic_aioquic.py serve 4433
    python quic_aioquic.py fetch server:4433 2000000

The server answers a stream that asks for a number of bytes with so many bytes and their SHA-256 behind them;
the client compares.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import hashlib
import json
import os
import ssl
import sys
import tempfile
import time
from pathlib import Path

from aioquic.asyncio import QuicConnectionProtocol, connect, serve
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import QuicEvent, StreamDataReceived
from aioquic.quic.logger import QuicFileLogger
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PROTOCOL = "leobench-fetch"
# Seconds without a packet that a connection survives.
PATIENCE = 20.0
# Seconds between a waiting client's pings: if its address outside changes, no packet of the server's arrives
# until the client has sent something.
KEEP_ALIVE = 0.3
# Bytes of the number that a stream asks for, and of the digest behind the content.
ASKED, DIGEST = 8, 32


class Answers(QuicConnectionProtocol):
    """The server's end of a connection."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self._asked: dict[int, bytes] = {}

    def quic_event_received(self, event: QuicEvent) -> None:
        """Answers a stream when it has asked."""
        if not isinstance(event, StreamDataReceived):
            return
        asked = self._asked.get(event.stream_id, b"") + event.data
        self._asked[event.stream_id] = asked
        if len(asked) == ASKED:
            content = os.urandom(int.from_bytes(asked, "big"))
            self._quic.send_stream_data(event.stream_id, content, end_stream=False)
            self._quic.send_stream_data(event.stream_id, hashlib.sha256(content).digest(), end_stream=True)
            self.transmit()


def _logger() -> QuicFileLogger | None:
    """Writes qlog to the folder `QLOGDIR`, if that is set."""
    folder = os.environ.get("QLOGDIR")
    if folder is None:
        return None
    Path(folder).mkdir(parents=True, exist_ok=True)
    return QuicFileLogger(folder)


async def answer(port: int) -> None:
    """Serves for ever."""
    configuration = QuicConfiguration(
        is_client=False, alpn_protocols=[PROTOCOL], idle_timeout=PATIENCE, quic_logger=_logger()
    )
    with tempfile.TemporaryDirectory() as folder:
        configuration.load_cert_chain(*_self_signed(Path(folder)))
    await serve("::", port, configuration=configuration, create_protocol=Answers)
    await asyncio.Event().wait()


async def fetch(host: str, port: int, size: int) -> dict[str, float]:
    """Fetches so many bytes, and returns how long it took.

    Raises:
        ValueError: If others came than were sent.
    """
    configuration = QuicConfiguration(
        is_client=True,
        alpn_protocols=[PROTOCOL],
        idle_timeout=PATIENCE,
        verify_mode=ssl.CERT_NONE,
        quic_logger=_logger(),
    )
    began = time.monotonic()
    async with connect(host, port, configuration=configuration) as connection:
        reader, writer = await connection.create_stream()
        writer.write(size.to_bytes(ASKED, "big"))
        writer.write_eof()
        alive = asyncio.create_task(_keep_alive(connection))
        content = await reader.readexactly(size)
        alive.cancel()
        took = time.monotonic() - began
        if await reader.readexactly(DIGEST) != hashlib.sha256(content).digest():
            raise ValueError(f"{size} bytes came with another digest")
    return {"bytes": size, "seconds": took, "goodput_mbps": size * 8e-6 / took}


async def _keep_alive(connection: QuicConnectionProtocol) -> None:
    while True:
        await asyncio.sleep(KEEP_ALIVE)
        await connection.ping()


def _self_signed(folder: Path) -> tuple[Path, Path]:
    """Files with a certificate, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "server")])
    now = dt.datetime.now(dt.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - dt.timedelta(hours=1))
    certificate = builder.not_valid_after(now + dt.timedelta(hours=1)).sign(key, hashes.SHA256())
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    paths[1].write_bytes(private)
    return paths


def main() -> None:
    """Serves or fetches, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    server = commands.add_parser("serve")
    server.add_argument("port", type=int)
    client = commands.add_parser("fetch")
    client.add_argument("address", help="HOST:PORT")
    client.add_argument("size", type=int)
    args = parser.parse_args()
    if args.command == "serve":
        asyncio.run(answer(args.port))
    else:
        host, _, port = args.address.rpartition(":")
        sys.stdout.write(json.dumps(asyncio.run(fetch(host, int(port), args.size))) + "\n")


if __name__ == "__main__":
    main()
