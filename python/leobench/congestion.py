"""The interface of congestion controllers written in Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

    from leobench._core import Acknowledgement, CongestionEvent


class CongestionController(ABC):
    """Sets the congestion window of a path, and its pacing rate if it wants to.

    A scenario names a class of yours, `congestion = { python = "mymodule:MyController" }` in the transport
    of a flow, TCP or QUIC; each path of each connection has an object of its own. Its methods are called
    between packets and change `window`, `pacing_rate` and `ssthresh`, which are read after every call.
    Deriving it from this class is a convenience: any class with such a constructor, these attributes and
    `on_ack` and `on_loss` will do.

    Three more methods are optional. `on_ecn(event)` is called for new CE marks, in place of `on_loss`.
    `on_spurious_loss()` is called when the losses behind the last reduction turn out to be none.
    `on_forecast(forecast)` is called when a forecast comes, if the flow has forecasts
    (`leobench.Forecast`).

    An acknowledgement that reveals losses is told after them, as in RFC 9002, appendix A.7. The objects
    that methods are given are written anew for each call: keep numbers, not objects.

    Attributes:
        packet: Bytes of a full packet that count towards the window.
        random: Random numbers that follow from the run's seed. Draw from nothing else, or the run cannot be
            repeated.
        window: Bytes that may be in flight, at least two packets; parts of a byte are cut off. It begins as
            the initial window of RFC 9002, section 7.2.
        pacing_rate: Bits per second at which packets leave, or `None`: the transport derives it from the
            window and the round-trip time, as far as the flow is paced.
        ssthresh: The slow-start threshold in bytes, or `None`. Results show it.
        may_wait: Whether a call may take longer than 10 s of real time, as that of a waiting program.
    """

    may_wait = False

    def __init__(self, packet: int, random: Random) -> None:
        """Override it to take the scenario's `parameters`, by name; call it first."""
        self.packet = packet
        self.random = random
        self.window: float = min(10 * packet, max(14_720, 2 * packet))
        self.pacing_rate: float | None = None
        self.ssthresh: float | None = None

    @abstractmethod
    def on_ack(self, ack: Acknowledgement) -> None:
        """An acknowledgement came.

        Args:
            ack: All that it acknowledges anew, and what is measured by it.
        """

    @abstractmethod
    def on_loss(self, event: CongestionEvent) -> None:
        """Packets were declared lost, or marked if there is no `on_ecn`.

        Args:
            event: What is known of them.
        """
