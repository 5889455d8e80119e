"""The warning that a flow delivered nothing for long while data waited."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import leobench
from leobench.manifest import doubts
from tests.support import made_up

if TYPE_CHECKING:
    from pathlib import Path

# From 5 s to 45 s the link is in the state INTERRUPTION.
SCENARIO = """
name = "interrupted"
duration = "10 s"
until = "drained"
record = { series = false, messages = false }
[nodes.a]
[nodes.b]
[links.wire]
between = ["a", "b"]
delay = "20 ms"
[links.wire.channel]
kind = "schedule"
steps = [
    { at = "0 s", rate = "8 Mbps" },
    { at = "5 s", INTERRUPTION },
    { at = "45 s", rate = "8 Mbps", loss = 0, up = true },
]
[flows.main]
transport = "TRANSPORT"
from = "a"
to = "b"
source = { kind = "cbr", rate = "1 Mbps", size = "1000 B" }
"""


# A file over a link that loses packets in bursts, of 10 packets or of as much time as these take.
BURSTS = """
name = "bursts"
duration = "1 s"
until = "drained"
drain_limit = "60 min"
record = { series = false, messages = false }
[nodes.client]
[nodes.server]
[links.wire]
between = ["client", "server"]
delay = "20 ms"
rate = "100 Mbps"
queue = { kind = "fifo", limit = "400 packets" }
loss = LOSS
backward = { rate = "15 Mbps" }
[flows.main]
transport = "tcp"
from = "client"
to = "server"
source = { kind = "bulk", size = "100 MB" }
"""
PER_PACKET = '{ kind = "gilbert_elliott", p = 0.0005, r = 0.1 }'
IN_TIME = '{ kind = "gilbert_elliott_time", good = "205 ms", bad = "1.02 ms" }'


def warnings(folder: Path, transport: str, interruption: str) -> list[str]:
    file = folder / "interrupted.toml"
    file.write_text(SCENARIO.replace("TRANSPORT", transport).replace("INTERRUPTION", interruption))
    return leobench.run(file).warnings


@pytest.mark.parametrize("transport", ["quic", "tcp"])
def test_silence_on_an_open_path_is_warned_of(transport: str, tmp_path: Path) -> None:
    (said,) = warnings(tmp_path, transport, "loss = 1")
    found = re.match(
        r"flow main: nothing was delivered from ([\d.]+) s to ([\d.]+) s while data waited", said
    )
    assert found, said
    start, end = map(float, found.groups())
    # The last packet of before arrives within 0.1 s; the first of afterwards waits for a probe.
    assert 5 <= start <= 5.1
    assert 45 <= end <= 90


@pytest.mark.parametrize("transport", ["quic", "tcp"])
@pytest.mark.parametrize("interruption", ["up = false", 'rate = "0 bps"'])
def test_an_outage_explains_silence(transport: str, interruption: str, tmp_path: Path) -> None:
    assert warnings(tmp_path, transport, interruption) == []


@pytest.mark.parametrize(("loss", "seconds", "warned"), [(PER_PACKET, 293, 1), (IN_TIME, 48, 0)])
def test_a_burst_ends_by_itself_in_time_but_not_per_packet(
    loss: str, seconds: int, warned: int, tmp_path: Path
) -> None:
    file = tmp_path / "bursts.toml"
    file.write_text(BURSTS.replace("LOSS", loss))
    result = leobench.run(file, seed=1)
    # As docs/reference/links.md describes it.
    assert result.summary["flows"][0]["completion_s"] == pytest.approx(seconds, abs=1)
    assert len(result.warnings) == warned


def test_datagrams_wait_for_nothing(tmp_path: Path) -> None:
    assert warnings(tmp_path, "udp", "loss = 1") == []


def test_a_lost_connection_is_the_one_reason_given() -> None:
    lost = {"at_s": 12.3456, "end": "sender", "reason": "reset by the other end"}
    flow = made_up.flow("main", undelivered_messages=7) | {"lost": lost}
    source = {"source": {"kind": "bulk", "size": "1 GB"}}
    scenario = {"until": "time", "flows": {"main": source}}
    for connected in ({"main"}, set[str]()):
        (found,) = doubts(scenario, {"flows": [flow]}, connected, {"main": (13.0, 60.0)})
        assert found.kind == "lost"
        assert found.text == (
            "flow main: its sender lost the connection at 12.35 s: reset by the other end; "
            f"7 of {flow['messages']} messages did not arrive"
        )


def test_an_idle_timeout_with_nothing_left_to_deliver_is_no_reason(quick: Path) -> None:
    ends: dict[str, object] = {"flows.main.source": {"kind": "bulk", "size": "1 kB"}, "until": "time"}
    ends |= {"flows.main.transport.idle_timeout": "500 ms"}
    idle = leobench.run(quick, overrides=ends)
    assert idle.summary["flows"][0]["lost"]["reason"] == "timed out"
    assert idle.warnings == []
    lost = {"lost": {"at_s": 2.0, "end": "sender", "reason": "timed out"}}
    page = {"page": {"completion_s": None, "objects": [{"delivered_s": None}]}}
    scenario = {"until": "time", "flows": {"main": {"source": {"kind": "bulk", "size": "1 kB"}}}}
    for more in ({"undelivered_messages": 1}, {"undelivered_messages": 0} | page):
        flow = made_up.flow("main") | lost | more
        (found,) = doubts(scenario, {"flows": [flow]}, {"main"}, {})
        assert found.kind == "lost"


def test_a_stall_is_told_beside_what_it_led_to() -> None:
    flow = made_up.flow("main", undelivered_messages=7)
    summary = {"flows": [made_up.flow("other"), flow]}
    source = {"source": {"kind": "bulk", "size": "1 GB"}}
    scenario = {"until": "time", "flows": {"main": source, "other": source}}
    found = doubts(scenario, summary, {"main", "other"}, {"main": (17.0312, 465.07)})
    assert [doubt.kind for doubt in found] == ["stalled", "undelivered"]
    assert found[0].text.startswith("flow main: nothing was delivered from 17.03 s to 465.1 s while data")
    # A flow without a connection has the better reason.
    (found_once,) = doubts(scenario, {"flows": [flow]}, set(), {"main": (0.0, 60.0)})
    assert found_once.kind == "unconnected"
