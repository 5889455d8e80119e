"""Whether two sides agree in a measure: its interval over the seeds against its limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from leobench import stats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leobench.agreement.measures import Measure
    from leobench.stats import Estimate

    Values = Sequence[float | None]

Verdict = Literal["agree", "differ", "cannot tell"]

AGREE: Verdict = "agree"
DIFFER: Verdict = "differ"
CANNOT_TELL: Verdict = "cannot tell"
VERDICTS = (AGREE, DIFFER, CANNOT_TELL)


@dataclass(frozen=True, slots=True)
class Finding:
    """How the first side compares with the second in one measure of one flow.

    Attributes:
        flow: The flow.
        measure: The measure.
        means: The means of both sides, in the unit of the metric; None without a value.
        ratio: The mean of the first over that of the second, with its interval; None where the second is 0.
        difference: The mean of first - second over the pairs, with its interval; None without a pair.
        by: What the verdict rests on; None if the measure is only shown, or neither side has a value.
        bound: How far the ratio may be from 1, or the difference from 0.
        verdict: The verdict; None where `by` is.
        pairs: The number of seeds for which both sides have a value.
        note: What a reader must know before trusting it, if anything.
    """

    flow: str
    measure: Measure
    means: tuple[float | None, float | None]
    ratio: Estimate | None
    difference: Estimate | None
    by: Literal["ratio", "difference"] | None
    bound: float | None
    verdict: Verdict | None
    pairs: int
    note: str | None = None


def judge(flow: str, measure: Measure, first: Values, second: Values) -> Finding:
    """Compares two sides seed by seed.

    Args:
        flow: The flow, for the finding.
        measure: What the values are.
        first: A value per seed of one side.
        second: The same of the other side, in the same order.
    """
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    lone = sum((a is None) != (b is None) for a, b in zip(first, second, strict=True))
    note = f"for {_seeds(lone)} only one side has a value" if lone else None
    means = (_mean(first), _mean(second))
    if not pairs:
        differs: Verdict | None = DIFFER if lone and measure.limit is not None else None
        return Finding(flow, measure, means, None, None, None, None, differs, 0, note)
    a, b = np.array(pairs, dtype=np.float64).T
    ratio = _ratio(a, b)
    difference = stats.mean_interval(a - b, method="t")
    if measure.limit is None:
        return Finding(flow, measure, means, ratio, difference, None, None, None, len(pairs), note)
    # A limit of less than one packet or event in a run cannot be asked for.
    if ratio is None or (measure.counts and float(np.mean(b)) * measure.limit < 1):
        by: Literal["ratio", "difference"] = "difference"
        bound, centre, judged = (1.0 if measure.counts else 0.0), 0.0, difference
    else:
        by, bound, centre, judged = "ratio", measure.limit, 1.0, ratio
    verdict = _verdict(judged, centre, bound)
    if lone and verdict == AGREE:
        verdict = CANNOT_TELL
    return Finding(flow, measure, means, ratio, difference, by, bound, verdict, len(pairs), note)


def overall(findings: Sequence[Finding]) -> Verdict:
    """The verdict of a cell: `differ` if any measure does, `agree` if all do."""
    verdicts = [finding.verdict for finding in findings if finding.verdict is not None]
    if DIFFER in verdicts:
        return DIFFER
    return AGREE if verdicts and all(each == AGREE for each in verdicts) else CANNOT_TELL


def decided(findings: Sequence[Finding]) -> bool:
    """Whether more seeds would change no verdict."""
    return all(finding.verdict != CANNOT_TELL for finding in findings)


def _seeds(number: int) -> str:
    return f"{number} seed{'s' * (number != 1)}"


def _mean(values: Values) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _ratio(a: np.ndarray, b: np.ndarray) -> Estimate | None:
    if float(np.mean(b)) == 0:
        return None
    change = stats.relative(b, a)
    return stats.Estimate(
        1 + change.value,
        None if change.low is None else 1 + change.low,
        None if change.high is None else 1 + change.high,
        change.n,
        change.confidence,
        change.method,
        change.note,
    )


def _verdict(estimate: Estimate, centre: float, bound: float) -> Verdict:
    if estimate.low is None or estimate.high is None:
        return CANNOT_TELL
    low, high = estimate.low - centre, estimate.high - centre
    if -bound <= low and high <= bound:
        return AGREE
    return DIFFER if low > bound or high < -bound else CANNOT_TELL
