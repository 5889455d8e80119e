"""The datasets of a campaign, assembled from its finished runs in the order of the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leobench.campaign import metrics
from leobench.campaign.result import DATASETS, FAILURES, RUNS, WARNINGS
from leobench.campaign.store import as_parquet
from leobench.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from leobench.campaign.plan import Campaign, PlannedRun
    from leobench.campaign.store import Outcome, Store

# Rows in one group of a Parquet file. Stated, so that the bytes do not depend on how many threads wrote them.
_ROW_GROUP = 100_000


def write(campaign: Campaign, plan: Sequence[PlannedRun], store: Store) -> None:
    """Writes `runs.parquet`, `failures.parquet`, `warnings.parquet` and the kept tables.

    Raises:
        InputError: If a metric is in no run's summary, or a finished run was damaged.
        RunError: If the disk is full.
    """
    outcomes = [_finished(store, run) for run in plan]
    summaries = [metrics.flatten(outcome.summary) for outcome in outcomes if outcome.summary is not None]
    if summaries:
        metrics.refuse_unknown(campaign, set().union(*summaries))
    finished = [run for run, outcome in zip(plan, outcomes, strict=True) if outcome.error is None]
    for table in campaign.tables:
        if finished:
            _write_table(table, finished, store)
    for name, frame in _frames(campaign, plan, outcomes).items():
        store.write_file(store.folder / name, as_parquet(frame))


def _finished(store: Store, run: PlannedRun) -> Outcome:
    outcome = store.read(run)
    if outcome is None:
        raise RunError(f"{store.folder}: run {run.stem} was removed while the campaign ran")
    return outcome


def is_written(campaign: Campaign, folder: Path) -> bool:
    """Whether `folder` holds all datasets."""
    tables = (folder / "tables" / f"{table}.parquet" for table in campaign.tables)
    return all(file.is_file() for file in (*(folder / name for name in DATASETS), *tables))


def _frames(
    campaign: Campaign, plan: Sequence[PlannedRun], outcomes: Sequence[Outcome]
) -> dict[str, pl.DataFrame]:
    """The datasets by file name."""
    import polars as pl

    overrides = {variant.name: variant.overrides for variant in campaign.variants}
    varied = {
        place: _kind([values[place] for values in overrides.values() if place in values])
        for place in campaign.varied
    }
    keys = {"variant": pl.String, **varied, "replicate": pl.Int64, "seed": pl.Int64}
    rows: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = []
    warned: list[dict[str, Any]] = []
    for run, outcome in zip(plan, outcomes, strict=True):
        key = {
            "variant": run.variant,
            **{place: _cell(value, keys[place]) for place, value in overrides[run.variant].items()},
            "replicate": run.replicate,
            "seed": run.seed,
        }
        warned.extend({**key, "kind": doubt.kind, "warning": doubt.text} for doubt in outcome.doubts)
        if outcome.summary is None:
            failed.append({**key, "error": outcome.error})
        else:
            numbers = metrics.flatten(outcome.summary)
            rows.extend(
                {**key, "metric": metric, "value": numbers.get(metric)} for metric in campaign.metrics
            )
    return {
        RUNS: pl.DataFrame(rows, {**keys, "metric": pl.String, "value": pl.Float64}),
        FAILURES: pl.DataFrame(failed, {**keys, "error": pl.String}),
        WARNINGS: pl.DataFrame(warned, {**keys, "kind": pl.String, "warning": pl.String}),
    }


def _kind(values: Sequence[object]) -> Any:
    """The type of a column that holds these values: numbers where all are, otherwise text."""
    import polars as pl

    kinds = {type(value) for value in values}
    if kinds <= {bool}:
        return pl.Boolean
    if kinds <= {int}:
        return pl.Int64
    return pl.Float64 if kinds <= {int, float} else pl.String


def _cell(value: object, kind: Any) -> object:
    import polars as pl

    from leobench.overrides import as_text

    if kind != pl.String:
        return value
    return value if isinstance(value, str) else as_text(value)


def _write_table(table: str, finished: Sequence[PlannedRun], store: Store) -> None:
    import polars as pl

    parts = [
        pl.scan_parquet(store.table(run, table), glob=False).select(
            pl.lit(run.variant).alias("variant"),
            pl.lit(run.replicate, pl.Int64).alias("replicate"),
            pl.all(),
        )
        for run in finished
    ]
    whole = pl.concat(parts)

    def sink(file: Path) -> None:
        try:
            whole.sink_parquet(file, compression="zstd", row_group_size=_ROW_GROUP, maintain_order=True)
        except pl.exceptions.PolarsError as error:  # Polars raises this on a full disk
            raise OSError(str(error)) from error

    store.create(store.folder / "tables" / f"{table}.parquet", sink)
