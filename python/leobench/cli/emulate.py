"""Puts programs on the hosts of a network, in real time.

SCENARIO is a file, or a scenario that `leobench new` lists, such as starlink; options such as --rate describe
a link instead. The program after `--` runs on the near host, and `server` is the far one. Its exit code is
that of leobench; an invalid run of a program that succeeds ends with 119.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.cli import emulation_options

if TYPE_CHECKING:
    import argparse

    from leobench.emulation.programs import Program

NAME = "emulate"
HELP = "run programs on the hosts of a network, in real time"
ADVICE = "; options of a program go after `--`, as in `leobench emulate SCENARIO -- PROGRAM ARGUMENTS`"
# Whether all words after `--` are a command.
TAKES_COMMAND = True
EXAMPLE = (
    'leobench emulate starlink --server "iperf3 -s -1" -- iperf3 -c server\n'
    "  leobench emulate --rate 50/10Mbps --delay 25ms --loss 0.1% --queue codel -- ping -c 3 server\n"
    "  leobench emulate scenarios/one-flow.toml --host client -- ping -c 3 server"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    emulation_options.add_arguments(parser)
    parser.add_argument(
        "words",
        metavar="COMMAND",
        nargs="*",
        help="the main program and its arguments, after `--`; the last of --on unless given",
    )


def main(args: argparse.Namespace) -> int:
    """Runs the programs and returns the exit code of the main one; 119 if that is 0 and the run invalid."""
    network = emulation_options.network(args)
    if args.show:
        return emulation_options.show(network)
    return emulation_options.run(args, network, _programs(args, emulation_options.others(args, network)))


def _programs(args: argparse.Namespace, others: list[Program]) -> list[Program]:
    """All programs, the main one last."""
    from leobench.emulation.programs import Program
    from leobench.errors import InputError

    if args.words[:1] == [""]:
        raise InputError("the command after `--` is empty; allowed: a program and its arguments")
    if args.words:
        return [*others, Program(args.host or "", tuple(args.words))]
    if args.host is not None:
        raise InputError("--host: has no command; give one after `--`")
    if not args.on:
        raise InputError("no command is given; give one after `--`, or with --on HOST COMMAND")
    return others
