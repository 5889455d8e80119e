"""Judges claims by the runs of a campaign: they hold, do not hold, or the runs cannot tell."""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from leobench import stats
from leobench.errors import InputError, allowed
from leobench.papers import readings
from leobench.papers.claims import METRIC
from leobench.papers.readings import STATED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from leobench.papers.claims import Claim, Relation
    from leobench.papers.readings import Reading
    from leobench.stats import Estimate

    Group = tuple[str, pl.DataFrame]
    Pick = Callable[..., float]


class Verdict(StrEnum):
    """The verdict of the runs on a claim."""

    HOLDS = "holds"
    DOES_NOT_HOLD = "does not hold"
    CANNOT_TELL = "cannot tell"
    NOT_EVALUATED = "not evaluated"


@dataclass(frozen=True)
class Finding:
    """A claim with its verdict for one case.

    Attributes:
        claim: The claim.
        case: The values of `claim.each` that it was judged for.
        means: The mean of every group that was compared, by its name.
        estimate: The statistic of the claim's relation with its interval; `None` if it was not evaluated.
        verdict: The verdict that follows from that interval.
        why: A remark on the verdict, if needed.
        reading: The id of the reading of the claim.
    """

    claim: Claim
    case: str
    means: Mapping[str, float]
    estimate: Estimate | None
    verdict: Verdict
    why: str = ""
    reading: str = STATED


def judge(claims: Iterable[Claim], runs: pl.DataFrame, confidence: float = 0.95) -> list[Finding]:
    """Judges claims by runs.

    Runs are compared with those of the same seed. A claim holds if the whole interval of its statistic lies
    in the range it states, does not hold if all of it lies outside, and otherwise the runs cannot tell.

    Args:
        claims: The claims.
        runs: A row per run and metric, as `CampaignResult.runs` has them.
        confidence: Of the intervals, for each finding on its own.

    Raises:
        InputError: If a claim names a metric, place or value that the runs do not have.
    """
    return [finding for claim in claims for finding in _judge(claim, runs, confidence, None)]


def judge_reading(claim: Claim, reading: Reading, runs: pl.DataFrame, confidence: float) -> list[Finding]:
    """Judges a claim as a reading takes it, by the runs of that reading.

    Cases are those of the claim as written.

    Raises:
        InputError: As `judge`.
    """
    return _judge(claim, runs, confidence, reading)


def _judge(stated: Claim, runs: pl.DataFrame, confidence: float, reading: Reading | None) -> list[Finding]:
    claim = stated if reading is None else readings.under(stated, reading)
    if claim.relation is None:
        return [Finding(claim, "", {}, None, Verdict.NOT_EVALUATED, f"needs {claim.needs}")]
    compared = list(map(str, claim.values)) if claim.along == METRIC else [claim.metric]
    _known(claim, "metric", compared, runs["metric"].unique().to_list())
    places = [*claim.where, *([claim.along] if claim.along else []), *claim.each]
    _known(claim, "place", places, runs.columns)
    rows = runs.filter(pl.col("metric").is_in(compared))
    for place, value in claim.where.items():
        rows = _having(claim, rows, place, value)
    choices = [rows[place].unique(maintain_order=True).to_list() for place in claim.each]
    findings = []
    for case in itertools.product(*choices):
        chosen = rows
        for place, value in zip(claim.each, case, strict=True):
            chosen = chosen.filter(pl.col(place).eq_missing(pl.lit(value)))
        if chosen.is_empty():
            continue
        named = case if reading is None else readings.stated_case(case, reading)
        found = _find(claim, claim.relation, ", ".join(map(str, named)), chosen, confidence)
        if reading is not None:
            found = dataclasses.replace(found, claim=stated, reading=reading.id)
        findings.append(found)
    return findings


def _find(claim: Claim, relation: Relation, case: str, rows: pl.DataFrame, confidence: float) -> Finding:
    names, samples = _samples(claim, rows)
    both_ends = np.isfinite([relation.low, relation.high]).all()
    if both_ends and len(samples) > 2 and relation.statistic != "spread":
        raise InputError(f"claim {claim.id}: {relation}: compares {len(samples)} groups; allowed: two")
    planned = rows["seed"].n_unique()
    count = len(samples[0])
    if count == 0:
        return Finding(claim, case, {}, None, Verdict.CANNOT_TELL, "measured in no run of every variant")
    means = {name: float(np.mean(values)) for name, values in zip(names, samples, strict=True)}
    # Of several steps, the one closest to failing.
    pick = min if relation.high == float("inf") else max
    estimate = _STATISTICS[relation.statistic](samples, confidence, pick)
    why = f"{count} of {planned} runs count" if count < planned else ""
    return Finding(claim, case, means, estimate, verdict(estimate, relation), why)


def without_refutations(findings: Iterable[Finding], cut_down: str) -> list[Finding]:
    """Findings of runs that are fewer or shorter than the paper's, which cannot refute a claim.

    Shorter runs measure something else, such as more of the start; `cut_down` says what was cut.
    """
    return [
        dataclasses.replace(
            each,
            verdict=Verdict.CANNOT_TELL,
            why="; ".join(filter(None, (f"a quick look, {cut_down}, does not show it", each.why))),
        )
        if each.verdict is Verdict.DOES_NOT_HOLD
        else each
        for each in findings
    ]


