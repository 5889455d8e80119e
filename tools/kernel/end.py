"""One end of a transfer, in a network namespace of its own; `namespaces.py` starts it under `unshare --net`.

The program makes a TUN device and passes its descriptor to its parent over a control socket. Then it carries
out the commands `serve`, `send` and `report` from that socket. It ends when the socket is closed.
"""

from __future__ import annotations

import fcntl
import json
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
TCP_CONGESTION = 13
NAME = "path0"
ADDRESSES = {"sender": "10.0.0.1", "receiver": "10.0.0.2"}
PORT = 5000
CHUNK = bytes(1 << 16)
PRIORITY = 5  # below that of the program that carries the packets

# Sysctls that are set, as kernels and distributions differ in them.
SYSCTLS = {
    "net/ipv6/conf/all/disable_ipv6": "1",
    "net/ipv4/tcp_no_metrics_save": "1",
    "net/ipv4/tcp_ecn": "0",
    "net/ipv4/tcp_rmem": "4096 131072 6291456",
    "net/ipv4/tcp_wmem": "4096 16384 4194304",
}
# Sysctls that are left at their defaults and reported.
STATED = (
    "tcp_sack", "tcp_dsack", "tcp_recovery", "tcp_early_retrans", "tcp_frto", "tcp_reordering",
    "tcp_comp_sack_nr", "tcp_rto_min_us", "tcp_timestamps", "tcp_slow_start_after_idle",
    "tcp_moderate_rcvbuf",
)  # fmt: skip
# Of `struct tcp_info` (linux/tcp.h): offsets of 32-bit fields.
INFO = {"snd_mss": 16, "rcv_mss": 20, "rtt_us": 68, "snd_cwnd": 80, "reordering": 88, "total_retrans": 100}


def tun() -> int:
    """A TUN device without offloads, for packets without a header in front."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", NAME.encode(), IFF_TUN | IFF_NO_PI))
    return device


def configure(role: str, mtu: int) -> None:
    """Sets the namespace up. Every segment is a packet of its own: nothing is cut behind TCP's back."""
    for name, value in SYSCTLS.items():
        path = Path("/proc/sys", name)
        if path.exists() or "ipv6" not in name:
            path.write_text(value)
    other = ADDRESSES["receiver" if role == "sender" else "sender"]
    for command in (
        f"ip link set {NAME} mtu {mtu} txqueuelen 5000 gso_max_segs 1",
        f"tc qdisc replace dev {NAME} root pfifo limit 5000",
        f"ip address add {ADDRESSES[role]} peer {other} dev {NAME}",
        f"ip link set {NAME} up",
    ):
        subprocess.run(command.split(), check=True, capture_output=True, text=True)


def counters() -> dict[str, int]:
    """The counters of this namespace's TCP (`/proc/net/netstat`, `/proc/net/snmp`)."""
    found: dict[str, int] = {}
    for file in ("/proc/net/netstat", "/proc/net/snmp"):
        lines = Path(file).read_text().splitlines()
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            kind, *keys = names.split()
            if kind in ("TcpExt:", "Tcp:"):
                found.update(zip(keys, map(int, values.split()[1:]), strict=True))
    return found


class Source:
    """Writes a message per interval, from now on; what the socket does not take yet is written later."""

    def __init__(self, connection: socket.socket, message: bytes, interval_ns: int) -> None:
        self.connection = connection
        self.message = message
        self.interval = interval_ns
        self.next = time.monotonic_ns()
        self.rest = b""

    def wait(self) -> float:
        """Seconds until the next message, or the next try."""
        return max(0, self.next - time.monotonic_ns()) / 1e9

    def write(self) -> None:
        """Writes the messages that are due, as far as the socket takes them."""
        while time.monotonic_ns() >= self.next:
            self.next += self.interval
            self.rest += self.message
        try:
            while self.rest:
                self.rest = self.rest[self.connection.send(self.rest) :]
        except BlockingIOError:
            return


class End:
    """One end: a TCP socket and the socket that commands come from."""

    def __init__(self, role: str, control: socket.socket) -> None:
        self.role = role
        self.control = control
        self.selector = selectors.SelectSelector()  # waits to the microsecond
        self.selector.register(control, selectors.EVENT_READ, self.on_command)
        self.connection: socket.socket | None = None
        self.source: Source | None = None

    def run(self) -> None:
        """Until the other end of the control socket is closed."""
        while True:
            for key, _ in self.selector.select(None if self.source is None else self.source.wait()):
                if key.data() is False:
                    return
            if self.source is not None:
                self.source.write()

    def on_command(self) -> bool:
        """Executes one command and replies; false when the control socket is closed."""
        line = self.control.recv(1024).decode()
        if not line:
            return False
        command, *arguments = line.split()
        if command == "serve":
            reply = self.serve()
        elif command == "send":
            congestion, size, interval_ns = arguments
            reply = self.send(congestion, int(size), int(interval_ns))
        else:
            reply = self.report()
        self.control.sendall((json.dumps(reply) + "\n").encode())
        return True

    def serve(self) -> dict[str, Any]:
        """Listens for the connection."""
        listener = socket.create_server((ADDRESSES[self.role], PORT))
        listener.setblocking(False)
        self.selector.register(listener, selectors.EVENT_READ, lambda: self.accept(listener))
        return {}

    def accept(self, listener: socket.socket) -> None:
        """Accepts the connection and reads from it from now on."""
        self.connection, _ = listener.accept()
        self.connection.setblocking(False)
        self.selector.register(self.connection, selectors.EVENT_READ, self.receive)

    def receive(self) -> None:
        """Reads and discards data until the end of the stream."""
        if self.connection is not None and not self.connection.recv(1 << 20):
            self.selector.unregister(self.connection)

    def send(self, congestion: str, size: int, interval_ns: int) -> dict[str, Any]:
        """Sends as much as it can, or `size` bytes per interval."""
        self.connection = socket.socket()
        self.connection.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, congestion.encode())
        used = self.connection.getsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, 16).rstrip(b"\0").decode()
        self.connection.setblocking(False)
        self.connection.connect_ex((ADDRESSES["receiver"], PORT))
        if interval_ns:
            self.source = Source(self.connection, bytes(size), interval_ns)
        else:
            self.selector.register(self.connection, selectors.EVENT_WRITE, self.fill)
        return {"congestion": used}

    def fill(self) -> None:
        """Fills the send buffer."""
        if self.connection is not None:
            self.connection.send(CHUNK)

    def report(self) -> dict[str, Any]:
        """Counters of the kernel, `TCP_INFO` of the connection, and the sysctls in force."""
        info = {}
        if self.connection is not None:
            raw = self.connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
            info = {name: struct.unpack_from("I", raw, at)[0] for name, at in INFO.items()}
        stated = {name: Path("/proc/sys/net/ipv4", name).read_text().strip() for name in STATED}
        return {"counters": counters(), "info": info, "sysctls": SYSCTLS | stated}


def main() -> None:
    """Hands its TUN device to the parent, then executes commands until the control socket is closed."""
    role, mtu, descriptor = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends when its control socket does
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    control = socket.socket(fileno=int(descriptor))
    device = tun()
    try:
        configure(role, int(mtu))
    except subprocess.CalledProcessError as error:
        sys.exit(f"{' '.join(error.cmd)}: {error.stderr.strip()}")
    socket.send_fds(control, [b"tun\n"], [device])
    os.close(device)
    End(role, control).run()


if __name__ == "__main__":
    main()
