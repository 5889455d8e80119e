"""The result of a campaign."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench.errors import InputError
from leobench.files import read_text
from leobench.folder import CAMPAIGN_TABLES, refuse_damaged_manifest
from leobench.result import Tables, read_table

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl

MANIFEST, RUNS, FAILURES, WARNINGS = "manifest.json", "runs.parquet", "failures.parquet", "warnings.parquet"
DATASETS = (RUNS, FAILURES, WARNINGS)


@dataclass(frozen=True)
class CampaignResult:
    """A finished campaign; its frames are read when they are first asked for.

    Attributes:
        folder: Its folder.
        manifest: The campaign, the machine and the wall time.
    """

    folder: Path
    manifest: dict[str, Any]

    @classmethod
    def open(cls, folder: str | PathLike[str]) -> CampaignResult:
        """Opens the folder of a finished campaign.

        Raises:
            InputError: If there is none, or it is not complete.
        """
        folder = Path(folder)
        refuse_damaged_manifest(folder)
        manifest = read_manifest(folder)
        if manifest is None:
            raise InputError(
                f"{folder}: is not a campaign folder; allowed: one that `leobench sweep` or `compare` wrote"
            )
        if not manifest["complete"]:
            raise InputError(
                f"{folder}: is not finished; continue it with `{resuming(manifest)}` (resume=True)"
            )
        return cls(folder, manifest)

    @cached_property
    def runs(self) -> pl.DataFrame:
        """A row per run and metric, in the order of the plan.

        Columns: `variant`, one per place that variants replace (null where a variant leaves it alone),
        `replicate`, `seed`, `metric`, `value` (in the metric's own unit; null if not measured).
        """
        return self._read(RUNS)

    @cached_property
    def failures(self) -> pl.DataFrame:
        """A row per run that failed: the same first columns, and `error`."""
        return self._read(FAILURES)

    @cached_property
    def warnings(self) -> pl.DataFrame:
        """A row per reason to distrust the numbers of a run: `kind` and `warning`.

        The first columns are those of `runs`; `docs/howto/campaigns.md` lists the kinds.
        """
        return self._read(WARNINGS)

    def warned(self) -> pl.DataFrame:
        """A row per `variant` and `kind` of warning: how many `runs` have it, and the first of them."""
        return by_kind(self.warnings)

    def warning_lines(self) -> list[str]:
        """`warned` as text, one line per row."""
        planned = self.manifest["identity"]["replicates"]
        return [
            f"{row['variant']}: {row['runs']} of {planned} runs, first replicate {row['replicate']}: "
            f"{row['warning']}"
            for row in self.warned().iter_rows(named=True)
        ]

    @cached_property
    def tables(self) -> Tables:
        """The tables that were kept, with `variant` and `replicate` before their own columns."""
        files = {name: self.folder / "tables" / f"{name}.parquet" for name in CAMPAIGN_TABLES}
        there = {name: file for name, file in files.items() if file.is_file()}
        return Tables.from_parquet(there, self._again)

    def scan(self, table: str) -> pl.LazyFrame:
        """A table that was kept, read row group by row group: for tables too large for memory.

        Raises:
            InputError: If it was not kept.
        """
        import polars as pl

        file = self.folder / "tables" / f"{table}.parquet"
        if not file.is_file():
            raise InputError(f"{self.folder}: has no table {table}; allowed: a table that the campaign keeps")
        return pl.scan_parquet(file, glob=False)

    def __repr__(self) -> str:
        return f"CampaignResult({self.manifest['identity']['campaign']}, {self.folder})"

    def _repr_html_(self) -> str:
        """Tables for a notebook: means and standard deviations by variant, and the warnings."""
        from leobench import notebook

        return notebook.of_campaign(self)

    def _read(self, name: str) -> pl.DataFrame:
        return read_table(self.folder / name, self._again)

    @property
    def _again(self) -> str:
        return f"`{resuming(self.manifest)}` (resume=True)"


def by_kind(warnings: pl.DataFrame) -> pl.DataFrame:
    """The rows of `CampaignResult.warned` from those of `CampaignResult.warnings`."""
    import polars as pl

    grouped = warnings.group_by("variant", "kind", maintain_order=True)
    return grouped.agg(pl.col("replicate").n_unique().alias("runs"), pl.col("replicate", "warning").first())


def resuming(manifest: dict[str, Any]) -> str:
    """The command that continues an interrupted campaign; manifests of older versions do not name it."""
    command = manifest["identity"].get("command", "sweep")
    return f"leobench {command} {'... ' if command == 'compare' else ''}--resume"


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of a campaign folder; `None` if `folder` is not one."""
    try:
        manifest = json.loads(read_text(folder / MANIFEST))
    except (OSError, ValueError):
        return None
    return manifest if isinstance(manifest, dict) and {"identity", "complete"} <= manifest.keys() else None
