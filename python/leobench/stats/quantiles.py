"""Quantiles of a sample, and intervals for those of the distribution it came from."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import bdtr

from leobench.stats.estimate import Estimate, percent, sample, share

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_METHOD = "order statistics"


def quantile(values: ArrayLike, q: float) -> float:
    """The q-quantile of a sample, linear between order statistics, in the unit of the values.

    Definition 7 of Hyndman and Fan, "Sample quantiles in statistical packages", The American
    Statistician 50, 1996; the default of R and NumPy.

    Raises:
        InputError: If there are no values, one is not finite, or `q` is not between 0 and 1.
    """
    return float(np.quantile(sample(values, "values"), share(q, "q")))


def quantile_interval(values: ArrayLike, q: float, confidence: float = 0.95) -> Estimate:
    """The q-quantile with a distribution-free interval, whatever the values' distribution.

    The number of values below the true quantile is binomial, so two order statistics enclose it with a
    known probability, here at least `confidence` and in each tail at most half of the rest (Conover,
    "Practical nonparametric statistics", 3rd edition, 1999, section 3.2; Le Boudec, "Performance evaluation
    of computer and communication systems", 2010, theorem 2.1). Where not even the extreme value reaches
    far enough, that side has no bound, and the note says how many values it takes.

    Raises:
        InputError: If there are no values, one is not finite, or `q` or `confidence` not between 0 and 1.
    """
    ordered = np.sort(sample(values, "values"))
    n, tail = len(ordered), (1 - share(confidence, "confidence")) / 2
    value = quantile(ordered, q)
    # P(fewer than k values lie below the quantile), for k = 0 ... n + 1.
    fewer = np.concatenate([[0.0], bdtr(np.arange(n + 1, dtype=np.float64), n, q)])
    lower = int(np.flatnonzero(fewer[: n + 1] <= tail)[-1])
    upper = int(np.flatnonzero(1 - fewer <= tail)[0])
    low = float(ordered[lower - 1]) if lower >= 1 else None
    high = float(ordered[upper - 1]) if upper <= n else None
    return Estimate(value, low, high, n, confidence, _METHOD, _missing(low, high, q, confidence, n))


def _missing(low: float | None, high: float | None, q: float, confidence: float, n: int) -> str | None:
    if low is not None and high is not None:
        return None
    needed = math.ceil(math.log((1 - confidence) / 2) / math.log(max(q, 1 - q)))
    sides = {(True, True): "no bound", (True, False): "no lower bound", (False, True): "no upper bound"}
    side = sides[low is None, high is None]
    return f"{side}: at {percent(confidence)} the {percent(q)} quantile needs {needed} values, here {n}"
