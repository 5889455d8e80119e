"""Trains the policy of `policy.py` by evolution, and compares it with NewReno on seeds that it has not seen.

python examples/train_policy.py [--generations 12] [--workers 2]

An episode is 10 s over the fading Ka-band link of `scenarios/ka.toml`, with a sender that always has data.
The reward is the throughput in logarithms, less a tenth of that of the round trip. The evolution strategy is
CMA-ES. It prints the weights, and writes nothing.
"""

from __future__ import annotations

import argparse
import math
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import cma
import numpy as np
from policy import WEIGHTS, decide

import leobench
from leobench.gym import CongestionEnv
from leobench.stats import mean_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

SCENARIO = Path(__file__).resolve().parent.parent / "scenarios" / "ka.toml"
# A sender that always has data, for 10 s. Runs of policies that only ever grow would fill the memory.
BULK = {
    "duration": "10 s",
    "until": "time",
    "limits.memory": "200 MB",
    "flows.main.source": {"kind": "bulk", "size": "1 GB"},
}
TRAINING, HELD_OUT = range(1, 5), range(1001, 1021)


# The reward of a policy whose run fails, below that of a window of two packets.
FAILED = -100.0


def reward(weights: Sequence[float], seeds: Sequence[int]) -> float:
    """The mean reward of an episode over seeds."""
    try:
        return _reward(weights, seeds)
    except leobench.RunError:
        return FAILED


def of_step(step: leobench.Step) -> float:
    """The reward of a step, in proportion to its length."""
    ratio = max(step.rtt_s / step.min_rtt_s, 1.0)
    return step.duration_s * (math.log(max(step.throughput_mbps, 0.1)) - 0.1 * math.log(ratio))


def _reward(weights: Sequence[float], seeds: Sequence[int]) -> float:
    env = CongestionEnv(SCENARIO, reward=of_step, overrides=BULK)
    sums = []
    for seed in seeds:
        _, info = env.reset(seed=seed)
        rewards, over = [], False
        while not over:
            action = np.array([decide(weights, info["step"])], dtype=np.float32)
            _, gained, terminated, truncated, info = env.step(action)
            over = terminated or truncated
            rewards.append(gained)
        sums.append(sum(rewards))
    env.close()
    return float(np.mean(sums))


def judged(congestion: object, seed: int) -> tuple[float, float]:
    """Goodput in Mbit/s and median round trip in milliseconds of a run."""
    overrides = {**BULK, "flows.main.transport.congestion": congestion}
    flow = leobench.run(SCENARIO, seed=seed, overrides=overrides).flows["main"]
    return (flow.goodput_bps or 0.0) / 1e6, flow.rtt_ms.p50 or 0.0


def main() -> None:
    """Trains, and prints the weights and the comparison."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--generations", type=int, default=12)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    search = cma.CMAEvolutionStrategy([0.0] * WEIGHTS, 0.5, {"seed": 1, "verbose": -9, "popsize": 8})
    with ProcessPoolExecutor(arguments.workers) as pool:
        for generation in range(1, arguments.generations + 1):
            candidates = search.ask()
            found = list(pool.map(partial(reward, seeds=TRAINING), [each.tolist() for each in candidates]))
            search.tell(candidates, [-each for each in found])
            print(f"generation {generation}: best {max(found):.3f}, mean {np.mean(found):.3f}", flush=True)
        weights = [round(float(each), 4) for each in search.result.xbest]
        print(f"weights = {weights}")
        policy = {"python": "policy:Policy", "parameters": {"weights": weights}}
        trained = np.array(list(pool.map(partial(judged, policy), HELD_OUT)))
        reno = np.array(list(pool.map(partial(judged, "newreno"), HELD_OUT)))
    for name, column in (("goodput, Mbit/s", 0), ("median round trip, ms", 1)):
        difference = mean_interval(trained[:, column] - reno[:, column])
        print(
            f"{name}: {trained[:, column].mean():.2f}; NewReno {reno[:, column].mean():.2f}; "
            f"difference {difference}"
        )


if __name__ == "__main__":
    main()
