from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from leobench import InputError, stats


def runs() -> pl.DataFrame:
    """Replicates of three variants as in a campaign; one run of b, and all of c, measured nothing."""
    rng = np.random.default_rng(1)
    values = [*rng.normal(10, 1, 5).tolist(), *rng.normal(20, 1, 4).tolist(), None, None]
    return pl.DataFrame(
        {"variant": [*"aaaaabbbbbc"], "replicate": [*range(5), *range(5), 0], "value": values}
    )


def test_every_group_has_its_interval() -> None:
    frame = stats.mean_intervals(runs(), ["variant"])
    assert frame.columns == ["variant", "mean", "low", "high", "n", "missing", "method", "note"]
    assert frame["variant"].to_list() == ["a", "b", "c"]
    assert frame["n"].to_list() == [5, 4, 0]
    assert frame["missing"].to_list() == [0, 1, 1]
    alone = stats.mean_interval(runs()["value"][:5])
    assert frame.row(0)[1:4] == (alone.value, alone.low, alone.high)
    assert frame.row(2)[1:] == (None, None, None, 0, 1, None, "no run has a value")


def test_groups_keep_the_types_and_order_of_the_frame() -> None:
    data = pl.DataFrame(
        {"streams": pl.Series([8, 1, 8, 1], dtype=pl.Int8), "buffer": [None, "7"] * 2, "v": [1, 2, 3, 4]}
    )
    frame = stats.mean_intervals(data, ["streams", "buffer"], "v", method="bootstrap", confidence=0.5)
    assert frame.select("streams", "buffer").rows() == [(8, None), (1, "7")]
    assert frame.schema["streams"] == pl.Int8
    assert frame["mean"].to_list() == [2.0, 3.0]
    assert frame["method"].to_list() == ["bootstrap"] * 2


def test_one_column_is_named_as_it_is_and_none_makes_one_group() -> None:
    assert stats.mean_intervals(runs(), "variant").equals(stats.mean_intervals(runs(), ["variant"]))
    whole = stats.mean_intervals(runs(), [])
    alone = stats.mean_interval(runs()["value"].drop_nulls())
    assert whole.columns == ["mean", "low", "high", "n", "missing", "method", "note"]
    assert whole.row(0) == (alone.value, alone.low, alone.high, 9, 2, alone.method, alone.note)


def test_metrics_are_not_averaged() -> None:
    both = pl.concat([runs().with_columns(metric=pl.lit(name)) for name in ("delay", "goodput")])
    with pytest.raises(InputError, match=r"the rows are of 2 metrics.*one, such as frame\.filter\(metric="):
        stats.mean_intervals(both, ["variant"])
    assert stats.mean_intervals(both, ["variant", "metric"]).height == 6
    one = stats.mean_intervals(both.filter(metric="delay"), ["variant"])
    assert one.equals(stats.mean_intervals(runs(), ["variant"]))


@pytest.mark.parametrize("name", ["n", "mean", "low", "high", "missing", "method", "note"])
def test_no_group_is_overwritten(name: str) -> None:
    with pytest.raises(InputError, match=f"by: `{name}` is a column of the result; allowed: any other name"):
        stats.mean_intervals(runs().rename({"variant": name}), [name])


def test_intervals_of_groups_take_as_many_resamples_as_they_are_told() -> None:
    data = pl.DataFrame({"v": np.random.default_rng(1).exponential(size=40)})
    few, many = (
        stats.mean_intervals(data, [], "v", confidence=0.999, resamples=count) for count in (1_000, 30_000)
    )
    assert "takes resamples = 20000" in few["note"][0]
    assert many["note"][0] is None


def test_unknown_columns_are_refused() -> None:
    with pytest.raises(InputError, match="no column `scheduler`; allowed: `variant`, `replicate`, `value`"):
        stats.mean_intervals(runs(), ["scheduler"])
