"""The command line: one file per subcommand. Heavy libraries are imported when a command runs, not before."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from leobench.cli import (
    agree,
    attack,
    check,
    compare,
    completion,
    emulate,
    fit,
    hypatia,
    list_kinds,
    new,
    orbit,
    passport,
    plot,
    qvis,
    record,
    replay,
    report,
    reproduce,
    run,
    schema,
    score,
    shell,
    sweep,
    table,
    terminal,
    view,
    why,
)
from leobench.cli.interruptions import Interruptions
from leobench.errors import InputError, LeobenchError, allowed, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from _typeshed import SupportsWrite

OK, FAILED, WRONG_INPUT, INTERRUPTED = 0, 1, 2, 130


class Command(Protocol):
    """The interface of a subcommand's module."""

    NAME: str
    HELP: str
    EXAMPLE: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declares the arguments."""

    def main(self, args: argparse.Namespace) -> int:
        """Does the work and returns the exit code."""


COMMANDS: tuple[Command, ...] = (
    run,
    new,
    check,
    orbit,
    hypatia,
    list_kinds,
    schema,
    plot,
    report,
    view,
    why,
    compare,
    sweep,
    table,
    agree,
    passport,
    attack,
    reproduce,
    qvis,
    emulate,
    shell,
    record,
    fit,
    score,
    replay,
    completion,
)

_EXAMPLES = """\
examples:
  leobench run scenarios/khan2023-ka.toml --seed 3
  leobench plot results/khan2023-ka-3
"""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors look like every other message of leobench."""

    # Whether options and positional arguments may be mixed: within a command, not before it.
    mixed = False
    # What else to try with an option that there is not.
    advice = ""
    # Whether all words after `--` belong to the argument `words`, whatever comes before.
    takes_command = False
    # Declares the arguments of a command. Called when the command is used: some need imports that take time.
    declare: Callable[[argparse.ArgumentParser], None] | None = None

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **options)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        if self.declare:
            self.declare(self)
            self.declare = None
        if not self.mixed:
            return super().parse_known_args(args, namespace)
        words: list[str] = []
        if self.takes_command and "--" in args:
            place = args.index("--")
            args, words = args[:place], args[place + 1 :]
        self.mixed = False  # parse_known_intermixed_args calls this method
        try:
            parsed, unknown = self.parse_known_intermixed_args(args, namespace)
        finally:
            self.mixed = True
        if words:
            parsed.words = [*parsed.words, *words]
        for word in unknown:
            if word.startswith("-"):
                option = word.partition("=")[0]
                self.error(f"{option}: no such option{self.near(option)}{self.advice}")
        return parsed, unknown

    def near(self, option: str) -> str:
        """The option that was perhaps meant, compared without its dashes; empty if none is near."""
        known = [each[2:] for each in self._option_string_actions if each.startswith("--")]
        found = nearest(option.lstrip("-"), known)
        return "" if found is None else f"; did you mean `--{found}`?"

    def error(self, message: str) -> NoReturn:
        hint = "" if "; " in message else f"; see `{self.prog} --help`"
        self.exit(WRONG_INPUT, f"leobench: {message.removeprefix('argument ')}{hint}\n")

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        # Unlike the original, raises if the output cannot be written.
        (file or sys.stderr).write(message)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = allowed(value, action.choices)
            if isinstance(action, argparse._SubParsersAction):
                self.error(f"{value}: no such command; {known}")
            raise argparse.ArgumentError(action, f"{value}: unknown word; {known}")


class _Version(argparse.Action):
    """Prints the version with the origin of the build, which is loaded only for this."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from leobench import version

        print(version.told())
        parser.exit()


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = _Parser(
        prog="leobench",
        description="A laboratory for transport protocols over low-Earth-orbit satellite networks.",
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="print version, commit, engines and features"
    )
    commands = parser.add_subparsers(metavar="COMMAND")

    def without_command(_: argparse.Namespace) -> int:
        parser.print_help(sys.stdout)
        return OK

    # `completion` reads the commands off the parser.
    parser.set_defaults(main=without_command, parser=parser)
    for command in COMMANDS:
        example = f"example:\n  {command.EXAMPLE}\n"
        added = commands.add_parser(
            command.NAME, help=command.HELP, description=command.__doc__, epilog=example
        )
        added.declare = command.add_arguments
        added.set_defaults(main=command.main)
        added.mixed = True
        added.advice = getattr(command, "ADVICE", "")
        added.takes_command = getattr(command, "TAKES_COMMAND", False)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns the exit code.

    It is 0 for success, 1 for a failure, 2 for invalid input, 119 for an invalid run, and 130 for an
    interruption.
    """
    with terminal.escaping():
        return _main(argv)


def _main(argv: Sequence[str] | None) -> int:
    try:
        args = build_parser().parse_args(argv)
        code: int = args.main(args)
        sys.stdout.flush()
    except InputError as error:
        print(f"leobench: {terminal.on_one_line(str(error))}", file=sys.stderr)
        return WRONG_INPUT
    except LeobenchError as error:
        print(f"leobench: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt as interrupt:
        return _interrupted(str(interrupt))
    except BrokenPipeError:
        # The reader, such as `head`, closed the pipe.
        _silence(sys.stdout)
        return OK
    except OSError as error:
        print(f"leobench: {_describe(error)}", file=sys.stderr)
        _silence(sys.stdout)
        return FAILED
    return code


def entry() -> NoReturn:
    """The `leobench` program, which `leobench.start` starts."""
    terminal.open_closed()
    interruptions = Interruptions()
    try:
        interruptions.handle()
        code = main()
    except SystemExit as exit_:
        code = _asked_for(exit_)
    except BaseException:
        # A library interrupted during its import may raise anything.
        if not interruptions.received:
            raise
        code = _interrupted()
    finally:
        interruptions.end()
    if interruptions.received and code == INTERRUPTED:
        code = 128 + interruptions.received[0]
    sys.exit(_finish(code))


def _interrupted(outcome: str = "") -> int:
    """Reports an interruption and what became of the work, and returns the exit code."""
    print(f"leobench: interrupted; {outcome or 'nothing was written'}", file=sys.stderr)
    return INTERRUPTED


def _asked_for(exit_: SystemExit) -> int:
    """The exit code of `sys.exit(...)`; prints any argument that is not a number."""
    if exit_.code is None or isinstance(exit_.code, int):
        return exit_.code or OK
    print(terminal.shown(str(exit_.code), sys.stderr.encoding), file=sys.stderr)
    return FAILED


def _finish(code: int) -> int:
    """Flushes standard output, which may fail, and returns the exit code."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _silence(sys.stdout)
    except OSError as error:
        _silence(sys.stdout)
        print(f"leobench: {_describe(error)}", file=sys.stderr)
        return code or FAILED
    return code


def _silence(stream: TextIO) -> None:
    """Discards buffered output, so that Python does not fail to write it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _describe(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename is not None else "output cannot be written: "
    return f"{where}{error.strerror or error}"
