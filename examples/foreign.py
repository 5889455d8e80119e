"""Implementations that others wrote as a campaign: each run sends a file from one end of a flow to the other.

    python examples/foreign.py examples/foreign.toml --out results/foreign
    python examples/foreign.py examples/foreign-stacks.toml --size 20000000 --out results/foreign-stacks

The campaign is that of `leobench sweep`, and so are its tables and `--resume`; only the runs are in real
time, by `leobench emulate`, one after the other. Each program has a folder of its own in `--out`. All have
the same seeds, and so the same channel in a replicate. A run whose clock cannot be trusted does not count and
is repeated.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import real_runs

import leobench

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

HERE = Path(__file__).parent
PYTHON = f"{shlex.quote(sys.executable)} {shlex.quote(str(HERE / 'quic_aioquic.py'))}"


def quic(server: str, client: str) -> Callable[[str, int], tuple[str, str]]:
    """The sender and the receiver of a QUIC implementation: the receiver asks for the file."""
    return lambda sender, size: (server, f"{client} {sender}:4433 {size}")


def tcp(controller: str) -> Callable[[str, int], tuple[str, str]]:
    """TCP of the kernel by iperf3 in its reverse mode: the receiver asks, too."""
    ask = "iperf3 --json --reverse --client {0} --bytes {1} --congestion " + controller
    return lambda sender, size: ("iperf3 --server --one-off --logfile /dev/null", ask.format(sender, size))


# By the name of a program: what runs at both ends of the flow, given the sender's host and a number of bytes.
PROGRAMS = {
    "quic-go": quic("{quic_go} serve [::]:4433", "{quic_go} fetch"),
    "aioquic": quic(f"{PYTHON} serve 4433", f"{PYTHON} fetch"),
    "x-net": quic("{quic_x_net} serve [::]:4433", "{quic_x_net} fetch"),
    **{
        stack: quic(f"{{quic_rust}} {stack} serve [::]:4433", f"{{quic_rust}} {stack} fetch")
        for stack in ("quiche", "quinn", "s2n-quic")
    },
    "tcp-cubic": tcp("cubic"),
    "tcp-bbr": tcp("bbr"),
    "tcp-reno": tcp("reno"),
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
    program: str, built: Mapping[str, Path], size: int, spec: Mapping[str, Any]
) -> real_runs.Commands:
    """What runs at both ends of the flow."""
    (ends,) = spec["flows"].values()
    sender, receiver = PROGRAMS[program](ends["from"], size)
    for name, file in built.items():
        sender, receiver = (each.replace(f"{{{name}}}", str(file)) for each in (sender, receiver))
    return real_runs.Commands(other=(ends["from"], sender), main=(ends["to"], receiver))


def measure(said: dict[str, Any]) -> dict[str, float]:
    """What one of the programs says."""
    return {"goodput_bps": goodput(said), "completion_s": seconds(said)}


def build(programs: Sequence[str], folder: Path) -> dict[str, Path]:
    """The programs that have to be compiled, by their names in commands."""
    built = {}
    for name in ("quic_go", "quic_x_net", "quic_rust"):
        if any(f"{{{name}}}" in PROGRAMS[program]("", 0)[0] for program in programs):
            is_rust = name == "quic_rust"
            built[name] = real_runs.build_rust(name) if is_rust else real_runs.build_go(name, folder)
    return built


def main() -> int:
    """Runs the campaign and prints the mean of every metric."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("campaign", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=list(PROGRAMS), metavar="NAME")
    parser.add_argument("--size", type=int, default=10_000_000, help="bytes of a run (default: 10 MB)")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--force", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        built = build(args.programs, Path(folder))
        failed = 0
        for program in args.programs:
            placed = partial(commands, program, built, args.size)
            executor = real_runs.RealTime(placed, measure)
            out = args.out / program
            result = leobench.sweep(args.campaign, out, executor, resume=args.resume, force=args.force)
            failed += len(result.failures)
            for (variant, metric), rows in result.runs.group_by("variant", "metric", maintain_order=True):
                values = rows["value"].drop_nulls()
                mean = f"{values.mean():,.0f}" if len(values) else "none"
                print(f"{program}  {variant}  {metric}  {mean}  ({len(values)} runs)")
            print(f"{program}: {len(result.failures)} failed, {len(result.warnings)} warnings")
            for reason in result.failures["error"].unique(maintain_order=True):
                print(f"{program}: {reason}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(real_runs.told(main))
