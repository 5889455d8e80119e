"""`leobench run --seeds`: one scenario under several seeds, a folder for each, and the means of all."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench import replicates
from leobench.campaign import Status
from leobench.cli import columns, terminal
from leobench.cli.progress import CampaignProgress
from leobench.errors import INVALID_RUN, InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from leobench._core import Scenario
    from leobench.result import Result


def main(args: argparse.Namespace, scenario: Scenario, overrides: Sequence[tuple[str, str]]) -> int:
    """Runs a scenario that was checked under each seed, prints the means, and returns the exit code."""
    from leobench import api, engine, folder

    if args.seed is not None:
        raise InputError(f"--seed {args.seed}: excludes --seeds; leave one of them out")
    seeds = replicates.seeds(args.seeds)
    base = args.out or Path("results") / scenario.name
    options = {"force": args.force, "qlog": args.qlog, "pcap": args.pcap, "snaplen": args.snaplen}
    tasks = [
        replicates.Task(args.scenario, seed, overrides, base.with_name(f"{base.name}-{seed}"), options)
        for seed in seeds
    ]
    for task in tasks:
        folder.refuse_existing(task.folder, force=args.force)
    before = [_identity(task.folder) for task in tasks]
    workers = 1 if scenario.engine == engine.REAL else args.workers
    started, finished, failed = time.perf_counter(), [], 0
    try:
        with (
            CampaignProgress(None, quiet=args.quiet) as bar,
            closing(
                replicates.run(tasks, workers, lambda done, failed: bar(Status(done, failed, len(tasks), 0)))
            ) as runs,
        ):
            for task, error in runs:
                if error is None:
                    finished.append(task)
                else:
                    failed += 1
                    print(f"leobench: failed: seed {task.seed}: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        # A run may have ended that nobody has counted yet.
        now = [_identity(task.folder) for task in tasks]
        count = sum(new not in (None, old) for new, old in zip(now, before, strict=True))
        kept = f"{count} of {len(tasks)} runs are kept in {base}-*/" if count else ""
        raise KeyboardInterrupt(kept) from None
    results = [api.open(task.folder) for task in sorted(finished, key=lambda task: seeds.index(task.seed))]
    for result in results:
        for warning in result.warnings:
            terminal.warn(f"seed {result.summary['seed']}: {warning}")
    if args.json:
        terminal.print_json([_described(result) for result in results])
    elif not args.quiet and results:
        print(
            f"{scenario.name}: {len(tasks)} seeds, {failed} failed, in {time.perf_counter() - started:.2f} s"
        )
        print(f"\n{_means(results)}\n\nResults in {base}-SEED/, a folder for each seed")
    return _exit_code(failed, results)


def _exit_code(failed: int, results: Sequence[Result]) -> int:
    """The exit code: 1 if a run failed, 119 if the clock of one cannot be trusted, otherwise 0."""
    if failed:
        return 1
    is_invalid = any(result.manifest["validity"]["verdict"] == "invalid" for result in results)
    return INVALID_RUN if is_invalid else 0


def _identity(folder: Path) -> int | None:
    """The number that tells a result folder from one that takes its place; `None` if there is none."""
    try:
        return folder.stat().st_ino
    except OSError:
        return None


def _described(result: Result) -> Mapping[str, Any]:
    manifest = result.manifest
    return {
        "out": str(result.folder),
        "wall_s": manifest["wall_s"],
        "validity": manifest["validity"],
        "summary": result.summary,
    }


def _means(results: Sequence[Result]) -> str:
    """The means of the flows' metrics over all seeds, a row per metric."""
    from leobench import means
    from leobench.campaign.ad_hoc import default_metrics

    metrics = default_metrics(results[0].scenario)
    found = means.of_frame(replicates.frame(results, metrics), ["base"], metrics)
    measured = [column for column in found if column.is_measured]
    rows = [[column.name, column.cells(grouped=True)[0], column.unit] for column in measured]
    note = means.about(found)
    return (
        columns.table((("", "metric"), ("", "mean"), ("", "unit")), rows, words=1).lstrip("\n")
        + f"\n\n{note}"
    )
