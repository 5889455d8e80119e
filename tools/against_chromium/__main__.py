"""The command line of the comparisons."""

from __future__ import annotations

import argparse
import sys

from leobench.errors import InputError, LeobenchError
from tools.against_chromium import calls, film, pages

SUBJECTS = {"pages": pages, "calls": calls, "film": film}


def main() -> int:
    """Compares one subject; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.against_chromium", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="SUBJECT")
    for name, subject in SUBJECTS.items():
        command = commands.add_parser(name, help=subject.__doc__, description=subject.__doc__)
        subject.arguments(command)
        command.set_defaults(run=subject.run)
    args = parser.parse_args()
    try:
        args.run(args)
    except LeobenchError as error:
        print(f"against_chromium: {error}", file=sys.stderr)
        return 2 if isinstance(error, InputError) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
