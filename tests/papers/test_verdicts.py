from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from scipy import stats as scipy_stats

from leobench import InputError
from leobench.papers import Claim, Finding, Verdict, judge
from leobench.papers.claims import Relation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

HOLDS, FAILS, UNKNOWN = Verdict.HOLDS, Verdict.DOES_NOT_HOLD, Verdict.CANNOT_TELL


def runs(groups: Mapping[Any, ArrayLike], band: str = "ka") -> pl.DataFrame:
    """A campaign of one metric over queues, replicate k with seed k in all."""
    return pl.concat(
        pl.DataFrame(
            {
                "variant": f"queue={queue},{band}",
                "queue": queue,
                "band": band,
                "replicate": np.arange(len(np.asarray(values))) + 1,
                "seed": np.arange(len(np.asarray(values))) + 1,
                "metric": "delay",
                "value": np.asarray(values, float),
            }
        )
        for queue, values in groups.items()
    )


def claim(relation: str, **given: Any) -> Claim:
    along = {} if relation.startswith("mean") else {"along": "queue"}
    return Claim(
        **{"id": "c", "figure": "f", "stated": "s", "says": "", "metric": "delay", "because": "b"}
        | along
        | {"relation": Relation.parse(relation)}
        | given
    )


def one(relation: str, groups: Mapping[Any, ArrayLike], **given: Any) -> Finding:
    (finding,) = judge([claim(relation, **given)], runs(groups))
    return finding


def test_a_mean_is_held_against_a_number() -> None:
    values = {7: [1.0, 2.0, 3.0, 2.0, 2.0]}
    low, high = scipy_stats.t.interval(0.95, 4, 2.0, scipy_stats.sem(values[7]))
    finding = one("mean > 1", values)
    assert finding.estimate is not None
    assert (finding.estimate.low, finding.estimate.high) == pytest.approx((low, high))
    assert finding.means == {"": 2.0}
    assert finding.verdict is HOLDS
    assert one("mean < 1", values).verdict is FAILS
    assert one("mean > 1.9", values).verdict is UNKNOWN
    assert one("mean within [1, 3]", values).verdict is HOLDS
    assert one("mean within [4, 5]", values).verdict is FAILS
    assert one("mean within [1.9, 5]", values).verdict is UNKNOWN


def test_pairs_tell_what_unpaired_runs_would_not() -> None:
    """The runs differ by far more than the variants do, but in the same way."""
    channel = np.array([10.0, 40.0, 90.0, 20.0, 70.0])
    groups = {7: channel, 15: channel + np.array([1.0, 1.1, 0.9, 1.0, 1.05])}
    assert scipy_stats.ttest_ind(groups[7], groups[15], equal_var=False).pvalue > 0.9
    finding = one("difference > 0.5", groups)
    low, high = scipy_stats.ttest_rel(groups[15], groups[7]).confidence_interval(0.95)
    assert finding.estimate is not None
    assert (finding.estimate.low, finding.estimate.high) == pytest.approx((low, high))
    assert finding.verdict is HOLDS
    assert one("ratio > 1", groups).verdict is HOLDS
    assert one("ratio < 1", groups).verdict is FAILS


def test_runs_are_paired_by_seed_in_whatever_order() -> None:
    channel = np.array([10.0, 40.0, 90.0, 20.0, 70.0])
    frame = runs({7: channel, 15: channel + 1.0})
    (straight,) = judge([claim("difference > 0")], frame)
    (shuffled,) = judge([claim("difference > 0")], frame.sample(fraction=1.0, shuffle=True, seed=3))
    assert straight.estimate is not None
    assert shuffled.estimate is not None
    assert {straight.estimate.value, shuffled.estimate.value} == {1.0}


def test_of_several_steps_the_one_nearest_to_failing_counts() -> None:
    noise = np.array([0.0, 0.1, -0.1, 0.05, -0.05])
    rising = {7: 10 + noise, 15: 12 + noise[::-1], 30: 30 + noise}
    finding = one("ratio > 1", rising)
    assert finding.estimate is not None
    assert finding.estimate.value == pytest.approx(1.2)
    assert finding.verdict is HOLDS
    assert one("ratio < 1", rising).estimate.value == pytest.approx(2.5)  # type: ignore[union-attr]
    assert one("ratio > 1", rising, values=[30, 15, 7]).verdict is FAILS
    assert one("ratio > 1", {**rising, 30: 12 + noise[[2, 0, 1, 4, 3]]}).verdict is UNKNOWN
    with pytest.raises(InputError, match="compares 3 groups; allowed: two"):
        one("ratio within [0.9, 1.1]", rising)


def test_the_spread_is_of_the_largest_over_the_smallest() -> None:
    noise = np.array([0.0, 0.1, -0.1, 0.05, -0.05])
    close = {1: 100 + noise, 2: 103 + noise[::-1], 4: 101 + noise}
    finding = one("spread < 0.1", close)
    assert finding.estimate is not None
    assert finding.estimate.value == pytest.approx(0.03)
    assert finding.verdict is HOLDS
    assert one("spread < 0.01", close).verdict is FAILS
    wide = np.array([0.0, 60.0, -60.0, 30.0, -30.0])
    assert one("spread < 0.1", {1: 100 + noise, 2: 103 + wide}).verdict is UNKNOWN
    same = one("spread < 0.1", {1: 100 + noise, 2: 100 + noise})
    assert same.estimate is not None
    assert (same.estimate.low, same.estimate.high) == pytest.approx((0.0, 0.0), abs=1e-12)
    assert same.verdict is HOLDS


