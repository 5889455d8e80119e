"""Recordings of transfers, by what they are: result folders, JSON of iperf3, qlogs, captures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leobench.errors import InputError
from leobench.fitting import clocks, readers

if TYPE_CHECKING:
    from pathlib import Path

    from leobench.fitting.replay.transfer import Transfer
    from leobench.fitting.series import Floats

_CAPTURES = (".pcap", ".pcapng", ".cap")
_QLOGS = (".qlog", ".sqlog")


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
    """The round trips of a light flow: times from the start of a transfer by the same clock, and seconds.

    The clock counts from 1970, or, in both recordings, from the start of one run.

    Raises:
        InputError: If there are none, or none during the transfer, or they are in other units.
    """
    from leobench.fitting.replay import results

    if file.is_dir():
        other = results.read(file, None)
        times, rtt = other.start_s + other.times, other.rtt_s
    else:
        trips = next((each for each in readers.read(file) if each.quantity == "rtt"), None)
        if trips is None:
            raise InputError(f"--light {file}: has no round trips; allowed: pings, irtt or a result folder")
        times, rtt = trips.times, trips.values / 1e3
    known = np.isfinite(rtt)
    times, rtt = times[known] - transfer.start_s, rtt[known]
    if not len(times):
        raise InputError(f"--light {file}: has no round trips")
    inside = (times >= 0) & (times <= transfer.end_s)
    if not inside.any():
        raise _elsewhere(file, transfer, times + transfer.start_s)
    return times[inside], rtt[inside]


def _elsewhere(file: Path, transfer: Transfer, times: Floats) -> InputError:
    """The error of round trips that were measured at another time than a transfer, or by another clock."""
    light = float(times[0]), float(times[-1])
    own = transfer.start_s, transfer.start_s + transfer.end_s
    spans = [" to ".join(clocks.date(each) for each in span) for span in (light, own)]
    relative = [each[0] < clocks.ABSOLUTE_S for each in (light, own)]
    needed = "two recordings of the same time"
    if relative[0] != relative[1]:
        which = file if relative[0] else transfer.name
        needed = f"two recordings by the same clock; that of {which} counts from its own start"
    return InputError(
        f"--light {file}: was recorded at {spans[0]}, and {transfer.name} at {spans[1]}; allowed: {needed}"
    )
