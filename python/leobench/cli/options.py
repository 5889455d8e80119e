"""Arguments that several subcommands share."""

from __future__ import annotations

import argparse
import os

from leobench.errors import InputError


def add_overrides(parser: argparse.ArgumentParser) -> None:
    """Declares `--set PLACE=VALUE`."""
    parser.add_argument(
        "--set",
        dest="overrides",
        metavar="PLACE=VALUE",
        type=_override,
        action="append",
        default=[],
        help='replace a value of the scenario, such as links.up.queue.limit="15 packets"; may be repeated',
    )


def add_campaign(parser: argparse.ArgumentParser) -> None:
    """Declares how a campaign is run: `--workers N`, and `--resume` or `--force`."""
    parser.add_argument(
        "--workers", metavar="N", type=whole, help="number of worker processes (default: one per processor)"
    )
    existing = parser.add_mutually_exclusive_group()
    existing.add_argument("--resume", action="store_true", help="continue an interrupted campaign")
    existing.add_argument(
        "--force", action="store_true", help="start again, replacing the results in the folder"
    )


_REAL = (
    ("lateness", "time by which 99 of 100 packets may leave late"),
    ("stall", "time for which the driver may stand still"),
    ("spin", "time before something is due in which the driver does not sleep"),
    ("settle", "time that the other programs have before the main one starts"),
    ("busy", "share of their time for which the processors may be at work"),
)
# What concerns programs only.
_OF_PROGRAMS = ("settle", "busy")


def add_real(parser: argparse.ArgumentParser, *, programs: bool) -> None:
    """Declares what replaces the scenario's table `real`: all of it only where there are programs."""
    for name, what in _REAL:
        if programs or name not in _OF_PROGRAMS:
            parser.add_argument(
                f"--{name}",
                metavar="SHARE" if name == "busy" else "MS",
                type=number if name == "busy" else milliseconds,
                help=f"real time only: {what} (default: the scenario's real.{name})",
            )


def real_overrides(args: argparse.Namespace) -> list[tuple[str, str]]:
    """What these arguments replace in a scenario."""
    return [
        (f"real.{name}", f"{value:g}" if name == "busy" else f"{value * 1e3:.9g} ms")
        for name, value in _given_real(args)
    ]


def refuse_real(args: argparse.Namespace, wanted: str) -> None:
    """Refuses these arguments where nothing runs in real time, but would with the option `wanted`.

    Raises:
        InputError: If one is given.
    """
    for name, _ in _given_real(args):
        raise InputError(f"--{name}: is for real time only; add {wanted}, or leave it out")


def _given_real(args: argparse.Namespace) -> list[tuple[str, float]]:
    values = [(name, getattr(args, name, None)) for name, _ in _REAL]
    return [(name, value) for name, value in values if value is not None]


def whole(given: str) -> int:
    """An argument that is a whole number."""
    try:
        return int(given)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{given}: is not a whole number") from None


def number(given: str) -> float:
    """An argument that is a number without a unit."""
    try:
        return float(given)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{given}: is not a number") from None


def seconds(given: str) -> float:
    """An argument that is a time in seconds."""
    try:
        return float(given)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{given}: is not a number of seconds") from None


def milliseconds(given: str) -> float:
    """An argument that is a time in milliseconds; in seconds."""
    try:
        value = float(given)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{given}: is not a number of milliseconds") from None
    if not 0 <= value <= 1e6:
        raise argparse.ArgumentTypeError(f"{given}: is out of range; allowed: from 0 to 1,000,000 ms")
    return value / 1e3


def text(given: str) -> str:
    """An argument that must be text; names of files may be any bytes."""
    try:
        return os.fsencode(given).decode()
    except UnicodeError:
        raise argparse.ArgumentTypeError(f"{given} is not text; allowed: UTF-8") from None


def _override(given: str) -> tuple[str, str]:
    place, equals, value = text(given).partition("=")
    if not equals or not place.strip():
        raise argparse.ArgumentTypeError(
            f"{given!r} is not PLACE=VALUE; allowed: a place and a value, such as links.uplink.delay='10 ms'"
        )
    return place.strip(), value.strip()
