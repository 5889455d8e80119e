"""A path scheduler that leaves a path before its forecast handover.

leobench run examples/before_handover.toml
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import leobench

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random


class BeforeHandover(leobench.PathScheduler):
    """The path with the shortest round trip, but none that a handover is about to interrupt.

    A packet that leaves shortly before a handover is lost with the queue of the old satellite. As long as
    another path is calm, packets wait for that instead.

    Args:
        links: The names of the links.
        random: Not used.
        ahead: So many seconds before a handover a path is left alone: about its queue and its one-way delay.
    """

    def __init__(self, links: Sequence[str], random: Random, ahead: float = 0.2) -> None:
        super().__init__(links, random)
        self.ahead = ahead

    def choose(
        self, now: float, paths: Sequence[leobench.PathView], backlog: leobench.Backlog
    ) -> leobench.PathView | None:
        """Chooses among the calm paths; among all of them if none is calm."""
        del backlog
        candidates = [path for path in paths if self.is_calm(now, path)] or paths
        free = [path for path in candidates if path.has_room]
        return min(free, key=lambda path: path.rtt, default=None)

    def is_calm(self, now: float, path: leobench.PathView) -> bool:
        """Whether no handover of the path is near or under way."""
        if path.forecast is None or path.forecast.handover is None:
            return True
        begins, ends = path.forecast.handover
        return not begins - self.ahead <= now < ends
