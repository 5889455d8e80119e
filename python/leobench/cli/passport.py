"""Examines a congestion controller by a fixed suite of checks, after RFC 9743 and papers on satellites.

Exit code: 0 if no check fails, 1 if one does, 2 for invalid input.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from leobench.cli import options, terminal
from leobench.cli.progress import CampaignProgress

if TYPE_CHECKING:
    from typing import Any

    from leobench.candidate import Candidate
    from leobench.passport import Examination, Suite

    Described = dict[str, Any]

NAME = "passport"
HELP = "examine a congestion controller by a fixed suite of checks, for releases and CI"
EXAMPLE = "leobench passport mine:Mine --against cubic\n  leobench passport --compare results/passport-*"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "controller",
        metavar="CONTROLLER",
        nargs="?",
        type=options.text,
        help="kind (cubic), table ('{ kind = \"cubic\", beta = 0.8 }'), class (mine:Mine), native library "
        "(./libmine.so) or a controller of the kernel's TCP, in real time (kernel:bbr)",
    )
    parser.add_argument(
        "--stack",
        metavar="LIBRARY",
        type=options.text,
        help="QUIC stack of your own, a native library, in place of CONTROLLER",
    )
    parser.add_argument(
        "--against",
        metavar="CONTROLLER",
        type=options.text,
        help="controller to compare with, check by check",
    )
    parser.add_argument(
        "--transport",
        choices=("quic", "tcp"),
        help="transport of the flows (default: quic; the kernel has tcp)",
    )
    parser.add_argument(
        "--suite", metavar="VERSION", type=options.whole, default=1, help="version of the suite (default: 1)"
    )
    parser.add_argument("--quick", action="store_true", help="fewer checks, and fewer runs of each")
    parser.add_argument(
        "--threshold",
        dest="thresholds",
        metavar="CHECK=VALUE",
        type=_threshold,
        action="append",
        default=[],
        help="value beyond which a check fails, such as deep-queue=2; may be repeated",
    )
    parser.add_argument(
        "--compare",
        metavar="DIR",
        type=options.path,
        nargs="+",
        help="print passports side by side, in Markdown, and run nothing",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=options.path,
        help="folder for the passport and the runs (default: results/passport-<CONTROLLER>)",
    )
    options.add_campaign(parser)
    parser.add_argument("--json", action="store_true", help="print the passport as JSON")
    parser.add_argument("--quiet", action="store_true", help="print no progress and no table")


def main(args: argparse.Namespace) -> int:
    """Examines the controller, writes the passport, and prints it."""
    from leobench.passport import document

    if args.compare:
        return _compare(args)
    candidate = _candidate(args)
    against = None if args.against is None else _opponent(args, candidate)
    suite = _suite(args)
    folder: Path = args.out or Path("results") / f"passport-{_slug(candidate.text)}"
    own, other = _examine(args, suite, [candidate, *([against] if against else [])], folder)
    described = document.as_json(own, other)
    document.write(described, folder)
    if args.json:
        terminal.print_json(described)
    elif not args.quiet:
        from leobench.cli import passport_table

        print(passport_table.render(described))
        print(f"\nPassport in {folder}/: {', '.join(document.NAMES)}, and the runs")
    return 1 if described["counts"]["fail"] else 0


def _threshold(given: str) -> tuple[str, float]:
    """An argument `CHECK=VALUE`."""
    import math

    name, equals, value = options.text(given).partition("=")
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not (name and equals and math.isfinite(number)):
        raise argparse.ArgumentTypeError(f"{given}: is not CHECK=VALUE; allowed: such as deep-queue=2")
    if number < 0:
        raise argparse.ArgumentTypeError(f"{given}: is negative; allowed: 0 or more")
    return name, number


def _candidate(args: argparse.Namespace) -> Candidate:
    from leobench.candidate import Candidate
    from leobench.errors import InputError

    if args.stack is not None:
        if args.controller is not None or args.transport == "tcp":
            which = "CONTROLLER" if args.controller is not None else "--transport tcp"
            raise InputError(
                f"--stack {args.stack}: excludes {which}; allowed: the stack alone, which is QUIC"
            )
        return Candidate.of_stack(args.stack)
    if args.controller is None:
        raise InputError("CONTROLLER: is missing; allowed: such as cubic, mine:Mine, or --stack ./mine.so")
    made = Candidate.parse(args.controller, args.transport or "quic")
    if args.transport == "quic" and made.transport["kind"] != "quic":
        raise InputError(f"--transport quic: {made.text} has TCP only; allowed: tcp")
    return made


def _opponent(args: argparse.Namespace, candidate: Candidate) -> Candidate:
    """The controller of `--against`, over the same transport, and in the same engine."""
    from leobench.candidate import Candidate
    from leobench.errors import InputError

    made = Candidate.parse(args.against, candidate.transport["kind"])
    if made.engine != candidate.engine:
        right = "kernel:cubic" if candidate.engine == "real" else "a controller of leobench, such as cubic"
        raise InputError(
            f"--against {args.against}: does not run in {candidate.engine} time, as {candidate.text} does; "
            f"allowed: {right}"
        )
    return made


def _suite(args: argparse.Namespace) -> Suite:
    from leobench import passport

    suite = passport.load_suite(args.suite)
    return (suite.restricted(quick=True) if args.quick else suite).with_thresholds(args.thresholds)


def _examine(
    args: argparse.Namespace, suite: Suite, candidates: list[Candidate], folder: Path
) -> tuple[Examination, Examination | None]:
    from leobench import passport

    with CampaignProgress(folder, quiet=args.quiet or args.json) as progress:
        made = passport.examine_all(
            candidates,
            suite,
            folder,
            workers=args.workers,
            resume=args.resume,
            force=args.force,
            progress=progress,
        )
    return made[0], made[1] if len(made) > 1 else None


def _slug(text: str) -> str:
    """The part of the folder's name that tells controllers apart."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-")[:60] or "controller"


def _compare(args: argparse.Namespace) -> int:
    from leobench.errors import InputError
    from leobench.passport import document, tables

    if args.controller is not None or args.stack is not None:
        raise InputError("--compare: excludes CONTROLLER and --stack; allowed: folders of passports alone")
    passports = [document.read(folder) for folder in args.compare]
    if args.json:
        terminal.print_json(tables.columns(passports))
    else:
        print(tables.markdown(passports), end="")
    return 0
