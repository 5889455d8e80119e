"""Predictions of `leobench replay` beside the truth, over simulated paths whose truth is known.

`python tools/replay_closed_loop.py FILE [--truths N] [--workers N] [--trace FOLDER]` runs CUBIC over N paths
of each kind, infers each path from that transfer alone, predicts BBRv3, NewReno and a call, and runs these
over the true path too. Outcomes go to FILE, a line of JSON per metric of a truth; those that it has are not
repeated. Prints the table of docs/reports/replay.md.

FOLDER has a recorded trace as LeoCC (SIGCOMM 2025) publishes it: `bw.mahimahi.gz`, the millisecond of each
opportunity to send 1,500 bytes, and `delay_10ms.txt`, the delay in one direction. It does not ship.

Constants of the inference were chosen on seeds 101 to 140, so the truths begin at seed 2001.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import json
import math
import sys
import tempfile
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from leobench.campaign.processes import WorkerProcesses
from leobench.fitting.replay import outcome, posterior, results, runs, world
from leobench.fitting.replay.prior import Fit, Process
from leobench.fitting.replay.transfer import BIN_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Steps = tuple[Array, Array, Array]
    # The tables of the two directions of a link.
    Sides = tuple[dict[str, Any], dict[str, Any]]

DURATION_S = 20.0
# The ends of an interval of 90 % are the least and the greatest of 19 draws.
DRAWS = 19
FIRST_SEED = 2001

# The model's own process: what a fit would say, in Mbit/s and in milliseconds of round trip.
CAPACITY = Process(0.0, math.log(25.0), 0.4, (0.2, 0.4, 0.3, 0.1), slow_s=2.0, fast_s=0.1)
DELAY = Process(20.0, math.log(15.0), 0.3, (0.2, 0.6, 0.15, 0.05), slow_s=2.0)

QUEUES_KB = (30, 100, 300)

# The predictions: changes, and the metrics that are judged.
CALL = {
    "transport": "udp",
    "from": "sender",
    "to": "receiver",
    "source": {"kind": "cbr", "rate": "300 kbps", "size": "750 B"},
}
TARGETS: Mapping[str, tuple[Sequence[tuple[str, object]], Sequence[str]]] = {
    "bbr3": ([("flows.main.transport.congestion", "bbr3")], ("goodput_mbps", "rtt_p50_ms")),
    "newreno": ([("flows.main.transport.congestion", "newreno")], ("goodput_mbps", "rtt_p50_ms")),
    "call": ([("flows.main", CALL)], ("delay_p50_ms", "delay_p95_ms")),
}

# The rows of the table for each kind of truth, by the metrics that they pool.
QUANTITIES = {
    "goodput_mbps": "goodput of BBRv3, NewReno",
    "rtt_p50_ms": "median round trip of both",
    "delay_p50_ms": "delay of a call, p50 and p95",
    "delay_p95_ms": "delay of a call, p50 and p95",
}


@dataclass(frozen=True)
class Kind:
    """A kind of truth.

    Attributes:
        name: In the table.
        sides: Both directions of the link of a truth, by its generator and the folder for its files.
        fit: What the inference is told; nothing if `None`.
    """

    name: str
    sides: Callable[[np.random.Generator, Path], Sides]
    fit: Fit | None = None


def tables(folder: Path, steps: Steps, step_s: float) -> Sides:
    """Channels of a table: Mbit/s, round trip in milliseconds, and loss in steps."""
    forward, backward = ["time,rate,delay,loss,up"], ["time,rate,delay,loss,up"]
    for at, (mbps, base, loss) in enumerate(zip(*steps, strict=True)):
        head = f"{at * step_s:.3f} s"
        forward.append(f"{head},{max(1e3 * mbps, 6.0):.3f} kbps,{base / 2:.4f} ms,{loss:.4g},true")
        backward.append(f"{head},1 Gbps,{base / 2:.4f} ms,0,true")
    made = []
    for name, lines in (("forward", forward), ("backward", backward)):
        file = folder / f"truth-{name}.csv"
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        made.append({"channel": {"kind": "schedule", "file": str(file)}})
    return made[0], made[1]


def of_model(generator: np.random.Generator, folder: Path) -> Sides:
    """A path of the model's own process."""
    times = np.arange(round(DURATION_S / BIN_S), dtype=np.float64) * BIN_S
    capacity, delay = CAPACITY.sample(times, generator), DELAY.sample(times, generator)
    return tables(folder, (capacity, delay, np.zeros_like(times)), BIN_S)


