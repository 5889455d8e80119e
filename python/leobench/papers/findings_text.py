"""Conclusions and findings as Markdown."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from leobench.overrides import as_text
from leobench.papers.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from leobench.campaign import Campaign
    from leobench.papers.catalogue import Paper
    from leobench.papers.claims import Claim
    from leobench.papers.conclusions import Conclusion
    from leobench.papers.readings import Reading
    from leobench.papers.reproduction import Reproduction
    from leobench.papers.verdicts import Finding
    from leobench.stats import Estimate

_INDENT = "↳ "
_COVER = "The interval of a claim as written has a confidence of 95 %"
_SHARED = (
    "; those of its *m* other readings have 1 - 0.05/*m* each, so that trying more readings does not make it "
    "easier for the claim to hold"
)
_QUICK = "A quick look: fewer or shorter runs than the paper's, so the verdicts are preliminary."

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


def concluded(conclusions: Iterable[Conclusion]) -> list[tuple[str, ...]]:
    """A row per conclusion, under `HEAD`, followed by one per reading that was tried."""
    found = []
    for conclusion in conclusions:
        (stated,) = rows(conclusion.findings[:1])
        readings = rows(conclusion.findings[1:])
        if readings:
            stated = (*stated[:-1], str(conclusion))
        found.append(stated)
        found += [
            (f"{_INDENT}{finding.reading}", *row[1:])
            for finding, row in zip(conclusion.findings[1:], readings, strict=True)
        ]
    return found


def tally(conclusions: Sequence[Conclusion]) -> str:
    """The number of conclusions per outcome: those of the paper, and ours."""
    from leobench.papers import conclusions as concluding

    papers = [each for each in conclusions if not each.claim.ours]
    ours = [each for each in conclusions if each.claim.ours]
    parts = [concluding.tally(papers), f"claims of ours: {concluding.tally(ours)}" if ours else ""]
    return "; ".join(filter(None, parts)) or "no claims"


def markdown(paper: Paper, campaign: Campaign, done: Reproduction) -> str:
    """The content of `claims.md`: a figure and the verdicts on its claims. Depends on the runs only."""
    figure, result = done.figure, done.result
    version = result.manifest["identity"]["leobench"]
    changed = ", ".join(f"`{place}` = {value}" for place, value in campaign.set.items())
    sized = size(campaign) + (f", with {changed}" if changed else "")
    claims = {each.claim.id: each.claim for each in done.conclusions}.values()
    statements = [
        f"- **{claim.id}** ({claim.stated}): {claim.says}"
        + (f" Judged by {_measured(claim)}: {claim.relation} ({claim.because})." if claim.relation else "")
        for claim in claims
    ]
    warnings = [line for each in done.results for line in each.warning_lines()]
    remarks = [each.says for each in paper.remarks if each.concerns(figure)]
    parts = [
        f"# {figure.title}",
        f"{paper.citation}.",
        f"Campaign `{campaign.name}`, leobench {version}: {sized}.",
        *([_QUICK] if done.quick else []),
        f"![{figure.title}]({figure.name}.png)",
        *(_verdicts(done) if statements else []),
        *(["## Warnings", _list(warnings)] if warnings else []),
        *(["## Claims", "\n".join(statements)] if statements else []),
        *_readings(done.conclusions),
        *(["## Remarks", _list(remarks)] if remarks else []),
    ]
    return "\n\n".join(parts) + "\n"


def _verdicts(done: Reproduction) -> list[str]:
    """The section on the verdicts, with their number by outcome."""
    shared = _SHARED if any(each.claim.readings for each in done.conclusions) else ""
    return [
        "## Verdicts",
        "\n".join(_table(concluded(done.conclusions))),
        f"{tally(done.conclusions)}. {_COVER}{shared}.",
    ]


def _readings(conclusions: Sequence[Conclusion]) -> list[str]:
    """The section on the readings tried, each with the number of cases that hold under it."""
    known = {reading.id: reading for each in conclusions for reading in each.claim.readings}
    if not known:
        return []
    found = [finding for each in conclusions for finding in each.findings]
    tried = Counter(finding.reading for finding in found)
    held = Counter(finding.reading for finding in found if finding.verdict is Verdict.HOLDS)
    lines = [
        f"- **{each.id}**: {_described(each)} Holds in {held[each.id]} of {tried[each.id]} cases."
        for each in sorted(known.values(), key=lambda reading: len(reading.parts))
    ]
    return ["## Readings", "\n".join(lines)]


def _described(reading: Reading) -> str:
    """The meaning of a claim under a reading and the reason, or the readings that it takes together."""
    if reading.parts:
        return "Together."
    return (
        f"{reading.says} Source: {reading.source}. Plausible because {reading.because}. "
        f"Changes {_changed(reading)}."
    )


def _changed(reading: Reading) -> str:
    parts = [
        *([f"the campaign to `{reading.campaign}`"] if reading.campaign else []),
        *(f"`{place}` to {as_text(value)}" for place, value in reading.overrides.items()),
        *(f"`{old}` to `{new}`" for old, new in reading.instead.items()),
    ]
    return ", ".join(parts)


def size(campaign: Campaign) -> str:
    """The number of variants and of runs of each."""
    variants, runs = len(campaign.variants), campaign.replicates
    return f"{variants} variant{'s' * (variants != 1)} of {runs} run{'s' * (runs != 1)}"


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table(cells: Sequence[tuple[str, ...]]) -> list[str]:
    lines = [HEAD, tuple("---" for _ in HEAD), *cells]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


def _measured(claim: Claim) -> str:
    return " and ".join(f"`{metric}`" for metric in ([claim.metric] if claim.metric else claim.values))


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
