"""Estimates for every group of a frame, such as every variant of a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.errors import InputError, allowed
from leobench.stats.mean import RESAMPLES, mean_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from leobench.stats.mean import Method

_MADE = ("mean", "low", "high", "n", "missing", "method", "note")


def mean_intervals(
    frame: pl.DataFrame,
    by: str | Sequence[str],
    value: str = "value",
    confidence: float = 0.95,
    method: Method | None = None,
    seed: int = 1,
    resamples: int = RESAMPLES,
) -> pl.DataFrame:
    """The mean of a column with its interval for every group of rows; see `mean_interval`.

    Args:
        frame: One row per run, or per run and `metric`.
        by: Columns that make the groups, or one; none for the mean of all rows.
        value: Column of the numbers, null where a run has none.
        confidence: As for `mean_interval`.
        method: As for `mean_interval`.
        seed: As for `mean_interval`.
        resamples: As for `mean_interval`.

    Returns:
        A row per group, in the order of the frame: the columns of `by`, `mean`, `low` and `high` (null where
        there is none), `n` runs that have a value, `missing` runs that have none, `method` and `note`.

    Raises:
        InputError: If a column is missing, a column of `by` has the name of one that is returned, rows of
            several metrics would be averaged, or a value is not finite.
    """
    import polars as pl

    by = [by] if isinstance(by, str) else list(dict.fromkeys(by))
    _check(frame, by, value)
    rows = []
    groups = frame.group_by(by, maintain_order=True) if by else [((), frame)]
    for group, members in groups:
        values = members[value].drop_nulls().to_numpy()
        row = dict(zip(by, group, strict=True)) | {"n": len(values), "missing": len(members) - len(values)}
        if len(values):
            made = mean_interval(values, confidence, method, seed, resamples)
            row |= {"mean": made.value, "low": made.low, "high": made.high}
            row |= {"method": made.method, "note": made.note}
        else:
            row["note"] = "no run has a value"
        rows.append(row)
    types = (*[pl.Float64] * 3, *[pl.Int64] * 2, *[pl.String] * 2)
    return pl.DataFrame(
        rows, schema={name: frame.schema[name] for name in by} | dict(zip(_MADE, types, strict=True))
    )


def _check(frame: pl.DataFrame, by: Sequence[str], value: str) -> None:
    for name in [*by, value]:
        if name not in frame.columns:
            raise InputError(f"no column `{name}`; {allowed(name, frame.columns)}")
    for name in by:
        if name in _MADE:
            raise InputError(f"by: `{name}` is a column of the result; allowed: any other name, so rename it")
    if "metric" in frame.columns and "metric" not in by and frame["metric"].n_unique() > 1:
        raise InputError(
            f"the rows are of {frame['metric'].n_unique()} metrics, whose common mean means nothing; "
            "allowed: one, such as frame.filter(metric=...), or `metric` in by"
        )
