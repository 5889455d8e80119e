"""Traffic between places in the printed summary, and among the metrics of campaigns."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import leobench
from leobench.campaign import metrics
from leobench.cli import summary_tables
from leobench.errors import ScenarioError
from tests.support import made_up

ROOT = Path(__file__).parents[2]

WIRED = """
name = "wired"
duration = "10 s"
until = "drained"
nodes = { a = {}, b = {} }
record = { interval = "100 ms" }

[links.path]
between = ["a", "b"]
rate = "10 Mbps"
delay = "5 ms"

[traffic]
between = ["a", "b"]
matrix = "pairing"
flows = 8
arrivals = { kind = "at_start", over = "8 s" }
size = { kind = "fixed", size = "100 kB" }

[traffic.mix]
cubic = { transport = "tcp" }
quic = { transport = { kind = "quic", congestion = "bbr" } }
"""


def _transfers(name: str, started: int, **more: object) -> dict[str, object]:
    times = {"mean": 210.0, "p50": 200.0, "p95": 300.0, "p99": 400.0, "max": 500.0}
    ratios = {"mean": 2.5, "p50": 2.0, "p95": 3.0, "p99": 4.0, "max": 5.0}
    return {
        "name": name,
        "started": started,
        "completed": started - 1,
        "delivered_bytes": 1_000 * started,
        "goodput_bps": 1.25e6,
        "completion_ms": times,
        "slowdown": ratios,
        "fairness_jain": 0.75,
        **more,
    }


def _traffic(pairs: int) -> dict[str, Any]:
    return {
        **_transfers("", 5_000),
        "pairs_fairness_jain": 0.5,
        "pairs": [_transfers(f"a{number}->b", number + 1) for number in range(pairs)],
        "transports": [_transfers("cubic", 2_500), _transfers("bbr", 2_500)],
        "hops": [_transfers("3", 5_000, hops=3)],
    }


def test_transfers_are_listed_by_pair_and_transport() -> None:
    made = made_up.result().summary
    text = summary_tables.render({**made, "flows": [], "traffic": _traffic(2)})
    expected = """\
                                  goodput  completed                slowdown           Jain's
from->to  transfers  completed     Mbit/s     p50 ms    p95    p99      mean   p99  fairness
"""
    assert [line.split() for line in expected.splitlines()] == [
        line.split() for line in text.splitlines()[:2]
    ]
    rows = [line.split() for line in text.splitlines()]
    assert ["all", "5,000", "4,999", "1.25", "200.0", "300.0", "400.0", "2.50", "4.00", "0.750"] in rows
    assert "Jain's fairness of the pairs: 0.500" in text
    assert any(row[:2] == ["cubic", "2,500"] for row in rows)
    assert "links in orbit" not in text, "one group says nothing"


def test_of_many_pairs_the_largest_are_listed() -> None:
    made = made_up.result().summary
    text = summary_tables.render({**made, "flows": [], "traffic": _traffic(50)})
    assert "... and 30 more pairs; all in summary.json" in text
    assert "a49->b" in text
    assert "a1->b" not in text


@pytest.fixture(name="wired")
def _wired(tmp_path: Path) -> Path:
    file = tmp_path / "wired.toml"
    file.write_text(WIRED)
    return file


def test_a_run_reports_traffic_and_not_its_flows(wired: Path) -> None:
    result = leobench.run(wired)
    traffic = result.summary.traffic
    assert traffic is not None
    assert not result.summary.flows
    assert (traffic.started, traffic.completed) == (8, 8)
    assert traffic.pairs.names == ["a->b", "b->a"]
    assert [each.transport for each in traffic.transports] == ["tcp", "quic"]
    assert [each.started for each in traffic.transports] == [4, 4]
    # A transfer takes two round trips at least, and its bytes 80 ms: the ideal is 90 ms.
    assert 1.0 < traffic.slowdown["p50"] < 3.0
    assert "traffic" in result.scenario
    assert not result.scenario["flows"]
    numbers = metrics.flatten(result.summary)
    assert numbers["traffic.pairs.a->b.completed"] == 4
    assert numbers["traffic.transports.quic.slowdown.p95"] is not None
    assert result.tables.messages.height == 8
    assert result.tables.transport.height == 0, "transfers have no samples"


def test_the_same_seed_gives_the_same_transfers(wired: Path) -> None:
    def sent(seed: int) -> list[str]:
        return sorted(leobench.run(wired, seed=seed).tables.messages["flow"].to_list())

    assert sent(1) == sent(1)


def test_a_scenario_that_was_written_runs_the_same(wired: Path, tmp_path: Path) -> None:
    one = leobench.run(wired)
    written = tmp_path / "written.json"
    written.write_text(json.dumps(one.scenario))
    assert leobench.run(written).summary == one.summary


def test_mistakes_are_one_line_and_exit_code_2(wired: Path) -> None:
    wired.write_text(WIRED.replace('"pairing"', '{ file = "none.csv" }'))
    command = [sys.executable, "-m", "leobench", "check", str(wired)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "traffic.matrix.file" in done.stderr
    assert "no such file" in done.stderr
    with pytest.raises(ScenarioError, match=r"traffic\.matrix\.file"):
        leobench.check(wired)
