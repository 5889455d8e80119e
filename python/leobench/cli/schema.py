"""Prints the JSON Schema of scenario files, for editors that complete and check as you type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.cli import terminal

if TYPE_CHECKING:
    import argparse

NAME = "schema"
HELP = "print the JSON Schema of scenario files"
EXAMPLE = "leobench schema > scenario.schema.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares no arguments: there is one schema."""
    del parser


def main(args: argparse.Namespace) -> int:
    """Prints the schema."""
    del args
    from leobench import api

    terminal.print_json(api.schema())
    return 0
