"""A small policy for the congestion window, with weights from `train_policy.py`.

A linear map of four features decides by how much the window grows or shrinks in a round trip.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import leobench

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

WEIGHTS = 5


def decide(weights: Sequence[float], step: leobench.Step) -> float:
    """The action from -1 to 1: the binary logarithm of the factor on the window."""
    queue = step.rtt_s / step.min_rtt_s - 1.0
    used = step.in_flight_bytes / step.window_bytes
    features = (1.0, queue, step.rtt_gradient, 10.0 * step.lost_share, used)
    return math.tanh(sum(weight * each for weight, each in zip(weights, features, strict=True)))


class Policy(leobench.SteppedController):
    """Follows `decide` once in a round trip."""

    def __init__(self, packet: int, random: Random, weights: Sequence[float]) -> None:
        super().__init__(packet, random)
        self.weights = weights

    def act(self, step: leobench.Step) -> float:
        """The factor on the window."""
        return 2.0 ** decide(self.weights, step)
