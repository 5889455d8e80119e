"""BBA-0 (Huang et al. 2014, algorithm 1), as the built-in `buffer` has it, as an adaptation in Python.

cp scenarios/film.toml examples && cd examples
leobench run film.toml --set 'flows.film.video.adaptation={ python = "adaptation:Buffer" }'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import leobench

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random


class Buffer(leobench.Adaptation):
    """Goes by the buffer: the lowest bitrate in the reservoir, a line over the cushion, the highest above."""

    def __init__(
        self,
        ladder: Sequence[float],
        segment: float,
        random: Random,
        reservoir: float = 0.375,
        cushion: float = 0.525,
    ) -> None:
        super().__init__(ladder, segment, random)
        self.reservoir, self.cushion = reservoir, cushion

    def choose(self, view: leobench.PlayerView) -> int:
        """Keeps the bitrate until the line has passed the next one, up or down."""
        ladder, highest = self.ladder, len(self.ladder) - 1
        reservoir, cushion = self.reservoir * view.most_buffer, self.cushion * view.most_buffer
        if view.last is None or view.buffer <= reservoir:
            return 0
        if view.buffer >= reservoir + cushion:
            return highest
        line = ladder[0] + (ladder[-1] - ladder[0]) * (view.buffer - reservoir) / cushion
        if line >= ladder[min(view.last + 1, highest)]:
            return max((number for number, rate in enumerate(ladder) if rate < line), default=0)
        if line <= ladder[max(view.last - 1, 0)]:
            return min((number for number, rate in enumerate(ladder) if rate > line), default=highest)
        return view.last
