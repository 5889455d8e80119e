"""Implementations that others wrote as a campaign: each run sends a file from one end of a flow to the other.

    python examples/foreign.py examples/foreign.toml --out results/foreign

The campaign is that of `leobench sweep`, and so are its tables and `--resume`; only the runs are in real
time, by `leobench emulate`, one after the other. Each program has a folder of its own in `--out`. All have
the same seeds, and so the same channel in a replicate. A run whose clock cannot be trusted is among the
warnings.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import leobench
from leobench.campaign.store import Outcome
from leobench.manifest import Doubt
from leobench.scenario import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from leobench.campaign.plan import PlannedRun

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
    "tcp-cubic": tcp("cubic"),
    "tcp-bbr": tcp("bbr"),
    "tcp-reno": tcp("reno"),
}


def goodput(said: dict[str, Any]) -> float:
    """Bits per second, as one of the programs says."""
    if "end" in said:
        return float(said["end"]["sum_received"]["bits_per_second"])
    return float(said["goodput_mbps"]) * 1e6


class RealTime(Executor):
    """Executes the runs of a campaign in real time, one after the other."""

    def __init__(self, program: str, quic_go: Path, size: int) -> None:
        self._program, self._quic_go, self._size = program, quic_go, size
        self._one = ThreadPoolExecutor(1)

    def submit(self, _: object, run: PlannedRun, *__: object, **___: object) -> Future[Outcome]:  # type: ignore[override]
        """Executes a run, by programs instead of by leobench's own transports."""
        return self._one.submit(self._run, run)

    def _run(self, run: PlannedRun) -> Outcome:
        scenario = load(run.scenario, run.seed, run.overrides)
        spec = json.loads(scenario.to_json())
        ((flow, ends),) = spec["flows"].items()
        commands = PROGRAMS[self._program](ends["from"], self._size)
        sender, receiver = (command.replace("{quic_go}", str(self._quic_go)) for command in commands)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "scenario.json")
            path.write_text(scenario.to_json(), encoding="utf-8")
            places = ["--on", ends["from"], sender, "--on", ends["to"], receiver]
            words = [
                "-m",
                "leobench",
                "emulate",
                str(path),
                *places,
                "--settle",
                "1500",
                "--out",
                f"{folder}/out",
            ]
            ended = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
            results = Path(folder, "out")
            if not (results / "manifest.json").exists():
                return Outcome(None, ended.stderr.strip()[-500:], {})
            manifest = json.loads((results / "manifest.json").read_text(encoding="utf-8"))
            summary = json.loads((results / "summary.json").read_text(encoding="utf-8"))
        if manifest["exit_code"] != 0:
            return Outcome(None, f"{receiver}: exit code {manifest['exit_code']}: {ended.stderr[-500:]}", {})
        summary["flows"] = [{"name": flow, "goodput_bps": goodput(json.loads(ended.stdout))}]
        doubts = [Doubt("clock", reason) for reason in manifest["validity"]["warnings"]]
        return Outcome(summary, None, {}, doubts)


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
        quic_go = Path(folder, "quic_go")
        if "quic-go" in args.programs:
            subprocess.run(["go", "build", "-o", str(quic_go), "."], cwd=HERE / "quic_go", check=True)
        failed = 0
        for program in args.programs:
            executor = RealTime(program, quic_go, args.size)
            out = args.out / program
            result = leobench.sweep(args.campaign, out, executor, resume=args.resume, force=args.force)
            failed += len(result.failures)
            for (variant, metric), rows in result.runs.group_by("variant", "metric", maintain_order=True):
                values = rows["value"].drop_nulls()
                mean = f"{values.mean():,.0f}" if len(values) else "none"
                print(f"{program}  {variant}  {metric}  {mean}  ({len(values)} runs)")
            print(f"{program}: {len(result.failures)} failed, {len(result.warnings)} warnings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
