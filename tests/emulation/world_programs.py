"""Programs of a world outside: `python world_programs.py serve READY` has names, a page and an echo.

`ask NAME tcp|udp` asks the name server of this machine, and prints the address.
"""

from __future__ import annotations

import http.server
import ipaddress
import socket
import struct
import sys
import threading
from pathlib import Path

NAME = "site.test"
ADDRESSES = {1: ipaddress.ip_address("198.51.100.7"), 28: ipaddress.ip_address("2001:db8:7::7")}
DNS, WEB, ECHO = 53, 80, 7


def question(name: str, kind: int, number: int = 4_711) -> bytes:
    """A question (RFC 1035 section 4)."""
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack("!6H", number, 0x0100, 1, 0, 0, 0) + labels + struct.pack("!BHH", 0, kind, 1)


def answer(asked: bytes) -> bytes:
    """An answer: the addresses of one name; any other name does not exist."""
    at, labels = 12, []
    while length := asked[at]:
        labels.append(asked[at + 1 : at + 1 + length].decode().lower())
        at += 1 + length
    kind = struct.unpack("!H", asked[at + 1 : at + 3])[0]
    known = ".".join(labels) in (NAME, "")
    address = ADDRESSES.get(kind) if labels else None
    head = asked[:2] + struct.pack("!5H", 0x8180 if known else 0x8183, 1, address is not None, 0, 0)
    data = b""
    if known and address is not None:
        data = struct.pack("!HHHIH", 0xC00C, kind, 1, 60, len(address.packed)) + address.packed
    return head + asked[12 : at + 5] + data


def _bound(
    family: socket.AddressFamily, kind: socket.SocketKind, port: int, address: str = ""
) -> socket.socket:
    server = socket.socket(family, kind)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    server.bind(("::" if family == socket.AF_INET6 else address, port))
    return server


def _names(address: str) -> None:
    with _bound(socket.AF_INET, socket.SOCK_DGRAM, DNS, address) as server:
        while True:
            asked, sender = server.recvfrom(512)
            server.sendto(answer(asked), sender)


def _names_over_tcp(address: str) -> None:
    with _bound(socket.AF_INET, socket.SOCK_STREAM, DNS, address) as server:
        server.listen()
        while True:
            connection, _ = server.accept()
            with connection:
                length = struct.unpack("!H", connection.recv(2))[0]
                told = answer(connection.recv(length))
                connection.sendall(struct.pack("!H", len(told)) + told)


def _echo() -> None:
    with _bound(socket.AF_INET6, socket.SOCK_DGRAM, ECHO) as server:
        while True:
            data, sender = server.recvfrom(65_535)
            server.sendto(data, sender)


class Page(http.server.BaseHTTPRequestHandler):
    """Tells who asks."""

    def do_GET(self) -> None:
        body = f"hello {self.client_address[0].removeprefix('::ffff:')}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name of the base class)
        del format, args


class Server(http.server.ThreadingHTTPServer):
    """Over both families."""

    address_family = socket.AF_INET6


def serve(ready: str, address: str = "") -> None:
    """Serves until it is killed, names at this address, and makes the file `ready` when it does."""
    for work in (_names, _names_over_tcp):
        threading.Thread(target=work, args=(address,), daemon=True).start()
    threading.Thread(target=_echo, daemon=True).start()
    with Server(("::", WEB), Page) as server:
        Path(ready).touch()
        server.serve_forever()


def ask(name: str, over: str) -> None:
    """Asks for the address of a name, over UDP or TCP."""
    lines = Path("/etc/resolv.conf").read_text(encoding="ascii").splitlines()
    server = next(line.split()[1] for line in lines if line.startswith("nameserver"))
    asked = question(name, 1)
    kind = socket.SOCK_STREAM if over == "tcp" else socket.SOCK_DGRAM
    with socket.socket(socket.AF_INET, kind) as client:
        client.settimeout(20)
        client.connect((server, DNS))
        client.sendall(struct.pack("!H", len(asked)) + asked if over == "tcp" else asked)
        told = client.recv(512)
    sys.stdout.write(f"{ipaddress.ip_address(told[-4:])}\n")


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(*sys.argv[2:])
    else:
        ask(*sys.argv[2:])
