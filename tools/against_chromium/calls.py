"""Rates of a WebRTC call over time, in two Chromiums and by the model of calls with `gcc`."""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from leobench.errors import RunError
from tools.against_chromium import browser, camera, report, sessions

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

HEADER = ("link", "seconds", "ours (Mbit/s)", "Chromium (Mbit/s)", "ours / Chromium", "emulation")
# Bytes of a packet's headers of IPv4 and UDP.
HEADERS = 28
# Seconds of a call, and the highest bitrate of its picture in bit/s: the links are slower.
LENGTH_S = 115.0
MOST_BPS = 8e6
QUEUE = {"kind": "fifo", "limit": "100 kB"}
# By name: the states of a link, and the intervals that are compared, in seconds from the network's start.
# Browsers need ten of them before the call, more on a busy machine.
Steps = list[dict[str, Any]]
LINKS: dict[str, tuple[Steps, Sequence[tuple[float, float]]]] = {
    "steps": (
        [
            {"at": "0 s", "rate": "4 Mbps", "delay": "25 ms"},
            {"at": "50 s", "rate": "2 Mbps"},
            {"at": "80 s", "rate": "4 Mbps"},
        ],
        ((15, 30), (30, 50), (50, 55), (55, 80), (80, 90), (90, 110)),
    ),
    "handover": (
        [
            {"at": "0 s", "rate": "3 Mbps", "delay": "25 ms"},
            {"at": "50 s", "up": False},
            {"at": "50.15 s", "up": True, "delay": "40 ms"},
            {"at": "80 s", "up": False},
            {"at": "80.15 s", "up": True, "delay": "25 ms"},
        ],
        ((15, 30), (30, 50), (50, 60), (60, 80), (80, 90), (90, 110)),
    ),
}


@dataclass(frozen=True)
class Sent:
    """The bytes that a call had sent at some times, from the start of the network; RTP headers count."""

    times_s: list[float]
    bytes_sent: list[float]

    def __str__(self) -> str:
        mean_mbps = 8e-6 * (self.bytes_sent[-1] - self.bytes_sent[0]) / (self.times_s[-1] - self.times_s[0])
        return f"{mean_mbps:.2f} Mbit/s from {self.times_s[0]:.0f} to {self.times_s[-1]:.0f} s"

    __repr__ = __str__

    def rate(self, start: float, end: float) -> float | None:
        """The mean rate of an interval in bit/s, between samples in proportion; `None` outside."""
        if not self.times_s or self.times_s[0] > start + 1 or self.times_s[-1] < end - 1:
            return None
        first, last = np.interp((start, end), self.times_s, self.bytes_sent)
        return float(8 * (last - first) / (end - start))


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the command."""
    parser.add_argument("--links", nargs="+", choices=LINKS, default=list(LINKS))
    parser.add_argument("--calls", type=int, default=5, help="calls over each link (default: 5)")
    parser.add_argument("--out", type=Path, default=Path("results/against-chromium"), help="folder of rates")


def run(args: argparse.Namespace) -> None:
    """Compares, and prints a table."""
    browser.program()
    args.out.mkdir(parents=True, exist_ok=True)
    rows = [row for name in args.links for row in compare(name, args.calls, args.out)]
    print(report.table(HEADER, rows), end="")


def compare(name: str, calls: int, out: Path) -> list[list[str]]:
    """Rows of the table: a link's intervals."""
    pairs, told = sessions.until_valid(name, calls, lambda seed: _pair(name, seed, out))
    return [_row(name, interval, pairs, told) for interval in LINKS[name][1]]


def _pair(name: str, seed: int, out: Path) -> tuple[sessions.Real, tuple[Sent, Sent]]:
    """A call by the model and one of Chromium, whose rates are written to files."""
    steps, _ = LINKS[name]
    session, theirs = called(steps, seed)
    ours = modelled(steps, theirs.times_s[0], seed)
    _write(out / f"{name}-{seed}.csv", ours, theirs)
    rows = states(session.wrote["samples"], session.started_s)
    pl.DataFrame(rows).write_csv(out / f"{name}-{seed}-chromium.csv")
    return session, (ours, theirs)


