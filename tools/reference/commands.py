"""The page of the command line, from argparse."""

from __future__ import annotations

import argparse
import re
from typing import Any

from leobench import cli
from tools.reference.markdown import joined, prose, slug, table


def command_line_page() -> str:
    """The page of all commands and options."""
    blocks = [
        "# Command line",
        "`leobench COMMAND --help` prints the same. Exit codes: 0 done, 1 failed, 2 invalid input, "
        "130 interrupted. A message names what is wrong, where, and what is allowed.",
        table(
            ["command", "does"],
            [(f"[`{each.NAME}`](#{slug(each.NAME)})", f"{each.HELP}") for each in cli.COMMANDS],
        ),
    ]
    for command in cli.COMMANDS:
        parser = argparse.ArgumentParser(prog=f"leobench {command.NAME}", add_help=False)
        command.add_arguments(parser)
        usage = parser.format_usage().removeprefix("usage: ").strip()
        rows = [(f"`{words(action)}`", escaped(action.help or "")) for action in parser._actions]
        blocks += [
            f"## {command.NAME}",
            prose(command.__doc__ or ""),
            f"```text\n{re.sub(r' +', ' ', usage.replace(chr(10), ' '))}\n```",
            table(["argument", "meaning"], rows) if rows else "",
            f"```console\n{example(command.EXAMPLE)}\n```",
        ]
    return joined(blocks)


def words(action: Any) -> str:
    """The words of an argument on a command line."""
    value = action.metavar or (
        "{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper()
    )
    value = value if isinstance(value, str) else " ".join(value)
    if not action.option_strings:
        return str(value)
    return ", ".join(action.option_strings) + ("" if action.nargs == 0 else f" {value}")


def escaped(text: str) -> str:
    """Help text as Markdown: argparse doubles percent signs, and `<name>` would be a tag."""
    return text.replace("%%", "%").replace("<", "&lt;")


def example(text: str) -> str:
    """The examples of a command, each with its prompt."""
    return "\n".join(f"$ {line.strip()}" for line in text.splitlines())