def verdict(estimate: Estimate, relation: Relation) -> Verdict:
    """Whether the interval of an estimate lies inside the relation's range, outside, or across its ends."""
    low = float("-inf") if estimate.low is None else estimate.low
    high = float("inf") if estimate.high is None else estimate.high
    if relation.low < low and high < relation.high:
        return Verdict.HOLDS
    if high <= relation.low or relation.high <= low:
        return Verdict.DOES_NOT_HOLD
    return Verdict.CANNOT_TELL


def _samples(claim: Claim, rows: pl.DataFrame) -> tuple[list[str], list[np.ndarray[Any, Any]]]:
    """The names of the groups compared, and for each its value per seed, seeds in one order.

    The value is the mean over the variants of the group. Seeds that lack a value are left out.
    """
    if not claim.along:
        groups: list[Group] = [("", rows)]
    else:
        values = claim.values or rows[claim.along].unique(maintain_order=True).to_list()
        groups = [(str(value), _having(claim, rows, claim.along, value)) for value in values]
        if len(groups) < 2:
            raise InputError(
                f"claim {claim.id}: {claim.along}: has one value; allowed: two or more to compare"
            )
    columns = [
        group.group_by("seed")
        .agg(pl.col("value").mean().alias(str(index)), pl.col("value").count().alias("known"))
        .filter(pl.col("known") == group["variant"].n_unique())
        .select("seed", str(index))
        for index, (_, group) in enumerate(groups)
    ]
    joined = columns[0]
    for column in columns[1:]:
        joined = joined.join(column, on="seed")
    joined = joined.sort("seed")
    return [name for name, _ in groups], [joined[str(index)].to_numpy() for index in range(len(groups))]


def _having(claim: Claim, rows: pl.DataFrame, place: str, value: object) -> pl.DataFrame:
    """The rows with a value, or any of a list of values, at a place.

    Raises:
        InputError: If there are none.
    """
    known = rows[place].unique(maintain_order=True).to_list()
    values = value if isinstance(value, list) else [value]
    for each in values:
        if each not in known:
            raise InputError(f"claim {claim.id}: {place} = {each}: no run has it; {allowed(each, known)}")
    return rows.filter(pl.any_horizontal(pl.col(place).eq_missing(pl.lit(each)) for each in values))


def _known(claim: Claim, what: str, given: Sequence[str], known: Sequence[str]) -> None:
    for each in given:
        if each not in known:
            raise InputError(
                f"claim {claim.id}: {each}: the runs have no such {what}; {allowed(each, known)}"
            )


def _mean(samples: Sequence[Any], confidence: float, _: Pick) -> Estimate:
    (values,) = samples
    return stats.mean_interval(values, confidence)


def _correlation(samples: Sequence[Any], confidence: float, _: Pick) -> Estimate:
    (values,) = samples
    return stats.mean_correlation(values, confidence)


def _difference(samples: Sequence[Any], confidence: float, pick: Pick) -> Estimate:
    pairs = list(itertools.pairwise(samples))
    each = _shared(confidence, len(pairs))
    return _extreme([stats.mean_interval(b - a, each, "t") for a, b in pairs], pick, confidence)


def _ratio(samples: Sequence[Any], confidence: float, pick: Pick) -> Estimate:
    pairs = list(itertools.pairwise(samples))
    each = _shared(confidence, len(pairs))
    found = _extreme([_relative(a, b, each) for a, b in pairs], pick, confidence)
    low, high = (None if end is None else end + 1 for end in (found.low, found.high))
    return dataclasses.replace(found, value=found.value + 1, low=low, high=high)


def _spread(samples: Sequence[Any], confidence: float, _: Pick) -> Estimate:
    pairs = list(itertools.permutations(samples, 2))
    # Fieller's interval of a/b restates that of b/a.
    each = _shared(confidence, len(pairs) // 2)
    found = _extreme([_relative(a, b, each) for a, b in pairs], max, confidence)
    return found if found.low is None else dataclasses.replace(found, low=max(found.low, 0.0))


def _relative(a: Any, b: Any, confidence: float) -> Estimate:
    if np.mean(a) == 0:
        note = "a mean is zero, so there is no ratio"
        return stats.Estimate(float("nan"), None, None, len(a), confidence, "Fieller", note)
    return stats.relative(a, b, confidence)


_STATISTICS: Mapping[str, Callable[[Sequence[Any], float, Pick], Estimate]] = {
    "mean": _mean,
    "correlation": _correlation,
    "difference": _difference,
    "ratio": _ratio,
    "spread": _spread,
}


def _shared(confidence: float, count: int) -> float:
    """The confidence of each of `count` intervals for that of all together (Bonferroni's inequality)."""
    return 1 - (1 - confidence) / count


def _extreme(estimates: Sequence[Estimate], pick: Pick, confidence: float) -> Estimate:
    """The smallest or largest of several numbers that are estimated together.

    Where all intervals cover, the extreme number lies between the extreme lower and the extreme upper end.
    """
    lows, highs = [each.low for each in estimates], [each.high for each in estimates]
    low, high = _end(lows, pick, float("-inf")), _end(highs, pick, float("inf"))
    first = estimates[0]
    method = first.method if len(estimates) == 1 else f"{first.method}, Bonferroni"
    notes = [each.note for each in estimates if each.note]
    value, note = pick(each.value for each in estimates), notes[0] if notes else None
    return stats.Estimate(value, low, high, first.n, confidence, method, note)


def _end(ends: Sequence[float | None], pick: Pick, unknown: float) -> float | None:
    found = pick(unknown if end is None else end for end in ends)
    return found if np.isfinite(found) else None
