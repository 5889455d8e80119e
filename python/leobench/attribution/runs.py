"""The runs behind an explanation: which there are, and running them on several processors."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leobench.attribution import causes, links, places
from leobench.errors import RunError, ScenarioError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from concurrent.futures import Executor

    from leobench.attribution.causes import Evidence
    from leobench.attribution.subject import Subject

# Series and messages are not needed, and a run with thousands of streams would have many.
_UNRECORDED = {"record.series": False, "record.messages": False, "record.packets": False}


@dataclass(frozen=True)
class Case:
    """A run of an explanation.

    Attributes:
        seed: Its seed.
        without: The causes that are repaired.
        link: The only link that the flow has; all of its links if `None`.
        scheduler: A path scheduler in the place of the flow's own, if any.
    """

    seed: int
    without: frozenset[str] = frozenset()
    link: str | None = None
    scheduler: str | None = None

    def __str__(self) -> str:
        words = [f"seed {self.seed}"]
        words += [f"without {', '.join(sorted(self.without))}"] if self.without else []
        words += [f"over {self.link} alone"] if self.link is not None else []
        words += [f"with the path scheduler {self.scheduler}"] if self.scheduler is not None else []
        return ", ".join(words)


def changes(case: Case, subject: Subject, seen: Evidence) -> dict[str, Any]:
    """The values that a case replaces in the scenario, by place."""
    scenario = causes.repaired(subject, seen, case.without)
    if case.scheduler is not None:
        multipath = scenario["flows"][subject.flow]["transport"]["multipath"]
        multipath["scheduler"] = {"kind": case.scheduler}
    if case.link is not None:
        links.alone(scenario, subject, seen, case.link)
    return places.changes(subject.scenario, scenario)


def look(subject: Subject) -> Evidence:
    """Runs the scenario as it is and keeps what repairs need to know."""
    from leobench import engine
    from leobench.campaign.metrics import frame
    from leobench.scenario import load

    recorded = {"record.series": True, "record.messages": False, "record.packets": False}
    scenario = load(subject.file, subject.seed, {**subject.overrides, **recorded})
    ended = engine.run(scenario, engine.Recording())
    channel, routes, paths = (frame(ended.tables[name]) for name in ("channel", "routes", "paths"))
    return causes.Evidence(channel, routes, paths, json.loads(ended.summary))


def execute(file: str, seed: int, overrides: Sequence[tuple[str, object]], flow: str) -> dict[str, Any]:
    """Runs a case and returns the summary of the flow. Called in worker processes."""
    from leobench import engine
    from leobench.scenario import load

    ended = engine.run(load(file, seed, overrides), engine.Recording())
    summaries = json.loads(ended.summary)["flows"]
    found: dict[str, Any] = next(each for each in summaries if each["name"] == flow)
    return found


class Runner:
    """Runs cases once each, and keeps the values of the measure.

    Cases that change the same places of the scenario are one run.
    """

    def __init__(
        self,
        subject: Subject,
        seen: Evidence,
        executor: Executor | None,
        progress: Callable[[int, int], object],
    ) -> None:
        self._subject, self._seen = subject, seen
        self._executor, self._progress = executor, progress
        self._flows: dict[str, dict[str, Any]] = {}
        self._keys: dict[Case, str] = {}

    @property
    def count(self) -> int:
        """The number of different runs so far."""
        return len(self._flows)

    @property
    def cases(self) -> tuple[Case, ...]:
        """All cases so far."""
        return tuple(self._keys)

    def flow(self, case: Case) -> dict[str, Any]:
        """The summary of the flow in a case that was run."""
        return self._flows[self._keys[case]]

    def run(self, cases: Iterable[Case]) -> None:
        """Runs those of the cases that have not been run.

        Raises:
            RunError: If one fails; the message names it.
        """
        waiting: dict[str, tuple[Case, dict[str, Any]]] = {}
        for case in cases:
            if case in self._keys:
                continue
            changed = changes(case, self._subject, self._seen)
            key = json.dumps([case.seed, changed], sort_keys=True)
            self._keys[case] = key
            if key not in self._flows:
                waiting[key] = case, changed
        done, total = self.count, self.count + len(waiting)
        self._progress(done, total)
        for key, flow in self._outcomes(waiting):
            self._flows[key] = flow
            done += 1
            self._progress(done, total)

    def _outcomes(
        self, waiting: Mapping[str, tuple[Case, dict[str, Any]]]
    ) -> Iterable[tuple[str, dict[str, Any]]]:
        def arguments(case: Case, changed: Mapping[str, object]) -> tuple[Any, ...]:
            replaced = (self._subject.overrides, changed, _UNRECORDED)
            overrides = [pair for each in replaced for pair in each.items()]
            return str(self._subject.file), case.seed, overrides, self._subject.flow

        if self._executor is None:
            for key, (case, changed) in waiting.items():
                with _named(case):
                    flow = execute(*arguments(case, changed))
                yield key, flow
            return
        from leobench.campaign import processes

        futures = {
            self._executor.submit(execute, *arguments(case, changed)): (key, case)
            for key, (case, changed) in waiting.items()
        }
        for future in processes.as_completed(futures):
            key, case = futures[future]
            with _named(case):
                flow = future.result()
            yield key, flow


class _named:  # noqa: N801 (read as a statement)
    """Names the case in the message of a run that fails."""

    def __init__(self, case: Case) -> None:
        self._case = case

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, RunError | ScenarioError):
            raise type(error)(f"the run with {self._case}: {error}") from error