def of_lms(generator: np.random.Generator, _folder: Path) -> Sides:
    """Fading between the states of a land mobile satellite channel, over a fixed delay."""
    base = generator.uniform(20.0, 60.0)
    top = generator.uniform(10.0, 40.0)
    rates = [f"{top * share:.3f} Mbps" for share in (1.0, 0.5, 0.2)]
    return beside({"kind": "lms", "preset": "ka", "rates": rates}, base)


def of_trace(generator: np.random.Generator, folder: Path, trace: Path) -> Sides:
    """A recorded trace from a random instant on: its capacity in steps of 20 ms, and its delay."""
    with gzip.open(trace / "bw.mahimahi.gz", "rt", encoding="utf-8") as opened:
        opportunities = np.array([int(line) for line in opened])
    delays = np.array((trace / "delay_10ms.txt").read_text(encoding="utf-8").split(), dtype=np.float64)
    first = int(generator.integers(len(delays) - round(DURATION_S / 0.01)))
    edges = 10 * (first + 2 * np.arange(round(DURATION_S / 0.02) + 1))
    counts = np.histogram(opportunities, edges)[0]
    base = 2 * delays[first : first + 2 * len(counts) : 2]
    return tables(folder, (counts * 0.6, base, np.zeros(len(counts))), 0.02)


def of_cellular(generator: np.random.Generator, folder: Path) -> Sides:
    """Capacity in Brownian motion, 200 packets/s per root of a second, as Sprout assumes (NSDI 2013)."""
    step_s = 0.02
    count = round(DURATION_S / step_s)
    packets = np.empty(count)
    packets[0] = generator.uniform(300.0, 1500.0)
    for at in range(1, count):
        moved = packets[at - 1] + 200.0 * math.sqrt(step_s) * generator.standard_normal()
        packets[at] = abs(min(moved, 4000.0 - moved))
    base = np.full(count, generator.uniform(30.0, 80.0))
    return tables(folder, (packets * 0.012, base, np.zeros(count)), step_s)


def of_switches(generator: np.random.Generator, folder: Path) -> Sides:
    """Capacity that switches between three levels, steps of delay at other times, and losses."""
    count = round(DURATION_S / BIN_S)
    levels = np.array([8.0, 20.0, 45.0])
    capacity, base = np.empty(count), np.empty(count)
    level, delay = generator.choice(levels), generator.uniform(25.0, 60.0)
    for at in range(count):
        if generator.random() < BIN_S / 3.0:
            level = generator.choice(levels)
        if generator.random() < BIN_S / 8.0:
            delay = generator.uniform(25.0, 60.0)
        capacity[at], base[at] = level, delay
    return tables(folder, (capacity, base, np.full(count, 1e-3)), BIN_S)


def beside(forward: dict[str, Any], base_ms: float) -> Sides:
    """A channel with half of a fixed round trip in each direction, and a return path without limits."""
    half = {"delay": f"{base_ms / 2:.4f} ms"}
    return {"channel": forward, **half}, {"rate": "1 Gbps", **half}


KINDS = (
    Kind("model, with its fit", of_model, Fit(CAPACITY, DELAY)),
    Kind("model, without a fit", of_model),
    Kind("fading (LMS)", of_lms),
    Kind("cellular", of_cellular),
    Kind("switches, with losses", of_switches),
)
RECORDED = "recorded trace"


def kinds(trace: Path | None) -> tuple[Kind, ...]:
    """The kinds of truths; with the recorded trace only if its folder is given."""
    if trace is None:
        return KINDS
    return (*KINDS, Kind(RECORDED, functools.partial(of_trace, trace=trace)))


def truth(kind: Kind, seed: int, folder: Path) -> Path:
    """Writes the scenario of a truth."""
    path = RECORDED if kind.name == RECORDED else kind.sides.__name__
    generator = np.random.default_rng([seed, sum(path.encode())])
    forward, backward = kind.sides(generator, folder)
    scenario = {
        "name": "truth",
        "duration": f"{DURATION_S:.0f} s",
        "nodes": {"sender": {}, "receiver": {}},
        "links": {
            world.LINK: {
                "between": ["sender", "receiver"],
                "queue": {"kind": "fifo", "limit": f"{generator.choice(QUEUES_KB)} kB"},
                "forward": forward,
                "backward": backward,
            }
        },
        "flows": {
            "main": {
                "transport": {"kind": "tcp", "congestion": "cubic"},
                "from": "sender",
                "to": "receiver",
                "source": "bulk",
            }
        },
    }
    file = folder / "truth.json"
    file.write_text(json.dumps(scenario), encoding="utf-8")
    return file


