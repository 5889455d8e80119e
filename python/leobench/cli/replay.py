"""Infers the path behind a recorded transfer, and runs another controller, source or queue over it.

Prints the median and the 90 % interval of each metric over draws of the path, beside the same over the
throughput of the recording as if it were the capacity, and beside what the recording states
(docs/howto/replay.md). Exits with 1, and keeps the results, if the recorded flow, run again over the paths,
does not reproduce its recorded goodput or median round trip.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from leobench.cli import columns, options, terminal
from leobench.cli.progress import ReplayProgress

if TYPE_CHECKING:
    import argparse

    from leobench.fitting.replay.outcome import Interval, Outcome

NAME = "replay"
HELP = "run another controller over the path that a recorded transfer took"
EXAMPLE = "leobench replay results/night --set flows.main.transport.congestion=bbr3 --out results/what-if"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "recording",
        metavar="RECORDING",
        type=options.path,
        help="a result folder, or, of a sender, iperf3's JSON with TCP_INFO, a qlog, or a pcap of TCP",
    )
    options.add_overrides(parser)
    parser.add_argument(
        "--out", metavar="DIR", type=options.path, required=True, help="folder for the results"
    )
    parser.add_argument(
        "--fit",
        metavar="FIT",
        type=options.path,
        help="fit whose capacity and delay are the prior: a file, or the name of one that ships",
    )
    parser.add_argument(
        "--direction",
        choices=("downlink", "uplink"),
        default="downlink",
        help="direction of the fit that the transfer took (default: downlink)",
    )
    parser.add_argument(
        "--light",
        metavar="RECORDING",
        type=options.path,
        help="round trips of a light flow at the same time, by the same clock, such as ping: they met no "
        "queue of this transfer",
    )
    parser.add_argument(
        "--flow", metavar="NAME", type=options.text, help="flow of a result folder (default: the first)"
    )
    parser.add_argument(
        "--draws", metavar="K", type=options.whole, default=50, help="paths to draw (default: 50; from 19)"
    )
    parser.add_argument(
        "--queue", metavar="KB", type=options.number,
        help="what the queue holds, in kB (default: as the result folder says, or inferred)",
    )  # fmt: skip
    parser.add_argument(
        "--seed", metavar="N", type=options.whole, default=1, help="seed of the inference (default: 1)"
    )
    options.add_workers(parser)
    parser.add_argument("--force", action="store_true", help="replace an existing replay")
    parser.add_argument("--json", action="store_true", help="print what replay.json has")
    parser.add_argument("--quiet", action="store_true", help="print no progress and no table")


def main(args: argparse.Namespace) -> int:
    """Replays, prints the tables, and writes the folder."""
    from leobench.campaign import Status
    from leobench.errors import InputError
    from leobench.fitting.replay import replay

    if args.queue is not None and not 1 <= args.queue <= 1e6:
        raise InputError(f"--queue: {args.queue:g} is out of range; allowed: from 1 to 1,000,000 kB")
    if args.seed < 0:
        raise InputError(f"--seed: {args.seed} is negative; allowed: from 0")
    started = time.perf_counter()
    with ReplayProgress(quiet=args.quiet) as progress:
        outcome = replay(
            args.recording,
            args.overrides,
            args.out,
            fit=args.fit,
            direction=args.direction,
            light=args.light,
            flow=args.flow,
            draws=args.draws,
            seed=args.seed,
            queue=None if args.queue is None else 1e3 * args.queue,
            workers=args.workers,
            force=args.force,
            progress=lambda done, total: progress(Status(done, 0, total, 0)),
            report=progress.step,
        )
    if args.json:
        terminal.print_json(outcome.to_dict())
    elif not args.quiet:
        print(render(outcome, time.perf_counter() - started))
        names = "replay.json, draws.csv, posterior.csv, replay.png, scenario.json, paths"
        print(f"\nResults in {args.out}/: {names}")
    for warning in outcome.warnings:
        terminal.warn(warning)
    return 1 if outcome.mismatches else 0


def render(outcome: Outcome, wall_s: float) -> str:
    """The outcome as tables."""
    from leobench.fitting.replay import runs

    found = outcome.posterior
    known = "stated" if found.queue_known else "inferred"
    head = (
        f"{found.transfer.name}: {len(found.seen) / 10:.1f} s, {len(found.paths.capacity)} paths drawn in "
        f"{wall_s:.1f} s; the transfer bounded the capacity only from below in "
        f"{100 * found.bounded_share:.0f} % of the time; "
        f"queue {found.queue_limit / 1e3:.0f} kB ({known})"
    )
    tables = [
        _table(
            "as recorded",
            outcome.intervals(runs.UNCHANGED),
            {} if outcome.changes else outcome.naive,
            outcome.recorded,
        )
    ]
    if outcome.changes:
        named = ", ".join(f"{place}={value}" for place, value in outcome.changes)
        tables.append(_table(named, outcome.intervals(runs.CHANGED), outcome.naive, {}))
    return "\n\n".join([head, *tables])


def _table(
    title: str, found: dict[str, Interval], naive: dict[str, float], recorded: dict[str, float]
) -> str:
    head = [("", title), ("", "median"), ("90 %", "from"), ("", "to"), ("", "naive"), ("", "recording")]
    rows = [
        [
            name + (f" ({each.missing} without)" if each.missing else ""),
            *(f"{value:.4g}" for value in (each.median, *each.ends[0.9])),
            *(f"{held[name]:.4g}" if name in held else columns.NONE for held in (naive, recorded)),
        ]
        for name, each in found.items()
    ]
    return columns.table(head, rows, words=1)
