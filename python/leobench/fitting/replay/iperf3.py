"""The JSON of an iperf3 sender over TCP: its intervals have the kernel's TCP_INFO.

iperf3 counts what it hands to the socket, so what the network got is known up to the send buffer. The window
is taken for what is in flight, as a transfer without pause fills it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from leobench.errors import InputError, cut
from leobench.fitting.replay.transfer import Transfer
from leobench.recording import json_source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leobench.recording.json_source import Item
    from leobench.recording.source import Source

_ARRAY = "intervals"
# IP bytes of a full packet per byte of payload: IPv4 and TCP with timestamps.
_HEADERS = 52
_MSS = 1448.0
# Seconds of the longest interval that shows a path.
_LONGEST_S = 1.01

_KEYS = ("snd_cwnd", "rtt", "retransmits")


def read(source: Source) -> Transfer:
    """Reads the transfer of a single stream.

    Raises:
        InputError: If it is no such JSON, has no TCP_INFO, or several streams.
    """
    if not source.is_json():
        raise InputError(
            f"{source.file}: is no recording of a transfer; "
            "allowed: of the sender, a result folder, iperf3 --json, a capture or a qlog (.sqlog, .qlog)"
        )
    whole, intervals = json_source.read(source, _ARRAY)
    if whole.has("error"):
        raise InputError(f"{source.file}: iperf3 failed: {cut(str(whole.get('error')))}")
    if len(intervals) < 2:
        raise InputError(f"{source.file}: has {len(intervals)} intervals; allowed: from 2, with -i 0.1")
    return _transfer(source, whole, [_stream(each) for each in intervals])


def _stream(interval: Item) -> Item:
    """The only stream of an interval, with TCP_INFO."""
    streams = interval.get("streams")
    if not isinstance(streams, list) or len(streams) != 1:
        count = len(streams) if isinstance(streams, list) else 0
        raise interval.place.wrong(f"has {count} streams; allowed: 1, as of iperf3 without --parallel")
    stream = json_source.Item(streams[0], interval.place)
    missing = [key for key in _KEYS if not stream.has(key)]
    if missing:
        raise interval.place.wrong(
            f"`{missing[0]}` is missing: there is no TCP_INFO; "
            "allowed: the JSON of the sender, of TCP, on Linux (without -u; with -R, that of the server)"
        )
    return stream


def _transfer(source: Source, whole: Item, streams: Sequence[Item]) -> Transfer:
    ends, handed, window, rtt, again = ([] for _ in range(5))
    mss = whole.number("start", "tcp_mss_default") if whole.has("start", "tcp_mss_default") else _MSS
    begin = streams[0].number("start")
    for each in streams:
        length = each.number("end") - each.number("start")
        if length > _LONGEST_S:
            raise each.place.wrong(
                f"the interval lasts {length:.3g} s; allowed: up to 1 s, better 0.1 s (iperf3 -i 0.1)"
            )
        ends.append(each.number("end") - begin)
        handed.append(each.number("bytes"))
        window.append(each.number("snd_cwnd"))
        rtt.append(each.number("rtt") / 1e6)
        again.append(each.number("retransmits") * mss)
    factor = (mss + _HEADERS) / mss
    lost = np.cumsum(again)
    sent = np.cumsum(handed) + lost
    in_flight = np.minimum(np.array(window), sent - lost)
    seconds = np.array(ends)
    rtts = np.array(rtt)
    own: dict[str, Any] = {
        "goodput_mbps": float(np.sum(handed) * 8e-6 / seconds[-1]),
        "rtt_p50_ms": float(1e3 * np.median(rtts)),
        "rtt_p95_ms": float(1e3 * np.quantile(rtts, 0.95)),
        "lost_share": float(lost[-1] / sent[-1]) if sent[-1] else 0.0,
    }
    congestion = (
        whole.get("end", "sender_tcp_congestion") if whole.has("end", "sender_tcp_congestion") else ""
    )
    start = whole.number("start", "timestamp", "timesecs") if whole.has("start", "timestamp") else 0.0
    return Transfer(
        name=str(source.file),
        start_s=start + begin,
        times=np.concatenate([[0.0], seconds]),
        sent=np.concatenate([[0.0], sent * factor]),
        in_flight=np.concatenate([[0.0], in_flight * factor]),
        lost=np.concatenate([[0.0], lost * factor]),
        rtt_s=np.concatenate([[np.nan], np.where(rtts > 0, rtts, np.nan)]),
        queue_limit=None,
        template=template("tcp", str(congestion)),
        own=own,
        jitter_s=2e-3,
    )


def template(kind: str, congestion: str) -> dict[str, Any]:
    """The flow that stands for a transfer without a scenario: bulk data, if possible under its controller."""
    from leobench import api

    known = congestion if congestion in api.kinds("congestion") else "cubic"
    return {
        "name": "main",
        "transport": {"kind": kind, "congestion": known},
        "from": "sender",
        "to": "receiver",
        "source": "bulk",
    }
