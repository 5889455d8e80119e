"""Arguments that several subcommands share."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from leobench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable


def add_overrides(parser: argparse.ArgumentParser) -> None:
    """Declares `--set PLACE=VALUE`."""
    parser.add_argument(
        "--set",
        dest="overrides",
        metavar="PLACE=VALUE",
        type=override,
        action="append",
        default=[],
        help='replace a value of the scenario, such as links.up.queue.limit="15 packets"; may be repeated',
    )


def add_scenario(parser: argparse.ArgumentParser, *, several: bool = False, or_stdin: bool = False) -> None:
    """Declares the argument `SCENARIO`, or one or more; it may be `-` if the command reads it only once."""
    more = "; - is the standard input" if or_stdin else ""
    parser.add_argument(
        "scenarios" if several else "scenario",
        metavar="SCENARIO",
        nargs="+" if several else None,
        type=scenario,
        help=f"scenario file, TOML or JSON{more}",
    )


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Declares `--seed N` of a scenario."""
    parser.add_argument(
        "--seed", metavar="N", type=text, help="seed of all random numbers (default: the scenario's)"
    )


def add_place(parser: argparse.ArgumentParser, default: str = "") -> None:
    """Declares `--at PLACE` of a terminal of Starlink."""
    import re

    # A southern latitude looks like an option otherwise.
    parser._negative_number_matcher = re.compile(r"-[0-9.]")
    parser.add_argument(
        "--at",
        metavar="PLACE",
        type=text,
        help="where the terminal of `starlink` is: latitude,longitude in degrees, or a city such as Munich"
        + (f" (default: {default})" if default else ""),
    )


def add_workers(parser: argparse.ArgumentParser, where: str = "") -> None:
    """Declares `--workers N`; `where` begins the help."""
    parser.add_argument(
        "--workers",
        metavar="N",
        type=whole,
        help=f"{where}number of worker processes (default: one per processor)",
    )


def add_campaign(parser: argparse.ArgumentParser) -> None:
    """Declares how a campaign is run: `--workers N`, and `--resume` or `--force`."""
    add_workers(parser)
    existing = parser.add_mutually_exclusive_group()
    existing.add_argument("--resume", action="store_true", help="continue an interrupted campaign")
    existing.add_argument(
        "--force", action="store_true", help="start again, replacing the results in the folder"
    )


def add_outcome(parser: argparse.ArgumentParser) -> None:
    """Declares what a campaign prints: `--dry-run`, `--json` and `--quiet`."""
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print what would run, how many runs there are and how long they take, and run nothing",
    )
    parser.add_argument("--json", action="store_true", help="print the outcome and the wall time as JSON")
    parser.add_argument("--quiet", action="store_true", help="print no progress and no summary")


def add_snaplen(parser: argparse.ArgumentParser) -> None:
    """Declares how much captures keep of a packet."""
    parser.add_argument(
        "--snaplen",
        metavar="BYTES",
        type=whole,
        help="bytes kept of each captured packet (default: 128, all headers; 65535: whole packets)",
    )


def add_real(parser: argparse.ArgumentParser, *, programs: bool) -> None:
    """Declares what replaces the scenario's table `real`: all of it only where there are programs."""
    for option in _REAL:
        if programs or not option.of_programs:
            parser.add_argument(
                f"--{option.name}",
                metavar=option.metavar,
                type=option.parse,
                help=f"real time only: {option.what} (default: the scenario's real.{option.name})",
            )


def real_overrides(args: argparse.Namespace) -> list[tuple[str, str]]:
    """The overrides of the scenario's table `real` that these arguments give, by place."""
    values = [(option.name, getattr(args, option.name, None)) for option in _REAL]
    return [(f"real.{name}", value) for name, value in values if value is not None]


def refuse_real(args: argparse.Namespace, wanted: str) -> None:
    """Refuses these arguments where nothing runs in real time, but would with `wanted`.

    Raises:
        InputError: If one is given.
    """
    for place, _ in real_overrides(args):
        name = place.removeprefix("real.")
        raise InputError(f"--{name}: is for real time only; add {wanted}, or leave it out")


def add_metrics(parser: argparse.ArgumentParser) -> None:
    """Declares `--metric PATH`, which may be repeated."""
    parser.add_argument(
        "--metric",
        dest="metrics",
        metavar="PATH",
        type=text,
        action="append",
        default=[],
        help="metric to show, such as flows.main.goodput_bps, or its last word, such as goodput, which "
        "selects that of every flow; may be repeated (default: all of the campaign)",
    )


def number(given: str) -> float:
    """An argument that is a number."""
    try:
        return float(given)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{given}: is not a number") from None


def whole(given: str) -> int:
    """An argument that is a whole number."""
    try:
        return int(given)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{given}: is not a whole number") from None


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


def path(given: str) -> Path:
    """An argument that is the path of a file or a folder."""
    if not given:
        raise argparse.ArgumentTypeError("is empty; allowed: a path, such as results/mine")
    return Path(given)


def scenario(given: str) -> str:
    """An argument that is the path of a scenario, as messages repeat it."""
    path(given)
    return given


def override(given: str) -> tuple[str, str]:
    """An argument that is a place and a value."""
    place, equals, value = text(given).partition("=")
    if not equals or not place.strip():
        raise argparse.ArgumentTypeError(
            f"{given!r} is not PLACE=VALUE; allowed: a place and a value, such as links.uplink.delay='10 ms'"
        )
    return place.strip(), value.strip()


def _share(given: str) -> str:
    """An argument that is a share, as a scenario has it."""
    try:
        return f"{float(given):g}"
    except ValueError:
        raise argparse.ArgumentTypeError(f"{given}: is not a number") from None


def _span(given: str) -> str:
    """An argument that is a time in milliseconds, as a scenario has it."""
    return f"{milliseconds(given) * 1e3:.9g} ms"


@dataclass(frozen=True)
class _Real:
    """An option that replaces the value of the same name in a scenario's table `real`.

    Attributes:
        name: Of both.
        what: Completes the help.
        metavar: The unit of the argument.
        parse: Makes of the argument what a scenario has there.
        of_programs: Whether it is about programs only.
    """

    name: str
    what: str
    metavar: str = "MS"
    parse: Callable[[str], str] = _span
    of_programs: bool = False


_REAL = (
    _Real("lateness", "maximum lateness of 99 in 100 packets"),
    _Real("stall", "longest stall of the driver"),
    _Real("spin", "time before each event in which the driver spins instead of sleeping"),
    _Real("settle", "head start of the other programs over the main one", of_programs=True),
    _Real(
        "busy",
        "maximum share of time in which the processors are busy",
        "SHARE",
        _share,
        of_programs=True,
    ),
    _Real(
        "waited",
        "maximum share of any 0.1 s in which a program waits for a processor",
        "SHARE",
        _share,
        of_programs=True,
    ),
)


def command(option: str, given: str) -> tuple[str, ...]:
    """The words of a command in quotes.

    Raises:
        InputError: If it has none, or cannot be read.
    """
    import shlex

    try:
        words = shlex.split(given)
    except ValueError as error:
        raise InputError(f"{option}: {given!r} cannot be read: {error}") from None
    if not any(words[:1]):
        raise InputError(f"{option}: has no command")
    return tuple(words)
