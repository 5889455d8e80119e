"""Writes a report on runs, a campaign, a reproduction or a passport: one HTML file that needs no network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from leobench.cli import options

if TYPE_CHECKING:
    import argparse

NAME = "report"
HELP = "write an interactive report on results as one HTML file"
EXAMPLE = "leobench report results/khan2023-ka-1 --out khan.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "folders",
        metavar="DIR",
        type=options.path,
        nargs="+",
        help="result folder of `leobench run`, several of them, or one of `leobench sweep`, `reproduce` or "
        "`passport`",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=options.path,
        help="HTML file, which ends in .html (default: DIR.html; for several runs report.html)",
    )
    parser.add_argument(
        "--force", action="store_true", help="replace a file that is no report; a report is replaced anyway"
    )
    parser.add_argument(
        "--without",
        metavar="TABLE",
        type=options.text,
        action="append",
        default=[],
        help="table to leave out, such as packets, or globe; may be repeated",
    )


def main(args: argparse.Namespace) -> int:
    """Writes the report and prints its file and size."""
    from leobench import report

    file = report.write(args.folders, args.out or _beside(args.folders), args.without, force=args.force)
    print(f"{file} ({file.stat().st_size / 1e6:.1f} MB)")
    return 0


def _beside(folders: list[Path]) -> Path:
    """Beside the folder, not within: what is within is leobench's to replace."""
    if len(folders) > 1:
        return Path("report.html")
    folder = folders[0] if folders[0].name not in ("", "..") else folders[0].resolve()
    return folder.with_name(f"{folder.name}.html") if folder.name else Path("report.html")
