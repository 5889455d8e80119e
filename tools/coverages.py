"""How often intervals of the mean cover it, by SciPy: what ours are held to.

`python tools/coverages.py` prints the table below again (four minutes).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import scipy.stats

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

Law = Literal["normal", "exponential", "lognormal"]

# A law's true mean, and how to draw from it.
LAWS: dict[Law, tuple[float, Callable[[np.random.Generator, tuple[int, int]], Array]]] = {
    "normal": (0.0, lambda rng, size: rng.normal(size=size)),
    "exponential": (1.0, lambda rng, size: rng.exponential(size=size)),
    "lognormal": (float(np.exp(0.5)), lambda rng, size: rng.lognormal(size=size)),
}

# Data sets behind a number of the table.
DATA_SETS = {"t": 1_000_000, "bootstrap": 40_000, "studentised": 40_000}
_RESAMPLES = 999
_BLOCK = {"t": 100_000, "bootstrap": 50, "studentised": 50}


def covered(method: str, n: int, law: Law, data_sets: int, seed: int = 2023) -> float:
    """The share of data sets of `n` values whose 95 % interval, made with SciPy, covers the mean."""
    rng = np.random.default_rng(seed)
    mean, draw = LAWS[law]
    block = min(_BLOCK[method], data_sets)
    hits = [np.mean(_covers[method](draw(rng, (block, n)), mean, rng)) for _ in range(data_sets // block)]
    return float(np.mean(hits))


def _t(data: Array, mean: float, _: np.random.Generator) -> NDArray[np.bool_]:
    return np.asarray(scipy.stats.ttest_1samp(data, mean, axis=1).pvalue) > 0.05


def _percentile(data: Array, mean: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    made = scipy.stats.bootstrap(
        (data,), np.mean, axis=1, n_resamples=_RESAMPLES, method="percentile", rng=rng
    ).confidence_interval
    return (np.asarray(made.low) <= mean) & (mean <= np.asarray(made.high))


def _studentised(data: Array, mean: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    low, high = studentised(data, rng)
    return (low <= mean) & (mean <= high)


def studentised(data: Array, rng: np.random.Generator, resamples: int = _RESAMPLES) -> tuple[Array, Array]:
    """95 % bootstrap-t intervals of the mean of every row, from SciPy's resampling."""
    means = data.mean(axis=1)

    def statistic(resampled: Array, axis: int = -1) -> Array:
        centre = means if resampled.ndim == data.ndim else means[:, None]
        return np.asarray((resampled.mean(axis=axis) - centre) / scipy.stats.sem(resampled, axis=axis))

    # A resample of one value repeated has no spread, and its statistic is infinite.
    with np.errstate(divide="ignore", invalid="ignore"):
        made = scipy.stats.bootstrap(
            (data,), statistic, axis=1, n_resamples=resamples, method="percentile", vectorized=True, rng=rng
        )
    distribution = np.sort(made.bootstrap_distribution)
    below = distribution[:, round(0.025 * (resamples + 1)) - 1]
    above = distribution[:, round(0.975 * (resamples + 1)) - 1]
    error = scipy.stats.sem(data, axis=1)
    return means - above * error, means - below * error


_covers = {"t": _t, "bootstrap": _percentile, "studentised": _studentised}

TABLE: dict[tuple[str, int, Law], float] = {
    ("t", 5, "normal"): 0.9501,
    ("t", 5, "exponential"): 0.8820,
    ("t", 5, "lognormal"): 0.8214,
    ("t", 30, "normal"): 0.9505,
    ("t", 30, "exponential"): 0.9274,
    ("t", 30, "lognormal"): 0.8827,
    ("t", 200, "normal"): 0.9502,
    ("t", 200, "exponential"): 0.9462,
    ("t", 200, "lognormal"): 0.9298,
    ("bootstrap", 5, "normal"): 0.8347,
    ("bootstrap", 5, "exponential"): 0.7818,
    ("bootstrap", 5, "lognormal"): 0.7183,
    ("bootstrap", 30, "normal"): 0.9355,
    ("bootstrap", 30, "exponential"): 0.9167,
    ("bootstrap", 30, "lognormal"): 0.8785,
    ("bootstrap", 200, "normal"): 0.9459,
    ("bootstrap", 200, "exponential"): 0.9448,
    ("bootstrap", 200, "lognormal"): 0.9296,
    ("studentised", 5, "normal"): 0.9490,
    ("studentised", 5, "exponential"): 0.9300,
    ("studentised", 5, "lognormal"): 0.8936,
    ("studentised", 30, "normal"): 0.9510,
    ("studentised", 30, "exponential"): 0.9479,
    ("studentised", 30, "lognormal"): 0.9275,
    ("studentised", 200, "normal"): 0.9499,
    ("studentised", 200, "exponential"): 0.9518,
    ("studentised", 200, "lognormal"): 0.9423,
}

if __name__ == "__main__":
    for method in _covers:
        for n in (5, 30, 200):
            for law in LAWS:
                share = covered(method, n, law, DATA_SETS[method])
                print(f'    ("{method}", {n}, "{law}"): {share:.4f},', flush=True)
