"""Compares two QUIC stacks, or virtual and real time, in scenarios or campaigns under the same seeds.

Exit code: 0 if nothing differs, 1 if a cell differs or a run failed, 2 for invalid input.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from leobench.cli import options, terminal
from leobench.cli.progress import CampaignProgress

if TYPE_CHECKING:
    import argparse

    from leobench.agreement import Report, Target

NAME = "agree"
HELP = "compare two QUIC stacks, or virtual with real time, in the same scenario, seed by seed"
EXAMPLE = "leobench agree scenarios/khan2023-ka.toml --stacks own,noq --seeds 10 --set duration='10 s'"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="scenario file, or campaign file, of which every variant is compared",
    )
    axes = parser.add_mutually_exclusive_group()
    axes.add_argument(
        "--stacks",
        metavar="FIRST,SECOND",
        type=options.text,
        default="own,noq",
        help="the stacks of all QUIC flows; ratios are the first over the second (default: own,noq)",
    )
    axes.add_argument(
        "--engines",
        metavar="FIRST,SECOND",
        type=options.text,
        help="virtual,real: compare virtual time with real time, one run after the other",
    )
    parser.add_argument(
        "--seeds", metavar="N", type=options.whole, default=10, help="runs of each (default: 10)"
    )
    parser.add_argument(
        "--max-seeds",
        metavar="N",
        type=options.whole,
        help="add runs up to this number where the verdict is `cannot tell` (default: add none)",
    )
    parser.add_argument(
        "--seed", metavar="N", type=options.whole, help="root of all seeds (default: the campaign's, or 1)"
    )
    options.add_overrides(parser)
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=options.path,
        help="folder for a table, a figure and all runs, which can be resumed (default: keep nothing)",
    )
    options.add_campaign(parser)
    options.add_real(parser, programs=False)
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--quiet", action="store_true", help="print no progress and no findings")


def main(args: argparse.Namespace) -> int:
    """Compares, prints the findings, and returns 1 if something differs or failed."""
    import tempfile

    from leobench import agreement
    from leobench.agreement import files
    from leobench.errors import InputError

    if args.engines is None:
        options.refuse_real(args, "--engines virtual,real")
        sides = agreement.stacks(args.stacks)
    else:
        sides = agreement.engines(args.engines)
    overrides = dict([*args.overrides, *options.real_overrides(args)])
    if args.out is None and (args.resume or args.force):
        raise InputError("--resume and --force: need the folder of the results: --out DIR")
    targets = [agreement.Target.load(file, sides, overrides, args.seed) for file in args.files]
    if args.out is None:
        with tempfile.TemporaryDirectory(prefix="leobench-agree-") as folder:
            report = _compare(targets, Path(folder), args)
    else:
        if not (args.resume or args.force):
            files.refuse_existing(args.out)
        report = _compare(targets, args.out, args)
    _say(report, args)
    failed = any(cell.failures for cell in report.cells)
    return 1 if failed or report.count("differ") else 0


def _compare(targets: list[Target], folder: Path, args: argparse.Namespace) -> Report:
    from leobench import agreement
    from leobench.agreement import files

    with CampaignProgress(args.out, quiet=args.quiet) as progress:
        return agreement.compare(
            targets,
            folder,
            seeds=args.seeds,
            most_seeds=args.max_seeds,
            workers=args.workers,
            resume=args.resume,
            force=args.force,
            progress=progress,
            done=None if args.out is None else lambda report: files.write(report, folder),
        )


def _say(report: Report, args: argparse.Namespace) -> None:
    from leobench.agreement import files

    for cell in report.cells:
        for failure in cell.failures:
            print(f"leobench: failed: {terminal.on_one_line(failure)}", file=sys.stderr)
    for line in report.warnings:
        terminal.warn(line)
    if args.json:
        terminal.print_json(files.as_json(report))
    elif not args.quiet:
        from leobench.cli import agreement_tables

        print(agreement_tables.render(report))
        if args.out is not None:
            print(f"\nResults in {args.out}/: {', '.join(files.NAMES)}, and the runs")
