"""Why several links are slower than they should be: counterfactual runs, and parts that add up.

`subject` finds the flow, `causes` and `links` repair a scenario, `runs` runs it with and without each cause,
`shapley` shares out what they lose together, and `explanation` says it.
"""

from __future__ import annotations

from leobench.attribution.explain import explain
from leobench.attribution.explanation import Explanation, Part, Run

__all__ = ["Explanation", "Part", "Run", "explain"]
