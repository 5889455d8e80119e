"""The folder of a campaign: each run is stored as it finishes, the datasets at the end.

Until then it holds `manifest.json` and, in `runs/`, the kept tables of each finished run and, written last,
`<run>.json`, which marks the run as finished. Every file is written under a temporary name, synchronised
with the disk and renamed: a file that exists is complete.
"""

from __future__ import annotations

import io
import json
import os
import re
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from leobench import plots
from leobench.campaign import provenance
from leobench.campaign.result import DATASETS, MANIFEST, read_manifest
from leobench.errors import InputError, RunError
from leobench.files import read_text
from leobench.folder import CAMPAIGN_TABLES, refuse_unnameable, refusing
from leobench.manifest import Doubt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from leobench.campaign.plan import PlannedRun

_RUNS, _TABLES = "runs", "tables"
_PARTIAL, _LOCK = ".partial", ".lock"

# The files of a campaign by their paths in its folder.
_TABLE = rf"({'|'.join(CAMPAIGN_TABLES)})\.parquet"
_OURS = re.compile(
    rf"{'|'.join(map(re.escape, (_LOCK, MANIFEST, *DATASETS)))}"
    rf"|({'|'.join(plots.CAMPAIGN_KINDS)})({'|'.join(map(re.escape, plots.FORMATS))})"
    rf"|{_TABLES}/{_TABLE}|{_RUNS}/.+-\d{{4,}}\.(json|{_TABLE})"
)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run.

    Attributes:
        summary: Its summary; `None` if it failed.
        error: The reason why it failed; `None` if it did not.
        tables: The tables that are kept, by name, as Parquet files.
        doubts: Reasons to distrust its numbers.
    """

    summary: dict[str, Any] | None
    error: str | None
    tables: Mapping[str, bytes]
    doubts: Sequence[Doubt] = ()


class Store:
    """The folder of a campaign while it runs."""

    def __init__(self, folder: Path, identity: Mapping[str, Any], sessions: Sequence[object]) -> None:
        self.folder = folder
        self.runs = folder / _RUNS
        self._identity = identity
        self._sessions = list(sessions)

    def read(self, run: PlannedRun, tables: Sequence[str] = ()) -> Outcome | None:
        """A finished run, without its tables; `None` if it is not finished, or one of `tables` is missing.

        Raises:
            InputError: If its file was damaged or replaced.
        """
        file = self._record(run)
        try:
            record = json.loads(read_text(file))
            doubts = [Doubt(**doubt) for doubt in record["warnings"]]
            outcome, seed = Outcome(record["summary"], record["error"], {}, doubts), record["seed"]
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{file}: is damaged ({error}); delete it to repeat the run") from error
        if seed != run.seed:
            raise InputError(f"{file}: belongs to another run; delete it to repeat the run")
        present = outcome.error is not None or all(self.table(run, name).is_file() for name in tables)
        return outcome if present else None

    def write(self, run: PlannedRun, outcome: Outcome) -> None:
        """Adds a finished run.

        Raises:
            RunError: If the disk is full, or the folder can no longer be written to.
        """
        for name, table in outcome.tables.items():
            self.write_file(self.table(run, name), table)
        record = {
            "variant": run.variant,
            "replicate": run.replicate,
            "seed": run.seed,
            "error": outcome.error,
            "warnings": [asdict(doubt) for doubt in outcome.doubts],
            "summary": outcome.summary,
        }
        self.write_file(self._record(run), _as_json(record))

    def table(self, run: PlannedRun, name: str) -> Path:
        """The file of a kept table of a run until the dataset is complete."""
        return self.runs / f"{run.stem}.{name}.parquet"

    def write_file(self, file: Path, content: bytes) -> None:
        """Writes a file atomically.

        Raises:
            RunError: If it cannot be written.
        """
        self.create(file, lambda partial: partial.write_bytes(content))

    def create(self, file: Path, write: Callable[[Path], object]) -> None:
        """Creates a file atomically: `write` is given the path to write to.

        Raises:
            RunError: If it cannot be written.
        """
        partial = file.with_name(f".{file.name}{_PARTIAL}")
        try:
            file.parent.mkdir(exist_ok=True)
            write(partial)
            _synchronise(partial)
            partial.replace(file)
        except OSError as error:
            with suppress(OSError):
                partial.unlink()
            why = error.strerror or error
            raise RunError(f"{file}: cannot be written: {why}") from error

    def describe(self, *, complete: bool, session: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Writes the manifest, and returns it. No other file depends on the clock or the machine.

        Raises:
            RunError: If it cannot be written.
        """
        if session is not None:
            self._sessions.append(session)
        manifest = {"complete": complete, "sessions": self._sessions, "identity": self._identity}
        self.write_file(self.folder / MANIFEST, _as_json(manifest))
        return manifest

    def clear(self) -> None:
        """Removes the remains of interrupted writes, and the tables of single runs of a complete campaign."""
        manifest = read_manifest(self.folder)
        complete = manifest is not None and manifest["complete"]
        for file in list(_entries(self.folder)):
            spare = complete and file.parent == self.runs and file.suffix == ".parquet"
            if (spare or file.name.endswith(_PARTIAL)) and _is_ours(file, self.folder):
                file.unlink()

    def _record(self, run: PlannedRun) -> Path:
        return self.runs / f"{run.stem}.json"


