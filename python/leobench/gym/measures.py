"""Observations of a step, and rewards for it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from leobench.stepped import Step


# The parts of an observation in order: what each is, its unit and its bounds, to which it is cut.
OBSERVATIONS: Mapping[str, tuple[Callable[[Step], float], str, tuple[float, float]]] = {
    "throughput": (lambda step: step.throughput_mbps, "Mbit/s", (0.0, 1e5)),
    "rtt": (lambda step: step.rtt_s, "s", (0.0, 1e3)),
    "rtt_ratio": (lambda step: step.rtt_s / step.min_rtt_s, "of the shortest", (0.0, 1e4)),
    "rtt_gradient": (lambda step: step.rtt_gradient, "s/s", (-1e3, 1e3)),
    "lost": (lambda step: step.lost_share, "share", (0.0, 1.0)),
    "window": (lambda step: step.window_bytes / step.packet, "packets", (0.0, 1e9)),
    "in_flight": (lambda step: step.in_flight_bytes / step.packet, "packets", (0.0, 1e9)),
    "duration": (lambda step: step.duration_s, "s", (0.0, 1e4)),
}


def observed(step: Step) -> NDArray[np.float32]:
    """The observation of a step: its parts in the order of `OBSERVATIONS`."""
    values = [min(max(of(step), low), high) for of, _, (low, high) in OBSERVATIONS.values()]
    return np.array(values, dtype=np.float32)


def aurora(step: Step) -> float:
    """10 per packet in a second, less 1,000 per second of round trip and 2,000 times the share lost.

    Jay et al., A deep reinforcement learning perspective on Internet congestion control, ICML 2019.
    """
    packets = step.acked_bytes / step.packet / step.duration_s
    return 10.0 * packets - 1000.0 * step.rtt_s - 2000.0 * step.lost_share


def delay(step: Step) -> float:
    """The logarithm of packets in a second over the round trip as a multiple of the shortest.

    Winstein and Balakrishnan, TCP ex Machina, SIGCOMM 2013, with delta = 1.
    """
    packets = max(step.acked_bytes / step.packet, 0.1) / step.duration_s
    return math.log(packets) - math.log(max(step.rtt_s / step.min_rtt_s, 1.0))


REWARDS: Mapping[str, Callable[[Step], float]] = {"aurora": aurora, "delay": delay}
