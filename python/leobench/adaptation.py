"""The interface of adaptations of videos written in Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from leobench._core import PlayerView


class Adaptation(ABC):
    """Chooses the bitrate of each segment of a video.

    A scenario names a class of yours, `adaptation = { python = "mymodule:MyAdaptation" }` in the `video` of a
    flow over QUIC or TCP; each player has an object of its own. Deriving it from this class is a convenience:
    any class with such a constructor and such a method will do.

    A method `on_download(download)` is optional. It is called for each download that is over
    (`leobench.Download`), before the choice of the next one.

    Attributes:
        ladder: The bitrates of the video in bits per second, from the lowest.
        segment: Length of a segment in seconds; the last one may be shorter.
        random: Random numbers that follow from the run's seed. Draw from nothing else, or the run cannot be
            repeated.
    """

    def __init__(self, ladder: Sequence[float], segment: float, random: Random) -> None:
        """Override it to take the scenario's `parameters`, by name; call it first."""
        self.ladder = ladder
        self.segment = segment
        self.random = random

    @abstractmethod
    def choose(self, view: PlayerView) -> int:
        """Chooses the bitrate of the next segment.

        Args:
            view: The player when it asks for the segment.

        Returns:
            The number of a bitrate in `ladder`, counted from 0.
        """
