"""Options that `emulate` and `shell` share: the network, the programs besides the main one, and the results.

`network` reads what the hosts are connected by, `others` the programs that run beside the main one, and `run`
runs them all and prints the verdict.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench.cli import link_options, options, surroundings, terminal
from leobench.errors import INVALID_RUN, InputError, cut, near

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from leobench._core import Scenario
    from leobench.emulation.ends import Ends
    from leobench.emulation.programs import Program
    from leobench.emulation.session import Ended

# The place of the preset `starlink` with a dish, which sees satellites, unless `--at` names another: that of
# `starlink-hour`.
_DISH_PLACE = "Seattle"
# For how many seconds the main program waits until `--server` listens.
_PATIENCE_S = 10.0
_SYNTAXES = (".toml", ".json")


@dataclass(frozen=True)
class Network:
    """A network for programs.

    Attributes:
        scenario: The scenario.
        folder: Where the names of its data files start.
        ends: Its near and its far host.
        note: What it stands for, if a user has to know.
    """

    scenario: Scenario
    folder: Path
    ends: Ends
    note: str | None = None

    def resolved(self) -> dict[str, Any]:
        """The scenario with all defaults and the whole paths of its data files, which `emulate` takes."""
        from leobench import data_files

        resolved: dict[str, Any] = data_files.absolute(json.loads(self.scenario.to_json()), self.folder)
        return resolved


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "scenario",
        metavar="SCENARIO",
        nargs="?",
        type=options.scenario,
        help="scenario file, TOML or JSON; where there is no such file, a scenario that `leobench new` "
        "lists, such as starlink; - is the standard input",
    )
    link_options.add_arguments(parser)
    options.add_place(parser, f"none: the link is that of a fit; {_DISH_PLACE} with --dish")
    options.add_overrides(parser)
    parser.add_argument(
        "--host", metavar="HOST", help="where the main program runs (default: the near host, the user's)"
    )
    parser.add_argument(
        "--server",
        metavar="COMMAND",
        help="a program on the far host, in quotes; the main program waits until it listens, for --settle or "
        f"{_PATIENCE_S:g} s. On all hosts, the name `server` leads to the far one",
    )
    parser.add_argument(
        "--on",
        metavar=("HOST", "COMMAND"),
        nargs=2,
        action="append",
        default=[],
        help="another program, in quotes, and its host; may be repeated",
    )
    surroundings.add_arguments(parser)
    options.add_seed(parser)
    parser.add_argument(
        "--out", metavar="DIR", type=options.path, help="result folder (default: nothing is written)"
    )
    parser.add_argument("--force", action="store_true", help="replace an existing result folder")
    parser.add_argument(
        "--pcap", action="store_true", help="write a packet capture of every host, what links did as comments"
    )
    options.add_snaplen(parser)
    parser.add_argument(
        "--show", action="store_true", help="print the scenario with all defaults as JSON, and run nothing"
    )
    options.add_real(parser, programs=True)
    parser.add_argument("--quiet", action="store_true", help="print only the output of the programs")


def network(args: argparse.Namespace) -> Network:
    """The network that the arguments describe.

    Raises:
        InputError: If they describe none, or more than one.
    """
    from leobench.emulation import ends

    overrides = [*args.overrides, *options.real_overrides(args)]
    overrides += [("seed", args.seed)] if args.seed is not None else []
    scenario, folder, note = _scenario(args, overrides)
    return Network(scenario, folder, ends.of(scenario), note)


def _scenario(
    args: argparse.Namespace, overrides: Sequence[tuple[str, str]]
) -> tuple[Scenario, Path, str | None]:
    """The scenario, the folder that its data files are in, and what it stands for."""
    from leobench import templates
    from leobench.scenario import load, load_text

    of_link = link_options.given(args)
    if args.scenario is None and not of_link:
        raise InputError(
            "no network is given; allowed: a scenario file, a scenario that `leobench new` lists, such as "
            "starlink, or a link, such as --rate 50/10Mbps --delay 25ms"
        )
    if args.scenario is not None and of_link:
        raise InputError(
            f"{of_link[0]}: describes a network of its own, and so does the scenario {cut(args.scenario)}; "
            "leave one of them out, or change a link of the scenario by --set (a command comes after `--`)"
        )
    name = None if args.scenario is None else preset(args.scenario)
    if args.at is not None and name != templates.STARLINK:
        raise InputError(f"--at: is for the scenario `{templates.STARLINK}` only; leave it out")
    if args.scenario is None:
        return link_options.scenario(args, overrides), Path(), None
    if name == templates.STARLINK:
        at = args.at or (_DISH_PLACE if args.dish else None)
        fitted = at is None
        text = templates.FITTED_TEXT if at is None else templates.scenario_at(templates.place(at), name)
        note = templates.FITTED if fitted else None
        return load_text(text, name, overrides, flows="unused"), Path(), note
    file = Path(args.scenario) if name is None else templates.located(templates.find(name).place)
    return load(args.scenario if name is None else file, None, overrides, flows="unused"), file.parent, None


def preset(given: str) -> str | None:
    """The scenario of leobench's own that an argument names; `None` if it names a file.

    Raises:
        InputError: If it names neither.
    """
    from leobench import standard_input, templates

    file = Path(given)
    if given == standard_input.NAME or file.is_file() or file.suffix in _SYNTAXES:
        return None
    campaigns = {each.name: each.is_campaign for each in templates.catalogue()}
    known = [templates.STARLINK, *(name for name, is_campaign in campaigns.items() if not is_campaign)]
    if given in known:
        return given
    for name in (given, f"campaigns/{given}"):
        if campaigns.get(name):
            raise InputError(f"{given}: is a campaign; allowed: a scenario that `leobench new` lists")
    if file.exists() or "/" in given:
        return None
    raise InputError(
        f"{cut(given)}: is neither a file nor a scenario that `leobench new` lists{near(given, known)}"
    )


def others(args: argparse.Namespace, connected: Network) -> list[Program]:
    """The programs of `--server` and `--on`.

    Raises:
        InputError: If one has no command.
    """
    from leobench.emulation.programs import Program

    programs = []
    if args.server is not None:
        settle = connected.scenario.real[3]
        patience = _PATIENCE_S if args.settle is None else settle
        words = options.command("--server", args.server)
        programs.append(Program(connected.ends.far, words, listens_within=patience))
    return programs + [Program(host, options.command(f"--on {host}", command)) for host, command in args.on]


def show(connected: Network) -> int:
    """Prints the scenario, what it stands for, and which hosts are near and far."""
    terminal.print_json(connected.resolved())
    if connected.note is not None:
        print(f"leobench: {connected.note}", file=sys.stderr)
    print(f"leobench: {connected.ends.told()}", file=sys.stderr)
    return 0


def run(args: argparse.Namespace, connected: Network, programs: list[Program]) -> int:
    """Runs programs, the last of which is the main one, and prints how far to trust the times.

    Returns:
        The exit code of the main program; 119 if that is 0 and the run is invalid.
    """
    from leobench import api

    ended = api.emulate_loaded(
        connected.scenario,
        programs,
        args.out,
        force=args.force,
        pcap=args.pcap,
        snaplen=args.snaplen,
        described=connected.resolved(),
        surroundings=surroundings.of(args, connected, programs),
    )
    is_valid = ended.verdict["verdict"] == "valid"
    if not args.quiet or not is_valid:
        note = [] if connected.note is None else [f"leobench: {connected.note}"]
        for line in [*_failed(programs, ended), *note, *_told(ended.verdict)]:
            print(terminal.on_one_line(line), file=sys.stderr)
    return ended.code or (0 if is_valid else INVALID_RUN)


def _failed(programs: list[Program], ended: Ended) -> list[str]:
    """A message for each program that failed before the main one ended."""
    return [
        f"leobench: {program.host}: `{program.command()}` failed before the main program ended: "
        f"exit code {exit_.code}"
        for program, exit_ in zip(programs, ended.exits, strict=True)
        if exit_.failed_early
    ]


def _told(verdict: dict[str, Any]) -> list[str]:
    lateness = verdict["lateness_ms"]
    late = (
        f"late by {lateness['p50']:.3f} ms at the median, {lateness['p99']:.3f} ms at p99, "
        f"{lateness['max']:.3f} ms at most"
        if lateness
        else "none late"
    )
    told = (
        f"leobench: {verdict['verdict']}: {verdict['elapsed_s']:.1f} s, "
        f"{verdict['packets_in']:,} packets in, {verdict['packets_out']:,} out, {late}; "
        f"longest stall {verdict['longest_stall_ms']:.1f} ms"
    )
    reasons = [f"leobench: invalid: {reason}" for reason in verdict["reasons"]]
    return [told, *reasons, *(f"leobench: warning: {warning}" for warning in verdict["warnings"])]
