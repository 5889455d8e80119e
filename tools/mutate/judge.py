"""Judges a case: leobench answers it, or refuses it in one line, within bounds, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import shutil
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hostile import SCENARIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Characters of the longest message: a place, a value, a problem, and a list of forty words of up to eighty.
LONGEST_MESSAGE = 5_500
# Characters of what a plug-in raised, with its traceback.
LONGEST_TRACEBACK = 20_000
# Seconds for which the time of a run may stand still.
LONGEST_INSTANT = 8.0
# Seconds of wall time after which a run that advances is left alone.
LONG_ENOUGH = 5.0


@dataclass(frozen=True)
class Case:
    """Something to try.

    Attributes:
        name: Its number and what it is.
        folder: The folder with copies of all shipped scenarios and campaigns.
        kind: `scenario` and `campaign` are checked, `run` is also run, and `plugin` is run.
        base: The shipped file that it is made from, relative to `folder`, or the name of a plug-in.
        content: The mutated file, or the module of a plug-in.
    """

    name: str
    folder: Path
    kind: str
    base: str
    content: bytes

    @property
    def file(self) -> Path:
        """Its path during the trial: beside its base, because it may name the same files."""
        if self.kind == "plugin":
            return self.folder / self.name / "hostile.toml"
        base = self.folder / self.base
        return base.with_name(f"{self.name}{base.suffix}")

    @property
    def command(self) -> str:
        """The command that shows it."""
        if self.kind == "campaign":
            return f"leobench sweep {self.file}"
        if self.kind == "scenario":
            return f"leobench check {self.file}"
        return f"leobench run {self.file} --out {self.file.with_suffix('')}-out --set duration='1 s'"


class _EnoughError(Exception):
    """A run takes its time, and advances."""


class _StuckError(Exception):
    """A run takes its time, and does not advance."""


def judge(case: Case) -> str | None:
    """Describes the fault in how leobench handles a case, whose file is then kept; `None` without a fault."""
    case.file.parent.mkdir(exist_ok=True)
    if case.kind == "plugin":
        case.file.write_text(SCENARIO, encoding="utf-8")
        case.file.with_suffix(".py").write_bytes(case.content)
    else:
        case.file.write_bytes(case.content)
    work: dict[str, Callable[[Case], str | None]] = {"scenario": _check, "campaign": _campaign}
    verdict = _answer(case, work.get(case.kind, _run))
    left = sorted(_left(case))
    if verdict is None and left:
        verdict = f"leaves {', '.join(left)}"
    if verdict is None:
        case.file.unlink()
    return verdict


def _left(case: Case) -> Iterator[str]:
    """Whatever is left of a case beside what was written for it; other cases come and go meanwhile."""
    for folder, folders, files in os.walk(case.file.parent):
        if "__pycache__" in folders:
            folders.remove("__pycache__")
        for name in (*folders, *files):
            is_own = Path(folder) == case.file.parent and name in (case.file.name, "hostile.py")
            if case.name in f"{folder}/{name}" and not is_own:
                yield name


def _answer(case: Case, work: Callable[[Case], str | None]) -> str | None:
    try:
        return work(case)
    except _EnoughError:
        return None
    except BaseException as error:
        return _refusal(error, case)


def _refusal(error: BaseException, case: Case) -> str | None:
    """Describes the fault in an exception or its message; `None` without a fault."""
    from leobench.errors import InputError, RunError

    if isinstance(error, _StuckError):
        return f"stands still at {error} s"
    if isinstance(error, RunError) and case.kind in ("scenario", "campaign"):
        return f"a check fails as a run: {error}"
    if not isinstance(error, InputError | RunError):
        last = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__}: {error}"[:300]
        return f"raises {text} ({Path(last.filename).name}, line {last.lineno})"
    return _message(str(error), case, "refused" if isinstance(error, InputError) else "failed")


def _message(text: str, case: Case, how: str) -> str | None:
    """Describes a message that is too long, not printable, or echoes too much; `None` if it is fine."""
    said = text.replace(str(case.file), "FILE")
    raised = ": raised " in said.partition("\n")[0]
    longest = LONGEST_TRACEBACK if raised else LONGEST_MESSAGE
    if len(said) > longest:
        return f"{how} with {len(said)} characters: {said[:200]!r}"
    plain = said.replace("\n", "") if raised else said
    if not plain.isprintable():
        bad = next(char for char in plain if not char.isprintable())
        return f"{how} with the character {bad!r}: {said[:300]!r}"
    echoed = re.findall(r'"[^"]{400,}"', said)
    if echoed and not raised:
        return f"{how} with a long echo: {echoed[0][:120]!r}"
    return None


def _check(case: Case) -> None:
    import leobench

    leobench.check(case.file)


def _campaign(case: Case) -> None:
    from leobench.campaign import Campaign

    campaign = Campaign.load(case.file)
    # Each variant is a scenario to check; the first ones show what there is to show.
    campaign.restricted([variant.name for variant in campaign.variants[:2]]).plan()


def _run(case: Case) -> str | None:
    import leobench

    out = case.file.with_suffix("").with_name(f"{case.file.stem}-out")
    began = moved = time.monotonic()
    reached = -1.0

    def progress(now: float, end: float, packets: int) -> None:
        del end, packets
        nonlocal moved, reached
        if now > reached:
            moved, reached = time.monotonic(), now
        if time.monotonic() - moved > LONGEST_INSTANT:
            raise _StuckError(f"{reached:.9f}")
        if time.monotonic() - began > LONG_ENOUGH:
            raise _EnoughError

    overrides = {"duration": "1 s", "until": "time", "warm_up": "0 s"}
    # A mutant with an engine of its own would need a network of the machine's.
    overrides |= {"engine": "virtual", "limits.memory": "300 MB", "limits.tables": "300 MB"}
    result = leobench.run(case.file, overrides=overrides, out=out, progress=progress)
    if not result.summary or not (out / "summary.json").is_file():
        return "ends without a result"
    leobench.open(out)
    shutil.rmtree(out)
    return None
