"""Shapley values: shares of a total that several causes bring about together.

The share of a cause is what its repair gains, averaged over all orders in which the causes could be repaired
(Shapley, "A value for n-person games", 1953). So the shares add up to what the repair of all gains, the order
does not matter, causes that only act together share alike, and one that changes nothing has no share.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def subsets(names: Sequence[str]) -> Iterator[frozenset[str]]:
    """All subsets, the smaller first."""
    for size in range(len(names) + 1):
        yield from map(frozenset, combinations(names, size))


def shares(worth: Mapping[frozenset[str], float], names: Sequence[str]) -> dict[str, float]:
    """The share of each name in `worth[all] - worth[none]`.

    Args:
        worth: A value for each subset of the names.
        names: The names.
    """
    count = len(names)
    found = {}
    for name in names:
        others = [each for each in names if each != name]
        terms = []
        for subset in subsets(others):
            size = len(subset)
            weight = math.factorial(size) * math.factorial(count - size - 1) / math.factorial(count)
            terms.append(weight * (worth[subset | {name}] - worth[subset]))
        found[name] = math.fsum(terms)
    return found
