"""A DHCPv6 client that asks for a prefix, and a router that advertises a network of it: `$WAN` and `$LAN`.

It has the messages of RFC 8415 and RFC 4861 by their numbers, without the code of leobench. It writes the
messages that it got to the folder that is its argument.
"""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import time
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path

WAN, LAN = os.environ["WAN"], os.environ["LAN"]
SERVERS = ("ff02::1:2", 547, 0, socket.if_nametoindex(WAN))
# Client identifier (1): DUID of type 3 (link layer). IA_PD (25): identifier 7, no T1 and T2.
CLIENT = struct.pack("!HH", 1, 10) + bytes.fromhex("00030001") + b"client"
WANTED = struct.pack("!HHIII", 25, 12, 7, 0, 0)


def exchange(client: socket.socket, kind: int, answer: int, options: bytes) -> bytes:
    """Sends a message until the answer comes: its options."""
    transaction = os.urandom(3)
    for _ in range(50):
        client.sendto(bytes([kind]) + transaction + options, SERVERS)
        try:
            got = client.recv(1500)
        except TimeoutError:
            continue
        if got[0] == answer and got[1:4] == transaction:
            return got
    raise SystemExit(f"no answer of type {answer}")


def find(code: int, options: bytes) -> bytes:
    """An option with its head."""
    while options:
        its, length = struct.unpack_from("!HH", options)
        if its == code:
            return options[: 4 + length]
        options = options[4 + length :]
    raise SystemExit(f"no option {code}")


def advertise(network: IPv6Network) -> None:
    """Advertises a network on the LAN, for as long as the process lives."""
    head = struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, 1800, 0, 0)
    prefix = struct.pack("!BBBBIII", 3, 4, 64, 0xC0, 3600, 3600, 0) + network.network_address.packed
    with socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6) as sender:
        sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
        while True:
            sender.sendto(head + prefix, ("ff02::1", 0, 0, socket.if_nametoindex(LAN)))
            time.sleep(0.3)


def main() -> None:
    """Gets a prefix, and uses it."""
    folder = Path(sys.argv[1])
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as client:
        client.bind(("::", 546))
        client.settimeout(0.5)
        advertised = exchange(client, 1, 2, CLIENT + WANTED)
        server = find(2, advertised[4:])
        replied = exchange(client, 3, 7, CLIENT + server + find(25, advertised[4:]))
    (folder / "advertise").write_bytes(advertised)
    (folder / "reply").write_bytes(replied)
    # Of the IA_PD, 12 bytes and its head; of the IA_PREFIX, a head and two lifetimes.
    held = find(26, find(25, replied[4:])[16:])
    network = next(IPv6Network((held[13:29], held[12])).subnets(new_prefix=64))
    address = f"{IPv6Address(int(network.network_address) + 1)}/64"
    subprocess.run(["ip", "address", "add", address, "dev", LAN], check=True)  # noqa: S607
    advertise(network)


if __name__ == "__main__":
    main()
