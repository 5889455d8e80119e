"""Recordings of transfers, by what they are: result folders, JSON of iperf3, qlogs, captures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leobench.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from leobench.fitting.replay.transfer import Transfer
    from leobench.fitting.series import Floats

_CAPTURES = (".pcap", ".pcapng", ".cap")
_QLOGS = (".qlog", ".sqlog")

# UNIX seconds from which a clock is taken for one: 2001.
_CLOCK = 1e9


def read(file: Path, flow: str | None = None) -> Transfer:
    """Reads a recording of a transfer.

    Args:
        file: A result folder, the JSON of an iperf3 sender, or the qlog or capture of a sender.
        flow: The flow of a result folder; the first with a congestion controller unless given.

    Raises:
        InputError: If it is none of them, or does not say what a replay needs.
    """
    from leobench.fitting.replay import capture, iperf3, pcap, qlog, results
    from leobench.recording.source import Source

    if file.is_dir():
        return results.read(file, flow)
    if flow is not None:
        raise InputError(f"--flow: is for result folders; {file} has one transfer")
    named = file.with_suffix("") if file.suffix.lower() == ".gz" else file
    if named.suffix.lower() in _CAPTURES or pcap.is_capture(file):
        return capture.read(file)
    if file.suffix.lower() in _QLOGS:
        return qlog.read(file)
    return iperf3.read(Source.read(file))


def read_light(file: Path, transfer: Transfer) -> tuple[Floats, Floats]:
    """The round trips of a light flow, by the clock of a transfer: times from its start, and seconds.

    Recordings with UNIX times are aligned by them; otherwise both begin together.

    Raises:
        InputError: If there are none, or none during the transfer.
    """
    from leobench import recording
    from leobench.fitting.replay import results

    if file.is_dir():
        other = results.read(file, None)
        times, rtt = other.start_s + other.times, other.rtt_s
    else:
        probes = [each for each in recording.read(file, None).probes if each.rtt_s is not None]
        times = np.array([each.at for each in probes])
        rtt = np.array([each.rtt_s for each in probes], dtype=float)
    known = np.isfinite(rtt)
    times, rtt = times[known], rtt[known]
    if not len(times):
        raise InputError(f"--light {file}: has no round trips")
    same_clock = file.is_dir() or (times[0] > _CLOCK and transfer.start_s > _CLOCK)
    times = times - (transfer.start_s if same_clock else times[0])
    inside = (times >= 0) & (times <= transfer.end_s)
    if not inside.any():
        raise InputError(
            f"--light {file}: has no round trip during the transfer; it was recorded from "
            f"{times[0]:.4g} s to {times[-1]:.4g} s of it; allowed: two recordings of the same time"
        )
    return times[inside], rtt[inside]
