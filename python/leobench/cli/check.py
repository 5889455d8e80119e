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
    options.add_scenario(parser, several=True, or_stdin=True)
    options.add_overrides(parser)
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the scenario as JSON with all defaults; an array if there are several",
    )


def main(args: argparse.Namespace) -> int:
    """Checks every scenario, even after an invalid one; returns 2 if any is invalid."""
    from leobench import api
    from leobench.errors import ScenarioError

    valid = []
    invalid = False
    for path in args.scenarios:
        try:
            resolved = api.check(path, dict(args.overrides))
        except ScenarioError as error:
            print(f"leobench: {terminal.on_one_line(str(error))}", file=sys.stderr)
            invalid = True
            continue
        valid.append(resolved)
        if not args.json:
            counts = [
                f"{len(resolved[part])} {part if len(resolved[part]) != 1 else part[:-1]}"
                for part in ("nodes", "links", "flows")
            ]
            if "traffic" in resolved:
                counts.append("traffic between places")
            duration = [resolved["duration"]] if "duration" in resolved else []
            told = ", ".join([resolved["name"], *duration, *counts])
            print(f"{terminal.on_one_line(path)}: ok: {told}")
    if args.json and (valid or len(args.scenarios) > 1):
        shown = valid if len(args.scenarios) > 1 else valid[0]
        terminal.print_json(shown)
    return 2 if invalid else 0
