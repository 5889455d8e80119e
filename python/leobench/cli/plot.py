"""Draws a figure from a result folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from leobench.cli import options

if TYPE_CHECKING:
    import argparse

NAME = "plot"
HELP = "draw a figure from a result folder"
EXAMPLE = "leobench plot results/khan2023-ka-1 --out timeline.pdf --from 10 --to 20"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("folder", metavar="DIR", type=Path, help="result folder of `leobench run`")
    parser.add_argument(
        "--kind", type=options.text, default="timeline", help="kind of figure (default: timeline)"
    )
    parser.add_argument("--out", metavar="FILE", type=Path, help="PNG, SVG or PDF (default: DIR/<kind>.png)")
    parser.add_argument(
        "--flow", type=options.text, help="flow to show (default: those that are not background, up to five)"
    )
    parser.add_argument(
        "--link",
        type=options.text,
        help="direction of a link to show, such as 'up/a->b' (default: the fullest on the flows' way)",
    )
    parser.add_argument("--from", dest="start_s", metavar="S", type=float, help="first second shown")
    parser.add_argument("--to", dest="end_s", metavar="S", type=float, help="last second shown")


def main(args: argparse.Namespace) -> int:
    """Draws the figure and says where it is."""
    from leobench import api, plots

    draw = plots.kind(args.kind)
    file = args.out or args.folder / f"{args.kind}.png"
    result = api.open(args.folder)
    plots.check_format(file)
    figure = draw(result, flow=args.flow, link=args.link, start_s=args.start_s, end_s=args.end_s)
    plots.save(figure, file)
    print(file)
    return 0
