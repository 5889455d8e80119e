"""Compares variants of a scenario without a campaign file: every combination of the values of `--vary`.

Runs each variant under the same seeds, and prints the means of the metrics with their intervals. The
folder is that of a sweep: `leobench plot` and `leobench table` read it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from leobench.cli import options, sweep

if TYPE_CHECKING:
    import argparse

NAME = "compare"
HELP = "run variants of a scenario, given by --vary, and compare their means"
EXAMPLE = (
    "leobench compare scenarios/ka.toml --vary flows.main.transport.congestion=cubic,bbr3 "
    "--vary links.uplink.queue.limit='15 packets,300 packets' -n 5"
)

_REPLICATES = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    options.add_scenario(parser)
    parser.add_argument(
        "--vary",
        dest="axes",
        metavar="PLACE=VALUE,VALUE,...",
        type=options.override,
        action="append",
        default=[],
        help="values to try at a place; repeated, all combinations. A * stands for every name that has the "
        "rest: flows.*.transport.congestion=cubic,bbr3 gives all flows one controller at a time. A comma "
        "within quotes, brackets or braces does not separate, so a value may be a table",
    )
    parser.add_argument(
        "-n",
        "--replicates",
        metavar="N",
        type=options.whole,
        default=_REPLICATES,
        help=f"runs of each variant, with as many seeds (default: {_REPLICATES})",
    )
    options.add_overrides(parser)
    parser.add_argument(
        "--seed",
        metavar="N",
        type=options.whole,
        default=1,
        help="root of the seeds, which all variants share (default: 1)",
    )
    options.add_metrics(parser)
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=options.path,
        help="result folder (default: results/<scenario>-by-<places>)",
    )
    parser.add_argument(
        "--write",
        metavar="FILE",
        type=options.path,
        help="run nothing, but write the campaign file that asks for the same",
    )
    options.add_campaign(parser)
    options.add_real(parser, programs=False)
    options.add_outcome(parser)


def main(args: argparse.Namespace) -> int:
    """Runs the campaign that the options describe, or writes its file."""
    from leobench.campaign import ad_hoc

    made = ad_hoc.campaign(
        Path(args.scenario),
        [ad_hoc.axis(place, text) for place, text in args.axes],
        args.replicates,
        seed=args.seed,
        asked=args.metrics,
        overrides={place: ad_hoc.value(text) for place, text in args.overrides},
    )
    if args.write is not None:
        ad_hoc.write(made, args.write)
        print(args.write)
        return 0
    return sweep.carry_out(sweep.timed(made, args), args)
