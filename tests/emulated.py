"""Programs for hosts of an emulation: `python emulated.py WHAT ...` ends with 0 if all went well."""

from __future__ import annotations

import hashlib
import random
import socket
import sys
import time
import urllib.request

PORT = 7_000


def payload(number: int, size: int) -> bytes:
    """Bytes that depend on a number."""
    return random.Random(number).randbytes(size)  # noqa: S311


def echo(host: str) -> None:
    """Sends back every datagram, over either family."""
    del host
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as server:
        server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        server.bind(("::", PORT))
        while True:
            data, sender = server.recvfrom(65_535)
            server.sendto(data, sender)


def probe(host: str) -> None:
    """Sends datagrams of many sizes, fragmented ones too, and prints the round-trip times in milliseconds."""
    family = socket.AF_INET6 if host.endswith(".v6") else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as client:
        client.settimeout(5)
        client.connect((host, PORT))
        for number, size in enumerate([1, 100, 1_000, 1_472, 1_473, 4_000, 9_000, *[100] * 20]):
            data = payload(number, size)
            began = time.monotonic()
            client.send(data)
            answer = client.recv(65_535)
            took = time.monotonic() - began
            assert answer == data, f"datagram {number} came back as another"
            if size == 100:
                sys.stdout.write(f"{took * 1e3:.3f}\n")


def serve(host: str) -> None:
    """Gives every connection so many bytes as it asks for, for ever."""
    del host
    with socket.create_server(("", PORT)) as server:
        while True:
            connection, _ = server.accept()
            with connection:
                size = int(connection.recv(100))
                connection.sendall(payload(size, size))


def fetch(host: str) -> None:
    """Fetches 2 MB over TCP, and compares them."""
    size = 2_000_000
    with socket.create_connection((host, PORT), 10) as connection:
        connection.settimeout(60)
        connection.sendall(str(size).encode())
        got = bytearray()
        while len(got) < size:
            data = connection.recv(65_536)
            assert data, f"the connection ended after {len(got)} bytes"
            got += data
    assert hashlib.sha256(got).digest() == hashlib.sha256(payload(size, size)).digest()


def load(host: str) -> None:
    """Loads a file from a web server, and says how long it is."""
    with urllib.request.urlopen(f"http://{host}:8000/file", timeout=60) as answer:
        sys.stdout.write(f"{len(answer.read())}\n")


if __name__ == "__main__":
    {"echo": echo, "probe": probe, "serve": serve, "fetch": fetch, "load": load}[sys.argv[1]](sys.argv[2])