def judge(kind: Kind, seed: int, draws: int) -> list[dict[str, Any]]:
    """Predicts every target of a truth; a row per metric. Called in worker processes."""
    from leobench import api

    with tempfile.TemporaryDirectory(prefix="leobench-replay-") as place:
        folder = Path(place)
        file = truth(kind, seed, folder)
        api.run(file, seed, out=folder / "recording")
        transfer = results.read(folder / "recording", "main")
        found = posterior.infer(transfer, kind.fit, None, draws, seed)
        (folder / "replay").mkdir()
        drawn = world.write(found, folder / "replay")
        rows = []
        for target, (changes, metrics) in TARGETS.items():
            real = runs.execute(str(file), seed, [*changes])["main"]
            cases = [each for each in runs.cases(draws, changed=True) if each.changed]
            done = outcome.Outcome(found, changes, runs.run(drawn, cases, changes, 1, lambda *_: None))
            predicted, naive = done.intervals(runs.CHANGED), done.naive
            for metric in metrics:
                name = f"main.{metric}"
                if metric in real and name in predicted and name in naive:
                    each = predicted[name]
                    row = {"kind": kind.name, "seed": seed, "target": target, "metric": metric}
                    values: dict[str, Any] = {
                        "truth": real[metric],
                        "median": each.median,
                        "naive": naive[name],
                        "low": each.ends[0.9][0],
                        "high": each.ends[0.9][1],
                    }
                    rows.append({**row, **values})
    return rows


def run_all(
    file: Path, truths: int, workers: int, draws: int = DRAWS, trace: Path | None = None
) -> list[dict[str, Any]]:
    """The rows of all truths; those that the file lacks are added to it as they are known."""
    rows = (
        [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []
    )
    known = {(row["kind"], row["seed"]) for row in rows}
    wanted = [
        (kind, seed)
        for seed in range(FIRST_SEED, FIRST_SEED + truths)
        for kind in kinds(trace)
        if (kind.name, seed) not in known
    ]
    with WorkerProcesses(workers) as pool, file.open("a", encoding="utf-8") as opened:
        futures = [pool.submit(judge, kind, seed, draws) for kind, seed in wanted]
        for future in as_completed(futures):
            found = future.result()
            rows += found
            opened.write("".join(json.dumps(row) + "\n" for row in found))
            opened.flush()
    return [row for row in rows if FIRST_SEED <= row["seed"] < FIRST_SEED + truths]


def summary(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Coverage and error per kind and quantity, in the order of the kinds and `QUANTITIES`."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["kind"], QUANTITIES[row["metric"]]), []).append(row)
    names = [kind.name for kind in KINDS] + [RECORDED]
    order = [(name, quantity) for name in names for quantity in dict.fromkeys(QUANTITIES.values())]
    return [
        {
            "kind": key[0],
            "quantity": key[1],
            "truths": len({row["seed"] for row in group}),
            "coverage": float(np.mean([row["low"] <= row["truth"] <= row["high"] for row in group])),
            "error": _error(group, "median"),
            "naive": _error(group, "naive"),
        }
        for key in order
        if (group := groups.get(key))
    ]


def _error(group: Sequence[Mapping[str, Any]], which: str) -> float:
    """The mean of the relative errors."""
    return float(np.mean([abs(row[which] / row["truth"] - 1.0) for row in group]))


def table(rows: Iterable[Mapping[str, Any]]) -> str:
    """The summary as a table in Markdown."""
    lines = ["| truth | predicted | truths | in the 90 % interval | error | naive error | ratio |"]
    lines.append("|---|---|---|---|---|---|---|")
    for row in summary(rows):
        ratio = row["error"] / row["naive"] if row["naive"] else math.nan
        lines.append(
            f"| {row['kind']} | {row['quantity']} | {row['truths']} | "
            f"{100 * row['coverage']:.0f} % | {100 * row['error']:.1f} % | {100 * row['naive']:.1f} % | "
            f"{ratio:.2f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Runs what is missing and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--truths", type=int, default=34, help="truths of each kind")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--trace", type=Path, help="folder of a recorded trace")
    args = parser.parse_args()
    rows = run_all(args.file, args.truths, args.workers, trace=args.trace)
    sys.stdout.write(table(rows) + "\n")


if __name__ == "__main__":
    main()
