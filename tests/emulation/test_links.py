"""How long packets may be on hosts, by which link they leave, whose ping is answered, and when an interrupt
ends a session."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tests.emulation import real_scenarios
from tests.emulation.real_scenarios import Link
from tests.support.paths import ROOT
from tests.support.programs import PATIENT, leobench, start, wait_until_gone

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("hosts")

NEEDS_PING = pytest.mark.skipif(shutil.which("ping") is None, reason="ping is not installed")


def ping_has(option: str) -> bool:
    """Whether the ping of this machine knows an option."""
    if (ping := shutil.which("ping")) is None:
        return False
    told = subprocess.run([ping, "-h"], capture_output=True, text=True, check=False)
    return f" {option} " in told.stdout + told.stderr


def row(mtu: int) -> str:
    """Three hosts in a row; the second link has this MTU."""
    near = Link.steady("near", ("here", "between"), "10 Mbps", "5 ms")
    far = Link.steady("far", ("between", "there"), "10 Mbps", "5 ms")
    short = Link(far.name, far.ends, f'{far.body}\nmtu = "{mtu} B"')
    return real_scenarios.scenario(near, short, transport='{ kind = "udp", payload = "400 B" }')


@NEEDS_PING
@pytest.mark.parametrize("name", ["there", "there.v6"])
def test_a_node_on_the_way_says_how_long_packets_may_be(name: str, tmp_path: Path) -> None:
    """RFC 1191 section 4 and RFC 4443 section 3.2: the sender learns the MTU of the second link."""
    scenario = tmp_path / "row.toml"
    scenario.write_text(row(1_300), encoding="utf-8")
    family = "-6" if name.endswith(".v6") else "-4"
    ping = ["ping", family, "-M", "do", "-s", "1300", "-c", "2", "-i", "0.3", "-W", "10", name]
    ended = leobench("emulate", scenario, *PATIENT, "--host", "here", "--", *ping, cwd=tmp_path)
    assert re.search("mtu ?= ?1300|mtu: 1300", ended.stdout + ended.stderr), ended.stdout + ended.stderr


@NEEDS_PING
def test_a_link_too_short_for_ipv6_carries_ipv4(tmp_path: Path) -> None:
    """RFC 8200 section 5: IPv6 needs 1,280 bytes."""
    scenario = tmp_path / "row.toml"
    scenario.write_text(row(600), encoding="utf-8")
    ping = ["ping", "-c", "2", "-i", "0.2", "there"]
    ended = leobench("emulate", scenario, *PATIENT, "--host", "here", "--", *ping, cwd=tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@NEEDS_PING
def test_a_host_that_migrates_sends_over_the_link_in_use(tmp_path: Path) -> None:
    """Over 10 ms and then 25 ms each way, and by a third link that stays only to the host beside it.

    Each ping is a program, as one that goes on keeps its address. Of pings that are held up, others are not.
    """
    beside = Link.steady("beside", ("device", "van"), "100 Mbps", "1 ms")
    links, handovers = real_scenarios.two_ways("migrate", "van", "2 s")
    moved = real_scenarios.scenario(beside, *links, transport='"quic"', more=handovers)
    scenario = tmp_path / "van.toml"
    scenario.write_text(moved.replace('from = "device"', 'from = "van"'), encoding="utf-8")
    command = "for number in $(seq 50); do ping -c 1 -W 1 office; ping -c 1 -W 1 device; sleep 0.05; done"
    words = ("--out", "out", "--host", "van", "--", "sh", "-c", command)
    ended = leobench("emulate", scenario, *PATIENT, *words, cwd=tmp_path)
    times: dict[str, list[float]] = {"office": [], "device": []}
    for host, time_ in re.findall(r"PING (\w+) .*?(?:time=([\d.]+)|---)", ended.stdout, re.DOTALL):
        times[host] += [float(time_)] if time_ else []
    assert len(times["office"]) > 10, ended.stdout + ended.stderr
    assert len(times["device"]) > 10, ended.stdout + ended.stderr
    # Only the ground is as fast as that, and only the way beside as fast as this.
    assert 20 <= min(times["office"]) < 50
    assert 2 <= min(times["device"]) < 20
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    delivered = {link["name"]: link["delivered_packets"] for link in summary["links"]}
    for way in ("van->office", "office->van"):
        assert min(delivered[f"{link}/{way}"] for link in ("ground", "space")) >= 5, delivered


def test_an_interrupt_before_the_main_program_ends_the_session(tmp_path: Path) -> None:
    mark = f"3604.{os.getpid()}"
    other = f"sh -c 'touch begun; sleep {mark}'"
    one_flow = ROOT / "scenarios" / "one-flow.toml"
    words = ["emulate", one_flow, "--settle", "300000", "--on", "server", other, "--", "sleep", mark]
    process = start(*words, cwd=tmp_path, own_group=True)
    limit = time.monotonic() + 60
    while not (tmp_path / "begun").exists():
        assert time.monotonic() < limit
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, "interrupted" in said) == (130, True), said
    wait_until_gone(mark)


@NEEDS_PING
@pytest.mark.skipif(not ping_has("-e"), reason="this ping cannot be given an identifier")
def test_two_hosts_behind_one_translation_ping_with_the_same_identifier(tmp_path: Path) -> None:
    """The router gives one of them another identifier outside (RFC 5508 section 3)."""
    file = tmp_path / "rebind.toml"
    links, handovers = real_scenarios.two_ways("rebind", "router", "9 s")
    access = [Link.steady(name, (name, "router"), "1 Gbps", "1 ms") for name in ("phone", "laptop")]
    file.write_text(real_scenarios.scenario(*access, *links, more=handovers), encoding="utf-8")
    ping = "ping -c 3 -i 0.2 -W 10 -e 77 server"
    # Both at a time: the other one is not ended before it has said what it found.
    other = shlex.join(["sh", "-c", f"{ping}; touch over"])
    main = f"{ping}; while [ ! -e over ]; do sleep 0.1; done"
    roles = ("--settle", "0", "--on", "phone", other, "--host", "laptop", "--", "sh", "-c", main)
    ended = leobench("emulate", file, *PATIENT, *roles, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("3 packets transmitted, 3 received") == 2, ended.stdout
