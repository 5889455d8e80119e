"""Puts programs on the hosts of a scenario, in real time."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from leobench.cli import options, terminal

if TYPE_CHECKING:
    import argparse

    from leobench.emulation.programs import Program
    from leobench.emulation.session import Ended

NAME = "emulate"
HELP = "run programs on the hosts of a scenario, in real time"
ADVICE = "; options of a program go after `--`, as in `leobench emulate SCENARIO -- PROGRAM ARGUMENTS`"
EXAMPLE = "leobench emulate scenarios/one-flow.toml --host client -- ping -c 3 server"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    options.add_scenario(parser)
    parser.add_argument(
        "words", metavar="COMMAND", nargs="*", help="the main program and its arguments, after `--`"
    )
    options.add_overrides(parser)
    parser.add_argument(
        "--host", metavar="HOST", help="where the main program runs (default: the near host)"
    )
    parser.add_argument(
        "--on",
        metavar=("HOST", "COMMAND"),
        nargs=2,
        action="append",
        default=[],
        help="another program, in quotes, and its host; may be repeated (without COMMAND the last is main)",
    )
    options.add_seed(parser)
    parser.add_argument(
        "--out", metavar="DIR", type=options.path, help="result folder (default: nothing is written)"
    )
    parser.add_argument("--force", action="store_true", help="replace an existing result folder")
    options.add_real(parser, programs=True)
    parser.add_argument("--quiet", action="store_true", help="print only the output of the programs")


def main(args: argparse.Namespace) -> int:
    """Runs the programs and returns the exit code of the main one; 119 if that is 0 and the run invalid."""
    from leobench import api
    from leobench.errors import INVALID_RUN
    from leobench.scenario import load

    overrides = [*args.overrides, *options.real_overrides(args)]
    overrides += [("seed", args.seed)] if args.seed is not None else []
    scenario = load(args.scenario, None, dict(overrides), flows="unused")
    programs = _programs(args)
    ended = api.emulate_loaded(scenario, programs, args.out, force=args.force)
    is_valid = ended.verdict["verdict"] == "valid"
    if not args.quiet or not is_valid:
        for line in [*_failed(programs, ended), *_told(ended.verdict)]:
            print(terminal.on_one_line(line), file=sys.stderr)
    return ended.code or (0 if is_valid else INVALID_RUN)


def _programs(args: argparse.Namespace) -> list[Program]:
    import shlex

    from leobench.emulation.programs import Program
    from leobench.errors import InputError

    programs = []
    for host, command in args.on:
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise InputError(f"--on {host}: {command!r} cannot be read: {error}") from None
        if not any(words[:1]):
            raise InputError(f"--on {host}: has no command")
        programs.append(Program(host, tuple(words)))
    if args.words[:1] == [""]:
        raise InputError("the command after `--` is empty; allowed: a program and its arguments")
    if args.words:
        programs.append(Program(args.host or "", tuple(args.words)))
    elif args.host is not None:
        raise InputError("--host: has no command; give one after `--`")
    if not programs:
        raise InputError("no command is given; give one after `--`, or with --on HOST COMMAND")
    return programs


def _failed(programs: list[Program], ended: Ended) -> list[str]:
    """A message for each program that failed before the main one ended."""
    return [
        f"leobench: {program.host}: `{' '.join(program.words)}` failed before the main program ended: "
        f"exit code {exit_.code}"
        for program, exit_ in zip(programs, ended.exits, strict=True)
        if exit_.failed_early
    ]


def _told(verdict: dict[str, Any]) -> list[str]:
    lateness = verdict["lateness_ms"]
    late = (
        f"late by {lateness['p50']:.3f} ms at the median, {lateness['p99']:.3f} ms at p99, "
        f"{lateness['max']:.2f} ms at most"
        if lateness
        else "none late"
    )
    told = (
        f"leobench: {verdict['verdict']}: {verdict['elapsed_s']:.1f} s, "
        f"{verdict['packets_in']:,} packets in, {verdict['packets_out']:,} out, {late}; "
        f"longest stall {verdict['longest_stall_ms']:.1f} ms"
    )
    return [told, *(f"leobench: invalid: {reason}" for reason in verdict["reasons"])]
