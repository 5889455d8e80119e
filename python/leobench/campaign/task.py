"""One run of a campaign, and executing many: in this process or on an executor."""

from __future__ import annotations

import io
import json
from concurrent.futures import BrokenExecutor, CancelledError, as_completed
from typing import TYPE_CHECKING

from leobench.campaign import provenance
from leobench.campaign.store import Outcome, as_parquet
from leobench.errors import InputError, RunError
from leobench.scenario import load as load_scenario

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from concurrent.futures import Executor, Future

    import polars as pl

    from leobench.campaign.plan import PlannedRun

    Outcomes = Generator[tuple[PlannedRun, Outcome], None, None]


def execute(run: PlannedRun, tables: Sequence[str], version: str) -> Outcome:
    """Executes one run. A failed run is an outcome too: repeated, it would fail again.

    Raises:
        InputError: If its scenario has changed since it was planned, or this process has another leobench.
    """
    from leobench import _core, manifest

    if _core.__version__ != version:
        raise InputError(f"the campaign is run by leobench {version}, but a worker has {_core.__version__}")
    scenario = load_scenario(run.scenario, run.seed, run.overrides)
    resolved = json.loads(scenario.to_json())
    if provenance.fingerprint(resolved, run.scenario.parent) != run.fingerprint:
        raise InputError(f"{run.scenario}: has changed, or a file it names, while the campaign ran")
    try:
        summary, recorded, stalls = _core.run(scenario)
    except RunError as error:
        return Outcome(None, str(error), {})
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return Outcome(None, f"a bug in leobench: {error}", {})
    numbers = json.loads(summary)
    connected = manifest.connected(_frame(recorded["events"]).lazy())
    doubts = manifest.doubts(resolved, numbers, connected, stalls)
    return Outcome(numbers, None, {name: as_parquet(_frame(recorded[name])) for name in tables}, doubts)


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


def on_executor(executor: Executor, runs: Sequence[PlannedRun], tables: Sequence[str]) -> Outcomes:
    """Executes runs on an executor; yields them in the order in which they finish.

    Raises:
        RunError: If the executor breaks, after all its finished runs were yielded.
    """
    from leobench import _core

    futures: dict[Future[Outcome], PlannedRun] = {}
    broken = False
    try:
        for run in runs:
            futures[executor.submit(execute, run, tables, _core.__version__)] = run
    except BrokenExecutor:
        broken = True
    try:
        for future in as_completed(list(futures)):
            # Removed, so that its tables can be freed once they are written.
            run = futures.pop(future)
            try:
                outcome = future.result()
            except (BrokenExecutor, CancelledError):
                broken = True
            except InputError:
                raise
            except Exception as error:
                raise _run_error(run, error) from error
            else:
                yield run, outcome
    finally:
        for future in futures:
            future.cancel()
    if broken:
        raise RunError(
            "the executor broke down: its scheduler is gone, or a process was killed or ran out of memory"
        )


def _run_error(run: PlannedRun, error: Exception) -> RunError:
    """An exception of a run as the error that ends its campaign."""
    text = str(error) if isinstance(error, RunError) else f"{type(error).__name__}: {error}".rstrip(": ")
    return RunError(f"variant {run.variant}, replicate {run.replicate}: {text}")


def _frame(arrow: bytes) -> pl.DataFrame:
    import polars as pl

    return pl.read_ipc(io.BytesIO(arrow))
