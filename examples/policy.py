"""A small policy for the congestion window. Its weights are in a file that `train_policy.py` writes.

cp scenarios/ka.toml examples && cd examples
python train_policy.py --out policy.json
leobench run ka.toml --set 'flows.main.transport.congestion={ python = "policy:Policy" }'

A linear map of `FEATURES` decides by how much the window grows or shrinks in a round trip.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import leobench

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

FEATURES = ("bias", "size", "room", "queue", "rate", "lost")

# The window's factor of the largest action. It is reached in a round trip, the opening included.
FACTOR = 16.0

# The weights of a `Policy` without parameters.
FILE = Path(__file__).with_name("policy.json")


class Decider:
    """Decides for a path, by weights of the features, and remembers the largest rate."""

    def __init__(self, weights: Sequence[float]) -> None:
        self._weights = weights
        self._largest = 0.0

    def action(self, step: leobench.Step) -> float:
        """The logarithm to the base `FACTOR` of the factor on the window, from -1 to 1."""
        doublings = sum(
            weight * each for weight, each in zip(self._weights, self._features(step), strict=True)
        )
        return math.tanh(doublings / math.log2(FACTOR))

    def _features(self, step: leobench.Step) -> tuple[float, ...]:
        """The features of a step, in the order of `FEATURES`.

        `size` and `room` are the window as a multiple of 100 packets, and of the shortest round trip at the
        largest rate; `queue` is the round trip as a multiple of the shortest, less 1; `rate` is the rate as a
        multiple of the largest. The multiples of `size`, `room` and `rate` are binary logarithms.
        """
        rate = step.acked_bytes / step.duration_s
        self._largest = max(self._largest, rate)
        return (
            1.0,
            math.log2(step.window_bytes / (100 * step.packet)),
            math.log2(step.window_bytes / (self._largest * step.min_rtt_s)),
            step.rtt_s / step.min_rtt_s - 1.0,
            math.log2(max(rate / self._largest, 1 / 16)),
            10.0 * step.lost_share,
        )


class Policy(leobench.SteppedController):
    """Follows the policy of a file once in a round trip.

    Args:
        packet: Bytes of a full packet.
        random: Random numbers.
        weights: The file.
    """

    def __init__(self, packet: int, random: Random, weights: str = str(FILE)) -> None:
        super().__init__(packet, random)
        self._decider = Decider(read(Path(weights)))

    def act(self, step: leobench.Step) -> float:
        """The factor on the window."""
        return FACTOR ** self._decider.action(step)


def write(file: Path, weights: Sequence[float]) -> None:
    """Writes weights by the name of their feature."""
    named = dict(zip(FEATURES, weights, strict=True))
    file.write_text(json.dumps(named, indent=2) + "\n", encoding="utf-8")


def read(file: Path) -> list[float]:
    """Reads what `write` wrote.

    Raises:
        InputError: If there are no such weights.
    """
    hint = "allowed: a file that `python train_policy.py --out FILE` wrote"
    try:
        named = json.loads(file.read_text(encoding="utf-8"))
        return [float(named[each]) for each in FEATURES]
    except OSError as error:
        raise leobench.InputError(f"{file}: {error.strerror}; {hint}") from None
    except (ValueError, KeyError, TypeError):
        raise leobench.InputError(f"{file}: holds no numbers for {', '.join(FEATURES)}; {hint}") from None
