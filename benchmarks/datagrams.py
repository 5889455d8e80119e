"""Sends or receives datagrams of 1,400 bytes, 40 with one system call: more than iperf3 can send.

    python benchmarks/datagrams.py send HOST MBPS SECONDS
    python benchmarks/datagrams.py receive OUTPUT

What is received, up to half a second of silence, is written to OUTPUT as JSON: datagrams and seconds.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import time
from pathlib import Path

PORT, SIZE, AT_ONCE = 5_202, 1_400, 40
BUFFER = 2 << 20
# How long the receiver has to begin.
BEGIN_S, SILENCE_S = 1.0, 0.5
# `linux/udp.h`: the kernel cuts what is sent, and hands over together what came together.
SOL_UDP, UDP_SEGMENT, UDP_GRO = 17, 103, 104


def send(host: str, rate: float, seconds: float) -> int:
    """Sends at a rate in Mbit/s; how many datagrams."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as to:
        to.connect((host, PORT))
        to.setsockopt(SOL_UDP, UDP_SEGMENT, SIZE)
        piece = bytes(SIZE * AT_ONCE)
        interval = SIZE * AT_ONCE * 8 / (rate * 1e6)
        time.sleep(BEGIN_S)
        begin = time.monotonic()
        count = 0
        while count * interval < seconds:
            wait = begin + count * interval - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            to.send(piece)
            count += 1
    return count * AT_ONCE


def receive() -> dict[str, float]:
    """Receives until nothing comes any more: how many datagrams, and in how many seconds."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
        here.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        here.setsockopt(SOL_UDP, UDP_GRO, 1)
        here.bind(("", PORT))
        here.settimeout(5 * BEGIN_S)
        buffer = bytearray(1 << 16)
        size = here.recv_into(buffer)
        # The kernel's own limit costs no system call more.
        here.setblocking(True)
        here.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, int(SILENCE_S * 1e6)))
        begin = last = time.monotonic()
        try:
            while True:
                size += here.recv_into(buffer)
                last = time.monotonic()
        except BlockingIOError:
            return {"datagrams": size / SIZE, "seconds": last - begin}


def main(words: list[str]) -> None:
    """Sends or receives."""
    if words[0] == "send":
        send(words[1], float(words[2]), float(words[3]))
    else:
        Path(words[1]).write_text(json.dumps(receive()), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
