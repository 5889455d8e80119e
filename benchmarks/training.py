"""Steps per second of `leobench.gym.CongestionEnv`, and how much faster than the clock an episode is.

python benchmarks/training.py
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

from leobench.gym import CongestionEnv

DURATION_S = 60
SCENARIO = f"""\
name = "training"
duration = "{DURATION_S} s"

[nodes.client]
[nodes.server]

[links.path]
between = ["client", "server"]
rate = "45 Mbps"
delay = "20 ms"
queue = {{ kind = "fifo", limit = "300 packets" }}

[flows.main]
transport = "quic"
from = "client"
to = "server"
source = {{ kind = "bulk", size = "1 GB" }}
"""


def main() -> None:
    """Prints a row for steps of a round trip, and of 10 ms."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "training.toml"
        file.write_text(SCENARIO, encoding="utf-8")
        for step in ("rtt", 0.01):
            steps, mbps, seconds = episode(CongestionEnv(file, step=step))
            print(
                f"step {step}: {steps} steps, {steps / seconds:.0f} a second, {mbps:.1f} Mbit/s, "
                f"{DURATION_S / seconds:.0f} times faster than the clock"
            )


def episode(env: CongestionEnv) -> tuple[int, float, float]:
    """Steps, goodput in Mbit/s and seconds of an episode that keeps the window near the path's product."""
    env.reset(seed=1)
    random, steps, over = np.random.default_rng(1), 0, False
    window = 10.0
    started = time.perf_counter()
    while not over:
        pull = 0.2 * (np.log2(220.0) - np.log2(window))
        action = np.clip(pull + random.uniform(-0.1, 0.1, 1), -1, 1).astype(np.float32)
        observation, _, terminated, truncated, info = env.step(action)
        window = float(observation[5])
        over = terminated or truncated
        steps += 1
    seconds = time.perf_counter() - started
    return steps, info["summary"]["flows"][0]["goodput_bps"] / 1e6, seconds


if __name__ == "__main__":
    main()
