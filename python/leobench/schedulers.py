"""The interface of stream schedulers written in Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from random import Random

    from leobench._core import Stream


class StreamScheduler(ABC):
    """Decides which streams' bytes fill the next packet of a connection.

    A scenario names a class of yours, `scheduler = { python = "mymodule:MyScheduler" }`; every connection
    has an object of its own. Deriving it from this class is a convenience: any class with such a constructor
    and such a method will do.

    If it has a method `on_change(stream)` too, that is called before `schedule` for every stream that has
    changed since the last packet: bytes have arrived or left, or flow control holds it or has let it go. A
    scheduler of many streams can keep them in order that way, instead of looking at all of them each time.

    A method `on_forecast(now, forecast)` is called when a forecast of one of the connection's paths comes, if
    the flow has forecasts (`leobench.Forecast`).

    Attributes:
        fills_packets: Whether it promises to leave no room in a packet while a stream has bytes waiting. With
            the promise, deep backlogs are cheaper to send; a run stops if it is broken.
        streams: How many streams the connection has.
        random: Random numbers that follow from the run's seed. Draw from nothing else, or the run cannot be
            repeated.
    """

    fills_packets: bool = False

    def __init__(self, streams: int, random: Random) -> None:
        """Override it to take the scenario's `parameters`, by name; call it first."""
        self.streams = streams
        self.random = random

    @abstractmethod
    def schedule(
        self, now: float, streams: Sequence[Stream], room: int
    ) -> Iterable[tuple[Stream | int, int]]:
        """Shares the room of the next packet among streams.

        Args:
            now: Virtual time in seconds.
            streams: The streams that have bytes waiting and are not held back by flow control, in order of
                number: one or more.
            room: Bytes for all that goes into the packet. The header of each stream's frame takes 2 to 11 of
                them; what the last stream is given is cut as far as the headers need it.

        Returns:
            Streams (or their numbers) and their bytes, in the order in which they go into the packet: at
            least one byte of one stream, of no stream more than its backlog, in all no more than `room`.
        """
