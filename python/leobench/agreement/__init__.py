"""Agreement: whether two ways of running a scenario come out alike, seed by seed.

An axis says what differs: the QUIC stacks of the scenario's flows, or the engines that drive it. A target
is a scenario, or a campaign whose variants are compared one by one.
"""

from leobench.agreement.axes import Side, engines, stacks
from leobench.agreement.judge import Finding
from leobench.agreement.measures import MEASURES, Measure
from leobench.agreement.runner import Cell, Report, compare
from leobench.agreement.target import Target

__all__ = [
    "MEASURES",
    "Cell",
    "Finding",
    "Measure",
    "Report",
    "Side",
    "Target",
    "compare",
    "engines",
    "stacks",
]
