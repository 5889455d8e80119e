"""Scenarios for programs only: without flows, or with flows that could not run."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.support.programs import PATIENT, leobench

PROGRAMS = Path(__file__).with_name("host_programs.py")

# Three hosts in a row: what goes from one end to the other passes the one between.
ROW = """
name = "row"
duration = "10 s"
nodes = { left = {}, middle = {}, right = {} }
[links]
near = { between = ["left", "middle"], rate = "100 Mbps", delay = "1 ms" }
far = { between = ["middle", "right"], rate = "100 Mbps", delay = "1 ms" }
"""

MOVING = """
name = "moving"
duration = "10 s"
nodes = { van = {}, office = {} }
[links]
ground = { between = ["van", "office"], rate = "100 Mbps", delay = "1 ms" }
space = { between = ["van", "office"], rate = "100 Mbps", delay = "9 ms" }
[handovers.move]
node = "van"
links = ["ground", "space"]
every = "700 ms"
outage = "50 ms"
kind = "migrate"
"""

# A flow over the kernel's TCP that does not outlive the move.
FLOW = """
[flows.main]
transport = "tcp"
from = "van"
to = "office"
source = "bulk"
"""


def written(folder: Path, text: str) -> Path:
    scenario = folder / "scenario.toml"
    scenario.write_text(text, encoding="utf-8")
    return scenario


@pytest.mark.usefixtures("hosts")
def test_all_hosts_reach_each_other(tmp_path: Path) -> None:
    scenario = written(tmp_path, ROW)
    echo = f"{sys.executable} {PROGRAMS} echo -"
    probe = f"{sys.executable} {PROGRAMS} probe"
    servers = [word for host in ("left", "middle", "right") for word in ("--on", host, echo)]
    pairs = {"left": "middle right.v6", "middle": "left right", "right": "left.v6 middle"}
    for host, others in pairs.items():
        command = f"for other in {others}; do {probe} $other || exit 1; done"
        ended = leobench(
            "emulate", scenario, *PATIENT, *servers, "--host", host, "--", "sh", "-c", command, cwd=tmp_path
        )
        assert ended.returncode == 0, ended.stderr
        assert len(ended.stdout.split()) == 2 * 21


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize("flows", ["", FLOW], ids=["no flow", "a flow that could not follow"])
def test_a_host_migrates_without_a_flow_that_notices(flows: str, tmp_path: Path) -> None:
    scenario = written(tmp_path, MOVING + flows)
    program = f"{sys.executable} {PROGRAMS}"
    roles = ("--on", "office", f"{program} echo -", "--on", "van", f"{program} move office")
    ended = leobench("emulate", scenario, *PATIENT, "--out", "out", *roles, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    addresses = {line for line in ended.stdout.splitlines() if line.startswith("new")}
    assert len(addresses) == 2, ended.stdout
    resolved = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))["scenario"]
    assert list(resolved.get("flows", {})) == (["main"] if flows else [])
    drawn = leobench("plot", "out", cwd=tmp_path)
    assert (drawn.returncode, drawn.stderr) == (0, "")
    assert (tmp_path / "out" / "timeline.png").stat().st_size > 10_000
    for kind in ("throughput", "delays", "shares"):
        refused = leobench("plot", "out", "--kind", kind, cwd=tmp_path)
        assert refused.returncode == 2
        assert refused.stderr.startswith(f"leobench: {kind}: the run has no flows; allowed: ")
        assert refused.stderr.count("\n") == 1


def test_what_runs_flows_refuses_a_scenario_without_any(tmp_path: Path) -> None:
    scenario = written(tmp_path, ROW)
    campaign = tmp_path / "campaign.toml"
    campaign.write_text(
        'name = "c"\nscenario = "scenario.toml"\nreplicates = 1\nmetrics = ["flows.main.goodput_bps"]\n',
        encoding="utf-8",
    )
    said = "flows: is required but missing; allowed: at least one flow, or programs instead of flows"
    for words in (
        ("run", scenario),
        ("run", scenario, "--engine", "real"),
        ("agree", scenario),
        ("agree", scenario, "--engines", "virtual,real"),
        ("sweep", campaign),
    ):
        ended = leobench(*words, cwd=tmp_path)
        assert ended.returncode == 2, words
        assert ended.stderr.count("\n") == 1
        assert f"scenario.toml: {said} (`leobench emulate`)" in ended.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"scenario.toml", "campaign.toml"}


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize("flows", ["", FLOW], ids=["no flow", "flows that are left out"])
def test_a_session_needs_no_duration(flows: str, tmp_path: Path) -> None:
    scenario = written(tmp_path, MOVING.replace('duration = "10 s"\n', "") + flows)
    ended = leobench("emulate", scenario, *PATIENT, "--out", "out", "--", "sleep", "0.2", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    resolved = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))["scenario"]
    assert "duration" not in resolved
    assert leobench("run", scenario, cwd=tmp_path).returncode == 2


def test_a_scenario_without_flows_can_be_checked(tmp_path: Path) -> None:
    scenario = written(tmp_path, MOVING)
    ended = leobench("check", scenario, cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.endswith("ok: moving, 10 s, 2 nodes, 2 links, 0 flows\n")
    ended = leobench("check", scenario, "--set", "duration=", cwd=tmp_path)
    assert ended.stdout.endswith("ok: moving, 2 nodes, 2 links, 0 flows\n"), ended.stderr
    ended = leobench("check", written(tmp_path, MOVING + FLOW), cwd=tmp_path)
    assert ended.returncode == 2
    assert "flow `main` loses its connection when the address changes" in ended.stderr
