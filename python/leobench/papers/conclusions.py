"""The conclusion on a claim from the findings under all its readings."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from leobench.errors import InputError, allowed
from leobench.papers.readings import STATED
from leobench.papers.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from leobench.papers.claims import Claim
    from leobench.papers.verdicts import Finding


class Outcome(StrEnum):
    """The outcome of the findings under all readings of a claim, the most important first."""

    UNDER_NONE = "holds under no reading tried"
    DOES_NOT_HOLD = "does not hold"
    UNDER_READING = "holds under a reading"
    CANNOT_TELL = "cannot tell"
    NOT_EVALUATED = "not evaluated"
    HOLDS = "holds"


@dataclass(frozen=True)
class Conclusion:
    """A claim with its outcome for one case.

    Attributes:
        claim: The claim.
        case: The values of `claim.each`.
        findings: One per reading, that of the claim as written first.
        outcome: The outcome.
        reading: The id of the first reading under which it holds; empty if it holds under none.
    """

    claim: Claim
    case: str
    findings: tuple[Finding, ...]
    outcome: Outcome
    reading: str = ""

    @property
    def saving(self) -> list[str]:
        """The ids of all readings under which it holds."""
        return [each.reading for each in self.findings if each.verdict is Verdict.HOLDS]

    def __str__(self) -> str:
        if self.outcome is Outcome.UNDER_READING:
            return f"holds under reading {', '.join(self.saving)}"
        return str(self.outcome)


def conclude(findings: Iterable[Finding]) -> list[Conclusion]:
    """A conclusion per claim and case, in the order of the claims as written.

    Raises:
        InputError: If a reading has other cases than the claim as written.
    """
    grouped: dict[str, dict[str, list[Finding]]] = {}
    every = list(findings)
    for finding in every:
        if finding.reading == STATED:
            grouped.setdefault(finding.claim.id, {})[finding.case] = [finding]
    for finding in every:
        if finding.reading == STATED:
            continue
        cases = grouped[finding.claim.id]
        if finding.case not in cases:
            raise InputError(
                f"claim {finding.claim.id}: reading {finding.reading}: case `{finding.case}` is not a case "
                f"of the claim as written; {allowed(finding.case, cases)}"
            )
        cases[finding.case].append(finding)
    return [_conclude(tuple(found)) for cases in grouped.values() for found in cases.values()]


def _conclude(findings: tuple[Finding, ...]) -> Conclusion:
    stated = findings[0]
    saved = [each.reading for each in findings if each.verdict is Verdict.HOLDS]
    for reading in stated.claim.readings:
        if len(findings) > 1 and reading.id not in {each.reading for each in findings}:
            raise InputError(
                f"claim {stated.claim.id}: reading {reading.id}: has no case `{stated.case}`; "
                "allowed: the cases of the claim as written"
            )
    outcome, reading_id = Outcome.CANNOT_TELL, saved[0] if saved else ""
    if stated.verdict is Verdict.NOT_EVALUATED:
        outcome = Outcome.NOT_EVALUATED
    elif saved:
        outcome = Outcome.HOLDS if reading_id == STATED else Outcome.UNDER_READING
    elif all(each.verdict is Verdict.DOES_NOT_HOLD for each in findings):
        outcome = Outcome.UNDER_NONE if len(findings) > 1 else Outcome.DOES_NOT_HOLD
    return Conclusion(stated.claim, stated.case, findings, outcome, reading_id)


def tally(conclusions: Sequence[Conclusion]) -> str:
    """The number of conclusions per outcome, those that hold first."""
    counts = Counter(each.outcome for each in conclusions)
    order = (Outcome.HOLDS, Outcome.UNDER_READING, Outcome.UNDER_NONE, Outcome.DOES_NOT_HOLD,
             Outcome.CANNOT_TELL, Outcome.NOT_EVALUATED)  # fmt: skip
    return ", ".join(f"{outcome}: {counts[outcome]}" for outcome in order if counts[outcome])
