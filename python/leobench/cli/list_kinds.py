"""Lists the models that scenarios can use: channels, queues, congestion controllers and others.

With the name of a model, as in `leobench list channels lms`, prints its parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.cli import options, terminal

if TYPE_CHECKING:
    import argparse

NAME = "list"
HELP = "list channels, queues, controllers and other models, or a model's parameters"
EXAMPLE = "leobench list channels\n  leobench list channels lms"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "kind",
        nargs="?",
        type=options.text,
        metavar="KIND",
        help="kind of models to list (default: all kinds)",
    )
    parser.add_argument(
        "name",
        nargs="?",
        type=options.text,
        metavar="NAME",
        help="model of that kind whose parameters to print",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def main(args: argparse.Namespace) -> int:
    """Prints names with one-line summaries, or the parameters of one model."""
    from leobench import _core, api

    if args.name:
        from leobench import parameters

        described = api.describe(args.kind, args.name)
        if args.json:
            terminal.print_json(described)
        else:
            print(parameters.render(described))
        return 0
    chosen = [args.kind] if args.kind else _core.KINDS
    listed = {kind: api.kinds(kind) for kind in chosen}
    if args.json:
        terminal.print_json(listed)
        return 0
    width = max(len(name) for names in listed.values() for name in names)
    for kind, names in listed.items():
        if not args.kind:
            print(f"{kind}:")
        indent = "" if args.kind else "  "
        for name, summary in names.items():
            print(f"{indent}{name:<{width}}  {summary}")
        for name, reason in _core.refused(kind):
            print(f"{indent}{name:<{width}}  ({reason})")
    return 0
