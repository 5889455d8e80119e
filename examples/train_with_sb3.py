"""Trains a controller by PPO of Stable-Baselines3, and compares it with NewReno on other seeds.

pip install stable-baselines3 cma
python examples/train_with_sb3.py [--steps 100000]

It writes `ppo.zip`. The link, the sender, the seeds and the comparison are those of `train_policy.py`.
"""

from __future__ import annotations

import argparse
import math
from functools import partial
from typing import TYPE_CHECKING

from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import SubprocVecEnv, VecNormalize
from train_policy import BULK, HELD_OUT, SCENARIO, Outcome, compare, judged, outcome

from leobench.gym import CongestionEnv

if TYPE_CHECKING:
    import leobench


def reward(step: leobench.Step) -> float:
    """The throughput of a step less half the round trip as a multiple of the shortest, in logarithms."""
    ratio = max(step.rtt_s / step.min_rtt_s, 1.0)
    return step.duration_s * (math.log(max(step.throughput_mbps, 0.1)) - 0.5 * math.log(ratio))


made = partial(CongestionEnv, SCENARIO, reward=reward, overrides=BULK)


def episode(model: PPO, normal: VecNormalize, seed: int) -> Outcome:
    """The outcome of the trained controller over a seed."""
    env = made()
    observation, info = env.reset(options={"seed": seed})
    while "summary" not in info:
        action, _ = model.predict(normal.normalize_obs(observation), deterministic=True)
        observation, _, _, _, info = env.step(action)
    return outcome(info["summary"])


def main() -> None:
    """Trains, writes the model, and prints the comparison."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100_000)
    steps = parser.parse_args().steps
    normal = VecNormalize(make_vec_env(made, 2, seed=1, vec_env_cls=SubprocVecEnv), gamma=0.98)
    model = PPO("MlpPolicy", normal, n_steps=512, gamma=0.98, seed=1, device="cpu", verbose=1)
    model.learn(steps).save("ppo.zip")
    trained = [episode(model, normal, seed) for seed in HELD_OUT]
    compare(trained, [judged(("newreno", seed)) for seed in HELD_OUT])
    normal.close()


if __name__ == "__main__":
    main()
