"""Programs for hosts of an emulation: `python host_programs.py WHAT ...` ends with 0 if all went well."""

from __future__ import annotations

import array
import contextlib
import hashlib
import random
import signal
import socket
import struct
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PORT = 7_000
# Seconds that another program has to start.
START_S = 60.0
# What is before the data of a datagram that is sent to be measured: its number, and when it was sent.
STAMP = struct.Struct("qq")
# `linux/socket.h`: the kernel's own time of a packet's arrival, in a control message.
SO_TIMESTAMPNS = 35
# `linux/udp.h`: what is sent at once becomes datagrams of this size.
UDP_SEGMENT = 103
# `asm-generic/socket.h`: room for what is received, whatever the machine allows others.
SO_RCVBUFFORCE = 33


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
    with socket.socket(_wait_for_answers(host), socket.SOCK_DGRAM) as client:
        client.connect((host, PORT))
        client.settimeout(5)
        for number, size in enumerate([1, 100, 1_000, 1_472, 1_473, 4_000, 9_000, *[100] * 20]):
            data = payload(number, size)
            began = time.monotonic()
            client.send(data)
            answer = client.recv(65_535)
            took = time.monotonic() - began
            assert answer == data, f"datagram {number} came back as another"
            if size == 100:
                sys.stdout.write(f"{took * 1e3:.3f}\n")


def volley(host: str, *ready: str) -> None:
    """Sends 40 datagrams at once, ten times, and compares the answers.

    To one who does not answer, but makes the file `ready`, it sends only.
    """
    if ready:
        _wait_for_file(Path(ready[0]))
    family = socket.AF_INET if ready else _wait_for_answers(host)
    with socket.socket(family, socket.SOCK_DGRAM) as client:
        client.settimeout(5)
        client.connect((host, PORT))
        client.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 1_001)
        for number in range(10):
            # The last one is shorter.
            data = payload(number, 39 * 1_001 + 500)
            client.send(data)
            answers = [] if ready else [client.recv(65_535) for _ in range(40)]
            assert b"".join(answers) == (b"" if ready else data), "datagrams came back as others"
            assert {len(answer) for answer in answers[:-1]} <= {1_001}
    if ready:
        time.sleep(2)


def deaf(ready: str) -> None:
    """Has a socket with room for few datagrams, says so by making a file, and never reads."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        server.bind(("", PORT))
        Path(ready).touch()
        time.sleep(60)


def move(host: str) -> None:
    """Asks for two seconds which of its addresses are answered: by new sockets, and by one that stays."""
    answered: list[str] = []
    _wait_for_answers(host)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as old:
        limit = time.monotonic() + START_S
        # For a moment of each handover, it has no address.
        while (home := _ask(old, host)) is None:
            assert time.monotonic() < limit, "a new socket is never answered"
        begin = time.monotonic()
        while time.monotonic() < begin + 2:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as new:
                for client in (old, new):
                    own = _ask(client, host)
                    kind = "old" if client is old else "new"
                    if own is not None and answered[-1:] != [f"{kind} {own}"]:
                        answered.append(f"{kind} {own}")
            time.sleep(0.02)
    sys.stdout.write("\n".join([home, *dict.fromkeys(answered)]) + "\n")


def _wait_for_answers(host: str) -> socket.AddressFamily:
    """Waits until the other program is there: on a busy machine, both start when they can.

    What comes late goes to sockets that nobody has any more.

    Returns:
        The family of the host's address.
    """
    family = socket.AF_INET6 if host.endswith(".v6") else socket.AF_INET
    limit = time.monotonic() + START_S
    while time.monotonic() < limit:
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as client:
            client.settimeout(0.3)
            client.connect((host, PORT))
            client.send(b"?")
            client.recv(100)
            return family
        time.sleep(0.02)
    raise TimeoutError("nobody answers")


def _wait_for_file(file: Path) -> None:
    """Waits until the other program has made it."""
    limit = time.monotonic() + START_S
    while not file.exists():
        assert time.monotonic() < limit, f"nobody makes {file}"
        time.sleep(0.01)


def _connect(host: str) -> socket.socket:
    """A connection to a server, once that is there."""
    limit = time.monotonic() + START_S
    while True:
        try:
            return socket.create_connection((host, PORT), 10)
        except OSError:
            if time.monotonic() > limit:
                raise
            time.sleep(0.02)


def _ask(client: socket.socket, host: str) -> str | None:
    """The own address of a socket, if there is a way from it at the moment and it is answered."""
    try:
        client.settimeout(0.15)
        if client.getsockname()[1] == 0:
            client.connect((host, PORT))
        client.send(b"?")
        client.recv(100)
        return str(client.getsockname()[0])
    except OSError:
        return None


def serve(host: str) -> None:
    """Gives every connection the part that it asks for, of so many bytes, for ever."""
    del host
    with socket.create_server(("", PORT)) as server:
        while True:
            connection, _ = server.accept()
            threading.Thread(target=_give, args=(connection,), daemon=True).start()


def _give(connection: socket.socket) -> None:
    with connection:
        size, begin = map(int, connection.recv(100).split())
        with contextlib.suppress(OSError):  # its client may have another address now
            connection.sendall(payload(size, size)[begin:])


def fetch(host: str) -> None:
    """Fetches 2 MB over TCP, and compares them."""
    size = 2_000_000
    with _connect(host) as connection:
        connection.settimeout(60)
        connection.sendall(f"{size} 0".encode())
        got = bytearray()
        while len(got) < size:
            data = connection.recv(65_536)
            assert data, f"the connection ended after {len(got)} bytes"
            got += data
    assert hashlib.sha256(got).digest() == hashlib.sha256(payload(size, size)).digest()


def resume(host: str) -> None:
    """Fetches 4 MB over TCP, each time from where the last connection stopped, and prints its addresses."""
    size = 4_000_000
    got = bytearray()
    limit = time.monotonic() + 3 * START_S
    while len(got) < size:
        assert time.monotonic() < limit, f"{len(got)} bytes came"
        try:
            with socket.create_connection((host, PORT), 0.5) as connection:
                connection.settimeout(0.5)
                connection.sendall(f"{size} {len(got)}".encode())
                sys.stdout.write(f"{connection.getsockname()[0]}\n")
                while data := connection.recv(65_536):
                    got += data
        except OSError:
            time.sleep(0.02)
    assert hashlib.sha256(got).digest() == hashlib.sha256(payload(size, size)).digest()


def refused(host: str) -> None:
    """Sends to a port where nobody is, until the kernel of the other end says so."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect((host, PORT))
        client.settimeout(0.5)
        for _ in range(20):
            try:
                client.send(b"?")
                client.recv(100)
            except ConnectionRefusedError:
                sys.stdout.write("refused\n")
                return
            except TimeoutError:
                continue
    raise TimeoutError("nobody says that nobody is there")


