"""Hidden folders that results are written into: locked while their writer lives, cleared away after it.

The lock (`flock` on the folder itself) ends with the process that holds it, however that ends. The name says
on which machine it was taken: some network file systems show a lock to their own machine only.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Characters of a result folder's name in those of the folders beside it: systems take 255 bytes.
_LONGEST_STEM = 40
# Characters of the digest that a longer name ends in there.
_DIGEST = 8

# Seconds for which another process may have the turn in a folder: it takes milliseconds.
_TURN_S = 1.0

_NAME = re.compile(
    r"\.(?P<stem>.+)\.(?P<what>partial|replaced)-(?P<machine>[0-9a-f]{8})-[0-9a-f]{8}", re.DOTALL
)


@contextmanager
def partial(place: Path) -> Iterator[Path]:
    """A new folder beside `place`, locked for the length of the block, and removed if the block fails.

    An interruption at any time leaves no folder: nothing that makes one is outside the `try`.
    """
    while True:
        made = beside(place, "partial")
        lock, ready = None, False
        try:
            made.mkdir()
            # Until it is locked, another process may clear it away.
            with suppress(FileNotFoundError):
                lock = _locked(made)
                ready = lock is None or made.exists()
            if ready:
                yield made
                return
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
        finally:
            if lock is not None:
                os.close(lock)


def beside(place: Path, what: str) -> Path:
    """A hidden name in the same folder, which no other process and no earlier one uses."""
    return place.with_name(f".{_stem(place)}.{what}-{_machine()}-{os.urandom(4).hex()}")


@contextmanager
def turn(folder: Path) -> Iterator[None]:
    """One process of this machine at a time in the block, by a lock on `folder`.

    It goes on without a lock where the file system knows none, and after a second of waiting for one.
    """
    handle = None
    try:
        with suppress(OSError):
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            _lock_in_time(handle)
        yield
    finally:
        if handle is not None:
            os.close(handle)


def has_rival(made: Path) -> bool:
    """Whether a living process of this machine writes into another folder for the same place.

    Of several that start at once, one has no rival if each makes its folder and asks within a `turn`.
    Unknown, and False, where the file system knows no locks.
    """
    own = _NAME.fullmatch(made.name)
    for entry in made.parent.iterdir():
        name = _NAME.fullmatch(entry.name)
        if own is None or name is None or entry.name == made.name:
            continue
        same = all(name[part] == own[part] for part in ("stem", "what", "machine"))
        if same and _is_locked(entry):
            return True
    return False


def clear(folder: Path) -> None:
    """Removes the unfinished results in `folder` whose writers on this machine have ended.

    A result that was being replaced is removed only if there is another in its place.
    """
    with suppress(OSError):
        for entry in list(folder.iterdir()):
            name = _NAME.fullmatch(entry.name)
            if name is None or name["machine"] != _machine():
                continue
            if name["what"] == "partial" or _is_replaced(folder, name["stem"]):
                _remove_unlocked(entry)


def _remove_unlocked(entry: Path) -> None:
    with suppress(OSError):
        if entry.is_symlink() or entry.lstat().st_uid != os.geteuid():
            return
        lock = _locked(entry, wait=False)
        if lock is not None:
            shutil.rmtree(entry, ignore_errors=True)
            os.close(lock)


def _stem(place: Path) -> str:
    """The name of a result folder, its end replaced by a digest if it is too long."""
    if len(place.name) <= _LONGEST_STEM:
        return place.name
    digest = hashlib.sha256(os.fsencode(place.name)).hexdigest()[:_DIGEST]
    return f"{place.name[: _LONGEST_STEM - _DIGEST]}{digest}"


def _is_locked(folder: Path) -> bool:
    """Whether a process, this one or another, has the lock on a folder."""
    import fcntl

    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:  # it is gone, or somebody else's
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return isinstance(error, BlockingIOError)
    finally:
        os.close(handle)
    return False


def _lock_in_time(handle: int) -> None:
    """Locks what is open, unless another process keeps the lock for too long."""
    import fcntl

    limit = time.monotonic() + _TURN_S
    while time.monotonic() < limit:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(0.002)


def _is_replaced(folder: Path, stem: str) -> bool:
    """Whether there is a result again in place of one with this stem; unknown of names that were cut."""
    return len(stem) < _LONGEST_STEM and (folder / stem).exists()


def _locked(folder: Path, *, wait: bool = True) -> int | None:
    """A lock on a folder; `None` if another process has it, or the file system knows no such locks."""
    import fcntl

    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(handle)
        return None
    return handle


def _machine() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def partials(place: Path) -> list[Path]:
    """The unfinished results for a place, the newest last, whether or not their writers live."""
    found = []
    place = place.resolve()  # a result may lie behind a link
    with suppress(OSError):
        for entry in place.parent.iterdir():
            name = _NAME.fullmatch(entry.name)
            if name is not None and name["what"] == "partial" and name["stem"] == _stem(place):
                found.append(entry)
    return sorted(found, key=_changed)


def is_live(made: Path) -> bool:
    """Whether a process writes into an unfinished result; unknown, and True, of other machines' folders."""
    name = _NAME.fullmatch(made.name)
    return name is not None and (name["machine"] != _machine() or _is_locked(made))


def _changed(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0
