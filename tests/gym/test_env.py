"""The environment: Gymnasium's own checks, repeatability, measures by hand, and what is refused."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv

from leobench import Step
from leobench.errors import InputError, RunError, ScenarioError
from leobench.gym import OBSERVATIONS, REWARDS, CongestionEnv

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SCENARIO = """\
name = "gym"
duration = "1 s"

[nodes.client]
[nodes.server]

[links.path]
between = ["client", "server"]
rate = "10 Mbps"
delay = "20 ms"
queue = { kind = "fifo", limit = "60 packets" }

[flows.main]
transport = "quic"
from = "client"
to = "server"
source = { kind = "bulk", size = "1 GB" }
"""

NAMES = list(OBSERVATIONS)


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "gym.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    return file


def drawn(random: np.random.Generator) -> Mapping[str, object]:
    return {"links.path.rate": f"{random.uniform(5, 20):.3f} Mbps"}


def episode(env: CongestionEnv, seed: int, actions: int = 1000) -> tuple[list[Any], list[float], int]:
    """Observations, rewards and the number of steps of an episode with random actions."""
    random = np.random.default_rng(seed)
    observation, _ = env.reset(seed=seed)
    observations, rewards, steps = [observation.tolist()], [], 0
    while True:
        action = random.uniform(-0.5, 0.5, 1).astype(np.float32)
        observation, reward, terminated, truncated, _ = env.step(action)
        observations.append(observation.tolist())
        rewards.append(reward)
        steps += 1
        if terminated or truncated or steps == actions:
            return observations, rewards, steps


@pytest.mark.filterwarnings("ignore:.*spec.*:UserWarning")
@pytest.mark.parametrize("transport", ["quic", "tcp"])
def test_gymnasium_finds_nothing_wrong(scenario: Path, transport: str) -> None:
    env = CongestionEnv(scenario, overrides={"flows.main.transport": transport})
    check_env(env, skip_render_check=True)
    env.close()


def test_a_hundred_random_episodes_repeat(scenario: Path) -> None:
    envs = [CongestionEnv(scenario, step=0.05, overrides=drawn, reward=name) for name in ("delay",) * 2]
    first, second = ([episode(env, seed) for seed in range(50)] for env in envs)
    assert first == second
    assert len({str(each) for each in first}) == 50, "other seeds are other episodes"
    for env in envs:
        env.close()


def test_environments_in_processes_have_the_episodes_of_each_alone(scenario: Path) -> None:
    """Each draws its scenario by its own seed, as Gymnasium counts them, and begins anew after its end."""

    def made() -> CongestionEnv:
        return CongestionEnv(scenario, step=0.1, overrides=drawn, reward="delay")

    actions = np.random.default_rng(5).uniform(-0.5, 0.9, (25, 2, 1)).astype(np.float32)
    together = AsyncVectorEnv([made] * 2, context="spawn")
    observations = [together.reset(seed=11)[0], *(together.step(each)[0] for each in actions)]
    together.close()
    for number in range(2):
        env, over = made(), False
        alone = [env.reset(seed=11 + number)[0]]
        for action in actions[:, number]:
            if over:
                (observation, _), over = env.reset(), False
            else:
                observation, _, terminated, truncated, _ = env.step(action)
                over = terminated or truncated
            alone.append(observation)
        env.close()
        assert np.array_equal(np.array(observations)[:, number], np.array(alone))


def test_the_first_step_ends_with_the_fifth_packet(scenario: Path) -> None:
    """A round trip of the handshake and one of the initial window, which then grows by the factor."""
    env = CongestionEnv(scenario, factor=4.0)
    _, info = env.reset(seed=1)
    first: Step = info["step"]
    assert first.window_bytes == 10 * first.packet
    assert 5 * first.packet <= first.acked_bytes < 10 * first.packet
    assert 0.08 < first.now_s < 0.1
    info = env.step(np.ones(1, dtype=np.float32))[4]
    assert info["step"].window_bytes == 40 * first.packet
    env.close()


def test_the_seed_of_the_run_can_be_given(scenario: Path) -> None:
    loss = {"links.path.forward.loss": {"kind": "bernoulli", "probability": 0.01}}
    env = CongestionEnv(scenario, step=0.1, overrides=loss)
    lost = []
    for seed in (1, 2):
        _, info = env.reset(options={"seed": seed})
        while "summary" not in info:
            info = env.step(np.zeros(1, dtype=np.float32))[4]
        assert info["summary"]["seed"] == seed
        lost.append(info["summary"]["flows"][0]["lost_packets"])
    # The random losses of a link are those of its seed, whatever sends.
    assert lost[0] != lost[1]
    env.close()


def test_a_constant_window_has_the_throughput_of_little(scenario: Path) -> None:
    """20 packets over an empty path of 42 ms: 20 x 1,252 bytes in a round trip."""
    env = CongestionEnv(scenario, step=0.2, overrides={"links.path.rate": "100 Mbps"})
    env.reset(seed=1)
    action = np.array([1.0], dtype=np.float32)  # From 10 packets to 20.
    observation, *_ = env.step(action)
    for _ in range(2):
        observation, _, _, _, info = env.step(np.zeros(1, dtype=np.float32))
    seen = dict(zip(NAMES, observation.tolist(), strict=True))
    step: Step = info["step"]
    assert step.window_bytes == 2 * 12_520
    assert seen["window"] == pytest.approx(20)
    assert seen["rtt"] == pytest.approx(0.0405, abs=0.003)
    assert seen["throughput"] == pytest.approx(8e-6 * 25_040 / seen["rtt"], rel=0.06)
    assert seen["lost"] == 0
    assert seen["duration"] == pytest.approx(0.2, abs=0.01)
    env.close()


def test_a_window_beyond_path_and_queue_loses(scenario: Path) -> None:
    env = CongestionEnv(scenario, step=0.1)
    env.reset(seed=1)
    shares = [float(env.step(np.ones(1, dtype=np.float32))[0][NAMES.index("lost")]) for _ in range(7)]
    env.close()
    assert shares[0] == 0
    assert max(shares) > 0.2


def test_rewards_by_hand() -> None:
    step = Step(1.0, 0.1, 1000, 50_000, 5_000, 0.08, 0.04, 0.1, 20_000, 15_000)
    # 500 packets a second, 80 ms, and 5 of 55 kB lost.
    assert REWARDS["aurora"](step) == pytest.approx(5000 - 80 - 2000 / 11)
    assert REWARDS["delay"](step) == pytest.approx(math.log(500) - math.log(2))
    assert step.throughput_mbps == pytest.approx(4.0)


def last_step(env: CongestionEnv) -> tuple[bool, bool, dict[str, Any]]:
    """How an episode with a constant window ends."""
    env.reset(seed=2)
    for _ in range(200):
        _, _, terminated, truncated, info = env.step(np.zeros(1, dtype=np.float32))
        if terminated or truncated:
            return terminated, truncated, info
    pytest.fail("the episode does not end")


def test_the_end_of_the_run_truncates_and_that_of_the_data_terminates(scenario: Path) -> None:
    terminated, truncated, info = last_step(CongestionEnv(scenario, step=0.1))
    assert (terminated, truncated) == (False, True)
    assert info["summary"]["flows"][0]["congestion"] == "leobench.gym.agent:Agent"
    short = {"flows.main.source.size": "300 kB", "until": "drained"}
    env = CongestionEnv(scenario, overrides=short)
    assert last_step(env)[:2] == (True, False)
    with pytest.raises(InputError, match="there is no episode"):
        env.step(np.zeros(1, dtype=np.float32))


def test_closing_ends_the_thread(scenario: Path) -> None:
    env = CongestionEnv(scenario)
    env.reset(seed=1)
    env.step(np.zeros(1, dtype=np.float32))
    assert any(each.name == "leobench-gym" for each in threading.enumerate())
    env.close()
    assert not any(each.name == "leobench-gym" for each in threading.enumerate())


def test_what_cannot_be_is_refused(scenario: Path) -> None:
    with pytest.raises(InputError, match='step = 0: is no length of a step; allowed: "rtt"'):
        CongestionEnv(scenario, step=0)
    with pytest.raises(InputError, match="reward = 'aurorra': is unknown"):
        CongestionEnv(scenario, reward="aurorra")
    for factor in (1.0, math.nan, 1001, "2"):
        with pytest.raises(InputError, match=r"is no factor of an action; allowed: above 1, up to 1,000"):
            CongestionEnv(scenario, factor=factor)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="reset: the option 'sed' is unknown; allowed: 'seed'"):
        CongestionEnv(scenario).reset(options={"sed": 1})
    with pytest.raises(InputError, match="flow mian: has no congestion controller"):
        CongestionEnv(scenario, flow="mian").reset(seed=1)
    with pytest.raises(InputError, match="has no flow with a congestion controller"):
        CongestionEnv(scenario, overrides={"flows.main.transport": "udp"}).reset(seed=1)
    with pytest.raises(ScenarioError, match=r"links\.path\.rate"):
        CongestionEnv(scenario, overrides={"links.path.rate": "quick"}).reset(seed=1)
    with pytest.raises(RunError, match="ended before the first step"):
        CongestionEnv(scenario, step=5.0).reset(seed=1)
    env = CongestionEnv(scenario)
    env.reset(seed=1)
    with pytest.raises(InputError, match="the action 2 is out of range; allowed: from -1 to 1"):
        env.step(np.array([2.0], dtype=np.float32))
    with pytest.raises(InputError, match="the action nan is out of range"):
        env.step(np.array([np.nan], dtype=np.float32))
    env.close()
