"""Statistics of repeated runs: means and quantiles with intervals, comparisons, competition, jitter.

Values must be independent: one per run. Messages of one run are not; summarise each run first.
"""

from leobench.stats.comparison import Comparison, paired, relative
from leobench.stats.competition import convergence_time, delivered_in_steps, friendliness_ratio
from leobench.stats.estimate import Estimate
from leobench.stats.fairness import jain
from leobench.stats.grouped import mean_intervals
from leobench.stats.jitter import (
    jitter_mean_absolute,
    jitter_rfc3550,
    jitter_rfc3550_series,
    jitter_standard_deviation,
)
from leobench.stats.mean import Method, mean_correlation, mean_interval
from leobench.stats.quantiles import quantile, quantile_interval

__all__ = [
    "Comparison",
    "Estimate",
    "Method",
    "convergence_time",
    "delivered_in_steps",
    "friendliness_ratio",
    "jain",
    "jitter_mean_absolute",
    "jitter_rfc3550",
    "jitter_rfc3550_series",
    "jitter_standard_deviation",
    "mean_correlation",
    "mean_interval",
    "mean_intervals",
    "paired",
    "quantile",
    "quantile_interval",
    "relative",
]
