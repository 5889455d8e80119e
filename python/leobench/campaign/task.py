"""One run of a campaign, in whatever process it is sent to, and the ways of having runs done."""

from __future__ import annotations

import io
import json
from concurrent.futures import BrokenExecutor, CancelledError, as_completed
from typing import TYPE_CHECKING

from leobench.campaign import provenance
from leobench.campaign.store import Outcome, as_parquet
from leobench.errors import InputError, LeobenchError, RunError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from concurrent.futures import Executor

    from leobench.campaign.plan import PlannedRun

    Outcomes = Generator[tuple[PlannedRun, Outcome], None, None]


def execute(run: PlannedRun, tables: Sequence[str], version: str) -> Outcome:
    """Runs one run. A run that fails is an outcome like any other: it would fail again.

    Raises:
        InputError: If its scenario is no longer what was planned, or this process has another leobench.
    """
    from leobench import _core, api

    if _core.__version__ != version:
        raise InputError(f"the campaign is run by leobench {version}, but a worker has {_core.__version__}")
    scenario = api.load(run.scenario, run.seed, run.overrides)
    if provenance.fingerprint(json.loads(scenario.to_json()), run.scenario.parent) != run.fingerprint:
        raise InputError(f"{run.scenario}: has changed, or a file it names, while the campaign ran")
    try:
        summary, recorded = _core.run(scenario)
    except RunError as error:
        return Outcome(None, str(error), {})
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return Outcome(None, f"a bug in leobench: {error}", {})
    return Outcome(json.loads(summary), None, {name: _parquet(recorded[name]) for name in tables})


def in_process(runs: Sequence[PlannedRun], tables: Sequence[str]) -> Outcomes:
    """Does runs one after the other, here."""
    from leobench import _core

    for run in runs:
        yield run, _result(run, lambda run=run: execute(run, tables, _core.__version__))  # type: ignore[misc]


def on_executor(executor: Executor, runs: Sequence[PlannedRun], tables: Sequence[str]) -> Outcomes:
    """Does runs on any executor; they come in the order in which they finish.

    Raises:
        RunError: If the executor breaks.
    """
    lost: list[PlannedRun] = []
    yield from attempt(executor, runs, tables, lost)
    if lost:
        raise RunError(
            "the executor broke down: it is gone, or a process of it was killed, or ran out of memory"
        )


def attempt(
    executor: Executor, runs: Sequence[PlannedRun], tables: Sequence[str], lost: list[PlannedRun]
) -> Outcomes:
    """As `on_executor`, but runs that the executor breaks down over are added to `lost`."""
    from leobench import _core

    futures = {}
    for run in runs:
        try:
            futures[executor.submit(execute, run, tables, _core.__version__)] = run
        except BrokenExecutor:
            lost.append(run)
    try:
        for future in as_completed(list(futures)):
            # Taken out, so that the tables it holds can go once they are written.
            run = futures.pop(future)
            try:
                outcome = _result(run, future.result)
            except (BrokenExecutor, CancelledError):
                lost.append(run)
            else:
                yield run, outcome
    finally:
        for future in futures:
            future.cancel()


def _result(run: PlannedRun, result: Callable[[], Outcome]) -> Outcome:
    """What `result` gives; what it raises, told as what became of a campaign."""
    try:
        return result()
    except (LeobenchError, BrokenExecutor, CancelledError):
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {error}".rstrip(": ")
        raise RunError(f"variant {run.variant}, replicate {run.replicate}: {said}") from error


def _parquet(arrow: bytes) -> bytes:
    import polars as pl

    return as_parquet(pl.read_ipc(io.BytesIO(arrow)))
