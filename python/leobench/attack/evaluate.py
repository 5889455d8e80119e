"""The harm of a scenario, measured by one run in a worker process or in this one."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from leobench.attack import goals
from leobench.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leobench.attack.goals import Seen
    from leobench.candidate import Candidate
    from leobench.engine import Finished

# Significant digits of a harm that is written down.
_DIGITS = 9


class FailedRunError(RunError):
    """A run of an attack failed.

    Attributes:
        scenario: The text of its scenario.
    """

    def __init__(self, message: str, scenario: str) -> None:
        super().__init__(message, scenario)
        self.scenario = scenario

    def __str__(self) -> str:
        return str(self.args[0])


def key(texts: Sequence[str]) -> str:
    """The name under which the harm of a scenario, or of two, is kept."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:24]


def run(text: str, candidate: Candidate) -> Finished:
    """Runs a scenario, with the modules of the controller beside it.

    Raises:
        RunError: If the run fails.
    """
    from leobench import engine
    from leobench.scenario import load

    with tempfile.TemporaryDirectory(prefix="leobench-attack-") as folder:
        file = Path(folder) / "scenario.toml"
        file.write_text(text, encoding="utf-8")
        candidate.copy_modules(Path(folder))
        return engine.run(load(file), engine.Recording())


def look(text: str, candidate: Candidate) -> Seen:
    """Runs a scenario and returns what goals see of it.

    Raises:
        FailedRunError: If the run fails.
    """
    try:
        return goals.seen(run(text, candidate))
    except RunError as error:
        raise FailedRunError(str(error), text) from error


def harm(texts: Sequence[str], goal: str, candidates: Sequence[Candidate]) -> float:
    """The harm of a scenario, by the name of the goal; with a second one, beyond the harm of that.

    Args:
        texts: A scenario for each of the candidates, over the same path.
        goal: The name of the goal.
        candidates: The attacked controller, and the one that it is held against, if any.
    """
    found = [
        goals.GOALS[goal].measure(look(text, candidate))
        for text, candidate in zip(texts, candidates, strict=True)
    ]
    return float(f"{found[0] - sum(found[1:]):.{_DIGITS}g}")