@pytest.mark.parametrize(
    ("relation", "truth"), [("ratio > 1", (50.0, 50.0, 60.0)), ("spread < 0.1", (50.0, 52.0, 55.0))]
)
def test_on_the_edge_a_claim_seldom_holds_and_seldom_fails(
    relation: str, truth: tuple[float, float, float]
) -> None:
    """The truth is the bound itself: an interval of 95 % lies to one side of it at most 5 % of the time."""
    rng = np.random.default_rng(5)
    repeats = 400
    verdicts = Counter(
        one(relation, dict(enumerate(np.array(truth)[:, None] + rng.normal(0, 3, (3, 10))))).verdict
        for _ in range(repeats)
    )
    limit = scipy_stats.binom.ppf(0.999, repeats, 0.05)
    assert verdicts[HOLDS] <= limit
    assert verdicts[FAILS] <= limit
    assert verdicts[UNKNOWN] > 0.9 * repeats


def test_each_case_has_its_finding_and_the_rest_is_averaged() -> None:
    frame = pl.concat(
        [
            runs({7: [1.0, 1.1, 0.9], 15: [2.0, 2.1, 1.9]}, "ka"),
            runs({7: [3.0, 3.1, 2.9], 15: [1.0, 1.1, 0.9]}, "s"),
        ]
    )
    findings = judge([claim("ratio > 1", each=["band"])], frame)
    assert [(finding.case, finding.verdict) for finding in findings] == [("ka", HOLDS), ("s", FAILS)]
    (pooled,) = judge([claim("ratio > 1")], frame)
    assert pooled.means == pytest.approx({"7": 2.0, "15": 1.5})
    (chosen,) = judge([claim("ratio > 1", where={"band": "s"})], frame)
    assert chosen.means == pytest.approx({"7": 3.0, "15": 1.0})


def test_a_list_allows_any_of_its_values() -> None:
    frame = runs({7: [1.0, 1.1, 0.9], 15: [2.0, 2.1, 1.9], 30: [9.0, 9.1, 8.9]})
    some = {"queue": [7, 30]}
    findings = judge([claim("mean > 0", where=some, each=["queue"])], frame)
    assert [finding.case for finding in findings] == ["7", "30"]
    (pooled,) = judge([claim("mean > 0", where=some)], frame)
    assert pooled.means == pytest.approx({"": 5.0})
    with pytest.raises(InputError, match="queue = 8: no run has it; allowed: `7`, `15`, `30`"):
        judge([claim("mean > 0", where={"queue": [7, 8]})], frame)


def test_several_numbers_of_each_run_are_compared() -> None:
    delay = runs({7: [1.0, 1.1, 0.9], 15: [2.0, 2.1, 1.9]})
    other = delay.with_columns(metric=pl.lit("jitter"), value=pl.col("value") * 3)
    compared = claim("ratio > 2", metric="", along="metric", values=["delay", "jitter"], each=["queue"])
    findings = judge([compared], pl.concat([delay, other]))
    assert [(finding.case, finding.verdict) for finding in findings] == [("7", HOLDS), ("15", HOLDS)]
    assert findings[0].means == pytest.approx({"delay": 1.0, "jitter": 3.0})
    with pytest.raises(InputError, match="claim c: jitter: the runs have no such metric; allowed: `delay`"):
        judge([compared], delay)


def test_runs_that_lack_a_value_take_their_pair_with_them() -> None:
    frame = runs({7: [1.0, 2.0, 3.0, 4.0], 15: [2.0, 3.1, 4.0, 9.0]})
    gap = (pl.col("queue") == 15) & (pl.col("seed") == 4)
    nulled = frame.with_columns(value=pl.when(gap).then(None).otherwise("value"))
    for holed in (nulled, frame.filter(~gap)):
        (finding,) = judge([claim("difference > 0")], holed)
        assert finding.means == pytest.approx({"7": 2.0, "15": 9.1 / 3})
        assert finding.why == "3 of 4 runs count"
    (nothing,) = judge([claim("difference > 0")], frame.with_columns(value=pl.lit(None, pl.Float64)))
    assert nothing.verdict is UNKNOWN
    assert nothing.estimate is None


def test_one_run_tells_nothing() -> None:
    assert one("ratio > 1", {7: [1.0], 15: [2.0]}).verdict is UNKNOWN
    assert one("mean > 0", {7: [1.0]}).verdict is UNKNOWN


def test_zero_has_no_ratio() -> None:
    finding = one("ratio > 1", {7: [0.0, 0.0, 0.0], 15: [1.0, 2.0, 3.0]})
    assert finding.verdict is UNKNOWN
    assert finding.estimate is not None
    assert finding.estimate.note == "a mean is zero, so there is no ratio"


def test_what_leobench_lacks_is_said() -> None:
    lacking = Claim(id="c", figure="f", stated="s", says="", needs="TCP")
    (finding,) = judge([lacking], runs({7: [1.0]}))
    assert (finding.verdict, finding.why) == (Verdict.NOT_EVALUATED, "needs TCP")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"metric": "dealy"}, "claim c: dealy: the runs have no such metric; .*did you mean `delay`"),
        ({"along": "queeu"}, "claim c: queeu: the runs have no such place; .*did you mean `queue`"),
        ({"each": ["bond"]}, "claim c: bond: the runs have no such place; .*did you mean `band`"),
        ({"values": [7, 8]}, "claim c: queue = 8: no run has it; allowed: `7`, `15`"),
        ({"where": {"band": "x"}}, "claim c: band = x: no run has it; allowed: `ka`"),
        ({"values": [7]}, "queue: has one value"),
    ],
)
def test_a_claim_about_what_there_is_not_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        one("ratio > 1", {7: [1.0, 2.0], 15: [2.0, 3.0]}, **given)
