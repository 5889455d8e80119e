"""One run of a campaign, and executing many: in this process or on an executor."""

from __future__ import annotations

import itertools
import json
from concurrent.futures import BrokenExecutor, CancelledError
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from leobench.campaign import metrics, provenance, spreads
from leobench.campaign.store import Outcome
from leobench.errors import InputError, RunError, ScenarioError
from leobench.folder import ORBIT_TABLES
from leobench.scenario import load as load_scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence
    from concurrent.futures import Executor, Future

    from leobench.campaign.plan import PlannedRun

    Outcomes = Generator[tuple[PlannedRun, Outcome], None, None]


# Runs that an executor has at a time: enough for any cluster, few enough to be held in memory.
IN_FLIGHT = 4096

# Seconds without a finished run after which an executor is looked at.
IDLE_S = 5.0


def execute(run: PlannedRun, tables: Sequence[str], version: str) -> Outcome:
    """Executes one run. A failed run is an outcome too: repeated, it would fail again.

    Raises:
        InputError: If its scenario has changed since it was planned, or this process has another leobench.
    """
    from leobench import _core, engine, manifest

    if _core.__version__ != version:
        raise InputError(f"the campaign is run by leobench {version}, but a worker has {_core.__version__}")
    scenario = load_scenario(run.scenario, run.seed, run.overrides)
    resolved = json.loads(scenario.to_json())
    if provenance.fingerprint(resolved, run.scenario.parent) != run.fingerprint:
        raise InputError(f"{run.scenario}: changed while the campaign ran, or a file that it names did")
    try:
        ended = engine.run(scenario, engine.Recording())
    except (RunError, ScenarioError) as error:
        return Outcome(None, str(error), {})
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return Outcome(None, f"a bug in leobench: {error}", {})
    numbers, recorded = json.loads(ended.summary), ended.tables
    lacking = [name for name in tables if name not in recorded]
    if lacking:
        nothing = "hops in orbit" if lacking[0] in ORBIT_TABLES else "video"
        return Outcome(None, f"has no table `{lacking[0]}`: it recorded no {nothing}", {})
    if run.spreads:
        spreads.add(numbers, metrics.frame(recorded["messages"]))
    doubts = [
        *manifest.clock_doubts(ended.clock),
        *manifest.of_sky(scenario, resolved),
        *manifest.doubts(resolved, numbers, ended.connected, ended.stalls, _core.notices(scenario)),
    ]
    return Outcome(numbers, None, {name: recorded[name] for name in tables}, doubts)


def in_process(runs: Sequence[PlannedRun], tables: Sequence[str]) -> Outcomes:
    """Executes runs one after the other in this process."""
    from leobench import _core

    for run in runs:
        try:
            outcome = execute(run, tables, _core.__version__)
        except InputError:
            raise
        except Exception as error:
            raise _run_error(run, error) from error
        yield run, outcome


@dataclass(frozen=True)
class Call:
    """How an executor is asked for a run.

    Attributes:
        function: Is called as `execute` is, with `more` after its arguments; `execute` itself unless given.
        more: Its further arguments.
        idle: Is called every few seconds in which no run finishes.
    """

    function: Callable[..., Outcome] | None = None
    more: tuple[object, ...] = ()
    idle: Callable[[], object] = lambda: None


def on_executor(
    executor: Executor, runs: Sequence[PlannedRun], tables: Sequence[str], call: Call | None = None
) -> Outcomes:
    """Executes runs on an executor; yields them in the order in which they finish.

    Raises:
        RunError: If the executor breaks, after all its finished runs were yielded.
    """
    from leobench import _core

    submitted = _Submitted(executor, tables, _core.__version__, call or Call())
    waiting = iter(runs)
    try:
        submitted.submit(itertools.islice(waiting, IN_FLIGHT))
        while submitted.futures:
            run, future = submitted.next()
            submitted.submit(itertools.islice(waiting, 1))
            try:
                outcome = future.result()
            except (BrokenExecutor, CancelledError):
                submitted.broken = True
            except InputError:
                raise
            except Exception as error:
                raise _run_error(run, error) from error
            else:
                yield run, outcome
    finally:
        for future in submitted.futures:
            future.cancel()
    if submitted.broken:
        raise RunError(
            "the executor broke down: its scheduler is gone, or a process was killed or ran out of memory"
        )


class _Submitted:
    """The runs that an executor has been given and whose results have not been taken.

    Attributes:
        futures: Their futures.
        broken: Whether the executor accepts no more.
    """

    def __init__(self, executor: Executor, tables: Sequence[str], version: str, call: Call) -> None:
        self.futures: dict[Future[Outcome], PlannedRun] = {}
        self.broken = False
        self._executor, self._rest = executor, (tables, version, *call.more)
        self._function, self._idle = call.function or execute, call.idle
        self._finished: SimpleQueue[Future[Outcome]] = SimpleQueue()

    def submit(self, runs: Iterable[PlannedRun]) -> None:
        """Submits more runs."""
        if self.broken:
            return
        try:
            for run in runs:
                future = self._executor.submit(self._function, run, *self._rest)  # type: ignore[arg-type]
                self.futures[future] = run
                future.add_done_callback(self._finished.put)
        except BrokenExecutor:
            self.broken = True

    def next(self) -> tuple[PlannedRun, Future[Outcome]]:
        """Waits for a finished run and removes it, so that its tables can be freed once they are written."""
        while True:
            try:
                future = self._finished.get(timeout=IDLE_S)
                break
            except Empty:
                self._idle()
        return self.futures.pop(future), future


def _run_error(run: PlannedRun, error: Exception) -> RunError:
    """An exception of a run as the error that ends its campaign."""
    text = str(error) if isinstance(error, RunError) else f"{type(error).__name__}: {error}".rstrip(": ")
    if type(error).__name__ == "KilledWorker":  # of Dask, which need not be there
        text = "every worker that had this run died; if memory ran out, give workers more of it"
    return RunError(f"variant {run.variant}, replicate {run.replicate}: {text}")
