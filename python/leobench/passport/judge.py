"""The verdict on a check: the mean over the seeds and its interval, against the thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from leobench import stats
from leobench.errors import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leobench.passport.suite import Check
    from leobench.stats import Estimate

Verdict = Literal["pass", "warn", "fail", "not measured"]

PASS: Verdict = "pass"  # noqa: S105 (no password)
WARN: Verdict = "warn"
FAIL: Verdict = "fail"
NOT_MEASURED: Verdict = "not measured"
# The worst first.
VERDICTS = (FAIL, WARN, NOT_MEASURED, PASS)


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer to a check.

    Attributes:
        check: The check.
        verdict: The verdict.
        values: A value per seed that has one, in the order of the seeds.
        estimate: Their mean with its 95 % interval; none without a value.
        note: What a reader must know, if anything.
    """

    check: Check
    verdict: Verdict
    values: tuple[float, ...] = ()
    estimate: Estimate | None = None
    note: str | None = None


def judge(check: Check, values: Sequence[float | None], failures: Sequence[str] = ()) -> Finding:
    """Judges the values of a check.

    The mean decides. Where it is beyond the threshold of `fail`, but its interval is not, the check warns.

    Args:
        check: The check.
        values: A value per seed; none where a run has none.
        failures: The errors of runs that failed. A controller whose runs fail fails.
    """
    known = tuple(value for value in values if value is not None)
    estimate = stats.mean_interval(known, method="t") if known else None
    if failures:
        first = failures[0].split("\n", 1)[0]
        return Finding(check, FAIL, known, estimate, f"{counted(len(failures), 'run')} failed: {first}")
    if estimate is None:
        return Finding(check, NOT_MEASURED, note="no run has a value")
    verdict, note = _verdict(check, estimate)
    lacking = len(values) - len(known)
    if lacking:
        note = "; ".join(filter(None, (note, f"{lacking} of {len(values)} runs have no value")))
    return Finding(check, verdict, known, estimate, note)


def _verdict(check: Check, estimate: Estimate) -> tuple[Verdict, str | None]:
    mean, low, high = estimate.value, estimate.low, estimate.high
    if check.fail is not None and check.is_beyond(mean, check.fail):
        best = high if check.better == "higher" else low
        if best is None:
            return WARN, "fails in a single run, which has no interval"
        if check.is_beyond(best, check.fail):
            return FAIL, None
        return WARN, "fails on average, but its interval reaches across the threshold"
    return (WARN if check.is_beyond(mean, check.warn) else PASS), None


def ranks(check: Check, findings: Sequence[Finding]) -> list[str]:
    """The places of several controllers in a check: 1 is the best, `=` marks those that cannot be told apart.

    A controller comes after all those whose intervals lie wholly on the better side of its own.
    """
    ahead = [sum(_is_better(check, other, own) for other in findings) for own in findings]
    places = [
        None if each.estimate is None else 1 + before for each, before in zip(findings, ahead, strict=True)
    ]
    return ["" if place is None else f"{place}{'=' * (places.count(place) > 1)}" for place in places]


def _is_better(check: Check, one: Finding, other: Finding) -> bool:
    if one is other or one.estimate is None or other.estimate is None:
        return False
    ends = [
        (each.value if each.low is None else each.low, each.value if each.high is None else each.high)
        for each in (one.estimate, other.estimate)
    ]
    (low, high), (other_low, other_high) = ends
    return low > other_high if check.better == "higher" else high < other_low
