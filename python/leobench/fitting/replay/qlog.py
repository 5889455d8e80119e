"""The qlog of a QUIC sender: packets sent and lost, and its recovery metrics.

JSON text sequences (RFC 7464) and JSON lines are read, and a JSON file of version 0.3 with one trace. Names
of events count without their namespace, which differs between versions.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from leobench.errors import InputError, cut
from leobench.fitting.replay.iperf3 import template
from leobench.fitting.replay.transfer import Transfer
from leobench.recording.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    Event = Mapping[str, Any]

# Seconds between two samples, and bytes of headers of IPv4 and UDP.
_STEP_S, _HEADERS = 0.01, 28
# UDP payload of a full packet.
_PAYLOAD = 1252.0
# Frames that put no packet in flight (RFC 9002 section 2).
_QUIET = {"ack", "connection_close"}


@dataclass
class _Sender:
    """The counters of a sender while its events go by; times in milliseconds."""

    sent: float = 0.0
    lost: float = 0.0
    in_flight: float = 0.0
    rtt_s: float = float("nan")
    packets: int = 0
    losses: int = 0
    sizes: dict[tuple[str, int], float] = field(default_factory=dict)

    def take(self, name: str, data: Mapping[str, Any]) -> bool:
        """Takes an event; whether it was a sample of the state."""
        if name == "packet_sent":
            frames = {str(each.get("frame_type")) for each in data.get("frames", ())}
            if frames <= _QUIET:
                return False
            size = float(data.get("raw", {}).get("length", _PAYLOAD)) + _HEADERS
            self.sizes[_number(data)] = size
            self.sent += size
            self.packets += 1
        elif name == "packet_lost":
            self.lost += self.sizes.pop(_number(data), _PAYLOAD + _HEADERS)
            self.losses += 1
        elif name in ("metrics_updated", "recovery_metrics_updated"):
            if "bytes_in_flight" in data:
                self.in_flight = float(data["bytes_in_flight"]) * (_PAYLOAD + _HEADERS) / _PAYLOAD
            if "latest_rtt" in data:
                self.rtt_s = float(data["latest_rtt"]) / 1e3
        else:
            return False
        return True


def read(file: Path) -> Transfer:
    """Reads the qlog of a sender.

    Raises:
        InputError: If it is none, or says nothing of round trips and bytes in flight.
    """
    sender = _Sender()
    rows: list[Sequence[float]] = []
    begin: float | None = None
    try:
        for event in _events(file):
            time_ms = float(event["time"])
            name = str(event["name"]).rpartition(":")[2]
            if not sender.take(name, event.get("data", {})):
                continue
            begin = time_ms if begin is None else begin
            at = (time_ms - begin) / 1e3
            row = (at, sender.sent, sender.in_flight, sender.lost, sender.rtt_s)
            if rows and at - rows[-1][0] < _STEP_S:
                rows[-1] = (rows[-1][0], *row[1:])
            else:
                rows.append(row)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{file}: is not a qlog that leobench reads: {cut(str(error))}") from None
    if len(rows) < 2 or sender.packets < 100 or not np.isfinite(sender.rtt_s):
        raise InputError(
            f"{file}: has {sender.packets} packets sent, too few or without recovery metrics; "
            "allowed: the qlog of the end that sends the data"
        )
    return _transfer(file, rows, sender)


def _transfer(file: Path, rows: Sequence[Sequence[float]], sender: _Sender) -> Transfer:
    table = np.array(rows, dtype=float)
    rtt = table[:, 4]
    known = rtt[np.isfinite(rtt)]
    return Transfer(
        name=str(file),
        start_s=0.0,
        times=table[:, 0],
        sent=table[:, 1],
        in_flight=table[:, 2],
        lost=table[:, 3],
        rtt_s=rtt,
        queue_limit=None,
        template=template("quic", "cubic"),
        own={
            "rtt_p50_ms": float(1e3 * np.median(known)),
            "rtt_p95_ms": float(1e3 * np.quantile(known, 0.95)),
            "lost_share": sender.losses / sender.packets,
        },
        jitter_s=0.5e-3,
    )


def _events(file: Path) -> Iterator[Event]:
    text = Source.read(file).text
    if text.lstrip().startswith("{") and '"traces"' in text[:2000]:
        traces = json.loads(text).get("traces")
        if not isinstance(traces, list) or len(traces) != 1:
            raise InputError(f"{file}: has not one trace; allowed: the qlog of one connection")
        yield from traces[0]["events"]
        return
    for line in text.split("\n"):
        record = line.strip("\x1e \r")
        if record and "name" in (event := json.loads(record)):
            yield event


def _number(data: Mapping[str, Any]) -> tuple[str, int]:
    header = data["header"]
    return str(header.get("packet_type", "1RTT")), int(header["packet_number"])
