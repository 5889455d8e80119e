"""Implementations that others wrote as a campaign: each run sends a file from one end of a flow to the other.

    python examples/foreign.py examples/foreign.toml --out results/foreign
    python examples/foreign.py examples/foreign-stacks.toml --size 20000000 --out results/foreign-stacks

The campaign is that of `leobench sweep`, and so are its tables and `--resume`; only the runs are in real
time, by `leobench emulate`, one after the other. Each program has a folder of its own in `--out`. All have
the same seeds, and so the same channel in a replicate. A run whose clock cannot be trusted does not count and
is repeated. `leobench-virtual` and `leobench-real` send the same file by the transport of the scenario, by
`leobench run` in virtual and in real time. `--table` writes a row per program.

`Program` says what runs; `real_runs` runs it; `foreign_table` reads the folders.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import foreign_table
import real_runs

import leobench

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Executor

HERE = Path(__file__).parent
PYTHON = f"{shlex.quote(sys.executable)} {shlex.quote(str(HERE / 'quic_aioquic.py'))}"


def quic(server: str, client: str) -> Callable[[str, int], tuple[str, str]]:
    """The sender and the receiver of a QUIC implementation: the receiver asks for the file."""
    return lambda sender, size: (server, f"{client} {sender}:4433 {size}")


def tcp(controller: str) -> Callable[[str, int], tuple[str, str]]:
    """TCP of the kernel by iperf3 in its reverse mode: the receiver asks, too."""
    ask = "iperf3 --json --reverse --client {0} --bytes {1} --congestion " + controller
    return lambda sender, size: ("iperf3 --server --one-off --logfile /dev/null", ask.format(sender, size))


@dataclass(frozen=True)
class Program:
    """A program that sends the file.

    Attributes:
        controller: How it controls congestion unless told otherwise; that of the scenario if empty.
        ends: What runs at both ends of the flow, given the sender's host and a number of bytes.
        engine: Instead, in which time leobench's own transport runs.
    """

    controller: str
    ends: Callable[[str, int], tuple[str, str]] | None = None
    engine: str = ""


def rust(stack: str) -> Callable[[str, int], tuple[str, str]]:
    """The ends of a QUIC implementation in Rust."""
    return quic(f"{{quic_rust}} {stack} serve [::]:4433", f"{{quic_rust}} {stack} fetch")


# By name. Controllers of others are the defaults in their sources, of the versions in the lock files here.
PROGRAMS = {
    "leobench-virtual": Program("", engine="virtual"),
    "leobench-real": Program("", engine="real"),
    "quinn": Program("CUBIC", rust("quinn")),
    "s2n-quic": Program("CUBIC, hybrid slow start", rust("s2n-quic")),
    "quiche": Program("CUBIC, HyStart++", rust("quiche")),
    "x-net": Program("Reno", quic("{quic_x_net} serve [::]:4433", "{quic_x_net} fetch")),
    "quic-go": Program("Reno, hybrid slow start", quic("{quic_go} serve [::]:4433", "{quic_go} fetch")),
    "aioquic": Program("Reno", quic(f"{PYTHON} serve 4433", f"{PYTHON} fetch")),
    "tcp-cubic": Program("CUBIC, HyStart", tcp("cubic")),
    "tcp-bbr": Program("BBR", tcp("bbr")),
    "tcp-reno": Program("Reno", tcp("reno")),
}


def goodput(said: dict[str, Any]) -> float:
    """Bits per second, as one of the programs says."""
    if "end" in said:
        return float(said["end"]["sum_received"]["bits_per_second"])
    return float(said["goodput_mbps"]) * 1e6


def seconds(said: dict[str, Any]) -> float:
    """The time to the last byte, as one of the programs says."""
    return float(said["end"]["sum_received"]["seconds"] if "end" in said else said["seconds"])


def commands(
    ends: Callable[[str, int], tuple[str, str]], built: Mapping[str, Path], size: int, spec: Mapping[str, Any]
) -> real_runs.Commands:
    """What runs at both ends of the flow."""
    (flow,) = spec["flows"].values()
    sender, receiver = ends(flow["from"], size)
    for name, file in built.items():
        sender, receiver = (each.replace(f"{{{name}}}", str(file)) for each in (sender, receiver))
    return real_runs.Commands(other=(flow["from"], sender), main=(flow["to"], receiver))


def measure(said: dict[str, Any]) -> dict[str, float]:
    """What one of the programs says."""
    return {"goodput_bps": goodput(said), "completion_s": seconds(said)}


def build(programs: Sequence[str], folder: Path) -> dict[str, Path]:
    """The programs that have to be compiled, by their names in commands."""
    serving = [ends("", 0)[0] for program in programs if (ends := PROGRAMS[program].ends)]
    built = {}
    for name in ("quic_go", "quic_x_net", "quic_rust"):
        if any(f"{{{name}}}" in command for command in serving):
            is_rust = name == "quic_rust"
            built[name] = real_runs.build_rust(name) if is_rust else real_runs.build_go(name, folder)
    return built


def executor(program: str, built: Mapping[str, Path], size: int) -> Executor:
    """The executor of the runs of a program."""
    chosen = PROGRAMS[program]
    if chosen.ends is None:
        return real_runs.OwnFlow(chosen.engine, size)
    return real_runs.RealTime(partial(commands, chosen.ends, built, size), measure)


def finished(folder: Path) -> bool:
    """Tells whether a folder has all runs of a campaign."""
    try:
        leobench.CampaignResult.open(folder)
    except leobench.InputError:
        return False
    return True


def run(args: argparse.Namespace) -> dict[str, leobench.CampaignResult]:
    """Runs the campaign for every program, and prints the mean of every metric; the results by program."""
    left = [name for name in args.programs if not (args.resume and finished(args.out / name))]
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        built = build(left, Path(folder))
        for program in args.programs:
            made, out = executor(program, built, args.size), args.out / program
            result = leobench.sweep(args.campaign, out, made, resume=args.resume, force=args.force)
            results[program] = result
            for (variant, metric), rows in result.runs.group_by("variant", "metric", maintain_order=True):
                values = rows["value"].drop_nulls()
                mean = f"{values.mean():,.0f}" if len(values) else "none"
                print(f"{program}  {variant}  {metric}  {mean}  ({len(values)} runs)")
            print(f"{program}: {len(result.failures)} failed, {len(result.warnings)} warnings")
            for reason in result.failures["error"].unique(maintain_order=True):
                print(f"{program}: {reason}", file=sys.stderr)
    return results


def main() -> int:
    """Runs the campaign, and writes the table on request."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("campaign", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=list(PROGRAMS), metavar="NAME")
    parser.add_argument("--size", type=int, default=10_000_000, help="bytes of a run (default: 10 MB)")
    parser.add_argument("--table", type=Path, help="write a row per program to this file (Markdown)")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--force", action="store_true")
    args = parser.parse_args()
    if args.table is not None and not args.table.parent.is_dir():
        raise leobench.InputError(f"--table = {args.table}: its folder does not exist")
    results = run(args)
    if args.table is not None:
        controllers = {program: PROGRAMS[program].controller for program in results}
        args.table.write_text(foreign_table.markdown(results, controllers), encoding="utf-8")
    return 1 if any(len(result.failures) for result in results.values()) else 0


if __name__ == "__main__":
    sys.exit(real_runs.told(main))
