"""Runs campaigns on the processors of this machine or on any executor."""

from __future__ import annotations

import time
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from leobench import manifest, version
from leobench.campaign import cluster, dataset, metrics, processes, provenance, store, task
from leobench.campaign.result import CampaignResult, read_manifest
from leobench.engine import REAL
from leobench.errors import InputError, RunError, positive

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor
    from os import PathLike

    from leobench.campaign.plan import Campaign, PlannedRun
    from leobench.campaign.store import Store
    from leobench.campaign.task import Outcomes


@dataclass(frozen=True)
class Status:
    """The progress of a campaign.

    Attributes:
        done: Finished runs, failed ones included.
        failed: Failed runs.
        total: Runs of the campaign.
        kept: Runs finished in an earlier session, which are not repeated.
    """

    done: int
    failed: int
    total: int
    kept: int


def run_campaign(
    campaign: Campaign,
    out: str | PathLike[str],
    executor: Executor | None = None,
    *,
    workers: int | None = None,
    resume: bool = False,
    force: bool = False,
    progress: Callable[[Status], object] | None = None,
) -> CampaignResult:
    """Runs a campaign, or the rest of it. Results do not depend on the executor or on interruptions.

    Arguments and exceptions are those of `leobench.sweep`, which reads the campaign from a file.
    """
    _check(executor, workers, resume=resume, force=force)
    plan = campaign.plan()
    identity = provenance.identity(campaign)
    known = metrics.produced(campaign)
    if known is not None:
        metrics.refuse_unknown(campaign, known)
    with store.opened(Path(out), identity, resume=resume, force=force) as opened:
        try:
            if not _is_complete(campaign, opened.folder):
                _run(campaign, plan, opened, executor, workers, progress or (lambda _: None))
                dataset.write(campaign, plan, opened)
                opened.describe(complete=True)
            opened.clear()
        except RunError as error:
            raise RunError(
                f"{error}; finished runs are kept: continue with --resume (resume=True)"
            ) from error
    return CampaignResult.open(out)


def _check(executor: Executor | None, workers: int | None, *, resume: bool, force: bool) -> None:
    if resume and force:
        raise InputError(
            "resume and force exclude each other: either continue the campaign or start it again"
        )
    if workers is not None:
        positive("workers", workers)
    if executor is not None:
        processes.refuse_forking(executor)
        if workers is not None:
            raise InputError(f"workers = {workers}: an executor brings its own workers; leave `workers` out")
    processes.refuse_nested()


def _is_complete(campaign: Campaign, folder: Path) -> bool:
    described = read_manifest(folder)
    return described is not None and described["complete"] and dataset.is_written(campaign, folder)


def _run(
    campaign: Campaign,
    plan: Sequence[PlannedRun],
    opened: Store,
    executor: Executor | None,
    workers: int | None,
    progress: Callable[[Status], object],
) -> None:
    """Executes the remaining runs; adds a session to the manifest even if interrupted."""
    if any(scenario["engine"] == REAL for scenario in campaign.scenarios.values()):
        workers = 1  # A run in real time needs the machine for itself.
    started = time.perf_counter()
    read = ((run.stem, opened.read(run, campaign.tables)) for run in plan)
    before = {stem: outcome.error is not None for stem, outcome in read if outcome is not None}
    status = Status(len(before), sum(before.values()), len(plan), len(before))
    # Replicate by replicate: variants differ in cost, so this gives an early estimate of the time left.
    left = sorted((run for run in plan if run.stem not in before), key=lambda run: run.replicate)
    try:
        progress(status)
        client = cluster.client_of(executor)
        found = (
            outcomes(left, campaign.tables, executor, workers)
            if client is None
            else cluster.outcomes(client, campaign, left, campaign.tables)
        )
        with closing(found) as finished:
            for run, outcome in finished:
                opened.write(run, outcome)
                failed = status.failed + (outcome.error is not None)
                status = replace(status, done=status.done + 1, failed=failed)
                progress(status)
    finally:
        session = {
            "runs": status.done - status.kept,
            "commit": version.loaded(),
            "wall_s": round(time.perf_counter() - started, 3),
            "machine": manifest.machine(),
        }
        with suppress(RunError):  # The disk may be full, which is already being reported.
            opened.describe(complete=False, session=session)


def outcomes(
    runs: Sequence[PlannedRun], tables: Sequence[str], executor: Executor | None, workers: int | None
) -> Outcomes:
    """Executes runs on an executor, or in so many processes; yields them as they finish."""
    workers = min(workers or processes.available(), len(runs))
    if executor is not None:
        yield from task.on_executor(executor, runs, tables)
    elif workers <= 1:
        yield from task.in_process(runs, tables)
    else:
        with processes.WorkerProcesses(workers) as pool:
            yield from task.on_executor(pool, runs, tables)
