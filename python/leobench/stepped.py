"""Congestion controllers in Python that decide once in a step of time, as trained ones do."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leobench.congestion import CongestionController

if TYPE_CHECKING:
    from random import Random

    from leobench._core import Acknowledgement, CongestionEvent

# Packets acknowledged in the first step. An end that only answers a handshake has fewer.
_SETTLING = 5

# Packets of the smallest and the largest window.
_LEAST, _MOST = 2, 100_000


@dataclass(frozen=True)
class Step:
    """The events between two decisions of a controller.

    Attributes:
        now_s: Its end, in seconds of virtual time.
        duration_s: Its length.
        packet: Bytes of a full packet.
        acked_bytes: Bytes acknowledged.
        lost_bytes: Bytes declared lost.
        rtt_s: Mean of the round trips, an acknowledgement each.
        min_rtt_s: The shortest round trip of the path so far.
        rtt_gradient: Change of the round trip over the step by its length.
        window_bytes: The window at its end.
        in_flight_bytes: Bytes in flight at its end.
    """

    now_s: float
    duration_s: float
    packet: int
    acked_bytes: int
    lost_bytes: int
    rtt_s: float
    min_rtt_s: float
    rtt_gradient: float
    window_bytes: float
    in_flight_bytes: int

    @property
    def throughput_mbps(self) -> float:
        """Mbit/s acknowledged."""
        return 8e-6 * self.acked_bytes / self.duration_s

    @property
    def lost_share(self) -> float:
        """Bytes lost of those lost or acknowledged."""
        return self.lost_bytes / max(self.lost_bytes + self.acked_bytes, 1)


class SteppedController(CongestionController):
    """Multiplies its window once in a step.

    The first step lasts until five packets are acknowledged; the window is the initial one until then. A step
    lasts until the first acknowledgement after its length.

    Args:
        packet: Bytes of a full packet.
        random: Random numbers.
        step_s: Length of a step in seconds; 0 is the smoothed round trip.
    """

    def __init__(self, packet: int, random: Random, step_s: float = 0.0) -> None:
        super().__init__(packet, random)
        self._step_s = step_s
        self._settling = _SETTLING * packet
        self._began: float | None = None
        self._acked = self._lost = self._acknowledgements = 0
        self._rtt_sum = self._last_rtt = 0.0

    @abstractmethod
    def act(self, step: Step) -> float:
        """Decides at the end of a step.

        Args:
            step: What has happened in it.

        Returns:
            The factor on the window, which stays from 2 to 100,000 packets.
        """

    def on_ack(self, ack: Acknowledgement) -> None:
        """Adds up the step, and decides at its end."""
        if self._began is None:
            self._began, self._last_rtt = ack.now - ack.rtt, ack.rtt
        self._settling -= ack.acked
        self._acked += ack.acked
        self._acknowledgements += 1
        self._rtt_sum += ack.rtt
        length = ack.now - self._began
        if self._settling <= 0 < length and length >= (self._step_s or ack.smoothed_rtt):
            factor = self.act(self._step(ack, length))
            self.window = min(max(self.window * factor, _LEAST * self.packet), _MOST * self.packet)
            self._begin(ack)

    def on_loss(self, event: CongestionEvent) -> None:
        """Adds up what was lost."""
        self._lost += event.lost

    def _begin(self, ack: Acknowledgement) -> None:
        self._began, self._last_rtt = ack.now, ack.rtt
        self._acked = self._lost = self._acknowledgements = 0
        self._rtt_sum = 0.0

    def _step(self, ack: Acknowledgement, length: float) -> Step:
        return Step(
            now_s=ack.now,
            duration_s=length,
            packet=self.packet,
            acked_bytes=self._acked,
            lost_bytes=self._lost,
            rtt_s=self._rtt_sum / self._acknowledgements,
            min_rtt_s=ack.min_rtt,
            rtt_gradient=(ack.rtt - self._last_rtt) / length,
            window_bytes=self.window,
            in_flight_bytes=ack.in_flight,
        )
