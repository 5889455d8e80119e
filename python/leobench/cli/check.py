"""Reads and checks scenarios without running them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from leobench.cli import options, terminal

if TYPE_CHECKING:
    import argparse

NAME = "check"
HELP = "check scenarios without running them"
EXAMPLE = "leobench check scenarios/*.toml"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("scenarios", nargs="+", metavar="SCENARIO", help="scenario file, TOML or JSON")
    options.add_overrides(parser)
    parser.add_argument(
        "--json",
        action="store_true",
        help="print JSON, every default spelled out: the scenario, or of several an array",
    )


def main(args: argparse.Namespace) -> int:
    """Checks every scenario, also after one is found wrong; exits 2 if any is."""
    from leobench import api
    from leobench.errors import ScenarioError

    fine = []
    wrong = False
    for path in args.scenarios:
        try:
            resolved = api.check(path, dict(args.overrides))
        except ScenarioError as error:
            print(f"leobench: {terminal.on_one_line(str(error))}", file=sys.stderr)
            wrong = True
            continue
        fine.append(resolved)
        if not args.json:
            counts = ", ".join(
                f"{len(resolved[part])} {part if len(resolved[part]) != 1 else part[:-1]}"
                for part in ("nodes", "links", "flows")
            )
            print(f"{terminal.on_one_line(path)}: fine: {resolved['name']}, {resolved['duration']}, {counts}")
    if args.json and (fine or len(args.scenarios) > 1):
        shown = fine if len(args.scenarios) > 1 else fine[0]
        terminal.print_json(shown)
    return 2 if wrong else 0
