"""Turns measurements into the table of a `schedule` channel: rate, delay, loss, interruptions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from leobench.cli import options

if TYPE_CHECKING:
    import argparse

NAME = "record"
HELP = "turn what ping, irtt, iperf3 or a dish measured into a channel"
EXAMPLE = "leobench record ping.txt iperf3.json --out roof.csv --mahimahi roof.mahimahi"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    from leobench.recording import FORMATS

    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        type=Path,
        help="measurements; several are put together by their times",
    )
    parser.add_argument(
        "--out", metavar="CSV", type=Path, required=True, help="the table of a `schedule` channel"
    )
    parser.add_argument(
        "--mahimahi", metavar="FILE", type=Path, help="write the rates as a trace of Mahimahi, too"
    )
    parser.add_argument(
        "--kind", choices=list(FORMATS), help="format of the files (default: found from each)"
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
        help="so many probes lost in a row are an interruption (default: 3)",
    )
    parser.add_argument("--force", action="store_true", help="replace files that exist")


def main(args: argparse.Namespace) -> int:
    """Reads the measurements and writes the table, and says what it holds."""
    from leobench import folder, recording
    from leobench.errors import InputError
    from leobench.recording import mahimahi, schedule
    from leobench.recording.readings import Reading

    for target in (args.out, args.mahimahi):
        if target is None:
            continue
        with folder.refusing(target):
            is_there = target.exists()
        if is_there and not args.force:
            raise InputError(f"{target}: exists already; choose another file, or replace it with --force")
    if args.bin <= 0 or args.interruption < 1:
        raise InputError("--bin and --interruption: must be greater than 0")
    if args.rate is not None and not 0 < args.rate < 1e6:
        raise InputError(f"--rate: {args.rate:g} is out of range; allowed: above 0, below 1,000,000 Mbit/s")
    reading = sum((recording.read(file, args.kind) for file in args.files), Reading())
    rate = None if args.rate is None else args.rate * 1e6
    rows = schedule.rows(reading, schedule.Rule(args.bin, args.interruption, rate))
    lines = [schedule.HEADER, *(row.text() for row in rows)]
    with folder.refusing(args.out):
        args.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if args.mahimahi is not None:
        end = rows[-1].at + args.bin
        trace = "".join(f"{at}\n" for at in mahimahi.opportunities(rows, end))
        with folder.refusing(args.mahimahi):
            args.mahimahi.write_text(trace, encoding="ascii")
    lost = sum(probe.delays_s is None for probe in reading.probes)
    down = sum(not row.up for row in rows)
    print(
        f"{args.out}: {len(rows):,} rows over {rows[-1].at + args.bin:.4g} s, "
        f"from {len(reading.probes):,} probes ({lost:,} lost) and {len(reading.rates):,} rates; "
        f"{down:,} rows are interruptions"
    )
    return 0
