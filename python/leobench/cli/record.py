"""Turns measurements into the table of a `schedule` channel: rate, delay, loss, interruptions."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from leobench.cli import options

if TYPE_CHECKING:
    from collections.abc import Iterable

NAME = "record"
HELP = "turn measurements of ping, irtt, iperf3 or a dish into a channel"
EXAMPLE = "leobench record ping.txt iperf3.json --out roof.csv --mahimahi roof.mahimahi"

# Seconds of the shortest row.
_LEAST_BIN_S = 0.001


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    from leobench.recording import FORMATS

    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        type=options.path,
        help="files of measurements; several are merged by time",
    )
    parser.add_argument(
        "--out", metavar="CSV", type=_file, required=True, help="the table of a `schedule` channel"
    )
    parser.add_argument(
        "--mahimahi", metavar="FILE", type=_file, help="write the rates as a trace of Mahimahi, too"
    )
    parser.add_argument(
        "--kind", choices=list(FORMATS), help="format of the files (default: detected in each file)"
    )
    parser.add_argument("--rate", metavar="MBPS", type=float, help="rate where none was measured, in Mbit/s")
    parser.add_argument(
        "--bin", metavar="MS", type=options.milliseconds, default=0.1, help="length of a row (default: 100)"
    )
    parser.add_argument(
        "--interruption",
        metavar="N",
        type=options.whole,
        default=3,
        help="number of consecutive lost probes that count as an interruption (default: 3)",
    )
    parser.add_argument("--force", action="store_true", help="replace existing files")


def main(args: argparse.Namespace) -> int:
    """Reads the measurements and writes the table, and prints what it holds and how a scenario names it."""
    from leobench import recording
    from leobench.errors import counted
    from leobench.recording import mahimahi, output, schedule
    from leobench.recording.readings import Reading

    _check(args)
    output.admit(
        [each for each in (args.out, args.mahimahi) if each is not None], args.files, force=args.force
    )
    reading = sum((recording.read(file, args.kind) for file in args.files), Reading())
    rate = None if args.rate is None else args.rate * 1e6
    table = schedule.table(reading, schedule.Rule(args.bin, args.interruption, rate))
    texts: dict[Path, Iterable[str]] = {args.out: [table.text()]}
    if args.mahimahi is not None:
        mahimahi.check(table)
        texts[args.mahimahi] = mahimahi.lines(table)
    output.write(texts)
    lost = sum(probe.rtt_s is None for probe in reading.probes)
    down = sum(not row.up for row in table.rows)
    print(
        f"{args.out}: {counted(len(table.rows), 'row')} over {table.end:.4g} s, "
        f"from {counted(len(reading.probes), 'probe')} ({lost:,} lost) "
        f"and {counted(len(reading.rates), 'rate')}; "
        f"{counted(down, 'row')} {'is an interruption' if down == 1 else 'are interruptions'}"
    )
    print(f"For a link of a scenario in this folder:\n{table.channel(str(args.out))}")
    return 0


def _file(given: str) -> Path:
    """An argument that names a file to write."""
    if not given:
        raise argparse.ArgumentTypeError("is empty; allowed: the name of a file")
    return Path(given)


def _check(args: argparse.Namespace) -> None:
    """Refuses arguments that no table can be made by."""
    from leobench.errors import InputError

    if args.bin < _LEAST_BIN_S:
        raise InputError(f"--bin: {args.bin * 1e3:g} ms is out of range; allowed: from 1 ms")
    if args.interruption < 1:
        raise InputError(f"--interruption: {args.interruption} is out of range; allowed: from 1")
    if args.rate is not None and not 0 < args.rate < 1e6:
        raise InputError(f"--rate: {args.rate:g} is out of range; allowed: above 0, below 1,000,000 Mbit/s")
