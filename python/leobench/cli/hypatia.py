"""Turns delays in a network that Hypatia generated into a table of the channel `schedule`.

FOLDER has `tles.txt`, `isls.txt`, `ground_stations.txt`, `description.txt`, and a folder `dynamic_state_*`
with the forwarding state, whose ways the packets take from one ground station to another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.cli import columns, options

if TYPE_CHECKING:
    import argparse

NAME = "hypatia"
HELP = "convert a network that Hypatia generated to a table for the channel `schedule`"
EXAMPLE = "leobench hypatia gen_data/kuiper_630 Manila Dalian --rate '10 Mbps' --out manila-dalian.csv"

# Rows of the table of ways.
_ROWS = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "folder", metavar="FOLDER", type=options.text, help="folder that Hypatia's satgenpy generated"
    )
    parser.add_argument("source", metavar="FROM", help="name of a ground station")
    parser.add_argument("target", metavar="TO", help="name of another ground station")
    parser.add_argument(
        "--rate", metavar="RATE", default="10 Mbps", help="rate of the link (default: 10 Mbps)"
    )
    parser.add_argument(
        "--interval",
        metavar="S",
        type=options.seconds,
        default=0.1,
        help="seconds between two delays (default: 0.1)",
    )
    parser.add_argument("--out", metavar="FILE", type=options.path, help="write the table to this file")


def main(args: argparse.Namespace) -> int:
    """Prints the ways, and writes the table if there is a file."""
    from leobench import hypatia
    from leobench.errors import InputError
    from leobench.files import write_text

    if args.interval < 0.001:
        raise InputError(f"--interval = {args.interval:g}: is too short; allowed: 0.001 s or more")
    network = hypatia.Network(args.folder)
    every = round(args.interval * 1e9)
    ways = network.ways(args.source, args.target)
    starts = dict(network.delays(args.source, args.target, every))
    if args.out is not None:
        lines = hypatia.schedule(network, args.source, args.target, args.rate, every)
        write_text(args.out, "".join(lines))
    head = [("from", "s"), ("one-way delay", "ms"), ("way", "")]
    rows = []
    for at, way in ways[:_ROWS]:
        delay = starts[at]
        shown = columns.NONE if delay is None else f"{delay * 1e3:.3f}"
        rows.append([f"{at / 1e9:.1f}", shown, columns.NONE if way is None else "-".join(map(str, way))])
    print(columns.table(head, rows, 2))
    if len(ways) > _ROWS:
        print(f"and {len(ways) - _ROWS} more ways")
    if args.out is not None:
        print(f"\nWritten to {args.out}")
    return 0
