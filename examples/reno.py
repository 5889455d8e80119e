"""NewReno as QUIC has it (RFC 9002, section 7 and appendix B), as a congestion controller in Python.

cp scenarios/ka.toml examples && cd examples
leobench run ka.toml --set 'flows.main.transport.congestion={ python = "reno:Reno" }'
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import leobench

if TYPE_CHECKING:
    from random import Random


class Reno(leobench.CongestionController):
    """Has the windows of the built-in `newreno`, byte by byte."""

    def __init__(self, packet: int, random: Random, loss_reduction: float = 0.5) -> None:
        super().__init__(packet, random)
        self.loss_reduction = loss_reduction
        self.least = 2 * packet
        self.fraction = 0.0  # Growth of less than a byte.
        self.recovery_began = -math.inf
        self.before: tuple[float, float, float | None, float] | None = None

    def on_ack(self, ack: leobench.Acknowledgement) -> None:
        """Grows by what was acknowledged, or by a packet in a round trip (appendix B.5)."""
        if ack.recovering or not ack.cwnd_limited:
            return
        for _, size, sent, _ in ack.packets:
            if sent <= self.recovery_began:
                continue
            slow_start = self.ssthresh is None or self.window < self.ssthresh
            growth = size if slow_start else self.packet * size / (self.window + self.fraction)
            self.fraction += growth
            self.window += int(self.fraction)
            self.fraction -= int(self.fraction)

    def on_loss(self, event: leobench.CongestionEvent) -> None:
        """Halves the window once in a recovery period (appendices B.6 and B.8)."""
        if not event.answered and event.sent > self.recovery_began:
            self.before = self.window, self.fraction, self.ssthresh, self.recovery_began
            reduced = int((self.window + self.fraction) * self.loss_reduction)
            self.window = self.ssthresh = max(reduced, self.least)
            self.fraction = 0.0
            self.recovery_began = event.now
        if event.persistent:
            self.window, self.fraction = self.least, 0.0
            self.recovery_began = -math.inf

    def on_ecn(self, event: leobench.CongestionEvent) -> None:
        """Does the same; no spurious loss takes a mark back (appendix B.7)."""
        self.on_loss(event)
        self.before = None

    def on_spurious_loss(self) -> None:
        """Goes back to the window of before (RFC 9438, section 4.9)."""
        if self.before is not None and self.before[0] > self.window:
            self.window, self.fraction, self.ssthresh, self.recovery_began = self.before
        self.before = None
