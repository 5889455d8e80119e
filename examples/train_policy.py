"""Trains the policy of `policy.py` by evolution, and compares it with NewReno on seeds that it has not seen.

python examples/train_policy.py [--generations 24] [--workers 2] [--out examples/policy.json]

An episode is 10 s over the fading Ka-band link of `scenarios/ka.toml`, with a sender that always has data.
NewReno fills the queue of this link, and leaves it empty only in slow start. A policy has more goodput if it
opens faster, and shorter round trips if it keeps the queue just long enough for the best rate of the link.
The score compares both with those of NewReno over the same seed; goodput counts `GOODPUT` times as much.
The evolution strategy is CMA-ES (`pip install cma`). It takes some two minutes of two processors, and finds a
policy with 39.5 Mbit/s and 49 ms, beside 39.3 Mbit/s and 64 ms of NewReno.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cma
import numpy as np
import policy

import leobench
from leobench.gym import CongestionEnv
from leobench.stats import mean_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SCENARIO = Path(__file__).resolve().parent.parent / "scenarios" / "ka.toml"
# A sender that always has data, for 10 s.
BULK = {
    "duration": "10 s",
    "until": "time",
    "flows.main.source": {"kind": "bulk", "size": "1 GB"},
}
TRAINING, HELD_OUT = range(101, 107), range(2001, 2041)
GOODPUT = 100.0

# Goodput in Mbit/s and median round trip in milliseconds.
Outcome = tuple[float, float]

# An episode ends once the window is beyond any use, with an outcome below that of a window of two packets.
MOST_PACKETS = 1000
USELESS: Outcome = (0.01, 1e4)


def episode(job: tuple[Sequence[float], int]) -> Outcome:
    """The outcome of the policy with some weights over a seed."""
    weights, seed = job
    env = CongestionEnv(SCENARIO, factor=policy.FACTOR, overrides=BULK)
    decider = policy.Decider(weights)
    _, info = env.reset(options={"seed": seed})
    while "summary" not in info:
        if info["step"].window_bytes > MOST_PACKETS * info["step"].packet:
            env.close()
            return USELESS
        _, _, _, _, info = env.step(np.array([decider.action(info["step"])]))
    return outcome(info["summary"])


def outcome(summary: Mapping[str, Any]) -> Outcome:
    """The outcome of a run by its summary."""
    flow = summary["flows"][0]
    return flow["goodput_bps"] / 1e6, flow["rtt_ms"]["p50"]


def judged(job: tuple[object, int]) -> Outcome:
    """The outcome of a controller over a seed."""
    congestion, seed = job
    overrides = {**BULK, "flows.main.transport.congestion": congestion}
    return outcome(leobench.run(SCENARIO, seed=seed, overrides=overrides).summary)


def score(outcomes: Iterable[Outcome], reno: Iterable[Outcome]) -> float:
    """The mean over seeds of the relative advantage in goodput and in the round trip, in logarithms."""
    ratios = np.log(np.array(list(outcomes)) / np.array(list(reno)))
    return float(np.mean(GOODPUT * ratios[:, 0] - ratios[:, 1]))


def compare(outcomes: Sequence[Outcome], reno: Sequence[Outcome]) -> None:
    """Prints the means over seeds, and intervals of the paired differences."""
    own, other = np.array(outcomes), np.array(reno)
    for name, column in (("goodput, Mbit/s", 0), ("median round trip, ms", 1)):
        difference = mean_interval(own[:, column] - other[:, column])
        print(
            f"{name}: {own[:, column].mean():.2f}; NewReno {other[:, column].mean():.2f}; "
            f"difference {difference}"
        )


def train(pool: ProcessPoolExecutor, generations: int, out: Path) -> None:
    """Writes the best weights found so far after each generation."""
    reno = list(pool.map(judged, [("newreno", seed) for seed in TRAINING]))
    search = cma.CMAEvolutionStrategy(
        [0.0] * len(policy.FEATURES), 0.5, {"seed": 1, "verbose": -9, "popsize": 8}
    )
    for generation in range(1, generations + 1):
        candidates = search.ask()
        jobs = [(each.tolist(), seed) for each in candidates for seed in TRAINING]
        outcomes = np.array(list(pool.map(episode, jobs))).reshape(len(candidates), len(TRAINING), 2)
        scores = [score(each, reno) for each in outcomes]
        search.tell(candidates, [-each for each in scores])
        goodput, rtt = outcomes[int(np.argmax(scores))].mean(axis=0)
        print(
            f"generation {generation}: score {max(scores):.3f}, {goodput:.2f} Mbit/s, {rtt:.1f} ms",
            flush=True,
        )
        policy.write(out, [round(float(each), 4) for each in search.result.xbest])


def main() -> None:
    """Trains, writes the weights, and prints the comparison."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--generations", type=int, default=24)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=policy.FILE)
    arguments = parser.parse_args()
    if min(arguments.generations, arguments.workers) < 1:
        parser.error("--generations, --workers: too few; allowed: at least 1")
    if not arguments.out.resolve().parent.is_dir():
        parser.error(f"--out {arguments.out}: is in no folder; allowed: a file in one that exists")
    began = time.monotonic()
    with ProcessPoolExecutor(arguments.workers) as pool:
        train(pool, arguments.generations, arguments.out)
        seconds, text = time.monotonic() - began, arguments.out.read_text(encoding="utf-8")
        print(f"{arguments.out} after {seconds:.0f} s: {text}", flush=True)
        controller = {"python": "policy:Policy", "parameters": {"weights": str(arguments.out.resolve())}}
        policies, reno = (
            list(pool.map(judged, [(each, seed) for seed in HELD_OUT])) for each in (controller, "newreno")
        )
    compare(policies, reno)


if __name__ == "__main__":
    main()
