"""The files that a campaign's runs read, for machines that share none of them.

`Bundle.of` reads the base scenario, the traces and other files that its variants name, and the Python files
of plug-ins. A bundle can be pickled. On another machine, `unpacked` writes its files below one folder, at the
same places relative to each other. Files that a scenario names by an absolute path do not travel: every
machine needs its own. Nor do files that a plug-in opens by itself. Each run checks the digests of the files
that its scenario names, so a file that differs ends the campaign and does not change its results.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
import tempfile
import threading
import weakref
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from leobench import data_files
from leobench.campaign import provenance
from leobench.errors import InputError, RunError
from leobench.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leobench.campaign.plan import Campaign, PlannedRun

# One folder per bundle, however many runs of it begin at a time in this process.
_lock = threading.Lock()


@dataclass(frozen=True, eq=False)
class Bundle:
    """The files of a campaign.

    Attributes:
        root: The folder that paths are relative to, on the machine of the campaign.
        scenario: The path of the base scenario.
        files: The content of every file by its path.
    """

    root: str
    scenario: str
    files: Mapping[str, bytes]
    _unpacked: dict[str, Path] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, campaign: Campaign) -> Bundle:
        """The files of a campaign.

        Raises:
            InputError: If one cannot be read.
        """
        base = campaign.scenario.absolute()
        named = {
            name for each in campaign.scenarios.values() for name in provenance.travelling(each, base.parent)
        }
        named |= _recorded_pages(campaign, base)
        places = [base, *(Path(os.path.normpath(base.parent / name)) for name in sorted(named))]
        root = Path(os.path.commonpath([place.parent for place in places]))
        files = {place.relative_to(root).as_posix(): _content(place) for place in places}
        return cls(str(root), base.relative_to(root).as_posix(), files)

    def __reduce__(self) -> tuple[type[Bundle], tuple[str, str, Mapping[str, bytes]]]:
        return Bundle, (self.root, self.scenario, self.files)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(map(len, self.files.values()))

    def unpacked(self, within: str | None = None) -> Path:
        """The folder of the files, made at the first call: in `within`, or where temporary files are.

        It is removed when the bundle is: the caller keeps the bundle as long as it uses the folder.

        Raises:
            RunError: If the files cannot be written.
        """
        with _lock:
            if "folder" not in self._unpacked:
                try:
                    self._unpacked["folder"] = self._unpack(within)
                except OSError as error:
                    size = f"the files of the campaign ({self.size:,} bytes)"
                    raise RunError(f"{size} cannot be written on this worker: {error}") from error
            return self._unpacked["folder"]

    def here(self, run: PlannedRun, folder: Path) -> PlannedRun:
        """The run with the scenario of the unpacked folder."""
        return dataclasses.replace(run, scenario=folder / self.scenario)

    def as_there(self, text: str, folder: Path) -> str:
        """A message of a run as the machine of the campaign would have it: paths are those of its files."""
        return text.replace(str(folder), self.root.rstrip("/"))

    def _unpack(self, within: str | None) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="leobench-", dir=within)).resolve()
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        for path, content in self.files.items():
            if not _is_below(path):
                raise InputError(f"{path}: leads out of the folder of the campaign's files")
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        return folder


def _recorded_pages(campaign: Campaign, base: Path) -> set[str]:
    """The recorded pages of a campaign, except those with an absolute path."""
    text, is_json = _content(base).decode("utf-8", "replace"), base.suffix.lower() == ".json"
    found = [
        data_files.recorded_pages(text, campaign.overrides(each), is_json=is_json)
        for each in campaign.variants
    ]
    return {name for names in found for name in names if not Path(name).is_absolute()}


def _is_below(path: str) -> bool:
    steps = PurePosixPath(path)
    return not steps.is_absolute() and ".." not in steps.parts


def _content(file: Path) -> bytes:
    try:
        with open_regular(file) as opened:
            return opened.read()
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from error
