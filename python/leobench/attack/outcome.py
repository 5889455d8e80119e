"""The outcome of an attack, and its files: scenario, run, figure and numbers."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from leobench.attack import evaluate, measured, shrink, write
from leobench.attack.store import OUTCOME
from leobench.files import write_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from leobench.attack import space
    from leobench.attack.goals import Goal
    from leobench.attack.search import Worst
    from leobench.candidate import Candidate

SCENARIO, FOUND, RUN, FIGURE = "scenario.toml", "found.toml", "run", "attack.png"

Harmed = tuple["space.Path", float]


@dataclass(frozen=True)
class Outcome:
    """The outcome of an attack.

    Attributes:
        candidates: The attacked controller, and the one that it is held against, if any.
        goal: The goal.
        seed: Of the search and the runs.
        search: The search by CMA-ES.
        beside: The random search.
        measured: The worst harm of each measured channel.
        found: The worst path of both searches, and its harm.
        small: The shrunk path, and its harm.
        later: Harms of the shrunk path with all events later, by how much.
    """

    candidates: tuple[Candidate, ...]
    goal: Goal
    seed: int
    search: Worst
    beside: Worst
    measured: Mapping[str, float]
    found: Harmed
    small: Harmed
    later: Mapping[str, float]

    def rows(self) -> list[tuple[str, float, str]]:
        """The comparison as a table: what was tried, the worst harm, and how many of it there were."""
        draws = f"{measured.DRAWS} draws"
        return [
            ("CMA-ES", self.search.harm, f"{self.search.evaluations:,} paths"),
            ("random paths", self.beside.harm, f"{self.beside.evaluations:,} paths"),
            *((f"measured: {name}", harm, draws) for name, harm in self.measured.items()),
            ("shrunk", self.small[1], f"{len(self.small[0].events)} of {len(self.found[0].events)} events"),
            *((f"shrunk, events {delay} later", harm, "1 path") for delay, harm in self.later.items()),
        ]

    def text(self, path: space.Path, harm: float) -> str:
        """The scenario of a path, with what it shows."""
        plain = write.scenario(path, self.candidates[0], self.goal, self.seed)
        first, rest = plain.split("\n", 1)
        return f"{first}\ndescription = {json.dumps(self.title(harm))}\n{rest}"

    def to_dict(self) -> dict[str, Any]:
        """The outcome as JSON has it, without the settings."""
        return {
            "unit": self.goal.unit,
            "meaning": self.goal.meaning,
            "evaluations": self.search.evaluations,
            "harm": {
                "search": self.search.harm,
                "random": self.beside.harm,
                "measured": dict(self.measured),
                "found": self.found[1],
                "shrunk": self.small[1],
                "shrunk_later": dict(self.later),
            },
            "kept": self.small[1] / self.found[1] if self.found[1] > 0 else None,
            "kept_at_least": shrink.KEPT,
            "curve": {"search": self.search.curve, "random": self.beside.curve},
            "path": asdict(self.small[0]),
            "found": asdict(self.found[0]),
        }

    def written(self, out: Path, settings: Mapping[str, Any]) -> Outcome:
        """Writes scenarios, the run with its captures, the figure and `attack.json`; returns itself.

        Raises:
            InputError: If they cannot be written.
        """
        from leobench import api, plots
        from leobench.plots import attack as figure
        from leobench.scenario import load

        candidate = self.candidates[0]
        candidate.copy_modules(out)
        write_text(out / SCENARIO, self.text(*self.small))
        write_text(out / FOUND, self.text(*self.found))
        has_qlog = candidate.transport["kind"] == "quic"
        api.run_loaded(load(out / SCENARIO), out / RUN, force=True, qlog=has_qlog, pcap=not has_qlog)
        seen = evaluate.look((out / SCENARIO).read_text(encoding="utf-8"), candidate)
        plots.save(figure.draw(seen, self.small[0], self.title(self.small[1])), out / FIGURE)
        write_text(out / OUTCOME, json.dumps({**settings, **self.to_dict()}, indent=2) + "\n")
        return self

    def title(self, harm: float) -> str:
        """One line on a path with such a harm."""
        beyond = "".join(f" more than {each.name}" for each in self.candidates[1:])
        return f"{self.candidates[0].name}: {self.goal.name} {harm:.3g} {self.goal.unit}{beyond}"
