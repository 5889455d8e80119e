"""The TCP sockets of programs on hosts: `TCP_INFO` of each connection, sampled through `sock_diag(7)`.

`SocketWatch` is a thread of the sandbox's first process. On each host it opens a socket to the kernel's
diagnosis once, and asks it for all connections ten times a second. The caller's process makes the table of
the rows: after a fork, the threads of Polars are not there.
"""

from __future__ import annotations

import socket
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from leobench.emulation.hosts import Made

# Time between two samples.
_EVERY_S = 0.1
# `linux/inet_diag.h`: bit n - 1 asks for attribute n, here `INET_DIAG_INFO` and `INET_DIAG_CONG`.
_EXTENSIONS = 1 << (2 - 1) | 1 << (4 - 1)
# `net/tcp_states.h`, by number; those without a peer, and the remains of connections, are left out.
STATES = {
    1: "established",
    2: "syn_sent",
    3: "syn_recv",
    4: "fin_wait1",
    5: "fin_wait2",
    8: "close_wait",
    9: "last_ack",
    11: "closing",
}
_ASKED = sum(1 << state for state in STATES)
# `TCP_INFINITE_SSTHRESH`: there was no loss yet.
_NO_THRESHOLD = 0x7FFF_FFFF
# The kernel's word for no sample.
_NO_MINIMUM = 0xFFFF_FFFF

TABLE = "sockets"
# Name, type and meaning of each column; the page of tables has them from here.
COLUMNS = (
    ("t_ns", "integer", "time from the start of the run, nanoseconds"),
    ("host", "text", "name of the host"),
    ("local", "text", "address and port of this end"),
    ("remote", "text", "address and port of the other end"),
    ("state", "text", "state of the connection (RFC 9293), such as `established`"),
    ("congestion", "text", "the kernel's congestion controller"),
    ("cwnd_bytes", "integer", "congestion window, bytes"),
    ("ssthresh_bytes", "integer, may be null", "slow-start threshold, bytes; null before the first loss"),
    (
        "in_flight_bytes",
        "integer",
        "bytes sent and neither acknowledged nor given up, as full segments",
    ),
    ("srtt_ns", "integer, may be null", "smoothed round-trip time, nanoseconds; null before a sample"),
    ("min_rtt_ns", "integer, may be null", "recent minimum of the round-trip time, nanoseconds"),
    ("pacing_bps", "integer, may be null", "pacing rate, bits per second; null without pacing"),
    ("delivery_bps", "integer", "the latest delivery rate that the kernel measured, bits per second"),
    ("bytes_sent", "integer", "payload sent so far, bytes, including retransmissions"),
    ("bytes_acked", "integer", "payload acknowledged so far, bytes"),
    ("bytes_retransmitted", "integer", "payload sent again so far, bytes"),
    ("bytes_received", "integer", "payload received so far, bytes"),
    ("not_sent_bytes", "integer", "what waits in the send buffer for the first time, bytes"),
    (
        "receiver_limited_ns",
        "integer",
        "how long the peer's window has held the sender back, nanoseconds",
    ),
    ("buffer_limited_ns", "integer", "how long the send buffer has held the sender back, nanoseconds"),
)
DOC = (
    "TCP connections of programs, as the kernel of their host sees them (`TCP_INFO`), sampled ten times a "
    "second. Only runs of `leobench emulate` have it."
)


class SocketWatch:
    """Samples the connections of hosts until it is closed.

    Args:
        made: The hosts.
    """

    def __init__(self, made: Mapping[str, Made]) -> None:
        self._made = made
        self._began_ns = 0
        self._over = threading.Event()
        self._rows: list[tuple[Any, ...]] = []
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def start(self) -> None:
        """Begins to sample: this is when the run starts."""
        self._began_ns = time.monotonic_ns()
        self._thread.start()

    def close(self) -> list[tuple[Any, ...]]:
        """Ends with a last sample; all rows, for `write_table`."""
        self._over.set()
        self._thread.join()
        return self._rows

    def _follow(self) -> None:
        from contextlib import ExitStack

        with ExitStack() as held:
            asked = {}
            for name, host in self._made.items():
                host.enter()
                asked[name] = held.enter_context(_diagnosis())
            over = False
            while not over:
                over = self._over.wait(_EVERY_S)
                self._sample(time.monotonic_ns() - self._began_ns, asked)

    def _sample(self, now: int, asked: Mapping[str, Any]) -> None:
        for name, diagnosis in asked.items():
            for family in (socket.AF_INET, socket.AF_INET6):
                for told in diagnosis.get_sock_stats(family, _ASKED, extensions=_EXTENSIONS):
                    info = told.get_attr("INET_DIAG_INFO")
                    if info is not None and told["idiag_state"] in STATES:
                        self._rows.append((now, name, *_row(told, info)))


def write_table(rows: list[Sequence[Any]], folder: Path) -> None:
    """Writes the table of all samples to a folder."""
    import polars as pl

    kinds = {"integer": pl.Int64, "text": pl.String}
    schema = {name: kinds[kind.partition(",")[0]] for name, kind, _ in COLUMNS}
    pl.DataFrame(rows, schema, orient="row").write_parquet(folder / f"{TABLE}.parquet")


def _diagnosis() -> Any:
    """A socket to the diagnosis of the host that this thread is on."""
    from pyroute2 import DiagSocket

    opened = DiagSocket()
    opened.bind()
    return opened


def _row(told: Any, info: Any) -> Iterator[Any]:
    """The columns behind the host's name; the kernel counts windows in segments, times in microseconds."""
    segment = info["tcpi_snd_mss"]
    flying = info["tcpi_unacked"] - info["tcpi_sacked"] - info["tcpi_lost"] + info["tcpi_retrans"]
    threshold, least = info["tcpi_snd_ssthresh"], info["tcpi_min_rtt"]
    pacing = info["tcpi_pacing_rate"]
    yield _end(told["idiag_src"], told["idiag_sport"])
    yield _end(told["idiag_dst"], told["idiag_dport"])
    yield STATES[told["idiag_state"]]
    yield told.get_attr("INET_DIAG_CONG") or ""
    yield info["tcpi_snd_cwnd"] * segment
    yield None if threshold >= _NO_THRESHOLD else threshold * segment
    yield max(flying, 0) * segment
    yield info["tcpi_rtt"] * 1_000 or None
    yield None if least == _NO_MINIMUM else least * 1_000
    yield None if pacing >= 1 << 63 else pacing * 8
    yield info["tcpi_delivery_rate"] * 8
    yield info["tcpi_bytes_sent"]
    yield info["tcpi_bytes_acked"]
    yield info["tcpi_bytes_retrans"]
    yield info["tcpi_bytes_received"]
    yield info["tcpi_notsent_bytes"]
    yield info["tcpi_rwnd_limited"] * 1_000
    yield info["tcpi_sndbuf_limited"] * 1_000


def _end(address: str, port: int) -> str:
    # A socket for both families has IPv4 addresses inside IPv6 ones (RFC 4291 section 2.5.5.2).
    address = address.removeprefix("::ffff:") if "." in address else address
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
