"""QUIC stacks that others wrote, in Go and Python, over the links of a scenario in real time."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from conftest import ROOT
from programs import PATIENT
from programs import leobench as run_leobench

import leobench

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("hosts")

EXAMPLES = ROOT / "examples"

# 1 % lost each way, and a handover every 1.1 s.
SCENARIO = """\
name = "two-ways"
duration = "10 s"

[nodes.client]
[nodes.router]
[nodes.server]

[links.access]
between = ["client", "router"]
rate = "1 Gbps"
delay = "1 ms"
queue = {{ kind = "fifo", limit = "1000 packets" }}

[links.ground]
between = ["router", "server"]
rate = "20 Mbps"
delay = "10 ms"
queue = {{ kind = "fifo", limit = "100 packets" }}
loss = {{ kind = "bernoulli", probability = 0.01 }}

[links.space]
between = ["router", "server"]
rate = "20 Mbps"
delay = "25 ms"
queue = {{ kind = "fifo", limit = "100 packets" }}
loss = {{ kind = "bernoulli", probability = 0.01 }}

[handovers.backhaul]
node = "router"
kind = "{kind}"
links = ["ground", "space"]
every = "1100 ms"
outage = "50 ms"

[flows.main]
transport = {{ kind = "udp" }}
from = "client"
to = "server"
source = {{ kind = "cbr", rate = "1 Mbps", size = "1000 B" }}
"""


@pytest.fixture(scope="session")
def quic_go(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program in Go, built once; Go keeps what it compiled for the next session."""
    go = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")
    if go is None:
        pytest.skip("Go is not installed")
    program = tmp_path_factory.mktemp("go") / "quic_go"
    built = subprocess.run(
        [go, "build", "-o", str(program), "."],
        cwd=EXAMPLES / "quic_go",
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert built.returncode == 0, built.stderr
    return program


def transfer(folder: Path, kind: str, server: str, client: str, size: int) -> dict[str, Any]:
    """What a client says that fetched so many bytes, and the summary of the network."""
    scenario = folder / "scenario.toml"
    scenario.write_text(SCENARIO.format(kind=kind), encoding="utf-8")
    ended = run_leobench(
        "emulate",
        scenario,
        *PATIENT,
        "--settle",
        "1500",
        "--on",
        "server",
        server,
        "--on",
        "client",
        f"{client} server:4433 {size}",
        "--out",
        "out",
        cwd=folder,
    )
    assert ended.returncode == 0, ended.stderr
    said: dict[str, Any] = json.loads(ended.stdout)
    assert said["bytes"] == size
    summary = json.loads((folder / "out" / "summary.json").read_text(encoding="utf-8"))
    said["links"] = {link["name"]: link for link in summary["links"]}
    return said


@pytest.mark.parametrize("kind", ["reroute", "rebind"])
@pytest.mark.parametrize(("server", "client"), [("go", "go"), ("go", "python"), ("python", "go")])
def test_a_file_crosses_a_handover(
    server: str, client: str, kind: str, tmp_path: Path, quic_go: Path
) -> None:
    """It goes over both links, with losses on each; the client compares its digest."""
    # aioquic answers losses by NewReno, and takes as long for less.
    size = 3_000_000 if server == "go" else 1_000_000
    python = f"{sys.executable} {EXAMPLES / 'quic_aioquic.py'}"
    servers = {"go": f"{quic_go} serve [::]:4433", "python": f"{python} serve 4433"}
    clients = {"go": f"{quic_go} fetch", "python": f"{python} fetch"}
    said = transfer(tmp_path, kind, servers[server], clients[client], size)
    for link in ("ground", "space"):
        counts = said["links"][f"{link}/server->router"]
        assert counts["delivered_packets"] > 100, (link, counts)


def test_programs_of_others_as_a_campaign(tmp_path: Path) -> None:
    """The shipped campaign, once per queue, with the kernel's TCP; its results are those of any campaign."""
    if shutil.which("iperf3") is None:
        pytest.skip("iperf3 is not installed")
    campaign = tmp_path / "once.toml"
    campaign.write_text(
        f'extends = "{EXAMPLES / "foreign.toml"}"\nname = "once"\nreplicates = 1\n', encoding="utf-8"
    )
    words = [
        sys.executable,
        EXAMPLES / "foreign.py",
        campaign,
        "--programs",
        "tcp-cubic",
        "--size",
        "2000000",
    ]
    ran = subprocess.run(
        [*map(str, words), "--out", "out"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    result = leobench.CampaignResult.open(tmp_path / "out" / "tcp-cubic")
    rows = result.runs.filter(metric="flows.main.goodput_bps")
    assert rows["variant"].to_list() == ["limit=15-packets", "limit=100-packets"]
    # The Ka-band channel has at most 80 Mbit/s.
    assert all(1e6 < rate < 80e6 for rate in rows["value"])
