"""Much at once on emulated hosts: what leaves together is written together, and losses are counted."""

from __future__ import annotations

import json
import os
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from leobench.emulation import hosts, session
from leobench.emulation.programs import Program
from leobench.engine import Recording
from leobench.scenario import load
from tests.support.paths import ROOT

pytestmark = pytest.mark.usefixtures("hosts")

PROGRAMS = Path(__file__).with_name("host_programs.py")
SCENARIO = """\
name = "fast"
duration = "1 s"

[nodes.client]
[nodes.server]

[links.path]
between = ["client", "server"]
rate = "1 Gbps"
delay = "1 ms"
queue = { kind = "fifo", limit = "2000 packets" }

[flows.main]
transport = { kind = "udp" }
from = "client"
to = "server"
source = { kind = "cbr", rate = "500 Mbps", size = "1000 B" }
"""


def run(tmp_path: Path, *programs: tuple[str, str]) -> dict[str, Any]:
    """The verdict on programs by host, or on the flow of the scenario without any.

    That of programs has packets too with which they find out whether the other one is there.
    """
    path = tmp_path / "fast.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    scenario = load(path, None, {})
    own = (sys.executable, str(PROGRAMS))
    started = [Program(host, (*own, *shlex.split(words))) for host, words in programs]
    ended = session.run(scenario, started, session.Settings.of(scenario), Recording())
    assert ended.code == 0
    return ended.verdict


@pytest.mark.parametrize("server", ["server", "server.v6"])
def test_datagrams_that_leave_together_arrive_singly_and_unchanged(server: str, tmp_path: Path) -> None:
    verdict = run(tmp_path, ("server", "echo -"), ("client", f"volley {server}"))
    assert verdict["packets_out"] == verdict["packets_in"] >= 800
    assert verdict["frames_in"] < 0.8 * verdict["packets_in"]
    assert verdict["frames_out"] < 0.8 * verdict["packets_out"]


def test_segments_that_leave_together_are_one_and_their_bytes_intact(tmp_path: Path) -> None:
    verdict = run(tmp_path, ("server", "serve -"), ("client", "fetch server"))
    assert verdict["packets_out"] > 1_400
    assert verdict["frames_out"] < 0.8 * verdict["packets_out"]


def test_hosts_that_cannot_cut_datagrams_get_each_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts, "OFFLOADS", hosts.Offloads.SEGMENTS)
    verdict = run(tmp_path, ("server", "echo -"), ("client", "volley server"))
    assert verdict["frames_out"] == verdict["packets_out"] >= 800


def test_packets_that_a_device_has_no_room_for_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With flows too, which nobody asks at the end."""
    monkeypatch.setattr(hosts, "_WAITING", 1)
    verdict = run(tmp_path)
    assert verdict["ring_overruns"] > 0
    assert verdict["verdict"] == "invalid"
    assert any(reason.startswith("TUN devices dropped ") for reason in verdict["reasons"])


def test_datagrams_that_a_socket_has_no_room_for_are_counted(tmp_path: Path) -> None:
    """A program that does not read in time is no fault of the network's."""
    ready = shlex.quote(str(tmp_path / "ready"))
    verdict = run(tmp_path, ("server", f"deaf {ready}"), ("client", f"volley server {ready}"))
    assert verdict["socket_overruns"] > 300
    assert verdict["ring_overruns"] == 0
    assert not any("socket" in reason for reason in verdict["reasons"])


@pytest.mark.alone
def test_the_benchmark_runs() -> None:
    """`make bench` runs it with a relay beside the link."""
    ended = subprocess.run(
        [
            sys.executable,
            "benchmarks/emulation.py",
            "--rounds",
            "1",
            "--seconds",
            "1",
            "--only",
            "UDP GSO 1 G",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    if "not measured" in ended.stdout:
        pytest.skip(ended.stdout)
    title, columns, row, ping = ended.stdout.splitlines()
    assert title.startswith("Medians of 1 runs")
    rate = float(row.removeprefix("UDP GSO 1 Gbit/s").removeprefix("   link").split()[0].replace(",", ""))
    assert 1 < rate < 1_100, json.dumps([columns, row])
    assert ping.startswith("ping over 40 ms: +")


@pytest.mark.parametrize("allowed", [True, False])
@pytest.mark.parametrize("told", ["", "/autogroup-7 nice 3\n"])
def test_the_benchmark_goes_before_other_sessions_where_it_may(
    told: str, allowed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that belongs to no group of the scheduler's has an empty file, which it may not write to.

    Containers may keep root from taking precedence at all.
    """
    group = tmp_path / "autogroup"
    group.write_text(told, "ascii")
    asked = []

    def set_priority(*what: int) -> None:
        asked.append(what)
        if not allowed:
            raise PermissionError

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(os, "setpriority", set_priority)
    precedence = runpy.run_path(str(ROOT / "benchmarks" / "emulation.py"))["precedence"]
    raised = told != "" and allowed
    with precedence(group):
        assert group.read_text("ascii") == ("-20" if raised else told)
        assert asked == [(os.PRIO_PROCESS, 0, -20)]
    assert group.read_text("ascii") == ("3" if raised else told)
