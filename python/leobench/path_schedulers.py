"""The interface of path schedulers written in Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from random import Random

    from leobench._core import Backlog, PathView


class PathScheduler(ABC):
    """Decides which path of a connection with several takes the next packet.

    A scenario names a class of yours, `scheduler = { python = "mymodule:MyScheduler" }` in `multipath`; each
    end of a connection has an object of its own, from the moment at which both agree on several paths.
    Deriving it from this class is a convenience: any class with such a constructor and such a method will do.

    Three more methods are optional. `on_sent(path)` is called when a packet that `choose` was asked for has
    left: `choose` may be called again without one, so count packets there. `on_forecast(now, forecast)` is
    called when a forecast comes, if the flow has forecasts (`leobench.Forecast`), and
    `on_interface_forecast(now, forecast)` for each link of the end that opens the paths, which also announces
    when links come up and go down (`leobench.InterfaceForecast`).

    Attributes:
        links: The names of the links of the connection (`multipath.links`).
        random: Random numbers that follow from the run's seed. Draw from nothing else, or the run cannot be
            repeated.
    """

    def __init__(self, links: Sequence[str], random: Random) -> None:
        """Override it to take the scenario's `parameters`, by name; call it first."""
        self.links = links
        self.random = random

    @abstractmethod
    def choose(
        self, now: float, paths: Sequence[PathView], backlog: Backlog
    ) -> PathView | int | Iterable[PathView | int] | None:
        """Chooses the path of the next packet with data.

        Args:
            now: Virtual time in seconds.
            paths: The paths that may carry data, in order of number. At least one has room.
            backlog: The data that waits.

        Returns:
            A path that has room, or its number; or several, of which the first has room: the others carry
            copies as soon as they can; or `None`, which lets the packet wait until anything changes.
            It must not wait while all have room and nothing is in flight: nothing would ever ask again.
        """
