"""The process of the server that delegates prefixes, on its host: the socket around `dhcpv6.Delegator`.

Its argument is a JSON object with the device, the pool and the length. It writes a line when it serves.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import uuid
from ipaddress import IPv6Address, IPv6Network

from leobench.emulation.delegation import dhcpv6

# RFC 6355: a DUID that is a UUID, as no device here has a hardware address.
_DUID = struct.pack("!H", 4) + uuid.uuid5(uuid.NAMESPACE_DNS, "leobench").bytes
_LONGEST = 65_535
_ANCILLARY = 64


def main() -> int:
    """Serves until the process is killed."""
    told = json.loads(sys.argv[1])
    delegator = dhcpv6.Delegator(IPv6Network(told["pool"]), told["length"], _DUID)
    try:
        server = _listen(told["device"])
    except OSError as error:
        print(f"port {dhcpv6.SERVER_PORT}: {error.strerror}", flush=True)  # noqa: T201 (to the process that started it)
        return 1
    print("serving", flush=True)  # noqa: T201
    while True:
        data, ancillary, _, sender = server.recvmsg(_LONGEST, _ANCILLARY)
        answer = delegator.answer(data, by_multicast=_destination(ancillary) == dhcpv6.SERVERS)
        if answer is not None:
            try:
                server.sendto(answer, (sender[0], dhcpv6.CLIENT_PORT, 0, sender[3]))
            except OSError:  # as if lost on the way
                continue


def _listen(device: str) -> socket.socket:
    server = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
    server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
    group = dhcpv6.SERVERS.packed + struct.pack("@I", socket.if_nametoindex(device))
    server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, group)
    server.bind(("::", dhcpv6.SERVER_PORT))
    return server


def _destination(ancillary: list[tuple[int, int, bytes]]) -> IPv6Address | None:
    """The address that a message was sent to."""
    for level, kind, data in ancillary:
        if (level, kind) == (socket.IPPROTO_IPV6, socket.IPV6_PKTINFO):
            return IPv6Address(data[:16])
    return None


if __name__ == "__main__":
    sys.exit(main())
