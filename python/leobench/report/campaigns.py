"""A campaign on a page: means with intervals by variant, what failed, and the series of kept runs."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from leobench.errors import InputError
from leobench.files import read_text
from leobench.manifest import validity
from leobench.plots import names
from leobench.report.content import Run, Table
from leobench.report.runs import of_tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from leobench.campaign import CampaignResult

# Failures and kinds of warnings listed; the rest is counted.
_LISTED = 100

# Runs whose series are shown, one of each of the first variants.
MOST_RUNS = 24


def describe(
    folder: Path,
    manifest: Mapping[str, Any],
    runs: pl.DataFrame,
    failures: pl.DataFrame,
    warnings: pl.DataFrame,
) -> dict[str, Any]:
    """A campaign as JSON; the frames are those of `CampaignResult`, of all runs or of those so far."""
    from leobench.campaign.result import by_kind
    from leobench.stats import mean_intervals

    identity = manifest["identity"]
    columns = runs.columns
    places = (
        columns[columns.index("variant") + 1 : columns.index("replicate")] if "variant" in columns else []
    )
    varied = [place for place in places if runs[place].n_unique() > 1]
    rows: dict[str, dict[str, Any]] = {
        each["name"]: {"variant": each["name"], "set": each["set"], "metrics": {}}
        for each in identity["variants"]
    }
    if not runs.is_empty():
        for row in mean_intervals(runs, ["variant", "metric"]).iter_rows(named=True):
            rows[row["variant"]]["metrics"][row["metric"]] = {
                key: row[key] for key in ("mean", "low", "high", "n", "missing")
            }
    return {
        "name": identity["campaign"],
        "description": _description(identity),
        "folder": str(folder),
        "command": f"leobench sweep {identity['campaign']}.toml",
        "text": identity["text"],
        "extends": list(identity.get("extends", {})),
        "replicates": identity["replicates"],
        "seeds": identity["seeds"],
        "places": [{"place": place, "label": names.short(place, varied)} for place in varied],
        "metrics": [metric(name) for name in identity["metrics"]],
        "rows": list(rows.values()),
        "scenarios": {each["name"]: each["scenario"] for each in identity["variants"]},
        "failures": failures.head(_LISTED).select("variant", "replicate", "seed", "error").to_dicts(),
        "failed": failures.height,
        "warnings": [] if warnings.is_empty() else by_kind(warnings).head(_LISTED).to_dicts(),
        "commit": commit(manifest),
        "wall_s": sum(float(session.get("wall_s", 0.0)) for session in manifest["sessions"]),
    }


def commit(manifest: Mapping[str, Any]) -> str | None:
    """The commit of the last session that made a campaign; `None` if none is known."""
    told = [session.get("commit") for session in manifest["sessions"]]
    return next((str(each) for each in reversed(told) if each), None)


def metric(name: str) -> dict[str, str]:
    """A metric with its words and its unit."""
    from leobench.plots.campaigns import describe as in_words

    column = in_words(name)
    return {"name": name, "label": column.label, "unit": column.unit}


def _description(identity: Mapping[str, Any]) -> str:
    from pathlib import Path

    from leobench.files import read_toml

    try:
        table = read_toml(Path(f"{identity['campaign']}.toml"), identity["text"])
    except InputError:
        return ""  # of a later version, perhaps; the text is on the page
    return str(table.get("description") or "")


def kept_runs(result: CampaignResult, without: Sequence[str], notes: list[str]) -> list[Run]:
    """The first finished run of each variant with the tables that were kept; none if none were.

    Raises:
        InputError: If a file of the campaign was damaged.
    """
    if not result.tables:
        notes.append("The campaign kept no tables, so there are no series; `tables` in its file keeps them.")
        return []
    records = first_records(result.folder, result.manifest)
    if len(records) > MOST_RUNS:
        notes.append(f"Series are those of the first {MOST_RUNS} of {len(records)} variants.")
    elif result.manifest["identity"]["replicates"] > 1:
        notes.append("Series are those of the first replicate of each variant.")
    return [_kept(result, record, without) for record in records[:MOST_RUNS]]


def first_records(folder: Path, manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The record of the first successful run of each variant, in the order of the campaign.

    Raises:
        InputError: If a record was damaged.
    """
    found = []
    for variant in manifest["identity"]["variants"]:
        for replicate in range(1, manifest["identity"]["replicates"] + 1):
            file = folder / "runs" / f"{variant['name']}-{replicate:04}.json"
            if not file.is_file():
                continue
            record = read_record(file)
            if record["error"] is None:
                found.append({**record, "scenario": variant["scenario"]})
                break
    return found


def read_record(file: Path) -> dict[str, Any]:
    """The record that a campaign stored of a run.

    Raises:
        InputError: If it was damaged.
    """
    try:
        record = json.loads(read_text(file))
        if not {"variant", "replicate", "seed", "error", "warnings", "summary"} <= record.keys():
            raise ValueError("keys are missing")
    except (OSError, ValueError, AttributeError) as error:
        raise InputError(f"{file}: is damaged ({error}); delete it and repeat it with `--resume`") from error
    return dict(record)


def _kept(result: CampaignResult, record: Mapping[str, Any], without: Sequence[str]) -> Run:
    import polars as pl

    own = (pl.col("variant") == record["variant"]) & (pl.col("replicate") == record["replicate"])
    tables = {
        name: as_table(result.scan(name).filter(own).drop("variant", "replicate").collect())
        for name in result.tables
    }
    return of_record(record, str(result.folder), result.manifest["identity"]["leobench"], tables, without)


def of_record(
    record: Mapping[str, Any],
    folder: str,
    version: str,
    tables: Mapping[str, Table],
    without: Sequence[str] = (),
) -> Run:
    """A run of a campaign on a page."""
    warnings = [each["warning"] if "warning" in each else each["text"] for each in record["warnings"]]
    manifest = {
        "leobench": version,
        "engine": record["summary"]["engine"],
        "seed": record["seed"],
        "validity": validity(warnings),
        "scenario": {**record["scenario"], "seed": record["seed"]},
    }
    name = f"{record['variant']}-{record['replicate']}"
    return of_tables(record["variant"], folder, name, manifest, record["summary"], tables, without)


def as_table(frame: pl.DataFrame) -> Table:
    """A frame as a Parquet file that every reader knows."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="snappy")
    return Table(frame.height, buffer.getvalue())
