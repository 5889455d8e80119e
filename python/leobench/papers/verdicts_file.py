"""The verdicts on a figure as `verdicts.json`, for programs and for the summary of a paper."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leobench.campaign import Campaign
    from leobench.papers.catalogue import Paper
    from leobench.papers.conclusions import Conclusion
    from leobench.papers.reproduction import Reproduction
    from leobench.papers.verdicts import Finding


def text(paper: Paper, campaign: Campaign, done: Reproduction) -> str:
    """The content of `verdicts.json`. Depends on the runs only."""
    described = {
        "paper": paper.name,
        "figure": done.figure.name,
        "title": done.figure.title,
        "leobench": done.result.manifest["identity"]["leobench"],
        "campaign": campaign.name,
        "variants": len(campaign.variants),
        "replicates": campaign.replicates,
        "set": dict(campaign.set),
        "quick": done.quick,
        "conclusions": [_conclusion(each) for each in done.conclusions],
    }
    return json.dumps(described, indent=1, ensure_ascii=False) + "\n"


def _conclusion(conclusion: Conclusion) -> dict[str, Any]:
    claim = conclusion.claim
    return {
        "claim": claim.id,
        "stated": claim.stated,
        "ours": claim.ours,
        "says": claim.says,
        "case": conclusion.case,
        "relation": str(claim.relation or ""),
        "outcome": str(conclusion.outcome),
        "holds_under": conclusion.saving,
        "findings": [_finding(each) for each in conclusion.findings],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    estimate = finding.estimate
    numbers: dict[str, Any] = {}
    if estimate is not None:
        numbers = {
            "value": _finite(estimate.value),
            "low": estimate.low,
            "high": estimate.high,
            "runs": estimate.n,
            "confidence": round(estimate.confidence, 12),
            "method": estimate.method,
        }
    return {
        "reading": finding.reading,
        "verdict": str(finding.verdict),
        "why": finding.why,
        "means": {name: _finite(mean) for name, mean in finding.means.items()},
        **numbers,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
