"""Searches the worst path for a congestion controller, and writes it as a small scenario.

The path stays within physical bounds. CMA-ES searches it; random paths and measured channels are the
comparison. The worst path is then shrunk to few events and round numbers that keep at least 80 % of the harm
(docs/reference/attack.md). The same command continues an interrupted attack.
"""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

from leobench.cli import columns, options, terminal
from leobench.cli.progress import ReplayProgress

if TYPE_CHECKING:
    from leobench.attack.outcome import Outcome

NAME = "attack"
HELP = "search the worst path for a congestion controller"
EXAMPLE = "leobench attack bbr --goal stall --evaluations 1000 --out results/attack-bbr"

_UNITS_S = {"s": 1.0, "min": 60.0, "h": 3600.0}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "controller",
        metavar="CONTROLLER",
        type=options.text,
        help="a congestion controller: a kind, a table, a class such as mine:Mine, or ./libmine.so",
    )
    parser.add_argument(
        "--goal",
        metavar="GOAL",
        type=options.text,
        required=True,
        help="harm to look for: starve, stall, bloat or unfair",
    )
    parser.add_argument(
        "--against",
        metavar="CONTROLLER",
        type=options.text,
        help="count only harm beyond that to this controller over the same path",
    )
    spending = parser.add_mutually_exclusive_group()
    spending.add_argument(
        "--budget", metavar="TIME", type=_seconds, help="time for all of it, about (default: 10min)"
    )
    spending.add_argument(
        "--evaluations", metavar="N", type=options.whole, help="paths to try, and as many random ones beside"
    )
    parser.add_argument(
        "--events",
        metavar="KIND,...",
        type=options.text,
        help="kinds of events that the path may have (default: all that suit the goal)",
    )
    parser.add_argument(
        "--transport",
        choices=("quic", "tcp"),
        default="quic",
        help="transport of the flow (default: quic)",
    )
    parser.add_argument(
        "--seed", metavar="N", type=options.whole, default=1, help="seed of search and runs (default: 1)"
    )
    options.add_workers(parser)
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=options.path,
        help="folder for the results (default: results/attack-CONTROLLER-GOAL-SEED)",
    )
    parser.add_argument("--json", action="store_true", help="print what attack.json has")
    parser.add_argument("--quiet", action="store_true", help="print no progress and no table")


def main(args: argparse.Namespace) -> int:
    """Attacks, prints the table, and writes the folder."""
    from leobench.attack import attack
    from leobench.candidate import Candidate
    from leobench.errors import InputError

    if args.seed < 0:
        raise InputError(f"--seed: {args.seed} is negative; allowed: from 0")
    candidate = Candidate.parse(args.controller, args.transport)
    out = args.out or Path("results") / _folder(candidate.name, args)
    started = time.perf_counter()
    try:
        with ReplayProgress(quiet=args.quiet) as progress:
            outcome = attack(
                candidate,
                args.goal,
                out,
                against=None if args.against is None else Candidate.parse(args.against, args.transport),
                events=None if args.events is None else args.events.split(","),
                evaluations=args.evaluations,
                seconds=args.budget,
                seed=args.seed,
                workers=args.workers,
                report=progress.step,
            )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"the runs so far are kept in {out}/; the same command continues") from None
    if args.json:
        terminal.print_json(outcome.to_dict())
    elif not args.quiet:
        print(render(outcome, time.perf_counter() - started))
        print(f"\nResults in {out}/: scenario.toml, attack.png, run, found.toml, attack.json")
    return 0


def render(outcome: Outcome, wall_s: float) -> str:
    """The outcome as a table."""
    head = [("", "paths"), ("worst", outcome.goal.unit), ("", "of")]
    rows = [[name, f"{harm:.3g}", of] for name, harm, of in outcome.rows()]
    return f"{outcome.title(outcome.small[1])}, in {wall_s:.0f} s\n\n{columns.table(head, rows, words=1)}"


def _folder(name: str, args: argparse.Namespace) -> str:
    from leobench.scenario import as_name

    return as_name(f"attack-{name}-{args.goal}-{args.seed}")


def _seconds(given: str) -> float:
    """A time such as `10min`, in seconds."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?(s|min|h)", given.strip())
    if found is None or float(found[1]) <= 0:
        raise argparse.ArgumentTypeError(
            f"{given}: is no time; allowed: a number with s, min or h, such as 10min"
        )
    return float(found[1]) * _UNITS_S[found[2]]
