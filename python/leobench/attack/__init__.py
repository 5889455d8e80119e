"""The adversary: the worst path for a congestion controller, within physical bounds, as a small scenario.

`space` has the paths and their bounds, `goals` what harm is, `search` looks for the worst path, and `shrink`
makes it small. `write` turns paths into scenarios, `evaluate` runs them, `store` keeps the harms, and
`outcome` writes what was found. CC-Fuzz (Ray and Seshan, HotNets 2022) searched traces of rates, losses and
cross traffic in this way, by a genetic algorithm.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from leobench.attack import evaluate, goals, measured, search, shrink, space, write
from leobench.attack.outcome import Outcome
from leobench.attack.store import Store, fingerprint
from leobench.errors import InputError, RunError, allowed, cut, positive

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor
    from pathlib import Path

    from leobench.attack.goals import Goal
    from leobench.attack.space import Kind
    from leobench.candidate import Candidate

# Of a budget in time: what the search spends; random points cost as much, and the rest is for shrinking.
_SHARE = 0.42
# Shifts of all events that tell a weakness from an accident of timing.
_LATER_MS = (1, 10)


def attack(  # noqa: PLR0913 (every option, by name)
    candidate: Candidate,
    goal: str,
    out: Path,
    *,
    against: Candidate | None = None,
    events: Sequence[str] | None = None,
    evaluations: int | None = None,
    seconds: float | None = None,
    seed: int = 1,
    workers: int | None = None,
    report: Callable[[str], object] = lambda _step: None,
) -> Outcome:
    """Searches the worst path for a controller, shrinks it, and writes it.

    The same seed and number of evaluations give the same bytes. An interrupted attack in `out` continues.

    Args:
        candidate: The controller.
        goal: The name of the goal.
        out: Folder to write to.
        against: A controller whose harm over the same path is subtracted, so that what harms both is no find.
        events: Kinds of events that the path may have; all that the goal allows unless given.
        evaluations: Evaluations of the search, and again of the random search beside it.
        seconds: Time for all, instead.
        seed: Of the search, and of the scenarios.
        workers: The number of processes; one per processor unless given.
        report: Called with the step of the search.

    Raises:
        InputError: If the goal, an event or a number is wrong, or `out` holds something else.
        RunError: If a run fails.
    """
    from leobench import _core

    aim = _goal(goal, events)
    budget = _budget(evaluations, seconds)
    candidates = [candidate] if against is None else [candidate, against]
    for each in candidates:
        _refuse_real(each)
    search.library()
    settings = {
        "leobench": _core.__version__,
        "controller": candidate.text,
        "against": None if against is None else against.text,
        "files": [fingerprint(each) for each in candidates],
        "transport": candidate.transport["kind"],
        "goal": goal,
        "events": list(aim.kinds),
        "seed": seed,
    }
    store = Store(out, settings)
    with _processes(workers) as executor:
        runs = Runs(candidates, aim, seed, store, executor)
        return _search(runs, budget, report).written(out, settings)


def _search(runs: Runs, budget: search.Budget, report: Callable[[str], object]) -> Outcome:
    """The stages of an attack."""
    goal = runs.goal

    def shown(stage: str) -> Callable[[search.Worst], object]:
        return lambda worst: report(
            f"{stage}: {worst.evaluations:,} evaluations, worst {worst.harm:.3g} {goal.unit}"
        )

    worst = search.adaptive(goal.kinds, runs.harms, runs.seed, budget, shown("searching"))
    beside = search.at_random(goal.kinds, runs.harms, runs.seed, worst.evaluations, shown("at random"))
    report("measured channels: the last comparison")
    known = runs.measured()
    # The worst of both searches is shrunk; the table says which one found it.
    path, harm = max(worst.found, beside.found, key=lambda each: each[1])
    small, kept = shrink.shrink(
        path, harm, runs.harms, lambda path: report(f"shrinking: {len(path.events)} events")
    )
    later = {f"{delay_ms} ms": runs.harms([space.later(small, delay_ms / 1e3)])[0] for delay_ms in _LATER_MS}
    return Outcome(runs.candidates, goal, runs.seed, worst, beside, known, (path, harm), (small, kept), later)


class Runs:
    """Evaluations, each of which is made once.

    Attributes:
        candidates: The attacked controller, and the one that it is held against, if any.
        goal: The goal.
        seed: Of the scenarios.
    """

    def __init__(
        self, candidates: Sequence[Candidate], goal: Goal, seed: int, store: Store, executor: Executor | None
    ) -> None:
        self.candidates, self.goal, self.seed = tuple(candidates), goal, seed
        self._store, self._executor = store, executor

    def harms(self, paths: Sequence[space.Path]) -> list[float]:
        """The harms of paths."""
        return self._of(
            [
                tuple(write.scenario(path, each, self.goal, self.seed) for each in self.candidates)
                for path in paths
            ]
        )

    def measured(self) -> dict[str, float]:
        """The worst harm of the draws of every measured channel."""
        worst = {}
        for name, channel in measured.CHANNELS.items():
            draws = [
                tuple(write.measured(channel, each, self.goal, self.seed + draw) for each in self.candidates)
                for draw in range(measured.DRAWS)
            ]
            worst[name] = max(self._of(draws))
        return worst

    def _of(self, runs: Sequence[tuple[str, ...]]) -> list[float]:
        keys = [evaluate.key(texts) for texts in runs]
        new = {key: texts for key, texts in zip(keys, runs, strict=True) if self._store.get(key) is None}
        self._store.add(zip(new, self._measure(list(new.values())), strict=True))
        found = [self._store.get(key) for key in keys]
        return [harm for harm in found if harm is not None]

    def _measure(self, runs: Sequence[tuple[str, ...]]) -> list[float]:
        given = (self.goal.name, self.candidates)
        pending: list[Callable[[], float]] = [
            partial(evaluate.harm, texts, *given)
            if self._executor is None
            else self._executor.submit(evaluate.harm, texts, *given).result
            for texts in runs
        ]
        found = []
        for harm in pending:
            try:
                found.append(harm())
            except evaluate.FailedRunError as error:
                file = self._store.keep_failed(error.scenario)
                for each in self.candidates:
                    each.copy_modules(file.parent)
                raise RunError(f"{file}: {error}") from None
        return found


def _goal(name: str, events: Sequence[str] | None) -> Goal:
    """The goal of a name, with the events that are allowed."""
    if name not in goals.GOALS:
        raise InputError(f"--goal {cut(name)}: there is no such goal; {allowed(name, goals.GOALS)}")
    goal = goals.GOALS[name]
    if events is None:
        return goal
    for event in events:
        if event not in goal.kinds:
            raise InputError(
                f"--events {cut(event)}: is no event of the goal `{name}`; {allowed(event, goal.kinds)}"
            )
    kinds: tuple[Kind, ...] = tuple(kind for kind in goal.kinds if kind in events)
    return replace(goal, kinds=kinds)


def _refuse_real(candidate: Candidate) -> None:
    if candidate.engine != "virtual":
        raise InputError(
            f"CONTROLLER {cut(candidate.text)}: runs in real time only, too slowly for a search; attack the "
            "controller of the same name of leobench, and measure the kernel's by tools/attack_kernel.py"
        )


def _budget(evaluations: int | None, seconds: float | None) -> search.Budget:
    if evaluations is not None:
        return search.Budget(evaluations=positive("--evaluations", evaluations))
    return search.Budget(seconds=_SHARE * (600.0 if seconds is None else seconds))


def _processes(workers: int | None):  # type: ignore[no-untyped-def] # noqa: ANN202
    from leobench.campaign import processes

    count = processes.available() if workers is None else positive("--workers", workers)
    return nullcontext() if count == 1 else processes.WorkerProcesses(count)


__all__ = ["Outcome", "RunError", "attack"]