@contextmanager
def opened(folder: Path, identity: Mapping[str, Any], *, resume: bool, force: bool) -> Iterator[Store]:
    """The store in `folder`, new or resumed, locked for this process.

    Raises:
        InputError: If `folder` may be neither resumed nor replaced, cannot be written to, or another process
            is running a campaign in it.
    """
    folder = folder.absolute()
    refuse_unnameable(folder)
    _admit(folder, identity, resume=resume, force=force)
    with refusing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o644)
    try:
        _take(lock, folder)
        # Checked again now that no other process may change it.
        sessions = _admit(folder, identity, resume=resume, force=force)
        if sessions is None:
            _empty(folder)
        store = Store(folder, identity, sessions or [])
        store.clear()
        if sessions is None:
            store.describe(complete=False)  # First: it marks the folder as a campaign's.
        yield store
    finally:
        os.close(lock)


def _admit(folder: Path, identity: Mapping[str, Any], *, resume: bool, force: bool) -> list[object] | None:
    """The earlier sessions of the campaign in `folder` if it is resumed; `None` to start anew."""
    if not folder.exists() and not folder.is_symlink():
        return None
    if not folder.is_dir():
        raise InputError(f"{folder}: exists and is not a folder; choose another with --out")
    manifest = read_manifest(folder)
    if manifest is None:
        if {entry.name for entry in folder.iterdir()} <= {_LOCK, f".{MANIFEST}{_PARTIAL}"}:
            return None
        raise InputError(
            f"{folder}: is not a campaign folder, so it is left alone; choose another with --out"
        )
    if not resume:
        _admit_replacing(folder, force=force)
        return None
    why = provenance.difference(manifest["identity"], identity)
    if why is not None:
        raise InputError(
            f"{folder}: cannot be resumed: {why}; "
            "choose another folder with --out, or start again with --force"
        )
    sessions: list[object] = manifest["sessions"]
    return sessions


def _admit_replacing(folder: Path, *, force: bool) -> None:
    """Checks that the campaign in `folder` may be replaced; without `force` only if no run is finished."""
    if not force and any((folder / _RUNS).glob("*.json")):
        raise InputError(
            f"{folder}: exists already; continue it with --resume (resume=True), "
            "replace it with --force (force=True), or choose another folder with --out"
        )
    foreign = next((entry for entry in _entries(folder) if not _is_ours(entry, folder)), None)
    if foreign is not None:
        raise InputError(
            f"{folder}: holds `{foreign.relative_to(folder)}`, which no campaign wrote, "
            "so it is not replaced; move that file away, or choose another folder with --out"
        )


def _entries(folder: Path) -> Iterator[Path]:
    """The entries of a campaign folder and of the subfolders that campaigns create."""
    for entry in sorted(folder.iterdir()):
        made = entry.name in (_RUNS, _TABLES) and entry.is_dir() and not entry.is_symlink()
        yield from sorted(entry.iterdir()) if made else [entry]


def _is_ours(file: Path, folder: Path) -> bool:
    """Whether a campaign in `folder` writes this file, or has begun to write it."""
    path = file.relative_to(folder).as_posix()
    whole = re.sub(rf"(^|/)\.([^/]+){re.escape(_PARTIAL)}$", r"\1\2", path)
    return file.is_file() and not file.is_symlink() and _OURS.fullmatch(whole) is not None


def _take(lock: int, folder: Path) -> None:
    """Locks out other processes until this one ends, even if it is killed."""
    import fcntl

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(f"{folder}: another process is running a campaign there") from None
    except OSError as error:
        raise InputError(f"{folder / _LOCK}: cannot be locked: {error.strerror}") from error


def _empty(folder: Path) -> None:
    """Removes an old campaign; the manifest last, so that a partly removed one is still recognised."""
    for file in list(_entries(folder)):
        if file.name not in (_LOCK, MANIFEST) and _is_ours(file, folder):
            file.unlink()
    for made in (_RUNS, _TABLES):
        with suppress(FileNotFoundError):
            (folder / made).rmdir()
    (folder / MANIFEST).unlink(missing_ok=True)


def _synchronise(path: Path) -> None:
    """Flushes the content of a file to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _as_json(value: object) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def as_parquet(frame: Any) -> bytes:
    """A Polars frame as the bytes of a Parquet file."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", row_group_size=100_000)
    return buffer.getvalue()
