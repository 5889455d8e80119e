"""The scenarios that are shipped, and two that say how leobench behaves at its edges."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import leobench
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SHIPPED = sorted(file.name for file in (ROOT / "scenarios").glob("*.toml"))
STARLINK = ROOT.parent / "shared" / "data" / "starlink-leocc"


# What a run of 12 s needs besides.
SHORT = {
    "queue-sizing-handover.toml": {"handovers.satellites.phase": "9 s"},
    "maco-chain.toml": {"duration": "20 s"},  # the second subflow begins after 15 s
    "emergency-pass.toml": {"duration": "90 s"},  # the satellite sets after 74 s
    "shared-bottleneck.toml": {"warm_up": "3 s"},
}


@pytest.mark.parametrize("name", SHIPPED)
def test_every_scenario_runs_to_its_end(name: str, scenarios: Path) -> None:
    result = leobench.run(scenarios / name, overrides={"duration": "12 s"} | SHORT.get(name, {}))
    assert f"{result.summary['scenario']}.toml" == name
    for flow in result.summary["flows"]:
        assert flow["goodput_bps"] > 0, flow["name"]
        delay = flow["delay_ms"]
        if flow["undelivered_messages"] == flow["messages"]:  # one transfer, cut off by the shorter run
            assert delay["mean"] is None
        else:
            assert delay["p50"] <= delay["p95"] <= delay["max"]
    for link in result.summary["links"]:
        # The packet that is on the wire when the warm-up ends counts whole.
        # Between some places of `[traffic]`, nobody sends.
        idle = "traffic" in result.summary and link["utilisation"] == 0
        assert idle or 0 < link["utilisation"] <= 1.001, link["name"]


def test_every_byte_arrives_where_a_run_waits_for_it(scenarios: Path) -> None:
    result = leobench.run(scenarios / "khan2023-ka-7-packets.toml", overrides={"duration": "12 s"})
    (flow,) = result.summary["flows"]
    (link,) = (link for link in result.summary["links"] if link["name"].endswith("client->server"))
    assert link["dropped_packets"]["queue"] > 0
    assert flow["undelivered_messages"] == 0
    messages = result.tables.messages
    assert messages.height == flow["messages"]
    assert messages["delivered_ns"].null_count() == 0
    # In order: a later message of a stream never arrives before an earlier one.
    for _, stream in messages.sort("message").group_by("stream", maintain_order=True):
        assert stream["delivered_ns"].is_sorted()
        assert stream["created_ns"].is_sorted()


def test_a_large_window_survives_its_overshoot_and_fills_the_link(quick: Path, tmp_path: Path) -> None:
    """1 Gbit/s with a round-trip time of 100 ms and a queue of 10,000 packets, from slow start."""
    text = quick.read_text()
    for old, new in (
        ('rate = "10 Mbps"', 'rate = "1 Gbps"'),
        ('delay = "10 ms"', 'delay = "50 ms"'),
        ("50 packets", "10000 packets"),
        (
            'source = { kind = "cbr", rate = "5 Mbps", size = "1000 B" }',
            'source = { kind = "bulk", size = "8 GB" }',
        ),
        ('duration = "2 s"\nuntil = "drained"', 'duration = "12 s"\nwarm_up = "6 s"'),
    ):
        assert old in text
        text = text.replace(old, new)
    file = tmp_path / "large.toml"
    file.write_text(text)
    result = leobench.run(file)
    (forward,) = (link for link in result.summary["links"] if link["name"].endswith("client->server"))
    assert forward["utilisation"] > 0.98
    # The overshoot overflows the queue in the warm-up, which the tables hold and the summary leaves out.
    assert result.tables.transport["bytes_lost"].max() > 1_000_000  # type: ignore[operator]


@pytest.mark.skipif(not STARLINK.is_dir(), reason="the measured trace is not shipped with leobench")
def test_quic_over_a_measured_starlink_trace(tmp_path: Path) -> None:
    """The link carries what the trace allows, and the delay is the trace's plus at most a full queue."""
    file = tmp_path / "starlink.toml"
    file.write_text(f"""\
name = "starlink"
duration = "120 s"

[nodes.terminal]
[nodes.server]

[links.access]
between = ["terminal", "server"]
queue = {{ kind = "fifo", limit = "500 packets" }}

[links.access.channel]
kind = "trace"
file = "{STARLINK}/bw.mahimahi.gz"
delay_file = "{STARLINK}/delay_10ms.txt"
delay_interval = "10 ms"

[flows.upload]
transport = {{ kind = "quic", congestion = "cubic" }}
from = "terminal"
to = "server"
source = {{ kind = "cbr", rate = "60 Mbps", size = "1200 B" }}
""")
    result = leobench.run(file)
    assert result.summary["virtual_s"] == pytest.approx(120.0)
    (forward,) = (link for link in result.summary["links"] if link["name"].endswith("terminal->server"))
    # The trace's mean over its 120.052 s, as its description states it.
    assert forward["mean_rate_bps"] == pytest.approx(48.74e6, rel=0.01)
    assert forward["utilisation"] > 0.9
    channel = result.tables.channel.filter(pl.col("link") == forward["name"])
    delays = np.loadtxt(STARLINK / "delay_10ms.txt") * 1_000_000
    assert channel["delay_ns"].min() == delays.min()
    assert channel["delay_ns"].max() == delays.max()
    # No sample of the round-trip time is below twice the smallest one-way delay.
    transport = result.tables.transport
    assert transport["latest_rtt_ns"].min() >= 2 * delays.min()
    assert result.tables.queues["backlog_packets"].max() <= 500  # type: ignore[operator]


@pytest.mark.slow
def test_memory_stays_flat_however_long_a_run_is(scenarios: Path, tmp_path: Path) -> None:
    """Ten times the run takes at most a fifth more memory, where messages are not recorded."""
    program = (
        "import leobench, resource, sys\n"
        "leobench.run(sys.argv[1], out=sys.argv[2], overrides={'duration': sys.argv[2],"
        " 'record.messages': False, 'until': 'time'})\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    peaks = []
    for duration in ("60 s", "600 s"):
        args = [sys.executable, "-c", program, str(scenarios / "khan2023-ka-15-packets.toml"), duration]
        ran = subprocess.run(args, cwd=tmp_path, capture_output=True, text=True, check=True)
        peaks.append(int(ran.stdout))
    assert peaks[1] < 1.2 * peaks[0], peaks


@pytest.mark.parametrize(("clock", "least", "most"), [("timer", 22.0, 23.0), ("sleep", 16.0, 18.5)])
def test_slots_keep_to_a_timer_while_an_application_blocks(
    clock: str, least: float, most: float, quick: Path
) -> None:
    """22.5 Mbit/s offered to a clean link of 45 Mbit/s, in slots of 50 ms: 20 s of them vary by 1 %."""
    overrides = {
        "duration": "20 s",
        "links.uplink.rate": "45 Mbps",
        "links.uplink.queue.limit": "unlimited",
        "flows.main.application": "blocking",
        "flows.main.source": {"kind": "poisson_batch", "rate": "22.5 Mbps", "size": "1000 B", "clock": clock},
    }
    (flow,) = leobench.run(quick, overrides=overrides).summary["flows"]
    assert least < flow["goodput_bps"] / 1e6 < most
