"""Controllers with one fault each, on top of the Reno of `examples/reno.py`. Tests copy both to a folder."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

    import leobench
    from examples.reno import Reno
else:
    from reno import Reno

# Seconds without an acknowledgement that mean silence of the application, and those of a path beside a queue.
SILENCE, CROWDED = 5.0, 0.055


class IgnoresLoss(Reno):
    """Never makes its window smaller for a loss, nor stops slow start."""

    def on_loss(self, event: leobench.CongestionEvent) -> None:
        """Does nothing."""

    def on_ack(self, ack: leobench.Acknowledgement) -> None:
        """Grows, up to 300 packets: a simulation has to send them all."""
        super().on_ack(ack)
        self.window = min(self.window, 300 * self.packet)


class IgnoresMarks(Reno):
    """Takes no notice of ECN."""

    def on_ecn(self, event: leobench.CongestionEvent) -> None:
        """Does nothing."""


class _Resting(Reno):
    """Can rest with two packets for some time."""

    def __init__(self, packet: int, random: Random) -> None:
        super().__init__(packet, random)
        self.rests_until = -math.inf

    def rest(self, until: float) -> None:
        """Falls to two packets, and does not grow until then."""
        self.window = self.ssthresh = self.least
        self.rests_until = until

    def on_ack(self, ack: leobench.Acknowledgement) -> None:
        """Grows unless it rests."""
        if ack.now >= self.rests_until:
            super().on_ack(ack)


class DreadsLoss(_Resting):
    """Rests for two seconds at every loss."""

    def on_loss(self, event: leobench.CongestionEvent) -> None:
        """Forgets the path."""
        super().on_loss(event)
        self.rest(event.now + 2)

    def on_spurious_loss(self) -> None:
        """Does not take it back."""


class Stuck(Reno):
    """Never has more than ten packets in flight."""

    def on_ack(self, ack: leobench.Acknowledgement) -> None:
        """Grows up to ten packets."""
        super().on_ack(ack)
        self.window = min(self.window, 10 * self.packet)


class Stubborn(Reno):
    """Never has a window of less than 1,200 packets."""

    def __init__(self, packet: int, random: Random) -> None:
        super().__init__(packet, random)
        self.least = 1_200 * packet
        self.window = float(self.least)


class StaysLow(Reno):
    """Never grows again after a loss."""

    def on_ack(self, ack: leobench.Acknowledgement) -> None:
        """Grows up to the first loss."""
        if self.ssthresh is None:
            super().on_ack(ack)


class PacesAtHalf(Reno):
    """Paces at half of the largest rate that was ever delivered, from the third second on."""

    def __init__(self, packet: int, random: Random) -> None:
        super().__init__(packet, random)
        self.rate = 0

    def on_ack(self, ack: leobench.Acknowledgement) -> None:
        """Sets the pacing rate."""
        super().on_ack(ack)
        self.rate = max(self.rate, ack.delivery_rate or 0)
        if ack.now > 2:
            self.pacing_rate = 0.5 * self.rate


class SkipsSlowStart(Reno):
    """Begins in congestion avoidance."""

    def __init__(self, packet: int, random: Random) -> None:
        super().__init__(packet, random)
        self.ssthresh = self.least


class TwiceThePath(Reno):
    """Keeps twice what it has measured of the path in flight, whatever is lost."""

    def __init__(self, packet: int, random: Random) -> None:
        super().__init__(packet, random)
        self.rate = 0

    def on_ack(self, ack: leobench.Acknowledgement) -> None:
        """Sets the window to two bandwidth-delay products."""
        self.rate = max(self.rate, ack.delivery_rate or 0)
        self.window = max(2 * self.rate * ack.min_rtt / 8, 10 * self.packet)

    def on_loss(self, event: leobench.CongestionEvent) -> None:
        """Does nothing."""


class ManyInOne(Reno):
    """Behaves as twenty connections would."""

    def __init__(self, packet: int, random: Random) -> None:
        super().__init__(packet, random, loss_reduction=0.97)

    def on_ack(self, ack: leobench.Acknowledgement) -> None:
        """Grows by twenty packets in a round trip."""
        before = self.window
        super().on_ack(ack)
        if self.ssthresh is not None:
            self.window = before + 20 * (self.window - before)


class GivesWay(Reno):
    """Does not grow any more where others are, which it tells by its first round trip; nor on long paths."""

    def __init__(self, packet: int, random: Random) -> None:
        super().__init__(packet, random)
        self.most = math.inf

    def on_ack(self, ack: leobench.Acknowledgement) -> None:
        """Grows up to eight packets if the first round trip was long."""
        if self.ssthresh is None and ack.min_rtt > CROWDED:
            self.most = 8 * self.packet
        super().on_ack(ack)
        self.window = min(self.window, self.most)


class DreadsChange(_Resting):
    """Rests for five seconds whenever the round trip jumps by 10 ms."""

    def __init__(self, packet: int, random: Random) -> None:
        super().__init__(packet, random)
        self.last = math.inf

    def on_ack(self, ack: leobench.Acknowledgement) -> None:
        """Looks for a jump."""
        super().on_ack(ack)
        if abs(ack.rtt - self.last) > 0.010 and self.last < math.inf:
            self.rest(ack.now + 5)
        self.last = ack.rtt


class _Silent(Reno):
    """Tells silence from the time between acknowledgements."""

    def __init__(self, packet: int, random: Random) -> None:
        super().__init__(packet, random)
        self.last, self.was_silent = math.inf, False

    def on_ack(self, ack: leobench.Acknowledgement) -> None:
        """Notes a silence."""
        self.was_silent = self.was_silent or ack.now - self.last > SILENCE
        self.last = ack.now
        super().on_ack(ack)


class SleepsAfterSilence(_Silent):
    """Never grows again after a silence."""

    def on_ack(self, ack: leobench.Acknowledgement) -> None:
        """Has four packets from then on."""
        super().on_ack(ack)
        if self.was_silent:
            self.window = 4 * self.packet


class BurstsAfterSilence(_Silent):
    """Sends 3,000 packets at once after a silence."""

    def on_ack(self, ack: leobench.Acknowledgement) -> None:
        """Opens the window wide, once."""
        super().on_ack(ack)
        if self.was_silent:
            self.was_silent = False
            self.window, self.pacing_rate = 3_000 * self.packet, 1e9
