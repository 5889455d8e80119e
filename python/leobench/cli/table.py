"""Prints the means of a finished sweep with their intervals: a row per variant, a column per metric.

Formats: text for a terminal, Markdown, LaTeX (a `tabular` with the rules of booktabs) and CSV.
"""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from leobench.cli import columns, options

if TYPE_CHECKING:
    import argparse

    from leobench.means import Column, MeansTable

NAME = "table"
HELP = "print a sweep's means with intervals as text, Markdown, LaTeX or CSV"
EXAMPLE = "leobench table results/buffers --format latex --metric goodput --metric delay_ms.mean"

# The width of a table that no terminal shows.
_WIDTH = 120


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "folder",
        metavar="DIR",
        type=options.path,
        help="result folder of `leobench sweep` or `leobench compare`",
    )
    parser.add_argument(
        "--format",
        metavar="FORMAT",
        type=options.text,
        default="text",
        help="text (default), markdown, latex or csv",
    )
    options.add_metrics(parser)
    parser.add_argument(
        "--confidence",
        metavar="SHARE",
        type=options.number,
        default=0.95,
        help="confidence of the intervals (default: 0.95)",
    )
    parser.add_argument("--out", metavar="FILE", type=options.path, help="write the table to a file")
    parser.add_argument("--force", action="store_true", help="replace a file that exists")


def main(args: argparse.Namespace) -> int:
    """Prints the table, or writes it."""
    from leobench import means
    from leobench.campaign import CampaignResult
    from leobench.errors import InputError
    from leobench.files import refuse_existing, write_text

    means.refuse_unknown_format(args.format)
    if args.force and args.out is None:
        raise InputError("--force: is for a file; name one with --out, or leave --force out")
    if args.out is not None and not args.force:
        refuse_existing(args.out)
    made = means.of(CampaignResult.open(args.folder), args.metrics, args.confidence)
    said = render(made) + "\n" if args.format == "text" else means.FORMATS[args.format](made)
    if args.out is None:
        print(said, end="")
    else:
        write_text(args.out, said)
        print(args.out)
    return 0


def render(table: MeansTable) -> str:
    """The table for a terminal, in as many blocks of columns as its width needs, with its notes."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDTH
    blocks: list[str] = []
    shown: list[Column] = []
    for column in table.columns:
        wider = _block(table.part([*shown, column]))
        if shown and max(map(len, wider.splitlines())) > width:
            shown = []
            wider = _block(table.part([column]))
        else:
            blocks = blocks[: len(blocks) - bool(shown)]
        shown.append(column)
        blocks.append(wider)
    return "\n\n".join([*blocks, *(["\n".join(table.notes)] if table.notes else [])])


def _block(table: MeansTable) -> str:
    head = [*(("", key) for key in table.keys), *((column.name, column.unit) for column in table.columns)]
    cells = [column.cells(_plus_minus(), grouped=True) for column in table.columns]
    rows = [[*row, *(column[index] for column in cells)] for index, row in enumerate(table.rows)]
    return columns.table(head, rows, words=len(table.keys))


def _plus_minus() -> str:
    """The sign, in characters that the output has."""
    try:
        "±".encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return "+/-"
    return "±"
