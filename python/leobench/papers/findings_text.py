"""Findings as a table for a terminal, and as Markdown beside the figure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from leobench.papers.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from leobench.campaign import Campaign, CampaignResult
    from leobench.papers.catalogue import Figure, Paper
    from leobench.papers.claims import Claim
    from leobench.papers.verdicts import Finding
    from leobench.stats import Estimate

HEAD = ("claim", "case", "means", "statistic", "must be", "verdict")


def rows(findings: Iterable[Finding]) -> list[tuple[str, ...]]:
    """A row per finding, under `HEAD`."""
    return [
        (
            finding.claim.id,
            finding.case,
            _means(finding),
            "" if finding.estimate is None else _interval(finding.estimate),
            str(finding.claim.relation or ""),
            _verdict(finding),
        )
        for finding in findings
    ]


def tally(findings: Sequence[Finding]) -> str:
    """The number of findings per verdict."""
    counts = Counter(finding.verdict for finding in findings)
    return ", ".join(f"{verdict}: {counts[verdict]}" for verdict in Verdict if counts[verdict])


def markdown(
    paper: Paper, figure: Figure, campaign: Campaign, result: CampaignResult, findings: Sequence[Finding]
) -> str:
    """The content of `claims.md`: the findings of a figure with its drawing. Depends on the runs only."""
    version = result.manifest["identity"]["leobench"]
    changed = ", ".join(f"`{place}` = {value}" for place, value in campaign.set.items())
    sized = size(campaign) + (f", with {changed}" if changed else "")
    confidence = next((each.estimate.confidence for each in findings if each.estimate), 0.95)
    claims = {finding.claim.id: finding.claim for finding in findings}.values()
    statements = [
        f"- **{claim.id}** ({claim.stated}): {claim.says}"
        + (f" Relation: {_measured(claim)}, {claim.relation}; {claim.because}." if claim.relation else "")
        for claim in claims
    ]
    parts = [
        f"# {figure.title}",
        f"{paper.citation}.",
        f"Campaign `{campaign.name}`, leobench {version}: {sized}.",
        f"![{figure.title}]({figure.name}.png)",
        "## Verdicts",
        "\n".join(_table(findings)),
        f"{tally(findings)}. Intervals cover {100 * confidence:g} % each.",
        *(["## Warnings", _list(result.warning_lines())] if result.warning_lines() else []),
        "## Claims",
        "\n".join(statements),
        *(["## Remarks", _list(paper.remarks)] if paper.remarks else []),
    ]
    return "\n\n".join(parts) + "\n"


def size(campaign: Campaign) -> str:
    """The number of variants and of runs of each."""
    variants, runs = len(campaign.variants), campaign.replicates
    return f"{variants} variant{'s' * (variants != 1)} of {runs} run{'s' * (runs != 1)}"


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table(findings: Sequence[Finding]) -> list[str]:
    lines = [HEAD, tuple("---" for _ in HEAD), *rows(findings)]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


def _measured(claim: Claim) -> str:
    return claim.metric or " and ".join(map(str, claim.values))


def _means(finding: Finding) -> str:
    factor, unit = (1e6, "Mbit/s") if finding.claim.unit == "bit/s" else (1.0, finding.claim.unit)
    named = [f"{name}: {_number(mean / factor)}".removeprefix(": ") for name, mean in finding.means.items()]
    return " ".join(filter(None, (", ".join(named), unit if named else "")))


def _verdict(finding: Finding) -> str:
    """The verdict, with its remark and the reason why its interval lacks an end."""
    estimate = finding.estimate
    lacks = estimate is not None and None in (estimate.low, estimate.high)
    why = "; ".join(filter(None, (finding.why, estimate.note if lacks and estimate else None)))
    return f"{finding.verdict}: {why}" if why else str(finding.verdict)


def _interval(estimate: Estimate) -> str:
    low, high = ("?" if end is None else _number(end) for end in (estimate.low, estimate.high))
    return f"{_number(estimate.value)} [{low}, {high}]"


def _number(value: float) -> str:
    """Three significant digits, thousands separated."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
