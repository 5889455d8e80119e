"""Result folders: written beside their place and moved there when complete: whole or absent."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from leobench.errors import InputError
from leobench.result import Result, Tables

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MANIFEST = "manifest.json"
SUMMARY = "summary.json"
TABLES = ("messages", "transport", "streams", "queues", "channel", "paths", "events", "packets")

# Rows in one group of a Parquet file. Stated, so that the bytes do not depend on how many threads wrote them.
_ROW_GROUP = 100_000


def refuse_existing(target: Path, *, force: bool) -> None:
    """Checks that results may be written to `target`.

    Raises:
        InputError: If something is there that may not be replaced.
    """
    if not target.exists() and not target.is_symlink():
        return
    if not target.is_dir() or target.is_symlink():
        raise InputError(f"{target}: is there already and is no folder; choose another with --out")
    if not force:
        raise InputError(
            f"{target}: exists already; choose another folder with --out, or replace it with --force"
        )
    if not (target / MANIFEST).is_file() and any(target.iterdir()):
        raise InputError(f"{target}: is no result folder, so --force does not replace it")


@contextmanager
def writing(target: Path, *, force: bool) -> Iterator[Path]:
    """A folder to write results into that becomes `target` if the block succeeds, and vanishes if not.

    Raises:
        InputError: If `target` exists and may not be replaced, or its parent cannot be written to.
    """
    target = target.absolute()
    refuse_existing(target, force=force)
    partial = target.with_name(f".{target.name}.partial-{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial.mkdir()
    except OSError as error:
        raise InputError(f"{target.parent}: cannot be written to: {error.strerror}") from error
    try:
        yield partial
        refuse_existing(target, force=force)
        if target.is_dir():
            replaced = target.with_name(f".{target.name}.replaced-{os.getpid()}")
            target.rename(replaced)
            partial.rename(target)
            shutil.rmtree(replaced)
        else:
            partial.rename(target)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def fill(partial: Path, arrow: Path, manifest: dict[str, Any], summary: str) -> None:
    """Turns the Arrow files of a run into Parquet, and adds the manifest and the summary."""
    import polars as pl

    for file in sorted(arrow.glob("*.arrow")):
        pl.scan_ipc(file).sink_parquet(
            partial / f"{file.stem}.parquet",
            compression="zstd",
            row_group_size=_ROW_GROUP,
            maintain_order=True,
        )
    shutil.rmtree(arrow)
    (partial / SUMMARY).write_text(_pretty(json.loads(summary)), encoding="utf-8")
    (partial / MANIFEST).write_text(_pretty(manifest), encoding="utf-8")


def read(folder: Path) -> Result:
    """Opens a result folder.

    Raises:
        InputError: If `folder` is none, or is damaged.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: is no folder; `leobench run` makes result folders")
    manifest = _load(folder / MANIFEST)
    summary = _load(folder / SUMMARY)
    files = {name: folder / f"{name}.parquet" for name in TABLES}
    present = {name: file for name, file in files.items() if file.is_file()}
    return Result(manifest, summary, Tables.from_parquet(present), folder)


def _load(file: Path) -> dict[str, Any]:
    try:
        parsed = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{file.parent}: is no result folder: it has no {file.name}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: cannot be read: {error}") from error
    if not isinstance(parsed, dict):
        raise InputError(f"{file}: holds no JSON object")
    return parsed


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