def load(host: str) -> None:
    """Loads a file from a web server once that is there, and says how long it is."""
    limit = time.monotonic() + START_S
    while True:
        try:
            with urllib.request.urlopen(f"http://{host}:8000/file", timeout=60) as answer:
                sys.stdout.write(f"{len(answer.read())}\n")
                return
        except urllib.error.URLError:
            if time.monotonic() > limit:
                raise
            time.sleep(0.02)


def count(host: str) -> None:
    """Says that it is ready, and how many interrupts it has got two seconds after the first one."""
    del host
    got: list[float] = []
    signal.signal(signal.SIGINT, lambda *_: got.append(time.monotonic()))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    limit = time.monotonic() + START_S
    while time.monotonic() < limit and not (got and time.monotonic() > got[0] + 2):
        time.sleep(0.01)
    sys.stdout.write(f"{len(got)} interrupts\n")


def send(host: str, count: str, size: str, gap_us: str, ready: str) -> None:
    """Sends so many datagrams of so many bytes, with a time between them, once there is a file `ready`."""
    _wait_for_file(Path(ready))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect((host, PORT))
        filling = bytes(int(size) - STAMP.size)
        gap = int(gap_us) * 1_000
        if gap == 0:
            burst(client, int(count), filling)
            return
        began = time.time_ns()
        for number in range(int(count)):
            due = began + number * gap
            while (now := time.time_ns()) < due:
                time.sleep(max(0, (due - now - 20_000) / 1e9))
            client.send(STAMP.pack(number, time.time_ns()) + filling)


def burst(client: socket.socket, count: int, filling: bytes) -> None:
    """Sends datagrams as fast as can be: the kernel, or the device, makes 40 of what it is given at once."""
    together = 40
    client.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, STAMP.size + len(filling))
    for first in range(0, count, together):
        numbers = range(first, min(first + together, count))
        client.send(b"".join(STAMP.pack(number, time.time_ns()) + filling for number in numbers))


def take(path: str, ready: str) -> None:
    """Makes a file `ready`, and receives datagrams until none has come for a second.

    It writes the number, when it was sent, and when it was received, to a file.
    """
    got = array.array("q")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        # So as to lose none if it is held up; where it has no right to more, what the machine allows.
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        with contextlib.suppress(PermissionError):
            server.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 25)
        server.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        server.bind(("", PORT))
        server.settimeout(START_S)
        Path(ready).touch()
        try:
            while True:
                data, control, _, _ = server.recvmsg(STAMP.size, 64)
                seconds, nanos = struct.unpack("qq", control[0][2])
                got.extend((*STAMP.unpack(data), seconds * 1_000_000_000 + nanos))
                server.settimeout(1)
        except TimeoutError:
            pass
    with open(path, "wb") as file:  # noqa: PTH123 (so as to start quickly)
        got.tofile(file)


def pour(host: str, seconds: str) -> None:
    """Sends zeros over TCP for some seconds, and prints how many Mbit/s of them the other end took."""
    with _connect(host) as connection:
        begin = time.monotonic()
        while time.monotonic() < begin + float(seconds):
            connection.sendall(bytes(1 << 16))
        connection.shutdown(socket.SHUT_WR)
        took = int(connection.recv(100))
        sys.stdout.write(f"{took * 8e-6 / (time.monotonic() - begin):.1f}\n")


def drain(host: str) -> None:
    """Takes all that a connection brings, and answers with the number of bytes."""
    del host
    with socket.create_server(("", PORT)) as server, server.accept()[0] as connection:
        took = 0
        while data := connection.recv(1 << 18):
            took += len(data)
        connection.sendall(str(took).encode())


def pulse(seconds: str) -> None:
    """Computes for 60 ms of each 100 ms."""
    begin = time.monotonic()
    while (passed := time.monotonic() - begin) < float(seconds):
        if passed % 0.1 > 0.06:
            time.sleep(0.1 - passed % 0.1)


def compute(host: str) -> None:
    """Keeps a processor busy for a second."""
    del host
    until = time.monotonic() + 1
    while time.monotonic() < until:
        pass


if __name__ == "__main__":
    programs: dict[str, Callable[..., None]] = {
        program.__name__: program
        for program in (
            echo,
            probe,
            volley,
            deaf,
            move,
            serve,
            fetch,
            resume,
            refused,
            load,
            count,
            send,
            take,
            pour,
            drain,
            pulse,
            compute,
        )
    }
    programs[sys.argv[1]](*sys.argv[2:])
