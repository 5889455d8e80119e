"""Arguments that several subcommands share."""

from __future__ import annotations

import argparse
import os


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
        "--workers", metavar="N", type=int, help="processes to run in (default: one per processor)"
    )
    existing = parser.add_mutually_exclusive_group()
    existing.add_argument("--resume", action="store_true", help="continue what was interrupted")
    existing.add_argument("--force", action="store_true", help="replace what is in the folder")


def text(given: str) -> str:
    """An argument that is text, and no name of a file: these may be any bytes."""
    try:
        return os.fsencode(given).decode()
    except UnicodeError:
        raise argparse.ArgumentTypeError(f"{given} is no text; allowed: UTF-8") from None


def _override(given: str) -> tuple[str, str]:
    place, equals, value = text(given).partition("=")
    if not equals or not place.strip():
        raise argparse.ArgumentTypeError(f"{given!r} is no PLACE=VALUE, such as links.uplink.delay='10 ms'")
    return place.strip(), value.strip()
