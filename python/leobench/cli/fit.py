"""Fits a link of Starlink to recordings of its delay, capacity and loss, and checks the fit.

Exit code: 0 if all checks pass, 1 if one fails, 2 for invalid input. The fit is written
whether or not a check fails.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench.cli import columns, options, terminal
from leobench.cli.progress import StepProgress

if TYPE_CHECKING:
    import argparse

    from leobench.fitting.fit import Fit

NAME = "fit"
HELP = "fit a Starlink link to pings, irtt, saturating UDP or a dish's log, and check the fit"
EXAMPLE = "leobench fit ping.txt downlink.json uplink.json --out fits/roof --place Kiruna"

_FIGURE = "checks.png"
_ABOUT = {
    "place": "the place of the terminal",
    "hardware": "the terminal",
    "motion": "parked, driving or both",
    "source": "where the recordings can be found",
    "licence": "the licence of the recordings",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "data",
        metavar="[DIRECTION=]FILE",
        nargs="+",
        type=options.text,
        help="recordings of round trips or rates, and logs of TCP transfers, which bound the loss; a CSV of "
        "a transfer and a trace of Mahimahi need `downlink=` or `uplink=`",
    )
    parser.add_argument(
        "--out", metavar="FOLDER", type=options.path, required=True, help="folder for the fit and its checks"
    )
    parser.add_argument(
        "--name", metavar="NAME", type=options.text, help="name of the fit (default: the folder's)"
    )
    for key, meaning in _ABOUT.items():
        choices = ("parked", "driving", "both") if key == "motion" else None
        parser.add_argument(
            f"--{key}",
            metavar=None if choices else "TEXT",
            choices=choices,
            type=options.text,
            help=f"{meaning}, for the fit's description",
        )
    parser.add_argument("--force", action="store_true", help="replace an existing folder")
    parser.add_argument("--quiet", action="store_true", help="print no progress and no summary")


def main(args: argparse.Namespace) -> int:
    """Fits, checks, writes, and prints a summary."""
    from leobench import folder
    from leobench.fitting import checks, fit, readers, transfers

    name = args.name or args.out.resolve().name
    _check_name(name)
    # Opened first: a folder that cannot be written to is refused before the fit, which takes minutes.
    with (
        folder.writing(args.out, force=args.force, ours=_is_ours) as partial,
        StepProgress(quiet=args.quiet) as progress,
    ):
        measured, logs = [], []
        for word in args.data:
            progress(f"reading {word}")
            direction, file = readers.named(word)
            log = transfers.read(Path(file), direction)
            if log is None:
                measured += readers.read(Path(file), direction)
            else:
                logs.append(log)
        about = {key: getattr(args, key) for key in _ABOUT if getattr(args, key) is not None}
        found = fit.fit(measured, name, about, progress, logs)
        progress("checks")
        checked = checks.check(found)
        _write(partial, name, found, checked)
    failed = checks.failed(checked)
    if not args.quiet:
        _print(found)
        print(f"\n{args.out}: {name}.fit.json, checks.md, {_FIGURE}")
    for each in found.warnings:
        terminal.warn(each)
    for each in failed:
        terminal.warn(f"the fit fails a check: {each}; see {args.out}/checks.md")
    return 1 if failed else 0


def _check_name(name: str) -> None:
    from leobench.errors import InputError, cut

    if not name or not all(char.isascii() and (char.isalnum() or char in "-_.") for char in name):
        raise InputError(f"--name: {cut(repr(name))} is no name; allowed: letters, digits, `-`, `_`, `.`")


def _write(partial: Path, name: str, found: Fit, checked: Any) -> None:
    from leobench import plots
    from leobench.fitting import checks
    from leobench.plots import fit as figure

    (partial / f"{name}.fit.json").write_text(found.text(), "utf-8")
    (partial / "checks.md").write_text(checks.page(found, checked, _FIGURE), "utf-8")
    plots.save(figure.draw(checked), partial / _FIGURE)


def _is_ours(entry: Path) -> bool:
    return entry.name in {"checks.md", _FIGURE} or entry.name.endswith(".fit.json")


def _print(found: Fit) -> None:
    from leobench.fitting.series import describe

    for quantity, series in found.series.items():
        print(f"{quantity}: {describe(series)}")
    head = (("parameter", ""), ("estimate", ""), ("90 % interval", ""))
    rows = [
        [name, f"{value:.4g}", f"{low:.4g} to {high:.4g}"]
        for name, (value, low, high) in found.document["uncertainty"].items()
    ]
    print(f"\n{columns.table(head, rows, 1)}")
    for name, reason in found.not_measured.items():
        print(f"not measured: {name}: {reason}")
