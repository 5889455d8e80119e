"""Runs the cells of targets, seed by seed, until the verdicts are known."""

from __future__ import annotations

import dataclasses
import time
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from leobench import manifest
from leobench.agreement import judge as judging
from leobench.agreement import measures
from leobench.campaign import Status, dataset, provenance, store
from leobench.campaign import metrics as summaries
from leobench.campaign.runner import outcomes
from leobench.durations import seconds
from leobench.errors import InputError, RunError, positive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from leobench.agreement.judge import Finding, Verdict
    from leobench.agreement.target import Target
    from leobench.campaign import PlannedRun
    from leobench.campaign.store import Outcome, Store

    Numbers = Mapping[str, float | None]

# Two runs are the fewest with an interval.
_FEWEST = 2


@dataclass(frozen=True)
class Cell:
    """The results of one cell of a target.

    Attributes:
        target: The name of the target.
        name: The name of the cell; `base` for a scenario.
        seeds: The seeds that both sides have finished.
        findings: How the sides compare, by flow and measure.
        failures: The errors of failed runs.
    """

    target: str
    name: str
    seeds: tuple[int, ...]
    findings: tuple[Finding, ...]
    failures: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Whether the sides agree in all measures."""
        return judging.overall(self.findings)


@dataclass(frozen=True)
class Report:
    """The results of all cells of all targets.

    Attributes:
        axis: The axis of the sides, such as `stack`.
        sides: Their names.
        cells: The cells, in the order of the targets.
        warnings: Reasons to distrust the numbers of some runs, a line each.
    """

    axis: str
    sides: tuple[str, str]
    cells: tuple[Cell, ...]
    warnings: tuple[str, ...] = ()

    def count(self, verdict: Verdict) -> int:
        """The number of cells with this verdict."""
        return sum(cell.verdict == verdict for cell in self.cells)


def compare(  # noqa: PLR0913 (every option, by name)
    targets: Sequence[Target],
    out: str | PathLike[str],
    *,
    seeds: int,
    most_seeds: int | None = None,
    workers: int | None = None,
    resume: bool = False,
    force: bool = False,
    progress: Callable[[Status], object] | None = None,
    done: Callable[[Report], object] | None = None,
) -> Report:
    """Runs every cell of the targets with both sides under the same seeds, and compares them.

    Args:
        targets: What is compared; all have the same sides.
        out: Folder for the runs: a campaign folder for each target.
        seeds: Seeds of every cell.
        most_seeds: Cells with a verdict of "cannot tell" get more seeds, up to this number, their number
            doubled each time. As many as `seeds` unless given.
        workers: As in `leobench.sweep`; 1 if a side needs the machine for itself.
        resume: As in `leobench.sweep`; the numbers of seeds may change.
        force: As in `leobench.sweep`.
        progress: As in `leobench.sweep`; the total grows as seeds are added.
        done: Called with what is known whenever all cells have the seeds that they were to have.

    Raises:
        InputError: If a target or an argument is wrong, or the results cannot go to `out`.
        RunError: If the runs cannot go on; finished runs are kept.
    """
    most = seeds if most_seeds is None else most_seeds
    _check(targets, seeds, most, workers)
    with ExitStack() as stack:
        opened = [
            stack.enter_context(_opened(target, Path(out), resume=resume, force=force)) for target in targets
        ]
        if any(side.alone for target in targets for side in target.sides):
            workers = 1
        rounds = _Rounds(opened, workers, progress or (lambda _: None))
        number = seeds
        while True:
            report = rounds.run(number)
            if done is not None:
                done(report)
            if number >= most or not rounds.undecided:
                break
            number = min(2 * number, most)
        for each in opened:
            each.finish()
    return report


def _check(targets: Sequence[Target], seeds: int, most: int, workers: int | None) -> None:
    if workers is not None:
        positive("workers", workers)
    ceiling = min(target.campaign.replicates for target in targets)
    if not _FEWEST <= seeds <= ceiling:
        raise InputError(f"--seeds {seeds}: allowed: a whole number from {_FEWEST} to {ceiling:,}")
    if not seeds <= most <= ceiling:
        raise InputError(f"--max-seeds {most}: allowed: a whole number from --seeds, {seeds}, to {ceiling:,}")
    names = [target.name for target in targets]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            f"{twice}: two files have this name; allowed: scenarios and campaigns of different names"
        )


def _opened(target: Target, out: Path, *, resume: bool, force: bool) -> _Opened:
    return _Opened(target, out / target.name, resume=resume, force=force)


class _Opened:
    """A target whose folder is open.

    Attributes:
        target: The target.
        undecided: Cells whose verdicts more seeds may change.
    """

    def __init__(self, target: Target, folder: Path, *, resume: bool, force: bool) -> None:
        self.target = target
        self.undecided: list[str] = list(target.cells)
        self._plan: dict[str, list[PlannedRun]] = {}
        for run in target.campaign.plan():
            self._plan.setdefault(run.variant, []).append(run)
        self._seeds = dict.fromkeys(target.cells, 0)
        identity = provenance.identity(target.campaign)
        self._stack = ExitStack()
        self._context = store.opened(folder, identity, resume=resume, force=force)
        self._warm_up = {
            name: seconds(scenario["warm_up"]) for name, scenario in target.campaign.scenarios.items()
        }

    def __enter__(self) -> _Opened:
        self.store: Store = self._stack.enter_context(self._context)
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def planned(self, number: int) -> list[PlannedRun]:
        """The runs of all cells, if undecided cells get so many seeds; seed by seed, both sides together."""
        for cell in self.undecided:
            self._seeds[cell] = number
        return [
            self._plan[variant][seed]
            for seed in range(max(self._seeds.values()))
            for cell, variants in self.target.cells.items()
            if seed < self._seeds[cell]
            for variant in variants
        ]

    def write(self, run: PlannedRun, outcome: Outcome) -> None:
        """Stores a finished run, with its mean windows in place of its tables."""
        if outcome.summary is not None:
            table = outcome.tables[measures.WINDOWS]
            measures.add_windows(outcome.summary, table, self._warm_up[run.variant])
        self.store.write(run, dataclasses.replace(outcome, tables={}))

    def cells(self) -> Iterator[Cell]:
        """Compares the finished runs of each cell."""
        self.undecided = []
        for name, variants in self.target.cells.items():
            cell = self._cell(name, variants)
            if not judging.decided(cell.findings) or not cell.findings:
                self.undecided.append(name)
            yield cell

    def _cell(self, name: str, variants: tuple[str, str]) -> Cell:
        seeds, failures = [], []
        sides: tuple[list[Numbers], list[Numbers]] = ([], [])
        for pair in zip(*(self._plan[variant][: self._seeds[name]] for variant in variants), strict=True):
            found = [self.store.read(run) for run in pair]
            failures += [
                f"{self.target.name}: {run.variant}, seed {run.seed}: {outcome.error}"
                for run, outcome in zip(pair, found, strict=True)
                if outcome is not None and outcome.error is not None
            ]
            numbers = [
                summaries.flatten(outcome.summary)
                for outcome in found
                if outcome is not None and outcome.summary is not None
            ]
            if len(numbers) == len(pair):
                seeds.append(pair[0].seed)
                for side, values in zip(sides, numbers, strict=True):
                    side.append(values)
        findings = tuple(
            judging.judge(flow, measure, *(_values(side, flow, measure.path) for side in sides))
            for flow in self.target.flows[name]
            for measure in self.target.sides[0].measures
            if seeds
        )
        return Cell(self.target.name, name, tuple(seeds), findings, tuple(failures))

    def warnings(self) -> Iterator[str]:
        """A line per kind of doubt about the finished runs."""
        first: dict[str, tuple[PlannedRun, str]] = {}
        count: dict[str, int] = {}
        runs = self.finished()
        for run in runs:
            outcome = self.store.read(run)
            for doubt in outcome.doubts if outcome is not None else ():
                first.setdefault(doubt.kind, (run, doubt.text))
                count[doubt.kind] = count.get(doubt.kind, 0) + 1
        for kind, (run, text) in first.items():
            which = f"{count[kind]} of {len(runs)} runs, first {run.variant}, seed {run.seed}"
            yield f"{self.target.name}: {which}: {text}"

    def finished(self) -> list[PlannedRun]:
        """The runs that cells have been given, in the order of the plan."""
        return [
            run
            for name, variants in self.target.cells.items()
            for variant in variants
            for run in self._plan[variant][: self._seeds[name]]
        ]

    def finish(self) -> None:
        """Writes the datasets of the campaign folder."""
        dataset.write(dataclasses.replace(self.target.campaign, tables=()), self.finished(), self.store)
        self.store.describe(complete=True)
        self.store.clear()


class _Rounds:
    """Runs all targets with more and more seeds."""

    def __init__(
        self, opened: Sequence[_Opened], workers: int | None, progress: Callable[[Status], object]
    ) -> None:
        self._opened, self._workers, self._progress = opened, workers, progress
        self._kept: int | None = None

    @property
    def undecided(self) -> bool:
        """Whether more seeds may change a verdict."""
        return any(each.undecided for each in self._opened)

    def run(self, number: int) -> Report:
        """Gives undecided cells so many seeds, and compares all."""
        plans = [each.planned(number) for each in self._opened]
        missing, failed = [], 0
        for each, plan in zip(self._opened, plans, strict=True):
            known = {run.stem: each.store.read(run) for run in plan}
            failed += sum(outcome is not None and outcome.error is not None for outcome in known.values())
            missing.append([run for run in plan if known[run.stem] is None])
        total = sum(map(len, plans))
        before = total - sum(map(len, missing))
        if self._kept is None:
            self._kept = before
        status = Status(before, failed, total, self._kept)
        self._progress(status)
        for each, runs in zip(self._opened, missing, strict=True):
            for outcome in self._execute(each, runs):
                failed = status.failed + (outcome.error is not None)
                status = dataclasses.replace(status, done=status.done + 1, failed=failed)
                self._progress(status)
        return self._report()

    def _execute(self, opened: _Opened, runs: Sequence[PlannedRun]) -> Iterator[Outcome]:
        """Executes runs and stores them; notes the session in the manifest even if interrupted."""
        if not runs:
            return
        started, finished = time.perf_counter(), 0
        try:
            with closing(outcomes(runs, (measures.WINDOWS,), None, self._workers)) as found:
                for run, outcome in found:
                    opened.write(run, outcome)
                    finished += 1
                    yield outcome
        except RunError as error:
            raise RunError(
                f"{error}; finished runs are kept: continue with --resume (resume=True)"
            ) from error
        finally:
            session = {
                "runs": finished,
                "wall_s": round(time.perf_counter() - started, 3),
                "machine": manifest.machine(),
            }
            with suppress(RunError):  # The disk may be full, which is already being reported.
                opened.store.describe(complete=False, session=session)

    def _report(self) -> Report:
        cells = tuple(cell for each in self._opened for cell in each.cells())
        warnings = tuple(line for each in self._opened for line in each.warnings())
        sides = self._opened[0].target.sides
        return Report(sides[0].axis, (sides[0].name, sides[1].name), cells, warnings)


def _values(side: Iterable[Numbers], flow: str, path: str) -> list[float | None]:
    return [numbers.get(f"flows.{flow}.{path}") for numbers in side]
