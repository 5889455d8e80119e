"""Lists what scenarios can be made of: channels, queues, congestion controllers and so on.

With a name, such as `leobench list channels lms`, its parameters.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

NAME = "list"
HELP = "list the channels, queues, controllers, ... there are, and their parameters"
EXAMPLE = "leobench list channels\n  leobench list channels lms"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("kind", nargs="?", metavar="KIND", help="what to list; everything unless given")
    parser.add_argument("name", nargs="?", metavar="NAME", help="one of that kind, to see its parameters")
    parser.add_argument("--json", action="store_true", help="print JSON")


def main(args: argparse.Namespace) -> int:
    """Prints names with one-line summaries, or the parameters of one name."""
    from leobench import _core, api

    if args.name:
        from leobench import parameters

        described = api.describe(args.kind, args.name)
        text = json.dumps(described, indent=2, ensure_ascii=False)
        print(text if args.json else parameters.render(described))
        return 0
    chosen = [args.kind] if args.kind else _core.KINDS
    listed = {kind: api.kinds(kind) for kind in chosen}
    if args.json:
        print(json.dumps(listed, indent=2, ensure_ascii=False))
        return 0
    width = max(len(name) for names in listed.values() for name in names)
    for kind, names in listed.items():
        if not args.kind:
            print(f"{kind}:")
        indent = "" if args.kind else "  "
        for name, summary in names.items():
            print(f"{indent}{name:<{width}}  {summary}")
    return 0
