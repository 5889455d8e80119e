"""NewReno in Python and in a shared library beside the built-in one: they send the same packets."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

import leobench
from tests.support import libraries

EXAMPLE = Path(__file__).parents[2] / "examples" / "reno.py"

SCENARIO = """\
name = "reno"
duration = "8 s"

[nodes.client]
[nodes.server]

[links.path]
between = ["client", "server"]
delay = "20 ms"
queue = { kind = "fifo", limit = "40 packets" }

[flows.main]
transport = { kind = "quic", congestion = "newreno" }
from = "client"
to = "server"
source = { kind = "bulk", size = "1 GB" }
"""

# Differences from the scenario; ten cases under QUIC and TCP each.
CASES: dict[str, dict[str, object]] = {
    "steady": {},
    "shallow queue": {"links.path.queue.limit": "5 packets"},
    "random loss": {"links.path.forward": {"loss": {"kind": "bernoulli", "probability": 0.01}}},
    "bursts of loss": {
        "links.path.forward": {"loss": {"kind": "gilbert_elliott", "p": 0.005, "r": 0.2, "loss_bad": 0.6}}
    },
    "marks": {"links.path.queue": {"kind": "codel", "ecn": True, "limit": "100 packets"}},
    "application-limited": {
        "flows.main.source": {
            "kind": "on_off",
            "rate": "15 Mbps",
            "size": "20 kB",
            "on": "400 ms",
            "off": "300 ms",
        }
    },
    "fading": {"links.path.channel": {"kind": "lms", "preset": "s"}},
    "outages": {
        "links.path.channel": {"kind": "on_off", "rate": "10 Mbps", "on": "1 s", "off": "400 ms"},
    },
    "long and fat": {"links.path.delay": "150 ms", "links.path.rate": "40 Mbps"},
    "acknowledgements lost": {"links.path.backward": {"loss": {"kind": "bernoulli", "probability": 0.2}}},
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return libraries.of_crate("controller_rust", "libreno.so", tmp_path_factory.mktemp("target"))


@pytest.mark.parametrize("plug_in", ["python", "library"])
@pytest.mark.parametrize("transport", ["quic", "tcp"])
@pytest.mark.parametrize("case", CASES)
def test_a_plug_in_sends_the_packets_of_the_built_in(
    plug_in: str, transport: str, case: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    file = tmp_path / "reno.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    shutil.copy(EXAMPLE, tmp_path)
    changes = {"flows.main.transport.kind": transport, "record.packets": True, **CASES[case]}
    if "links.path.channel" not in changes:
        changes.setdefault("links.path.rate", "10 Mbps")

    def run(congestion: object) -> leobench.Result:
        congested = {**changes, "flows.main.transport.congestion": congestion}
        return leobench.run(file, seed=3, overrides=congested)

    name = "reno:Reno" if plug_in == "python" else str(request.getfixturevalue("library"))
    outside, built_in = run({plug_in: name}), run("newreno")
    assert outside.tables.packets.height > 500
    assert outside.tables.packets.equals(built_in.tables.packets)
    windows = [each.tables.transport.drop("phase") for each in (outside, built_in)]
    assert windows[0].equals(windows[1])
    assert windows[0]["cwnd_bytes"].n_unique() > 5
    # Reductions only come out equal if there are some.
    assert outside.flows["main"].congestion_events == built_in.flows["main"].congestion_events
    kinds = [set(each.tables.losses["cause"]) for each in (outside, built_in)]
    assert kinds[0] == kinds[1]
    assert pl.concat(windows).height > 100
