"""Explaining a flow with several paths: runs with and without each cause, and what they add up to."""

from __future__ import annotations

import json
import math
from contextlib import nullcontext
from typing import TYPE_CHECKING

from leobench.attribution import causes, links, runs, shapley, subject
from leobench.attribution.explanation import Explanation, Part, Run
from leobench.attribution.runs import Case
from leobench.errors import RunError, positive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager
    from os import PathLike

    from leobench.attribution.causes import Cause, Evidence
    from leobench.attribution.runs import Runner
    from leobench.attribution.subject import Subject
    from leobench.stats.estimate import Estimate

    Worth = Mapping[frozenset[str], float]

_CONFIDENCE = 0.95


def explain(
    scenario: str | PathLike[str],
    seed: int | None = None,
    overrides: Mapping[str, object] | None = None,
    *,
    flow: str | None = None,
    metric: str | None = None,
    seeds: int = 1,
    workers: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Explanation:
    """Explains a flow; the arguments are those of `leobench.why`.

    Raises:
        InputError: If the scenario or an argument is wrong, or no such flow has several paths.
        RunError: If a run fails, or measures nothing.
    """
    from leobench.campaign import processes

    count = positive("seeds", seeds)
    wanted = positive("workers", workers) if workers is not None else processes.available()
    processes.refuse_nested()
    asked = subject.of(scenario, seed, overrides, flow, metric)
    seen = runs.look(asked)
    chosen = range(asked.seed, asked.seed + count)
    with _executor(wanted) as executor:
        runner = runs.Runner(asked, seen, executor, progress or (lambda _done, _total: None))
        _choose_scheduler(runner, asked, seen, chosen)
        found = causes.present(asked, seen)
        runner.run(_cases(asked, found, chosen))
    return _Sums(runner, asked, seen, found, chosen).explanation()


def _executor(workers: int) -> AbstractContextManager[Executor | None]:
    from leobench.campaign.processes import WorkerProcesses

    return nullcontext() if workers == 1 else WorkerProcesses(workers)


def _choose_scheduler(runner: Runner, asked: Subject, seen: Evidence, seeds: Sequence[int]) -> None:
    """Tries all path schedulers in the place of the flow's own, and keeps the best if it is better."""
    own = asked.spec["transport"]["multipath"]["scheduler"]["kind"]
    others = [name for name in _schedulers() if name != own]
    tried = [None, *others]
    runner.run(Case(seed, scheduler=name) for seed in seeds for name in tried)

    def worth(name: str | None) -> float:
        return sum(_worth(runner, asked, Case(seed, scheduler=name)) for seed in seeds)

    seen.scheduler = max(tried, key=worth)


def _schedulers() -> Iterator[str]:
    """The path schedulers that need no parameters."""
    from leobench import _core, parameters

    kind = "path_schedulers"
    key, schema = _core.kind_schema(kind)
    known, refused = dict(_core.kinds(kind)), dict(_core.refused(kind))
    for name in (name for name in known if name not in refused):
        described = parameters.describe(json.loads(schema), key, kind, name, known)
        if not any(each["required"] for each in described["parameters"]):
            yield name


def _cases(asked: Subject, found: Sequence[Cause], seeds: Sequence[int]) -> Iterator[Case]:
    """All links together and each alone, without every subset of the causes."""
    for seed in seeds:
        for without in shapley.subsets([cause.name for cause in found]):
            yield Case(seed, without)
        for without in shapley.subsets([cause.name for cause in found if cause.of_one_path]):
            for link in asked.links:
                yield Case(seed, without, link)


def _value(runner: Runner, asked: Subject, case: Case) -> float | None:
    return asked.measure.of(runner.flow(case))


def _worth(runner: Runner, asked: Subject, case: Case) -> float:
    """The measure in a case, more being better.

    Raises:
        RunError: If nothing was measured.
    """
    value = _value(runner, asked, case)
    if value is None:
        raise RunError(
            f"the run with {case}: flow {asked.flow} has no {asked.measure.label}: nothing was delivered"
        )
    return asked.measure.sign * value


class _Sums:
    """The values of all runs, seed by seed, and what they add up to."""

    def __init__(
        self,
        runner: Runner,
        asked: Subject,
        seen: Evidence,
        found: Sequence[Cause],
        seeds: Sequence[int],
    ) -> None:
        self._runner, self._asked, self._seen = runner, asked, seen
        self._found, self._seeds = found, seeds
        self._names = [cause.name for cause in found]
        self._of_one = [cause.name for cause in found if cause.of_one_path]
        self._together = {seed: self._worth_together(seed) for seed in seeds}
        self._apart = {seed: self._worth_apart(seed) for seed in seeds}

    def _worth_together(self, seed: int) -> Worth:
        return {
            without: _worth(self._runner, self._asked, Case(seed, without))
            for without in shapley.subsets(self._names)
        }

    def _worth_apart(self, seed: int) -> Worth:
        """The worth of the links one by one: no more than the flow offers, or a shared link carries."""
        return {without: self._yardstick(seed, without) for without in shapley.subsets(self._of_one)}

    def _yardstick(self, seed: int, without: frozenset[str]) -> float:
        measure = self._asked.measure
        cases = [Case(seed, without, link) for link in self._asked.links]
        values = [_value(self._runner, self._asked, case) for case in cases]
        known = [value for value in values if value is not None]
        if not any(known):
            raise RunError(
                f"the run with {cases[0]}, and those over every other link alone, delivered nothing"
            )
        value = measure.yardstick(known)
        if measure.name == "goodput":
            offered = self._runner.flow(cases[0])["offered_bps"] or math.inf
            value = min(value, offered, links.shared_bps(self._asked, self._seen))
        return measure.sign * value

    def explanation(self) -> Explanation:
        """The explanation."""
        every, none = frozenset(self._names), frozenset[str]()
        all_of_one = frozenset(self._of_one)
        sign = self._asked.measure.sign
        together, apart = self._together, self._apart
        parts = self._parts()
        return Explanation(
            scenario=self._asked.scenario["name"],
            flow=self._asked.flow,
            links=self._asked.links,
            seeds=tuple(self._seeds),
            measure=self._asked.measure,
            measured=self._mean(sign * together[seed][none] for seed in self._seeds),
            ideal=self._mean(sign * apart[seed][all_of_one] for seed in self._seeds),
            alone=self._mean(sign * apart[seed][none] for seed in self._seeds),
            each={link: self._each(link) for link in self._asked.links},
            repaired=self._mean(sign * together[seed][every] for seed in self._seeds),
            parts=tuple(sorted(parts, key=lambda part: -part.lost.value)),
            unexplained=self._mean(apart[seed][all_of_one] - together[seed][every] for seed in self._seeds),
            unmeasured={cause: tuple(reasons) for cause, reasons in self._seen.unmeasured.items()},
            labels={cause.name: self._label(cause) for cause in causes.CAUSES},
            runs=tuple(self._runs()),
            count=self._runner.count,
        )

    def _label(self, cause: Cause) -> str:
        here = cause in self._found or cause.name in self._seen.unmeasured
        return cause.label if here else f"{cause.label} ({cause.absent})"

    def _parts(self) -> Iterator[Part]:
        lost = {seed: shapley.shares(self._together[seed], self._names) for seed in self._seeds}
        alone = {seed: shapley.shares(self._apart[seed], self._of_one) for seed in self._seeds}
        none = frozenset[str]()
        for cause in self._found:
            name = cause.name
            yield Part(
                cause=name,
                label=cause.label,
                lost=self._mean(lost[seed][name] for seed in self._seeds),
                alone=self._mean(alone[seed].get(name, 0.0) for seed in self._seeds),
                regained=self._mean(
                    self._together[seed][none | {name}] - self._together[seed][none] for seed in self._seeds
                ),
                changes=runs.changes(Case(self._seeds[0], frozenset([name])), self._asked, self._seen),
                advice=cause.advice(self._asked, self._seen),
            )

    def _each(self, link: str) -> Estimate | None:
        """A link alone."""
        values = [_value(self._runner, self._asked, Case(seed, link=link)) for seed in self._seeds]
        known = [value for value in values if value is not None]
        return self._mean(known) if known else None

    def _mean(self, values: Iterable[float]) -> Estimate:
        from leobench import stats

        return stats.mean_interval(list(values), _CONFIDENCE, "t")

    def _runs(self) -> Iterator[Run]:
        for case in self._runner.cases:
            value = _value(self._runner, self._asked, case)
            if value is not None:
                yield Run(case.seed, tuple(sorted(case.without)), case.link, case.scheduler, value)
