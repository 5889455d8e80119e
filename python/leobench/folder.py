"""Result folders: written beside their place and moved there when complete: whole or absent."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench import plots, unfinished
from leobench.errors import InputError, RunError
from leobench.files import is_campaign, read_text, reason
from leobench.result import Result, Tables
from leobench.summary import Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Ours = Callable[[Path], bool]

MANIFEST = "manifest.json"
SUMMARY = "summary.json"
# Of programs in real time: the scenario, as a file that `emulate` takes.
SCENARIO = "scenario.json"
QLOG = "qlog"
PCAP = "pcap"
# In `PCAP`, if packets are encrypted: the key log by which Wireshark decrypts them.
SECRETS = "tls-secrets.log"
TABLES = (
    "messages",
    "transport",
    "streams",
    "queues",
    "channel",
    "paths",
    "events",
    "packets",
    "opportunities",
    "routes",
    "handovers",
    "losses",
)

# Tables of runs whose packets take hops in orbit.
ORBIT_TABLES = ("hops", "ways")

# Tables of runs that have something for them: hops in orbit, a video, or a call.
OCCASIONAL_TABLES = (*ORBIT_TABLES, "segments", "frames")

# Tables that only some runs have: those in real time, and the occasional ones.
OPTIONAL_TABLES = ("spin", "sockets", *OCCASIONAL_TABLES)

# Tables that campaigns may keep.
CAMPAIGN_TABLES = (*TABLES, *OCCASIONAL_TABLES)

# What tells the manifest of a run from any other.
_MANIFEST_KEYS = {"leobench", "engine", "seed", "wall_s", "validity", "scenario"}

# Folders within that are written on request, and what their files end in.
_ON_REQUEST = {QLOG: ".sqlog", PCAP: ".pcapng"}


def refuse_existing(target: Path, *, force: bool, ours: Ours | None = None) -> None:
    """Checks that results may be written to `target`; a link stands for what it leads to.

    `ours` tells entries of folders other than those of runs.

    Raises:
        InputError: If something is there that may not be replaced, or it cannot be told.
    """
    place = _behind_links(target)
    refuse_unnameable(place)
    with refusing(target):
        if not _exists(place):
            return
        if not place.is_dir():
            raise InputError(f"{target}: exists and is not a folder; choose another with --out")
        if not force:
            raise InputError(
                f"{target}: exists already; choose another folder with --out, or replace it with --force"
            )
        entries = sorted(entry.name for entry in place.iterdir())
        if ours is None and entries and not _is_manifest(place / MANIFEST):
            raise InputError(f"{target}: is not the result folder of a run, so --force does not replace it")
        foreign = [name for name in entries if not (ours or _is_ours)(place / name)]
    if foreign:
        raise InputError(
            f"{target}: holds `{foreign[0]}`, which leobench did not write, so --force does not replace it; "
            f"move it away, or choose another folder with --out"
        )


def refuse_unnameable(place: Path) -> None:
    """Checks that a path is text: neither tables nor JSON can hold one that is not.

    Raises:
        InputError: If it is not.
    """
    try:
        str(place).encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{place}: is not text, so results cannot be written there; allowed: UTF-8"
        ) from None


def is_part(file: Path) -> bool:
    """Whether it is the result folder of a run, or one of the files that `run` writes there."""
    if file.name in (SUMMARY, MANIFEST) or file.suffix == ".parquet":
        return _is_manifest(file.parent / MANIFEST)
    return _is_manifest(file / MANIFEST)


def _is_manifest(file: Path) -> bool:
    try:
        return _load(file).keys() >= _MANIFEST_KEYS
    except InputError:
        return False


def _is_ours(entry: Path) -> bool:
    """Whether it is something that `run` or `plot` writes into a result folder."""
    if entry.is_symlink():
        return False
    if suffix := _ON_REQUEST.get(entry.name):
        ours = (suffix, SECRETS) if entry.name == PCAP else (suffix,)
        return entry.is_dir() and all(file.name.endswith(ours) and file.is_file() for file in entry.iterdir())
    figure = entry.stem in plots.KINDS and entry.suffix in plots.FORMATS
    table = entry.stem in {*TABLES, *OPTIONAL_TABLES} and entry.suffix == ".parquet"
    return entry.is_file() and (entry.name in {MANIFEST, SUMMARY, SCENARIO} or table or figure)


def _behind_links(target: Path) -> Path:
    with refusing(target):
        return Path(os.path.realpath(target))


def _exists(place: Path) -> bool:
    try:
        place.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


@contextmanager
def refusing(target: Path) -> Iterator[None]:
    """Tells of a place that the system refuses, such as one with too long a name."""
    try:
        yield
    except (OSError, ValueError) as error:
        why = reason(error, target) if isinstance(error, OSError) else error
        raise InputError(f"{target}: cannot be written to: {why}") from error


@contextmanager
def writing(target: Path, *, force: bool, ours: Ours | None = None) -> Iterator[Path]:
    """A folder to write results into that becomes `target` if the block succeeds, and vanishes if not.

    Raises:
        InputError: If `target` exists and may not be replaced, cannot be written to, or is being written to.
    """
    refuse_existing(target, force=force, ours=ours)
    place = _behind_links(target)
    with refusing(target):
        place.parent.mkdir(parents=True, exist_ok=True)
        _exists(place)  # also tells of too long a name, before a run is done for nothing
    unfinished.clear(place.parent)
    with ExitStack() as held:
        with refusing(target), unfinished.turn(place.parent):
            partial = held.enter_context(unfinished.partial(place))
            has_rival = unfinished.has_rival(partial)
        if has_rival:
            raise InputError(
                f"{target}: another leobench is writing there; wait until it has ended, "
                f"or choose another folder with --out"
            )
        yield partial
        refuse_existing(target, force=force, ours=ours)
        with refusing(target):
            _move(partial, place)


def _move(partial: Path, place: Path) -> None:
    """Puts a finished folder in its place, or in that of an older one."""
    if not place.is_dir():
        partial.rename(place)
        return
    replaced = unfinished.beside(place, "replaced")
    place.rename(replaced)
    partial.rename(place)
    shutil.rmtree(replaced)


def describe(
    partial: Path,
    manifest: dict[str, Any],
    summary: dict[str, Any],
    scenario: Mapping[str, Any] | None = None,
) -> None:
    """Adds the manifest and the summary to the tables of a run, and the scenario if it is given.

    Raises:
        RunError: If they cannot be written: the disk is full, for instance.
    """
    try:
        if scenario is not None:
            (partial / SCENARIO).write_text(_pretty(scenario), encoding="utf-8")
        (partial / SUMMARY).write_text(_pretty(summary), encoding="utf-8")
        (partial / MANIFEST).write_text(_pretty(manifest), encoding="utf-8")
    except OSError as error:
        raise RunError(f"the results cannot be written: {error}") from error


# What every result folder has there.
_IN_MANIFEST = ("scenario", "validity")
# Tables that folders of earlier versions lack.
_ADDED_LATER = ("opportunities", "routes", "handovers", "losses")
_IN_SUMMARY = ("scenario", "seed", "flows", "links")


def read(folder: Path) -> Result:
    """Opens a result folder.

    Raises:
        InputError: If `folder` is none, or is damaged.
    """
    if not os.path.isdir(folder):  # noqa: PTH112 (of any name, too long ones as well)
        if is_campaign(folder):
            raise InputError(
                f"{folder}: is a campaign, not a result folder; run it with `leobench sweep {folder}`"
            )
        raise InputError(f"{folder}: is not a folder; `leobench run` makes result folders")
    manifest = _load(folder / MANIFEST)
    if "identity" in manifest:
        raise InputError(
            f"{folder}: is the folder of a campaign, not of a run; "
            "open it with leobench.CampaignResult.open, as docs/howto/campaigns.md describes"
        )
    summary = _load(folder / SUMMARY)
    for file, content, keys in ((MANIFEST, manifest, _IN_MANIFEST), (SUMMARY, summary, _IN_SUMMARY)):
        missing = [key for key in keys if key not in content]
        if missing:
            raise InputError(
                f"{folder / file}: is damaged: `{missing[0]}` is missing; run the scenario again"
            )
    files = {name: folder / f"{name}.parquet" for name in (*TABLES, *OPTIONAL_TABLES)}
    present = {name: file for name, file in files.items() if file.is_file()}
    lost = [name for name in TABLES if name not in present and name not in _ADDED_LATER]
    if lost:
        raise InputError(f"{files[lost[0]]}: is missing; run the scenario again")
    return Result(manifest, Summary(summary), Tables.from_parquet(present), folder)


def refuse_damaged_manifest(folder: Path) -> None:
    """Refuses the folder of a run or a campaign whose manifest is there, but cannot be read.

    Raises:
        InputError: If it is one.
    """
    if os.path.isfile(folder / MANIFEST):  # noqa: PTH113 (of any name, too long ones as well)
        _load(folder / MANIFEST)


def _load(file: Path) -> dict[str, Any]:
    try:
        parsed = json.loads(read_text(file))
    except FileNotFoundError:
        raise InputError(f"{file.parent}: is not a result folder: it has no {file.name}") from None
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise InputError(
            f"{file}: is damaged: no JSON from line {error.lineno}, column {error.colno} on; "
            "make the result again"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: is damaged: {error}; make the result again") from error
    if not isinstance(parsed, dict):
        raise InputError(f"{file}: is not a JSON object")
    return parsed


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
