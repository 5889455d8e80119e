"""How equally something is shared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leobench.errors import InputError
from leobench.stats.estimate import sample

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def jain(shares: ArrayLike) -> float | None:
    """Jain's fairness index: 1 if all have the same, k/n if k of n have the same and the others nothing.

    The square of the sum over n times the sum of the squares (Jain, Chiu and Hawe, "A quantitative measure
    of fairness and discrimination for resource allocation in shared computer systems", DEC-TR-301, 1984).
    Where fair shares are not equal, divide each share by its fair one first.

    Returns:
        The index, between 1/n and 1; None with fewer than two shares, or if all are zero.

    Raises:
        InputError: If a share is negative or not finite.
    """
    array = sample(shares, "shares", least=0)
    if np.any(array < 0):
        raise InputError(f"shares: {array[array < 0][0]:g}; allowed: zero or more")
    if len(array) < 2 or not array.any():
        return None
    scaled = array / np.max(array)
    return float(np.sum(scaled) ** 2 / (len(scaled) * np.sum(scaled**2)))
