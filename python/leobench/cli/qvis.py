"""Converts a qlog of the own QUIC stack for qvis: version 0.3, one trace per path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from leobench.cli import options

if TYPE_CHECKING:
    import argparse

NAME = "qvis"
HELP = "convert a qlog of the own QUIC stack for qvis, with a trace for each path"
EXAMPLE = "leobench qvis results/emergency-1/qlog/upload-sender.sqlog"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("qlog", metavar="QLOG", type=options.path, help="a qlog of the stack `own` (.sqlog)")
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=options.path,
        help="file to write (default: the name of the qlog with .qlog, in the working folder)",
    )


def main(args: argparse.Namespace) -> int:
    """Writes the converted qlog."""
    from leobench import qvis

    qvis.write(qvis.convert(args.qlog), args.out or Path(args.qlog.with_suffix(".qlog").name))
    return 0
