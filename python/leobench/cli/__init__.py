"""The command line: one file per subcommand. Heavy libraries are imported when a command runs, not before."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from leobench.cli import check, list_kinds, plot, run, schema, sweep
from leobench.errors import InputError, LeobenchError

if TYPE_CHECKING:
    from collections.abc import Sequence

FINE, FAILED, WRONG_INPUT, INTERRUPTED = 0, 1, 2, 130


class Command(Protocol):
    """What the file of a subcommand holds."""

    NAME: str
    HELP: str
    EXAMPLE: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declares the arguments."""

    def main(self, args: argparse.Namespace) -> int:
        """Does the work and returns the exit code."""


COMMANDS: tuple[Command, ...] = (run, check, list_kinds, schema, plot, sweep)

_EXAMPLES = """\
examples:
  leobench run scenarios/khan2023-ka.toml --seed 3
  leobench plot results/khan2023-ka-3
"""


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints look like every other message of leobench."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(WRONG_INPUT, f"leobench: {message}\n")


class _Version(argparse.Action):
    """Asks the core for its version, only when someone wants to know."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from leobench import _core

        print(f"leobench {_core.__version__}")
        parser.exit()


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = _Parser(
        prog="leobench",
        description="A laboratory for transport protocols over low-Earth-orbit satellite networks.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="say which version this is")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        example = f"example:\n  {command.EXAMPLE}\n"
        added = commands.add_parser(
            command.NAME, help=command.HELP, description=command.__doc__, epilog=example
        )
        command.add_arguments(added)
        added.set_defaults(main=command.main)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns the exit code: 0 fine, 1 failed, 2 wrong input, 130 interrupted."""
    args = build_parser().parse_args(argv)
    try:
        code: int = args.main(args)
        sys.stdout.flush()
    except LeobenchError as error:
        print(f"leobench: {error}", file=sys.stderr)
        return WRONG_INPUT if isinstance(error, InputError) else FAILED
    except KeyboardInterrupt:
        print("leobench: interrupted; nothing was written", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has seen enough; Python must not try to flush the rest at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE
    return code


def entry() -> NoReturn:
    """The `leobench` program."""
    sys.exit(main())
