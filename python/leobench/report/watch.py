"""A folder that is being written, as it is now: a run, a campaign or a reproduction, unfinished or done."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from leobench import folder as folders
from leobench import running, unfinished
from leobench.campaign.result import read_manifest
from leobench.errors import InputError
from leobench.report import campaigns, gather, limits, prefix, reproductions, runs
from leobench.report.content import Content, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from leobench.report.content import Run

_RUNS = "runs"

# Seconds between two looks for a result that has not begun.
_LOOK_S = 0.2


def wait(folder: Path, seconds: float) -> None:
    """Waits until a result begins in a folder that is not there yet, or is empty; at most some seconds."""
    end = time.monotonic() + seconds
    while is_to_come(folder) and time.monotonic() < end:
        time.sleep(_LOOK_S)


def is_to_come(folder: Path) -> bool:
    """Whether there is neither a result nor anything else, but a result may begin."""
    if any(map(unfinished.is_live, unfinished.partials(folder))):
        return False
    with suppress(FileNotFoundError, NotADirectoryError):
        entries = folder.rglob("*") if folder.is_dir() else [folder]
        # A reproduction makes the folders of its figures first; files have hidden names until they are whole.
        return not any(entry.is_file() and not entry.name.startswith(".") for entry in entries)
    return True


class Watch:
    """A folder, and the content of its page whenever somebody looks.

    Raises:
        InputError: If the folder holds no result and none is being written, or its manifest is damaged.
    """

    def __init__(self, folder: Path, without: Sequence[str] = ()) -> None:
        runs.check_without(without)
        folders.refuse_damaged_manifest(folder)
        self.folder = folder
        self._without = without
        self._empties: Mapping[str, prefix.Empty] | None = None
        self._last: tuple[str, int] = ("", 0)
        self._told: dict[str, Any] | None = None
        self.content = Content("run", str(folder))
        if not self.is_there():
            gather.refuse_interrupted(folder)
            raise InputError(
                f"{folder}: is not a result folder, and none is being written there; "
                "allowed: a folder of `leobench run`, `sweep` or `reproduce`, or one that these are writing"
            )

    def is_there(self) -> bool:
        """Whether there is something to watch."""
        campaign = read_manifest(self.folder) is not None or bool(self._figures())
        return campaign or self._is_run() or any(map(unfinished.is_live, unfinished.partials(self.folder)))

    def look(self) -> Content:
        """The content now. Its `live` has a `version`, which changes if anything else does.

        Raises:
            InputError: If a finished result is damaged.
        """
        content = limits.trimmed(self._now())
        described = content.described()
        parts = [f"{name} {hashlib.sha256(table.data).hexdigest()}" for name, table in content.tables()]
        print_ = hashlib.sha256(json.dumps([described, parts], default=str).encode()).hexdigest()
        if print_ != self._last[0]:
            self._last = (print_, self._last[1] + 1)
        self.content = dataclasses.replace(content, live={**(content.live or {}), "version": self._last[1]})
        return self.content

    def _now(self) -> Content:
        if read_manifest(self.folder) is not None:
            return self._campaign()
        if self._figures() or reproductions.figures(self.folder):
            return self._reproduction()
        partials = [each for each in unfinished.partials(self.folder) if unfinished.is_live(each)]
        if partials:
            return self._run(partials[-1])
        if self._is_run():
            return _done(gather.of_runs([self.folder], self._without))
        title = f"{self.folder.name}: nothing here any more"
        return Content("run", title, live=_state("The run has ended without a result.", complete=True))

    def _is_run(self) -> bool:
        return (self.folder / "manifest.json").is_file() and (self.folder / "summary.json").is_file()

    def _figures(self) -> list[Path]:
        """The folders of figures whose campaigns have begun."""
        if (self.folder / "campaign" / "manifest.json").is_file():
            return [self.folder]
        try:
            return sorted(each.parent.parent for each in self.folder.glob("*/campaign/manifest.json"))
        except OSError:
            return []

    def _run(self, partial: Path) -> Content:
        """A run that is being written."""
        # Between the last word of a run and its manifest, what it said last still holds.
        told = self._told = running.read(partial) or self._told
        if told is None:
            return Content("run", self.folder.name, live=_state("The run is starting."))
        if self._empties is None:
            self._empties = prefix.empties()
        tables = {
            name: table
            for name, empty in self._empties.items()
            if name not in self._without and (table := _table(partial / f"{name}.parquet", empty)) is not None
        }
        manifest = {"seed": told["seed"], "engine": told.get("engine", ""), "scenario": told["scenario"]}
        manifest |= {
            "leobench": _version(),
            "commit": told.get("commit"),
            "reached_s": _reached(tables, float(told["reached_s"])),
        }
        name = str(told["scenario"]["name"])
        shown = runs.of_tables(name, str(self.folder), name, manifest, None, tables)
        end = told["end_s"]
        text = (
            f"{told['reached_s']:.1f}{'' if end is None else f' of {end:g}'} s, {told['packets']:,} packets"
        )
        note = (
            f"Series come in steps of {prefix.BATCH_ROWS:,} rows of each table; the summary comes at the end."
        )
        return Content(
            "run",
            f"{name}, seed {told['seed']}",
            gather.text_of(told["scenario"]),
            runs=[shown],
            notes=[note],
            live=_state("The run is running.", text=text, done=told["reached_s"], total=end),
        )

    def _campaign(self) -> Content:
        manifest = read_manifest(self.folder)
        if manifest is None or manifest["complete"]:
            return _done(gather.of_campaign(self.folder, self._without))
        records = _records(self.folder, manifest)
        described = so_far(self.folder, manifest, records)
        identity = manifest["identity"]
        return Content(
            "campaign",
            described["name"],
            described["description"],
            runs=self._kept(manifest),
            campaigns=[described],
            live=_progress("The campaign", [(identity, records)]),
        )

    def _kept(self, manifest: Mapping[str, Any]) -> list[Run]:
        """The first finished run of each variant with its kept tables, from the folder of single runs."""
        kept = []
        identity = manifest["identity"]
        for record in campaigns.first_records(self.folder, manifest)[: campaigns.MOST_RUNS]:
            stem = f"{record['variant']}-{record['replicate']:04}"
            files = {name: self.folder / _RUNS / f"{stem}.{name}.parquet" for name in identity["tables"]}
            tables = {name: runs.read(file) for name, file in files.items() if file.is_file()}
            if tables:
                kept.append(
                    campaigns.of_record(record, str(self.folder), identity["leobench"], tables, self._without)
                )
        return kept

    def _reproduction(self) -> Content:
        """Figures that are done, and the campaigns so far of the others."""
        done = reproductions.figures(self.folder)
        open_ = [each for each in self._figures() if each not in done]
        if not open_:
            # A paper may have further figures, which begin later.
            content = reproductions.content(self.folder, self._without)
            return dataclasses.replace(content, live=_state("Finished so far.", done=1, total=1))
        shown, parts = [], []
        for figure in open_:
            for at in reproductions.campaign_folders(figure):
                manifest = read_manifest(at)
                if manifest is None:
                    continue
                records = _records(at, manifest)
                shown.append(so_far(at, manifest, records))
                parts.append((manifest["identity"], records))
        return Content(
            "reproduction",
            f"{self.folder.name}: being reproduced",
            figures=[reproductions.describe(each) for each in done],
            campaigns=shown,
            live=_progress("The reproduction", parts),
        )


def _version() -> str:
    from leobench import _core

    return str(_core.__version__)


def _table(file: Path, empty: prefix.Empty) -> Table | None:
    """The rows so far of a table; `None` if there are none or too many, or the file has just gone."""
    try:
        if file.stat().st_size > limits.LARGEST:
            return None
        table = prefix.completed(file.read_bytes(), empty)
    except OSError:
        return None
    return table if table.rows else None


def _reached(tables: Mapping[str, Table], reached: float) -> float:
    """The time up to which there are series: the axis ends there."""
    import io

    import polars as pl

    last = [
        float(pl.read_parquet(io.BytesIO(table.data), columns=["t_ns"], glob=False)["t_ns"][-1]) / 1e9
        for name, table in tables.items()
        if name in ("transport", "queues", "streams")
    ]
    return max(last, default=reached)


def so_far(folder: Path, manifest: Mapping[str, Any], records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A campaign as JSON from the runs that are finished; see `campaigns.describe`."""
    import polars as pl

    from leobench.campaign import metrics

    identity = manifest["identity"]
    places = list(dict.fromkeys(place for variant in identity["variants"] for place in variant["set"]))
    sets = {variant["name"]: variant["set"] for variant in identity["variants"]}
    keys = {"variant": pl.String, **dict.fromkeys(places, pl.String), "replicate": pl.Int64, "seed": pl.Int64}
    rows: list[dict[str, Any]] = []
    failures: list[dict[str, Any]] = []
    warnings: list[dict[str, Any]] = []
    for record in records:
        own = sets[record["variant"]]
        key = {place: None if place not in own else json.dumps(own[place]) for place in places}
        key |= {name: record[name] for name in ("variant", "replicate", "seed")}
        warnings += [{**key, "kind": each["kind"], "warning": each["text"]} for each in record["warnings"]]
        if record["error"] is not None:
            failures.append({**key, "error": record["error"]})
            continue
        numbers = metrics.flatten(record["summary"])
        rows += [{**key, "metric": name, "value": numbers.get(name)} for name in identity["metrics"]]

    def frame(of: list[dict[str, Any]], **own: Any) -> pl.DataFrame:
        return pl.DataFrame(of, schema={**keys, **own})

    return campaigns.describe(
        folder,
        manifest,
        frame(rows, metric=pl.String, value=pl.Float64),
        frame(failures, error=pl.String),
        frame(warnings, kind=pl.String, warning=pl.String),
    )


def _records(folder: Path, manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The records of all finished runs, in the order of the plan."""
    identity = manifest["identity"]
    files = [
        folder / _RUNS / f"{variant['name']}-{replicate:04}.json"
        for variant in identity["variants"]
        for replicate in range(1, identity["replicates"] + 1)
    ]
    return [campaigns.read_record(file) for file in files if file.is_file()]


def _progress(what: str, parts: Sequence[tuple[Mapping[str, Any], Sequence[object]]]) -> dict[str, Any]:
    done = sum(len(records) for _, records in parts)
    total = sum(len(identity["variants"]) * identity["replicates"] for identity, _ in parts)
    return _state(f"{what} is running.", text=f"{done:,} of {total:,} runs", done=done, total=total)


def _state(
    state: str, *, text: str = "", done: float = 0.0, total: float | None = None, complete: bool = False
) -> dict[str, Any]:
    return {"state": state, "text": text, "done": done, "total": total, "complete": complete}


def _done(content: Content) -> Content:
    return dataclasses.replace(content, live=_state("Finished.", done=1, total=1, complete=True))
