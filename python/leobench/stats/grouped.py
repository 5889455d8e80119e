"""Estimates for every group of a frame, such as every variant of a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.errors import InputError, allowed
from leobench.stats.mean import mean_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from leobench.stats.mean import Method


def mean_intervals(
    frame: pl.DataFrame,
    by: Sequence[str],
    value: str = "value",
    confidence: float = 0.95,
    method: Method | None = None,
    seed: int = 1,
) -> pl.DataFrame:
    """The mean of a column with its interval for every group of rows; see `mean_interval`.

    Args:
        frame: One row per run.
        by: Columns that make the groups.
        value: Column of the numbers, null where a run has none.
        confidence: As for `mean_interval`.
        method: As for `mean_interval`.
        seed: As for `mean_interval`.

    Returns:
        A row per group, in the order of the frame: the columns of `by`, `mean`, `low` and `high` (null where
        there is none), `n` runs that have a value, `missing` runs that have none, `method` and `note`.

    Raises:
        InputError: If a column is missing, or a value is not finite.
    """
    import polars as pl

    for name in [*by, value]:
        if name not in frame.columns:
            raise InputError(f"no column `{name}`; {allowed(name, frame.columns)}")
    rows = []
    for group, members in frame.group_by(by, maintain_order=True):
        values = members[value].drop_nulls().to_numpy()
        row = dict(zip(by, group, strict=True)) | {"n": len(values), "missing": len(members) - len(values)}
        if len(values):
            made = mean_interval(values, confidence, method, seed)
            row |= {"mean": made.value, "low": made.low, "high": made.high}
            row |= {"method": made.method, "note": made.note}
        else:
            row["note"] = "no run has a value"
        rows.append(row)
    columns = {name: frame.schema[name] for name in by} | {
        "mean": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "missing": pl.Int64,
        "method": pl.String, "note": pl.String,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=columns)
