"""Serves the report of a folder that is being written, on this machine only, so that a run can be watched."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from leobench.cli import options
from leobench.errors import InputError

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

NAME = "view"
HELP = "watch a folder that is being written, in a browser"
EXAMPLE = "leobench view results/starlink-hour-1 --open"

# Seconds to wait for a result by default: enough to start it in another terminal.
_WAIT_S = 60.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "folder",
        metavar="DIR",
        type=options.path,
        help="folder of a run, a campaign or a reproduction, as given to --out; finished ones too",
    )
    parser.add_argument(
        "--port", metavar="N", type=options.whole, default=0, help="port (default: a free one)"
    )
    parser.add_argument(
        "--wait",
        metavar="SECONDS",
        type=options.seconds,
        default=_WAIT_S,
        help=f"how long to wait for DIR if nothing is there yet (default: {_WAIT_S:g})",
    )
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument(
        "--without",
        metavar="TABLE",
        type=options.text,
        action="append",
        default=[],
        help="table to leave out, such as packets, or globe; may be repeated",
    )


def main(args: argparse.Namespace) -> int:
    """Prints the address and serves the page until it is interrupted."""
    from leobench.report.server import Server
    from leobench.report.watch import Watch

    try:
        _wait(args.folder, args.wait)
    except KeyboardInterrupt:
        return 0
    watch = Watch(args.folder, args.without)
    watch.look()  # what is damaged is told here, not by a page
    with Server(watch, args.port) as server:
        print(server.address, flush=True)
        if sys.stderr.isatty():
            print("Only this machine can open it. Ctrl-C ends it; the run goes on.", file=sys.stderr)
        if args.open:
            import webbrowser

            webbrowser.open(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return 0
    return 0


def _wait(folder: Path, seconds: float) -> None:
    """Waits for a result that has not begun, and says so in one line.

    Raises:
        InputError: If the time is negative.
    """
    from leobench.report.watch import is_to_come, wait

    if not seconds >= 0:
        raise InputError(f"--wait = {seconds:g}: is no time to wait; allowed: 0 s or more")
    if seconds > 0 and is_to_come(folder):
        print(
            f"{folder}: nothing is there yet; waiting up to {seconds:g} s for a result to begin",
            file=sys.stderr,
            flush=True,
        )
        wait(folder, seconds)
