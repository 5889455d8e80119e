from __future__ import annotations

import dataclasses

import pytest

from leobench import stats
from leobench.papers import Claim, Finding, Verdict, findings_text
from leobench.papers.claims import Relation

CLAIM = Claim(
    id="c", figure="f", stated="s", says="", metric="delay", relation=Relation.parse("ratio > 1"), because="b"
)


@pytest.mark.parametrize(
    ("a", "b", "why", "shown"),
    [
        ([1.0], [2.0], "", "2 [?, ?] | cannot tell: one pair has no interval"),
        ([1.0], [2.0], "1 of 2 count", "2 [?, ?] | cannot tell: 1 of 2 count; one pair has no interval"),
        (
            [-1.0, 2.0], [3.0, 4.0], "",
            "7 [?, ?] | cannot tell: the mean that is divided by is not known to differ from zero",
        ),
        ([1.0, 1.0], [2.0, 2.0], "", "2 [2, 2] | holds"),
    ],
)  # fmt: skip
def test_an_interval_without_ends_is_explained(a: list[float], b: list[float], why: str, shown: str) -> None:
    change = stats.relative(a, b)
    low, high = (None if end is None else end + 1 for end in (change.low, change.high))
    ratio = dataclasses.replace(change, value=change.value + 1, low=low, high=high)
    said = Verdict.HOLDS if low else Verdict.CANNOT_TELL
    (row,) = findings_text.rows([Finding(CLAIM, "", {}, ratio, said, why)])
    cells = dict(zip(findings_text.HEAD, row, strict=True))
    assert f"{cells['statistic']} | {cells['verdict']}" == shown


def test_a_note_on_a_whole_interval_stays_out_of_the_verdict() -> None:
    mean = stats.mean_interval([1.0, 2.0, 3.0])
    assert mean.note is not None
    (row,) = findings_text.rows([Finding(CLAIM, "", {}, mean, Verdict.HOLDS)])
    assert row[-1] == "holds"
