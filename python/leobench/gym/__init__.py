"""Congestion control as an environment for training, with the interface of Gymnasium.

import leobench.gym

env = leobench.gym.CongestionEnv("scenarios/ka.toml")
observation, info = env.reset(seed=1)
observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

`env` has the environment, `agent` the controller inside the run that asks it, `exchange` the hand-over
between their threads, `measures` observations and rewards. Needs the extra `gym`
(`pip install leobench[gym]`).
"""

from __future__ import annotations

from leobench.gym.env import CongestionEnv
from leobench.gym.measures import OBSERVATIONS, REWARDS

__all__ = ["OBSERVATIONS", "REWARDS", "CongestionEnv"]
