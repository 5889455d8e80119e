"""Resampling of values in order of time by blocks, which keep what hangs together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def resampled(count: int, length: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The indices of as many values, in blocks from random places; the first value follows the last.

    Politis and Romano 1992, "A circular block-resampling procedure for stationary data".
    """
    starts: NDArray[np.int64] = rng.integers(0, count, -(-count // length))
    return (starts[:, None] + np.arange(length)).ravel()[:count] % count
