"""A carrier-grade NAT between the near and the far host."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.programs import PATIENT, leobench

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

pytestmark = [
    pytest.mark.usefixtures("hosts"),
    pytest.mark.skipif(shutil.which("nft", path="/usr/sbin:/usr/bin:/sbin:/bin") is None, reason="no nft"),
]

# Sends datagrams back: from another port, from its own port, after silence, and after a new one.
SERVER = """
import json, socket, time

own, other = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
own.bind(("0.0.0.0", 7000))
other.bind(("0.0.0.0", 7001))
said, whence = own.recvfrom(100)
other.sendto(json.dumps(["from another port", *whence]).encode(), whence)
time.sleep(0.5)
own.sendto(json.dumps(["from its own port", *whence]).encode(), whence)
own.recvfrom(100)
time.sleep(SILENCE)
own.sendto(json.dumps(["after silence", *whence]).encode(), whence)
own.settimeout(10)
said, whence = own.recvfrom(100)
own.sendto(json.dumps(["after a new packet", *whence]).encode(), whence)
"""
CLIENT = """
import json, socket, time

own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
own.bind(("0.0.0.0", 5555))
own.settimeout(1.5)
came = []

def take():
    try:
        came.append(json.loads(own.recv(100)))
    except TimeoutError:
        came.append(None)

own.sendto(b"hello", ("server", 7000))
take()
take()
own.sendto(b"hole", ("server", 7001))
own.sendto(b"again", ("server", 7000))
time.sleep(SILENCE)
take()
own.sendto(b"renewed", ("server", 7000))
take()
came.append(own.getsockname()[0])
probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
probe.connect(("server", 1))
print(json.dumps({"came": came, "own": probe.getsockname()[0]}))
"""


def emulate(folder: Path, client: str, server: str, *more: str) -> subprocess.CompletedProcess[str]:
    for name, text in (("client.py", client), ("server.py", server)):
        (folder / name).write_text(text)
    link = ("--rate", "10Mbps", "--delay", "20ms")
    return leobench(
        "emulate",
        *link,
        *PATIENT,
        *more,
        "--on",
        "server",
        f"{sys.executable} {folder}/server.py",
        "--",
        sys.executable,
        folder / "client.py",
        cwd=folder,
    )


@pytest.mark.parametrize(("silence", "timeout", "passes"), [("1", "10", True), ("4", "2", False)])
def test_only_the_address_and_port_that_were_sent_to_get_in(
    tmp_path: Path, silence: str, timeout: str, *, passes: bool
) -> None:
    """The server sees the public address; a mapping without packets is forgotten in time."""
    client, server = (text.replace("SILENCE", silence) for text in (CLIENT, SERVER))
    ended = emulate(tmp_path, client, server, "--cgnat", "--cgnat-timeout", timeout)
    assert ended.returncode == 0, ended.stderr
    seen = json.loads(ended.stdout)
    assert seen["own"] == "100.64.0.1"
    first, second, third, fourth, _ = seen["came"]
    # Nothing from the other port, to which nothing had been sent.
    assert first == ["from its own port", "203.0.113.1", 5555]
    assert second is None
    assert third == (["after silence", "203.0.113.1", 5555] if passes else None)
    assert fourth == ["after a new packet", "203.0.113.1", 5555]


HOLE_SERVER = """
import socket, time

own, other = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
own.bind(("0.0.0.0", 7000))
other.bind(("0.0.0.0", 7001))
whence = own.recvfrom(100)[1]
other.sendto(b"too early", whence)
own.recvfrom(100)
other.sendto(b"through the hole", whence)
"""
HOLE_CLIENT = """
import socket, time

own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
own.settimeout(2)
own.sendto(b"here I am", ("server", 7000))
time.sleep(0.5)
own.sendto(b"a hole", ("server", 7001))
own.sendto(b"go", ("server", 7000))
print(own.recv(100).decode())
"""


def test_a_hole_opens_when_the_inside_sends(tmp_path: Path) -> None:
    ended = emulate(tmp_path, HOLE_CLIENT, HOLE_SERVER, "--cgnat")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "through the hole\n"


TIMESTAMPS = """
import socket, struct

def answered(kind, length):
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    raw.settimeout(1)
    body = struct.pack("!BBHHH", kind, 0, 0, 7, 1) + bytes(length)
    total = sum(struct.unpack(f"!{len(body) // 2}H", body))
    total = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    raw.sendto(body[:2] + struct.pack("!H", total) + body[4:], ("server", 0))
    try:
        return raw.recv(100)[20]
    except TimeoutError:
        return None

print(answered(8, 12), answered(13, 12))
"""


@pytest.mark.parametrize(("more", "types"), [((), "0 14"), (("--cgnat",), "0 None")])
def test_no_timestamp_comes_back(tmp_path: Path, more: tuple[str, ...], types: str) -> None:
    """RFC 792: types 8 and 0 are an echo and its reply, 13 and 14 a timestamp and its reply."""
    ended = emulate(tmp_path, TIMESTAMPS, "", *more)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == types + "\n"


def test_a_timeout_without_a_translation_is_refused(tmp_path: Path) -> None:
    ended = emulate(tmp_path, "", "", "--cgnat-timeout", "5")
    assert ended.returncode == 2
    assert "--cgnat-timeout: there is no carrier-grade NAT; allowed: with --cgnat" in ended.stderr
