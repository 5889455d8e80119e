"""Logs of TCP transfers as upper bounds of a link's loss.

A sender that answers losses with a smaller window cannot have met more of them than its mean window allows,
whatever else held it back. The bound is the largest probability of independent losses at which Reno (Mathis
et al. 1997, eq. 3) or CUBIC (RFC 9438, section 5.1) keeps such a window, and at most the share of
retransmitted segments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from leobench.errors import InputError, cut
from leobench.fitting import quick
from leobench.recording import iperf3, json_source
from leobench.recording.source import Source

if TYPE_CHECKING:
    from pathlib import Path

    from leobench.fitting.series import Quantity

COLUMNS = {"bytes", "start_s", "end_s"}
_AGAIN, _WINDOW, _RTT = "retransmits", "snd_cwnd_bytes", "rtt_us"
# Payload of a segment where a log does not tell it: a larger one only raises the bound.
_MSS = 1448.0
# Controllers whose window loss bounds.
_ANSWER_LOSS = ("cubic", "reno")
# CUBIC's mean window is this times (round trip / loss)^(3/4): C = 0.4, beta = 0.7.
_CUBIC: float = (0.4 * 3.7 / (4 * 0.3)) ** 0.25


@dataclass(frozen=True)
class Transfer:
    """The facts in the log of a TCP transfer that bound its losses.

    Attributes:
        name: The log.
        direction: The direction of the data.
        seconds: How long it took.
        segments: How many segments arrived.
        retransmitted: How many were sent again, if it is known.
        rtt_s: The mean round trip, if it is known.
    """

    name: str
    direction: Quantity
    seconds: float
    segments: float
    retransmitted: float | None
    rtt_s: float | None

    def most_lost(self, idle_rtt_s: float | None) -> float:
        """The largest share of packets that the link can have lost.

        Args:
            idle_rtt_s: A round trip of the path, for a log without: it was at least as long under load.

        Raises:
            InputError: If no round trip is known.
        """
        rtt = self.rtt_s or idle_rtt_s
        if rtt is None:
            raise InputError(f"{self.name}: has no round trips; allowed: with pings of the same path")
        window = self.segments / self.seconds * rtt
        tolerated = max(1.5 / window**2, rtt * (_CUBIC / window) ** (4 / 3))
        again = 1.0 if self.retransmitted is None else self.retransmitted / self.segments
        return float(min(tolerated, again, 1.0))


def read(path: Path, direction: Quantity | None) -> Transfer | None:
    """Reads the log of a TCP transfer: JSON of iperf3, or a CSV of bytes by interval; None if it is none.

    Raises:
        InputError: If it is one, but tells no bound.
    """
    source = Source.read(path)
    columns = set(source.columns())
    if columns >= COLUMNS:
        return _csv(source, columns, direction)
    if not iperf3.detect(source):
        return None
    whole, intervals = json_source.read(source, "intervals")
    if (
        not whole.has("start", "test_start", "protocol")
        or whole.get("start", "test_start", "protocol") != "TCP"
    ):
        return None
    return _iperf3(source, whole, intervals, direction)


def _csv(source: Source, columns: set[str], direction: Quantity | None) -> Transfer:
    if direction is None:
        raise InputError(
            f"{source.file}: does not tell its direction; name it as `downlink={source.file}` or `uplink=...`"
        )
    names = ["start_s", "end_s", "bytes", *(name for name in (_AGAIN, _WINDOW, _RTT) if name in columns)]
    table = quick.table_of(source, names)
    if table is None or any(np.isnan(each).any() or (each < 0).any() for each in table):
        raise InputError(
            f"{source.file}: is no log of a transfer; allowed: numbers from 0 in {', '.join(names)}"
        )
    column = dict(zip(names, table, strict=True))
    mss = _MSS
    if _WINDOW in columns:
        # The kernel counts windows in whole segments.
        mss = float(np.gcd.reduce(column[_WINDOW].astype(np.int64))) or _MSS
    rtt = float(column[_RTT].mean()) / 1e6 if _RTT in columns else None
    again = float(column[_AGAIN].sum()) if _AGAIN in columns else None
    seconds = float(column["end_s"][-1] - column["start_s"][0])
    return _checked(source, direction, seconds, float(column["bytes"].sum()) / mss, again, rtt)


def _iperf3(
    source: Source,
    whole: json_source.Item,
    intervals: list[json_source.Item],
    direction: Quantity | None,
) -> Transfer:
    name = str(whole.get("end", "sender_tcp_congestion")) if whole.has("end", "sender_tcp_congestion") else ""
    if name and name not in _ANSWER_LOSS:
        raise InputError(
            f"{source.file}: was sent under {cut(name)}, whose window tells nothing about loss; "
            f"allowed: {' and '.join(_ANSWER_LOSS)}"
        )
    streams = [stream for each in intervals for stream in each.get("streams")]
    if len(streams) != len(intervals):
        raise InputError(f"{source.file}: has several streams; allowed: 1, as of iperf3 without --parallel")
    mss = whole.number("start", "tcp_mss_default") if whole.has("start", "tcp_mss_default") else _MSS
    sums = [json_source.Item(stream, each.place) for stream, each in zip(streams, intervals, strict=True)]
    again = [each.number("retransmits") for each in sums if each.has("retransmits")]
    rtt = [each.number("rtt") for each in sums if each.has("rtt")]
    reverse = whole.number("start", "test_start", "reverse")
    return _checked(
        source,
        direction or ("downlink" if reverse else "uplink"),
        sum(each.number("seconds") for each in sums),
        sum(each.number("bytes") for each in sums) / mss,
        sum(again) if again else None,
        float(np.mean(rtt)) / 1e6 if rtt else None,
    )


def _checked(
    source: Source,
    direction: Quantity,
    seconds: float,
    segments: float,
    again: float | None,
    rtt: float | None,
) -> Transfer:
    if seconds <= 0 or segments < 1:
        raise InputError(
            f"{source.file}: {segments:.0f} segments arrived in {seconds:g} s; allowed: at least one"
        )
    return Transfer(str(source.file), direction, seconds, segments, again, rtt or None)
