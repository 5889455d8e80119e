"""The datasets of a campaign, assembled from its finished runs in the order of the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leobench.campaign import metrics
from leobench.campaign.result import DATASETS, FAILURES, RUNS, WARNINGS
from leobench.campaign.store import as_parquet
from leobench.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
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
    columns = _Columns(campaign)
    known = set[str]()
    finished = []
    for run in plan:
        outcome = _finished(store, run)
        numbers = None if outcome.summary is None else metrics.flatten(outcome.summary)
        columns.add(run, outcome, numbers)
        known.update(numbers or ())
        if outcome.error is None:
            finished.append(run)
    if known:
        metrics.refuse_unknown(campaign, known)
    for table in campaign.tables:
        if finished:
            _write_table(table, finished, store)
    for name, frame in columns.frames().items():
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


class _Columns:
    """The columns of the datasets, put together run by run: all summaries at once would be too large."""

    def __init__(self, campaign: Campaign) -> None:
        import polars as pl

        described = variants(campaign)
        self._metrics = campaign.metrics
        self._cells = {row["variant"]: row for row in described.iter_rows(named=True)}
        keys: dict[str, Any] = {**described.schema, "replicate": pl.Int64, "seed": pl.Int64}
        own: dict[str, dict[str, Any]] = {
            RUNS: {"metric": pl.String, "value": pl.Float64},
            FAILURES: {"error": pl.String},
            WARNINGS: {"kind": pl.String, "warning": pl.String},
        }
        self._schemas = {name: {**keys, **rest} for name, rest in own.items()}
        self._columns: dict[str, dict[str, list[Any]]] = {
            name: {column: [] for column in schema} for name, schema in self._schemas.items()
        }

    def add(self, run: PlannedRun, outcome: Outcome, numbers: Mapping[str, float | None] | None) -> None:
        """Adds the rows of a run; `numbers` are those of its summary."""
        key = {**self._cells[run.variant], "replicate": run.replicate, "seed": run.seed}
        for doubt in outcome.doubts:
            self._append(WARNINGS, {**key, "kind": doubt.kind, "warning": doubt.text})
        if numbers is None:
            self._append(FAILURES, {**key, "error": outcome.error})
            return
        for metric in self._metrics:
            self._append(RUNS, {**key, "metric": metric, "value": numbers.get(metric)})

    def _append(self, name: str, row: Mapping[str, object]) -> None:
        for column, values in self._columns[name].items():
            values.append(row.get(column))

    def frames(self) -> dict[str, pl.DataFrame]:
        """The datasets by the names of their files."""
        import polars as pl

        return {name: pl.DataFrame(self._columns[name], schema) for name, schema in self._schemas.items()}


def variants(campaign: Campaign) -> pl.DataFrame:
    """A row per variant: its name, and its values of the places that variants replace (null if none)."""
    import polars as pl

    overrides = {variant.name: variant.overrides for variant in campaign.variants}
    varied = {
        place: _kind([values[place] for values in overrides.values() if place in values])
        for place in campaign.varied
    }
    rows = [
        {"variant": name, **{place: _cell(value, varied[place]) for place, value in values.items()}}
        for name, values in overrides.items()
    ]
    return pl.DataFrame(rows, {"variant": pl.String, **varied})


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
