"""Opens a shell on the near host of a network, in real time.

SCENARIO is a file, or a scenario that `leobench new` lists, such as starlink; options such as --rate describe
a link instead. The shell is that of $SHELL, its prompt and the variable LEOBENCH_HOST name the host, and
`server` is the far host. Its exit code is that of leobench; if that is 0, an invalid run ends with 119.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from leobench.cli import emulation_options, surroundings

if TYPE_CHECKING:
    import argparse

    from leobench.emulation.programs import Program

NAME = "shell"
HELP = "open a shell on a host of a network, in real time"
ADVICE = "; a program runs without a shell by `leobench emulate SCENARIO -- PROGRAM ARGUMENTS`"
EXAMPLE = "leobench shell starlink\n  leobench shell --rate 50/10Mbps --delay 25ms"

# Bash sets its prompt when it starts, by files of the user: this puts the host before it, once. Other shells
# take the prompt from the environment, unless such files set it.
_PROMPT = 'PS1="[leobench $LEOBENCH_HOST] $PS1"; unset PROMPT_COMMAND'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    emulation_options.add_arguments(parser)


def main(args: argparse.Namespace) -> int:
    """Runs the shell and returns its exit code; 119 if that is 0 and the run invalid."""
    from leobench import standard_input
    from leobench.errors import InputError

    if args.scenario == standard_input.NAME and not args.show:
        raise InputError("-: the standard input is the shell's; allowed: a scenario file")
    network = emulation_options.network(args)
    if args.show:
        return emulation_options.show(network)
    host = args.host or surroundings.main_host(args, network.ends)
    if not args.quiet:
        print(f"leobench: a shell on {host}; {network.ends.told()}; `exit` ends it", file=sys.stderr)
    return emulation_options.run(args, network, [*emulation_options.others(args, network), _shell(host)])


def _shell(host: str) -> Program:
    """The user's shell on a host."""
    from leobench.emulation.programs import Program

    shell = os.environ.get("SHELL") or "/bin/sh"
    prompt = {"PS1": f"[leobench {host}] $ "}
    if os.path.basename(shell) == "bash":  # noqa: PTH119 (no other path is meant)
        prompt = {"PROMPT_COMMAND": _PROMPT}
    return Program(host, (shell,), is_shell=True, environment=tuple(prompt.items()))