def _row(
    name: str, interval: tuple[float, float], pairs: Sequence[tuple[Sent, Sent]], told: str
) -> list[str]:
    ours, theirs = (
        [rate / 1e6 for pair in pairs if (rate := pair[place].rate(*interval)) is not None]
        for place in (0, 1)
    )
    start = [name, f"{interval[0]:g} to {interval[1]:g}"]
    if not ours or not theirs:
        return [*start, "", "", "", told]
    first, second = statistics.median(ours), statistics.median(theirs)
    spread = f"{second:.2f} ({min(theirs):.2f} to {max(theirs):.2f})"
    return [*start, f"{first:.2f}", spread, f"{first / second:.2f}", told]


def _write(file: Path, ours: Sent, theirs: Sent) -> None:
    """Writes the rates of each second."""
    columns: dict[str, list[float | None]] = {
        "time_s": [float(second) for second in range(int(theirs.times_s[-1]))],
        "ours_bps": [],
        "chromium_bps": [],
    }
    for second in columns["time_s"]:
        if second is not None:
            columns["ours_bps"].append(ours.rate(second, second + 1))
            columns["chromium_bps"].append(theirs.rate(second, second + 1))
    pl.DataFrame(columns).write_csv(file)


def _link(steps: Steps) -> dict[str, Any]:
    return {"path": {"channel": {"kind": "schedule", "steps": steps}, "queue": QUEUE}}


def called(steps: Steps, seed: int) -> tuple[sessions.Real, Sent]:
    """A call of two Chromiums."""
    with tempfile.TemporaryDirectory() as camera_folder:
        film = Path(camera_folder) / "camera.y4m"
        camera.write(film)
        session = sessions.real(
            sessions.scenario(_link(steps)),
            seed,
            lambda folder: [
                (sessions.FAR, ("call_end", "receiver", str(folder))),
                (sessions.NEAR, ("call_end", "sender", str(folder), str(LENGTH_S), str(MOST_BPS), str(film))),
            ],
        )
    return session, sent(session.wrote["samples"], session.started_s)


def sent(samples: Sequence[Sequence[dict[str, Any]]], started_s: float) -> Sent:
    """The bytes sent, from samples of a connection's statistics (webrtc-stats).

    Args:
        samples: The reports of each sample.
        started_s: The time of day in seconds from which times count.

    Raises:
        RunError: If nothing was sent.
    """
    times, totals = [], []
    for sample in samples:
        streams = [each for each in sample if each["type"] == "outbound-rtp"]
        if streams:
            times.append(max(each["timestamp"] for each in streams) / 1e3 - started_s)
            totals.append(float(sum(each["bytesSent"] + each["headerBytesSent"] for each in streams)))
    if not totals or totals[-1] == 0:
        raise RunError("the call sent nothing")
    return Sent(times, totals)


def states(samples: Sequence[Sequence[dict[str, Any]]], started_s: float) -> list[dict[str, Any]]:
    """The state of the picture's sender in each sample: estimates, and what limits it."""
    rows = []
    for sample in samples:
        key = "availableOutgoingBitrate"
        estimates = [each[key] for each in sample if key in each]
        rows += [
            {
                "time_s": each["timestamp"] / 1e3 - started_s,
                "estimate_bps": next(iter(estimates), None),
                "target_bps": each.get("targetBitrate"),
                "frames_per_second": each.get("framesPerSecond"),
                "limited_by": each.get("qualityLimitationReason"),
            }
            for each in sample
            if each["type"] == "outbound-rtp" and each["kind"] == "video"
        ]
    return rows


def modelled(steps: Steps, start_s: float, seed: int) -> Sent:
    """The same call by the model, from the same moment."""
    picture = {"start": "300 kbps", "most": f"{MOST_BPS:.0f} bps", "variation": 0.1}
    flow = {
        "transport": "udp",
        "from": sessions.NEAR,
        "to": sessions.FAR,
        "start": f"{start_s:.3f} s",
        "call": {"length": f"{LENGTH_S:g} s", "video": picture, "audio": {}, "rate_control": "gcc"},
    }
    # A millisecond more, as both times are rounded.
    spec = sessions.scenario(_link(steps), flow, f"{start_s + LENGTH_S + 1e-3:.3f} s") | {
        "record": {"packets": True}
    }
    with tempfile.TemporaryDirectory() as folder:
        result = sessions.virtual(spec, seed, Path(folder), Path(folder) / "out")
        offered = f"path/{sessions.NEAR}->{sessions.FAR}"
        packets = result.tables.packets.filter(link=offered, event="enqueue", flow="main").sort("t_ns")
    totals = (packets["size_bytes"].cast(pl.Int64) - HEADERS).cum_sum()
    return Sent((packets["t_ns"] / 1e9).to_list(), totals.cast(pl.Float64).to_list())
