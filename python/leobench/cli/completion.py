"""Prints a script that lets a shell complete commands, options, files and names.

Load it where the shell starts: `eval "$(leobench completion bash)"` in ~/.bashrc, and
`leobench completion fish | source` in ~/.config/fish/config.fish. For zsh, write the script to a file
`_leobench` in a folder of $fpath.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

NAME = "completion"
HELP = "print a script for completion in bash, zsh or fish"
EXAMPLE = 'eval "$(leobench completion bash)"'
SHELLS = ("bash", "zsh", "fish")

# Arguments that are files or folders, by how the usage calls them.
_FILES = {"CAMPAIGN", "FILE", "SCENARIO"}
_FOLDERS = {"DIR", "FOLDER"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")


def main(args: argparse.Namespace) -> int:
    """Prints the script."""
    import shtab

    words = _words()
    for command, action in _arguments(args.parser):
        name = str(action.metavar or "")
        if (command, action.dest) in words:
            action.choices = words[command, action.dest]
        elif name in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif name in _FOLDERS:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    print(shtab.complete(args.parser, args.shell))
    return 0


def _words() -> dict[tuple[str, str], list[str]]:
    """The words that an argument may be, by its command and its name there."""
    from leobench import _core, papers, templates

    figures = [f"{paper.name}/{figure.name}" for paper in papers.papers() for figure in paper.figures]
    return {
        ("new", "template"): [templates.STARLINK, *(each.name for each in templates.catalogue())],
        ("list", "kind"): list(_core.KINDS),
        ("reproduce", "target"): [*(paper.name for paper in papers.papers()), *figures],
    }


def _arguments(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
    """Every argument of every command, which declares them now."""
    import argparse

    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            commands: Iterable[tuple[str, argparse.ArgumentParser]] = action.choices.items()
            for command, of_command in commands:
                if of_command.declare:  # type: ignore[attr-defined]
                    of_command.declare(of_command)  # type: ignore[attr-defined]
                yield from ((command, each) for each in of_command._actions)
