"""Small measurements as each tool writes them: a valid file of every format of `leobench record`."""

from __future__ import annotations

import json


def ping(*answers: tuple[int, float, float]) -> str:
    """The output of `ping -D` for numbers, times of sending in seconds, and round trips in milliseconds."""
    lines = ["PING gateway (192.0.2.1) 56(84) bytes of data."]
    lines += [
        f"[{1_000 + sent + rtt / 1e3:.6f}] 64 bytes from gateway: icmp_seq={number} ttl=60 time={rtt} ms"
        for number, sent, rtt in answers
    ]
    return "\n".join([*lines, "", "--- gateway ping statistics ---", "9 packets transmitted", ""])


def probes(*answers: tuple[int, float, float]) -> str:
    """The same as a CSV."""
    rows = [f"{1_000 + sent + rtt / 1e3:.6f},{number},{rtt}" for number, sent, rtt in answers]
    return "\n".join(["unix_s,sequence,rtt_ms", *rows, ""])


def iperf3(*rates: float, lost_percent: float | None = None) -> str:
    """The JSON of iperf3 for the rates of intervals of 100 ms, in bits per second."""
    lost = {} if lost_percent is None else {"lost_percent": lost_percent}
    told = ((0.1 * number, 0.1, bps) for number, bps in enumerate(rates))
    return intervals(*told, since=1_000, **lost)


def intervals(*told: tuple[float, float, float], since: int = 1_000, **others: float) -> str:
    """The JSON of iperf3 for the starts and lengths of intervals in seconds, and their rates."""
    sums = [
        {"start": start, "seconds": length, "bits_per_second": bps, "omitted": False, **others}
        for start, length, bps in told
    ]
    said = {"start": {"timestamp": {"timesecs": since}}, "intervals": [{"sum": each} for each in sums]}
    return json.dumps(said, indent=1)


def irtt(*trips: tuple[str, int | None]) -> str:
    """The JSON of irtt for probes every 100 ms: its word for their loss, and round trips in nanoseconds."""
    told = [
        {
            "lost": lost,
            "timestamps": {"client": {"send": {"wall": 10**18 + number * 10**8}}},
            "delay": {} if rtt is None else {"rtt": rtt},
        }
        for number, (lost, rtt) in enumerate(trips)
    ]
    return json.dumps({"round_trips": told}, indent=1)


_ANSWERS = [(number, 0.1 * number, 40.0 + number % 7) for number in range(60) if number not in range(10, 15)]

SAMPLES = {
    "ping": ping(*_ANSWERS),
    "probes": probes(*_ANSWERS),
    "iperf3": iperf3(12e6, 24e6, 18e6, 0.0, 20e6, lost_percent=0.5),
    "irtt": irtt(*[("false", 50_000_000), ("true", None)] * 4, ("false", 60_000_000)),
    "dish": (
        "timestamp,pop_ping_drop_rate,pop_ping_latency_ms,downlink_throughput_bps\n"
        "100,0,40,50e6\n101,0.25,44,60e6\n102,1,,0\n103,0,40,50e6\n"
    ),
}
