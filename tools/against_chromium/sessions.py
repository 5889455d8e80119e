"""Sessions of both engines over one link: programs in real time, and the model in virtual time."""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import leobench
from leobench.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leobench.result import Result

T = TypeVar("T")
# The near host of the scenarios here, and the far one.
NEAR, FAR = "client", "server"
# A browser's threads wait for each other on few processors; the link's own punctuality is judged as ever.
REAL = {"settle": "100 ms", "busy": 1.0, "waited": 1.0}


@dataclass(frozen=True)
class Real:
    """The outcome of a session in real time.

    Attributes:
        valid: Whether its clock can be trusted.
        reasons: Why not.
        wrote: What its main program wrote.
        started_s: The time of day in seconds at which the network started.
    """

    valid: bool
    reasons: tuple[str, ...]
    wrote: Any
    started_s: float


def scenario(
    links: dict[str, Any], flow: dict[str, Any] | None = None, duration: str = "120 s"
) -> dict[str, Any]:
    """A scenario of two hosts and links between them, with a flow for virtual time."""
    between = {name: {"between": [NEAR, FAR], **link} for name, link in links.items()}
    made = {"name": "against-chromium", "nodes": {NEAR: {}, FAR: {}}, "links": between, "duration": duration}
    return made if flow is None else made | {"flows": {"main": flow}}


def virtual(spec: dict[str, Any], seed: int, folder: Path, out: Path | None = None) -> Result:
    """Runs a scenario in virtual time; its files are in `folder`."""
    with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".json", encoding="utf-8") as file:
        json.dump(spec, file)
        file.flush()
        return leobench.run(file.name, seed=seed, out=out, force=True)


def real(
    spec: dict[str, Any], seed: int, programs: Callable[[Path], Sequence[tuple[str, Sequence[str]]]]
) -> Real:
    """Runs programs on the hosts of a scenario.

    Args:
        spec: The scenario; its flows are left out.
        seed: The seed of the links.
        programs: Pairs of a host and a module of this package with arguments, for a folder in which they may
            meet; the last one writes JSON to the file `out` there.

    Raises:
        RunError: If a program fails.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        file = folder / "scenario.json"
        file.write_text(json.dumps(spec | {"real": REAL}), encoding="utf-8")
        # A browser that is ended with the session leaves its profile behind, in the folder that is removed.
        words = [
            (host, ["env", f"TMPDIR={folder}", sys.executable, "-m", f"{__package__}.{module}", *more])
            for host, (module, *more) in programs(folder)
        ]
        ended = leobench.emulate(file, words, seed=seed, out=folder / "network")
        if ended.code != 0 or not (folder / "out").exists():
            raise RunError(f"{programs(folder)[-1][1][0]}: failed with exit code {ended.code}")
        wrote = json.loads((folder / "out").read_text(encoding="utf-8"))
        manifest = json.loads((folder / "network" / "manifest.json").read_text(encoding="utf-8"))
    return Real(ended.valid, tuple(ended.reasons), wrote, manifest["clock"]["started_unix_ns"] / 1e9)


def until_valid(subject: str, count: int, run: Callable[[int], tuple[Real, T]]) -> tuple[list[T], str]:
    """Repeats sessions until so many were valid, at most twice as many.

    Args:
        subject: Their name in reports of progress on the standard error.
        count: How many valid ones are needed.
        run: Runs the session of a seed; the seeds count from 1.

    Returns:
        The measurements of valid sessions, and how many of all they were, with the first reason against one.
    """
    measured: list[T] = []
    reasons: list[str] = []
    tries = 0
    while len(measured) < count and tries < 2 * count:
        tries += 1
        session, outcome = run(tries)
        print(f"{subject} {tries}: {'; '.join(session.reasons) or 'valid'}: {outcome}", file=sys.stderr)
        if session.valid:
            measured.append(outcome)
        else:
            reasons.extend(session.reasons)
    told = f"{len(measured)} of {tries} valid"
    return measured, f"{told}: {reasons[0]}" if reasons else told
