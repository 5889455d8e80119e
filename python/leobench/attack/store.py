"""The folder of an attack: what it is about, and the harm of every run so far."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench.errors import InputError, cut
from leobench.files import read_text, write_text, writing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from leobench.candidate import Candidate

SETTINGS, EVALUATIONS, OUTCOME, FAILED = "settings.json", "evaluations.jsonl", "attack.json", "failed.toml"


def fingerprint(candidate: Candidate) -> str:
    """A digest of the files that a controller consists of; empty for one that is built in."""
    files = [candidate.folder / name for name in candidate.modules]
    congestion = candidate.transport.get("congestion")
    if isinstance(congestion, dict) and "library" in congestion:
        files.append(Path(congestion["library"]))
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16] if files else ""


class Store:
    """The harms by scenario, kept in a file to which every batch is appended in order."""

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        """Opens the folder of an attack, or makes it.

        Raises:
            InputError: If the folder holds something else, or the attack of other settings.
        """
        self._folder, self._file = folder, folder / EVALUATIONS
        self._harms: dict[str, float] = {}
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            is_new = not any(folder.iterdir())
        if is_new:
            write_text(folder / SETTINGS, json.dumps(settings, indent=2) + "\n")
            return
        self._refuse_other(folder, settings)
        self._read()

    @staticmethod
    def _refuse_other(folder: Path, settings: Mapping[str, Any]) -> None:
        try:
            there = json.loads(read_text(folder / SETTINGS))
            keys = there.keys()
        except (OSError, ValueError, AttributeError):
            raise InputError(
                f"{folder}: exists already and is no folder of `leobench attack`; choose another with --out"
            ) from None
        for key in (*settings, *keys):
            if key == "files" and there.get(key) != settings.get(key):
                raise InputError(
                    f"{folder}: holds another attack, whose files of the controller had other contents; "
                    "choose another folder with --out"
                )
            if there.get(key) != settings.get(key):
                raise InputError(
                    f"{folder}: holds another attack, whose {key} is {cut(json.dumps(there.get(key)))}, not "
                    f"{cut(json.dumps(settings.get(key)))}; choose another folder with --out"
                )

    def _read(self) -> None:
        """Reads the harms; a line that an interruption cut is written again."""
        whole = ""
        for line in read_text(self._file).splitlines(keepends=True) if self._file.exists() else ():
            try:
                row = json.loads(line)
                self._harms[row["run"]] = float(row["harm"])
            except (ValueError, KeyError, TypeError):
                break
            whole += line if line.endswith("\n") else f"{line}\n"
        write_text(self._file, whole)

    def __len__(self) -> int:
        return len(self._harms)

    def get(self, run: str) -> float | None:
        """The harm of a run, if it has been evaluated."""
        return self._harms.get(run)

    def keep_failed(self, text: str) -> Path:
        """Writes a scenario whose run failed, and returns its file."""
        file = self._folder / FAILED
        write_text(file, text)
        return file

    def add(self, rows: Iterable[tuple[str, float]]) -> None:
        """Keeps the harms of runs."""
        lines = []
        for run, harm in rows:
            self._harms[run] = harm
            lines.append(json.dumps({"run": run, "harm": harm}) + "\n")
        with writing(self._file), self._file.open("a", encoding="utf-8") as file:
            file.writelines(lines)
