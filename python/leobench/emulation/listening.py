"""The sockets of a host on which a server waits, as the kernel lists them."""

from __future__ import annotations

from pathlib import Path

# `net/tcp_states.h`: a listening socket, and a socket of UDP, which has no states.
_LISTENS, _UDP = "0A", "07"
_KINDS = (("tcp", _LISTENS), ("tcp6", _LISTENS), ("udp", _UDP), ("udp6", _UDP))


def sockets() -> set[tuple[str, str]]:
    """The sockets of the host that this thread is on that wait for whoever comes: kind and inode of each."""
    found = set()
    for kind, state in _KINDS:
        file = Path("/proc/thread-self/net") / kind
        for line in file.read_text(encoding="ascii").splitlines()[1:] if file.exists() else ():
            _, _, remote, its_state, _, _, _, _, _, inode, *_ = line.split()
            # A client's socket of UDP has a peer.
            if its_state == state and not remote.strip("0:"):
                found.add((kind, inode))
    return found
