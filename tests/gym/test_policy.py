"""The policy of the examples: the same in training and in a run, and the window that its weights ask for."""

from __future__ import annotations

import importlib.util
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import leobench
from leobench import cli
from leobench.gym import CongestionEnv
from tests.gym.test_env import SCENARIO
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLE = ROOT / "examples" / "policy.py"


@pytest.fixture
def policy(tmp_path: Path) -> Any:
    """The module, copied beside a scenario of 10 Mbit/s."""
    (tmp_path / "gym.toml").write_text(SCENARIO, encoding="utf-8")
    file = tmp_path / "policy.py"
    file.write_bytes(EXAMPLE.read_bytes())
    spec = importlib.util.spec_from_file_location("policy_of_the_examples", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def controlled(folder: Path, rate: str) -> leobench.Result:
    controller = {"python": "policy:Policy", "parameters": {"weights": str(folder / "policy.json")}}
    overrides = {"flows.main.transport.congestion": controller, "links.path.rate": rate}
    return leobench.run(folder / "gym.toml", seed=3, overrides=overrides)


def test_a_run_has_what_training_had(policy: Any, tmp_path: Path) -> None:
    weights = [0.9, -0.6, -0.2, -0.3, 0.1, -0.4]
    policy.write(policy.FILE, weights)
    env = CongestionEnv(tmp_path / "gym.toml", factor=policy.FACTOR, overrides={"links.path.rate": "20 Mbps"})
    decider = policy.Decider(weights)
    _, info = env.reset(options={"seed": 3})
    while "summary" not in info:
        info = env.step(np.array([decider.action(info["step"])]))[4]
    trained, ran = info["summary"]["flows"][0], controlled(tmp_path, "20 Mbps").summary["flows"][0]
    assert trained["sent_packets"] > 1000
    for key in ("goodput_bps", "rtt_ms", "sent_packets", "lost_packets"):
        assert trained[key] == ran[key]


def test_the_weights_ask_for_a_window(policy: Any, tmp_path: Path) -> None:
    """Bias and size balance at 50 packets, of which the path of 10 Mbit/s and 41 ms holds 41."""
    policy.write(policy.FILE, [math.log2(0.5), -1.0, 0.0, 0.0, 0.0, 0.0])
    step = leobench.Step(1.0, 0.05, 1252, 50_000, 0, 0.05, 0.04, 0.0, 50 * 1252, 50 * 1252)
    assert policy.Decider(policy.read(policy.FILE)).action(step) == pytest.approx(0, abs=1e-12)
    rtt_ms = controlled(tmp_path, "10 Mbps").flows["main"].rtt_ms.p50
    packet_ms = (1252 + 28) * 8 / 10e6 * 1e3
    # An acknowledgement frees two packets.
    assert rtt_ms == pytest.approx(50 * packet_ms, abs=2.1 * packet_ms)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "policy.json: No such file or directory; allowed: a file that"),
        ("{", "policy.json: holds no numbers for bias, size, room, queue, rate, lost"),
        (json.dumps({"bias": 1}), "policy.json: holds no numbers for bias"),
        ("[1, 2]", "policy.json: holds no numbers for bias"),
    ],
)
@pytest.mark.usefixtures("policy")
def test_weights_that_are_none_are_refused(
    content: str | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        (tmp_path / "policy.json").write_text(content, encoding="utf-8")
    place = 'flows.main.transport.congestion={ python = "policy:Policy" }'
    words = ["run", str(tmp_path / "gym.toml"), "--set", place, "--out", str(tmp_path / "out")]
    assert cli.main(words) == 2
    assert message in capsys.readouterr().err
