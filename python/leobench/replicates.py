"""Runs of one scenario under several seeds, each in a result folder of its own, on several processors."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench import unfinished
from leobench.errors import InputError, RunError, cut, positive

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

    import polars as pl

    from leobench.result import Result

MOST_SEEDS = 10_000
_LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True)
class Task:
    """A run of several.

    Attributes:
        scenario: The scenario file.
        seed: The seed of the run.
        overrides: Values to replace in the scenario, in order.
        folder: The folder of its results.
        options: Further arguments of `leobench.api.run_loaded`.
    """

    scenario: str
    seed: int
    overrides: Sequence[tuple[str, str]]
    folder: Path
    options: Mapping[str, Any]


def seeds(text: str) -> list[int]:
    """The seeds of a text such as `1-5` or `1,3,7-9`, in this order.

    Raises:
        InputError: If it is not such a text, a seed appears twice, or there are too many.
    """
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = (word.strip() for word in part.partition("-"))
        if not (first.isascii() and first.isdigit()) or (dash and not (last.isascii() and last.isdigit())):
            raise InputError(
                f"--seeds = {cut(text)}: `{cut(part)}` is not a seed; allowed: whole numbers and ranges, "
                "such as 1-5 or 1,3,7-9"
            )
        low, high = int(first), int(last or first)
        if high > _LARGEST_SEED:
            raise InputError(f"--seeds = {cut(text)}: is too large; allowed: up to {_LARGEST_SEED:,}")
        if high < low:
            raise InputError(f"--seeds = {cut(text)}: `{part}` ends before it begins; allowed: {high}-{low}")
        if len(found) + high - low >= MOST_SEEDS:
            raise InputError(f"--seeds = {cut(text)}: is too many; allowed: up to {MOST_SEEDS:,} seeds")
        found += range(low, high + 1)
    twice = (
        next((seed for seed in found if found.count(seed) > 1), None) if len(found) > len({*found}) else None
    )
    if twice is not None:
        raise InputError(f"--seeds = {cut(text)}: {twice} appears twice; allowed: each seed once")
    return found


def execute(task: Task) -> None:
    """Executes a run. Called in worker processes."""
    from leobench import api
    from leobench.scenario import load

    loaded = load(task.scenario, task.seed, task.overrides)
    api.run_loaded(loaded, task.folder, **task.options)


def run(
    tasks: Sequence[Task], workers: int | None, progress: Callable[[int, int], object]
) -> Generator[tuple[Task, RunError | None]]:
    """Executes all runs; yields each as it finishes, with its error if it failed.

    Args:
        tasks: The runs.
        workers: The number of processes, one per processor unless given; 1 runs in this process.
        progress: Called at the start and after every run with the numbers of finished and failed runs.

    Closing it early kills the workers, and removes the folders of the runs that they leave unfinished.

    Raises:
        InputError: If the number of workers is none, or a folder was taken meanwhile.
    """
    from leobench.campaign import processes

    wanted = processes.available() if workers is None else positive("workers", workers)
    wanted = min(wanted, len(tasks))
    done = failed = 0
    progress(done, failed)
    try:
        with nullcontext() if wanted == 1 else processes.WorkerProcesses(wanted) as pool:
            for task, error in _in_process(tasks) if pool is None else _on(pool, tasks):
                done, failed = done + 1, failed + (error is not None)
                yield task, error
                progress(done, failed)
    except BaseException:
        # A killed worker cannot remove what it was writing, as this process does.
        for place in {Path(os.path.realpath(task.folder)).parent for task in tasks}:
            unfinished.clear(place)
        raise


def _in_process(tasks: Sequence[Task]) -> Iterator[tuple[Task, RunError | None]]:
    for task in tasks:
        try:
            execute(task)
        except RunError as error:
            yield task, error
        else:
            yield task, None


def _on(pool: Any, tasks: Sequence[Task]) -> Iterator[tuple[Task, RunError | None]]:
    from leobench.campaign import processes

    futures = {pool.submit(execute, task): task for task in tasks}
    for future in processes.as_completed(futures):
        error = future.exception()
        if error is not None and not isinstance(error, RunError):
            raise error
        yield futures[future], error


def frame(results: Sequence[Result], metrics: Sequence[str]) -> pl.DataFrame:
    """A row per run and metric, as of a campaign with one variant."""
    import polars as pl

    from leobench.campaign.metrics import flatten

    rows = [
        {"variant": "base", "metric": metric, "value": numbers.get(metric)}
        for numbers in (flatten(result.summary) for result in results)
        for metric in metrics
    ]
    return pl.DataFrame(rows, {"variant": pl.String, "metric": pl.String, "value": pl.Float64})
