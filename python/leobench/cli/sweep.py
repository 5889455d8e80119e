"""Runs a campaign: all replicates of all variants of a scenario, on all processors or on a cluster."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from leobench.cli import options, terminal
from leobench.cli.progress import CampaignProgress

if TYPE_CHECKING:
    import argparse
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager

    from leobench.campaign import Campaign, CampaignResult

NAME = "sweep"
HELP = "run a campaign: many runs of variants of a scenario"
EXAMPLE = "leobench sweep campaigns/buffers.toml --workers 2"
ADVICE = "; what runs, such as `replicates`, is set by the keys of the campaign's file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("campaign", metavar="CAMPAIGN", type=options.path, help="campaign file, TOML")
    parser.add_argument(
        "--out", metavar="DIR", type=options.path, help="result folder (default: results/<campaign>)"
    )
    options.add_campaign(parser)
    options.add_real(parser, programs=False)
    parser.add_argument(
        "--executor",
        choices=("processes", "dask"),
        default="processes",
        help="run in processes on this machine (default), or on a Dask cluster",
    )
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="address of the Dask scheduler, such as tcp://10.0.0.1:8786"
    )
    options.add_outcome(parser)


def main(args: argparse.Namespace) -> int:
    """Runs the campaign and prints its outcome; exits 1 if a run failed."""
    from leobench.campaign import Campaign

    campaign = timed(Campaign.load(args.campaign), args)
    return carry_out(campaign, args)


def carry_out(campaign: Campaign, args: argparse.Namespace) -> int:
    """Runs a campaign, or shows what would run, and prints the outcome."""
    from leobench.campaign import run_campaign

    target = args.out or Path("results") / campaign.name
    if args.dry_run:
        from leobench.cli import dry_run

        return dry_run.show(campaign, target, args)
    with (
        CampaignProgress(target, quiet=args.quiet) as progress,
        _executor(args) as executor,
        terminal.warnings_on_lines(),
    ):
        result = run_campaign(
            campaign,
            target,
            executor,
            workers=args.workers,
            resume=args.resume,
            force=args.force,
            progress=progress,
        )
    return _print_outcome(result, args)


def timed(campaign: Campaign, args: argparse.Namespace) -> Campaign:
    """The campaign with the options of real time, which some of its runs must be in."""
    from leobench.engine import REAL

    overrides = dict(options.real_overrides(args))
    if not overrides:
        return campaign
    if all(scenario["engine"] != REAL for scenario in campaign.scenarios.values()):
        options.refuse_real(args, '`"engine" = "real"` to the campaign\'s `set`')
    return campaign.scaled(overrides=overrides)


def _executor(args: argparse.Namespace) -> AbstractContextManager[Executor | None]:
    from leobench.errors import InputError

    if getattr(args, "executor", "processes") == "dask":
        from leobench.campaign import cluster

        if args.scheduler is None:
            raise InputError("--executor dask: needs a scheduler's address: --scheduler tcp://HOST:8786")
        if args.workers is not None:
            raise InputError(
                f"--workers {args.workers}: a Dask cluster brings its own workers; leave --workers out"
            )
        return cluster.dask(args.scheduler)
    if getattr(args, "scheduler", None) is not None:
        raise InputError(f"--scheduler {args.scheduler}: needs --executor dask")
    return nullcontext()


def _print_outcome(result: CampaignResult, args: argparse.Namespace) -> int:
    from leobench import means
    from leobench.campaign.result import DATASETS, MANIFEST
    from leobench.cli import table

    manifest, failed = result.manifest, result.failures.height
    total = manifest["identity"]["replicates"] * len(manifest["identity"]["variants"])
    wall_s = sum(session["wall_s"] for session in manifest["sessions"])
    for row in result.failures.head(5).iter_rows(named=True):
        which = f"variant {row['variant']}, replicate {row['replicate']}"
        print(f"leobench: failed: {which}: {row['error']}", file=sys.stderr)
    if failed > 5:
        print(f"leobench: failed: {failed - 5} more, in {result.folder}/failures.parquet", file=sys.stderr)
    for line in result.warning_lines():
        terminal.warn(line)
    for metric in unmeasured(result):
        terminal.warn(f"{metric}: not measured in any run")
    if args.json:
        outcome = {
            "out": str(result.folder),
            "runs": total,
            "failed": failed,
            "wall_s": round(wall_s, 3),
            "warnings": result.warned().to_dicts(),
        }
        terminal.print_json(outcome)
    elif not args.quiet:
        name, ran = manifest["identity"]["campaign"], f"{total} run{'s' * (total != 1)}"
        print(f"{name}: {ran}, {failed} failed, in {wall_s:.2f} s\n")
        print(table.render(means.of(result)))
        kept = [f"tables/{name}.parquet" for name in result.tables]
        print(f"\nResults in {result.folder}/: {', '.join([*DATASETS, *kept, MANIFEST])}")
    return 1 if failed else 0


def unmeasured(result: CampaignResult) -> list[str]:
    """Metrics without a value in any run."""
    import polars as pl

    counted = result.runs.group_by("metric", maintain_order=True).agg(pl.col("value").count())
    return [metric for metric, count in counted.iter_rows() if count == 0]
