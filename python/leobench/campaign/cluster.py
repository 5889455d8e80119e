"""Runs campaigns on a Dask cluster whose workers need nothing but leobench.

`outcomes` sends the files of a campaign once, as the result of a task of their own: Dask passes it from
worker to worker, and makes it again if every worker that had it has died. Each run is a task,
`execute_there`, which unpacks the files beside the other data of its worker, and executes the run as any
process does. A run whose worker dies goes to another worker.
"""

from __future__ import annotations

import functools
import importlib.metadata
import logging
import re
import sys
import warnings
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from leobench.campaign import task
from leobench.campaign.bundle import Bundle
from leobench.errors import InputError, LeobenchError, RunError, ScenarioError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor

    from distributed import Client

    from leobench.campaign.plan import Campaign, PlannedRun
    from leobench.campaign.store import Outcome
    from leobench.campaign.task import Outcomes

TIMEOUT = "10 s"
_ADDRESS = re.compile(r"((tcp|tls|wss?)://)?[^/\s]+:\d+")
_NO_WORKER = "the cluster has no worker; runs wait until one joins"


class ClusterWarning(UserWarning):
    """A campaign waits for its cluster."""


@contextmanager
def dask(scheduler: str) -> Iterator[Executor]:
    """An executor on the Dask cluster of a scheduler, such as `tcp://10.0.0.1:8786`.

    Raises:
        InputError: If it is not an address, Dask is not installed, no scheduler answers within 10 s, or a
            worker has another version of leobench.
    """
    if _ADDRESS.fullmatch(scheduler) is None:
        raise InputError(
            f"--scheduler {scheduler}: is not an address; allowed: a host and a port, such as tcp://10.0.0.1:8786"
        )
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "--executor dask: needs Dask; install it with pip install 'leobench[dask]', or in a checkout "
            "with pip install -e '.[dask]'"
        ) from None
    # A lost connection ends the campaign with its own message.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        client = Client(scheduler, timeout=TIMEOUT, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(
            f"--scheduler {scheduler}: no Dask scheduler answered within {TIMEOUT}: {error}"
        ) from error
    with client:
        refuse_other_versions(client)
        with client.get_executor(pure=False) as executor:  # type: ignore[no-untyped-call]
            yield executor


def client_of(executor: Executor | None) -> Client | None:
    """The client behind an executor, if that is one of Dask's."""
    distributed = sys.modules.get("distributed.cfexecutor")
    if distributed is None or not isinstance(executor, distributed.ClientExecutor):
        return None
    client: Client = executor._client
    return client


def outcomes(
    client: Client, campaign: Campaign, runs: Sequence[PlannedRun], tables: Sequence[str]
) -> Outcomes:
    """Executes runs of a campaign on a cluster; yields them in the order in which they finish.

    Warns of a cluster that has no worker left.

    Raises:
        InputError: If a worker has another leobench, or a file of the campaign cannot be read.
        RunError: If the scheduler is lost, after all finished runs were yielded, or a run kills its workers.
    """
    refuse_other_versions(client)
    bundle = Bundle.of(campaign)
    with warnings.catch_warnings():
        # Dask advises against tasks that are large; this one is sent once, and must survive every worker.
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        sent = client.submit(_keep, bundle, pure=False)
    with client.get_executor(pure=False) as executor:  # type: ignore[no-untyped-call]
        call = task.Call(execute_there, (sent, _commit()), _Idle(client))
        yield from task.on_executor(executor, runs, tables, call)


def refuse_other_versions(client: Client) -> None:
    """Checks that all present workers have this leobench; runs check workers that join later.

    Raises:
        InputError: If one has another, or none.
    """
    from leobench import _core

    # Functions of the standard library: a worker without leobench could not read one of ours.
    found = client.run(importlib.metadata.version, "leobench", on_error="return")
    for worker, version in sorted(found.items()):
        missing = isinstance(version, importlib.metadata.PackageNotFoundError)
        if version == _core.__version__ or (isinstance(version, BaseException) and not missing):
            continue  # Any other exception is that of a worker that has just gone.
        has = "no leobench" if missing else f"leobench {version}"
        raise InputError(
            f"worker {worker} has {has}; allowed: leobench {_core.__version__} on every worker, as here"
        )
    for worker, commit in sorted(client.run(_commit, on_error="return").items()):
        if not isinstance(commit, BaseException):
            _refuse_other_commit(commit, _commit(), f"worker {worker}")


def _refuse_other_commit(there: str | None, here: str | None, worker: str) -> None:
    """Refuses a worker of another commit, as far as both are known."""
    if there is not None and here is not None and there != here:
        raise InputError(f"{worker} has leobench of commit {there}; allowed: commit {here}, as here")


@functools.cache
def _commit() -> str | None:
    """The commit of this leobench, if it is known."""
    from leobench import version

    told = version.loaded()
    return None if told is None else told.partition(",")[0]


def execute_there(
    run: PlannedRun, tables: Sequence[str], version: str, bundle: Bundle, commit: str | None
) -> Outcome:
    """Executes a run on a worker, with the files of the bundle; messages have the paths of the campaign.

    Raises:
        InputError: As `task.execute`.
        RunError: If the files cannot be written.
    """
    _refuse_other_commit(_commit(), commit, "a worker")
    folder = bundle.unpacked(_local_directory())
    try:
        outcome = task.execute(bundle.here(run, folder), tables, version)
    except LeobenchError as error:
        kind = type(error) if type(error) in (InputError, RunError, ScenarioError) else InputError
        raise kind(bundle.as_there(str(error), folder)) from None
    doubts = [replace(doubt, text=bundle.as_there(doubt.text, folder)) for doubt in outcome.doubts]
    told = outcome.error and bundle.as_there(outcome.error, folder)
    return replace(outcome, error=told, doubts=doubts)


def _keep(bundle: Bundle) -> Bundle:
    """The task whose result is the files of a campaign."""
    return bundle


def _local_directory() -> str | None:
    """The folder of this worker's data, which Dask removes with the worker."""
    from distributed import get_worker

    try:
        directory: str = get_worker().local_directory
    except ValueError:
        return None
    return directory


class _Idle:
    """Warns that no worker is there, and again if all have left later."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._told = False

    def __call__(self) -> None:
        try:
            known: dict[str, Any] = self._client.scheduler_info()
        except OSError:
            return  # The runs will fail, and tell why.
        missing = not known["workers"]
        if missing and not self._told:
            warnings.warn(_NO_WORKER, ClusterWarning, stacklevel=2)
        self._told = missing
