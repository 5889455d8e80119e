"""Runs on a page: their summaries and manifests as they are, and their tables as files."""

from __future__ import annotations

import io
import re
import shlex
from typing import TYPE_CHECKING

from leobench.errors import InputError, allowed
from leobench.files import open_regular
from leobench.folder import OPTIONAL_TABLES, TABLES
from leobench.report.content import Run, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from leobench.result import Result

# Parts that `without` may name besides tables.
GLOBE = "globe"

# Runs side by side: more colours than these cannot be told apart.
MOST = 12


def check_without(without: Sequence[str]) -> None:
    """Refuses words of `without` that name nothing.

    Raises:
        InputError: If there is one.
    """
    known = [*TABLES, *OPTIONAL_TABLES, GLOBE]
    for name in without:
        if name not in known:
            raise InputError(f"--without = {name}: no such part of a report; {allowed(name, known)}")


def check_together(results: Sequence[Result]) -> None:
    """Refuses runs that a page cannot compare.

    Raises:
        InputError: If there are too many, one is named twice, or they have no flow in common.
    """
    if len(results) > MOST:
        raise InputError(
            f"{len(results)} runs: too many for one report; allowed: up to {MOST}; "
            "`leobench sweep` runs more and summarises them"
        )
    refuse_twice([result.folder for result in results if result.folder is not None])
    names = [{flow["name"] for flow in result.summary["flows"]} for result in results]
    if len(results) > 1 and any(names) and not set.intersection(*names):
        told = "; ".join(
            f"{result.folder}: {', '.join(sorted(own)) or 'none'}"
            for result, own in zip(results, names, strict=True)
        )
        raise InputError(
            f"the runs have no flow in common ({told}); "
            "allowed: runs of the same flows, or a report for each run"
        )


def refuse_twice(folders: Sequence[Path]) -> None:
    """Refuses a folder that is named twice, in whatever way.

    Raises:
        InputError: If there is one.
    """
    resolved = [folder.resolve() for folder in folders]
    for number, folder in enumerate(folders):
        if resolved[number] in resolved[:number]:
            raise InputError(f"{folder}: is named twice; allowed: each run once")


def described(result: Result, label: str, without: Sequence[str]) -> Run:
    """A run with the tables of its folder.

    Raises:
        InputError: If a table was damaged or removed.
    """
    summary = result.summary
    if result.folder is None:
        raise InputError("the run is in memory only; allowed: a run with a folder (`out`)")
    files = {name: result.folder / f"{name}.parquet" for name in result.tables}
    found = {name: read(file) for name, file in files.items()}
    return of_tables(
        label, str(result.folder), str(summary["scenario"]), result.manifest, summary, found, without
    )


def of_tables(
    label: str,
    folder: str,
    name: str,
    manifest: Mapping[str, object],
    summary: Mapping[str, object] | None,
    tables: Mapping[str, Table],
    without: Sequence[str] = (),
) -> Run:
    """A run with these tables, but for empty ones and those that are left out."""
    file = f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', name).strip('-.') or 'scenario'}.json"
    full = {name: table for name, table in tables.items() if table.rows}
    return Run(
        label=label,
        folder=folder,
        command=f"leobench run {shlex.quote(file)}",
        scenario_file=file,
        manifest=manifest,
        summary=summary,
        tables={name: table for name, table in full.items() if name not in without},
        omitted={name: table.rows for name, table in full.items() if name in without},
    )


def read(file: Path) -> Table:
    """A table as a file.

    Raises:
        InputError: If it is damaged or missing.
    """
    try:
        with open_regular(file) as opened:
            data = opened.read()
        return Table(rows(data), data)
    except OSError as error:
        raise InputError(
            f"{file}: cannot be read: {error.strerror or error}; run the scenario again"
        ) from error


def rows(data: bytes) -> int:
    """The number of rows of a Parquet file.

    Raises:
        OSError: If it is none.
    """
    import polars as pl

    try:
        return int(pl.scan_parquet(io.BytesIO(data), glob=False).select(pl.len()).collect().item())
    except pl.exceptions.PolarsError as error:
        raise OSError(0, f"is damaged ({error})") from error
