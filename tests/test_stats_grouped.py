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


def test_unknown_columns_are_refused() -> None:
    with pytest.raises(InputError, match="no column `scheduler`; allowed: `variant`, `replicate`, `value`"):
        stats.mean_intervals(runs(), ["scheduler"])
