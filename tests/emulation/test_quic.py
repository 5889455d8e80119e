"""QUIC stacks that others wrote, in Go and Python, over the links of a scenario in real time."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import leobench
from tests.emulation import real_scenarios
from tests.emulation.real_scenarios import Link, two_ways
from tests.support.paths import ROOT
from tests.support.programs import PATIENT
from tests.support.programs import leobench as run_leobench

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("hosts")

EXAMPLES = ROOT / "examples"
PATIENT_CAMPAIGN = (
    '[set]\n"real.lateness" = "10 s"\n"real.stall" = "10 s"\n"real.busy" = 1\n"real.waited" = 1\n'
)


@pytest.fixture(scope="session")
def with_go(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which Go works; it keeps what it compiled for the next session if there is a home."""
    path = os.environ["PATH"] + os.pathsep + "/usr/local/go/bin"
    if (go := shutil.which("go", path=path)) is None:
        pytest.skip("Go is not installed")
    environment = os.environ | {"PATH": path}
    if not os.access(os.environ.get("HOME", ""), os.W_OK):
        kept = tmp_path_factory.mktemp("go")
        environment |= {"GOCACHE": f"{kept}/cache", "GOPATH": f"{kept}/path", "GOFLAGS": "-modcacherw"}
    fetched = run_go(environment, go, "mod", "download")
    if fetched.returncode != 0:
        pytest.skip(f"Go, or modules for it, are not to be had: {fetched.stderr}")
    return environment


@pytest.fixture(scope="session")
def quic_go(tmp_path_factory: pytest.TempPathFactory, with_go: dict[str, str]) -> Path:
    """The program in Go, compiled by one session at a time: the others find it in the cache of Go."""
    program = tmp_path_factory.mktemp("go") / "quic_go"
    go = shutil.which("go", path=with_go["PATH"])
    # Go itself locks go.mod.
    with (EXAMPLES / "quic_go" / "main.go").open("rb") as locked:
        fcntl.flock(locked, fcntl.LOCK_EX)
        built = run_go(with_go, str(go), "build", "-o", str(program), ".")
    assert built.returncode == 0, built.stderr
    return program


def run_go(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    """Runs Go on the program."""
    folder = EXAMPLES / "quic_go"
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=500
    )


def transfer(folder: Path, kind: str, server: str, client: str, size: int) -> dict[str, Any]:
    """The report of a client that fetched so many bytes, with the network's links by name as `links`."""
    scenario = folder / "scenario.toml"
    # 1 % lost each way, and a handover every 1.1 s.
    links, handovers = two_ways(kind, "router", "1100 ms", share_lost=0.01)
    if kind == "rebind" and "quic_go serve" in server:
        # A server of quic-go (0.60) follows a client of aioquic to three addresses, and to none after them.
        # Two handovers leave it one: a packet that is late over the former link costs another.
        handovers = handovers.replace('every = "1100 ms"', 'at = ["2400 ms", "3500 ms"]')
    access = Link.steady("access", ("client", "router"), "1 Gbps", "1 ms", packets=1_000)
    scenario.write_text(real_scenarios.scenario(access, *links, more=handovers), encoding="utf-8")
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
    """It goes over both links, with losses on each; the client compares its digest.

    Where an address changes, aioquic and quic-go lose each other in about one transfer of ten: there a second
    transfer may follow the first.
    """
    # aioquic answers losses by NewReno, and takes as long for less.
    size = 3_000_000 if server == "go" else 1_000_000
    python = f"{sys.executable} {EXAMPLES / 'quic_aioquic.py'}"
    servers = {"go": f"{quic_go} serve [::]:4433", "python": f"{python} serve 4433"}
    clients = {"go": f"{quic_go} fetch", "python": f"{python} fetch"}
    try:
        said = transfer(tmp_path, kind, servers[server], clients[client], size)
    except AssertionError:
        if kind != "rebind" or server == client:
            raise
        (again := tmp_path / "again").mkdir()
        said = transfer(again, kind, servers[server], clients[client], size)
    for link in ("ground", "space"):
        counts = said["links"][f"{link}/server->router"]
        assert counts["delivered_packets"] > 100, (link, counts)


@pytest.mark.parametrize("stack", ["go", "python"])
def test_stacks_of_others_keep_their_own_logs(
    stack: str, tmp_path: Path, quic_go: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs inherit the environment of `leobench`, such as `QLOGDIR`."""
    monkeypatch.setenv("QLOGDIR", str(tmp_path / "logs"))
    python = f"{sys.executable} {EXAMPLES / 'quic_aioquic.py'}"
    server, client = {
        "go": (f"{quic_go} serve [::]:4433", f"{quic_go} fetch"),
        "python": (f"{python} serve 4433", f"{python} fetch"),
    }[stack]
    transfer(tmp_path, "reroute", server, client, 100_000)
    logs = [log.read_text(encoding="utf-8") for log in (tmp_path / "logs").iterdir()]
    assert any("packet_sent" in log and "packet_received" in log for log in logs), logs


def test_programs_of_others_as_a_campaign(tmp_path: Path) -> None:
    """The shipped campaign, once per queue, with the kernel's TCP; its results are those of any campaign."""
    if shutil.which("iperf3") is None:
        pytest.skip("iperf3 is not installed")
    campaign = tmp_path / "once.toml"
    campaign.write_text(
        f'extends = "{EXAMPLES / "foreign.toml"}"\nname = "once"\nreplicates = 1\n{PATIENT_CAMPAIGN}',
        encoding="utf-8",
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
        timeout=500,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    result = leobench.CampaignResult.open(tmp_path / "out" / "tcp-cubic")
    rows = result.runs.filter(metric="flows.main.goodput_bps")
    assert rows["variant"].to_list() == ["limit=15-packets", "limit=100-packets"]
    # The Ka-band channel has at most 80 Mbit/s.
    assert all(1e6 < rate < 80e6 for rate in rows["value"])


def test_a_figure_beside_virtual_time(tmp_path: Path, quic_go: Path, with_go: dict[str, str]) -> None:
    """Three runs of half a second in each engine; the claims about the figure are judged by both."""
    del quic_go  # what Go has compiled, it need not compile again
    campaign = tmp_path / "short.toml"
    grid = "\n".join(
        [
            "[[grid]]",
            '"links.uplink.channel.preset" = ["ka"]',
            '"flows.main.source.rate" = ["45.33 Mbps"]',
            "[[grid]]",
            '"links.uplink.queue.limit" = ["7 packets", "15 packets", "unlimited"]',
        ]
    )
    shipped = EXAMPLES / "khan2023_fig5.toml"
    transports = "[[grid]]\n" + shipped.read_text(encoding="utf-8").split("[[grid]]\n")[-1]
    campaign.write_text(
        f'extends = "{shipped}"\nname = "short"\nreplicates = 1\n{PATIENT_CAMPAIGN}"duration" = "500 ms"\n'
        f"{grid}\n{transports}",
        encoding="utf-8",
    )
    words = [sys.executable, EXAMPLES / "khan2023_fig5.py", "--campaign", campaign, "--out", "out"]
    ran = subprocess.run(
        [*map(str, words)],
        cwd=tmp_path,
        env=with_go,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for engine in ("real", "virtual"):
        result = leobench.CampaignResult.open(tmp_path / "out" / engine)
        rows = result.runs.filter(metric="flows.main.delay_ms.mean")
        assert len(rows) == 9
        # 10 ms of propagation, and 0.1 ms or more to serialise 1,000 bytes at 80 Mbit/s.
        assert (rows["value"] > 10.1).all()
    verdicts = (tmp_path / "out" / "claims.md").read_text(encoding="utf-8").splitlines()
    assert len([line for line in verdicts if line.startswith("| tcp-delay-above-quic | messages")]) == 3


@pytest.mark.alone
@pytest.mark.parametrize(("server", "spins"), [("python", True), ("go", False)])
def test_the_spin_bit_shows_the_round_trip(server: str, spins: bool, tmp_path: Path, quic_go: Path) -> None:
    """aioquic sets it: 60 ms, and what 300 kB wait in the queue of 20 Mbit/s. quic-go leaves it at zero."""
    scenario = tmp_path / "scenario.toml"
    link = Link.steady("path", ("client", "server"), "20 Mbps", "30 ms", packets=200)
    scenario.write_text(real_scenarios.scenario(link), encoding="utf-8")
    python = f"{sys.executable} {EXAMPLES / 'quic_aioquic.py'}"
    servers = {"go": f"{quic_go} serve [::]:4433", "python": f"{python} serve 4433"}
    clients = {"go": f"{quic_go} fetch", "python": f"{python} fetch"}
    places = ("--on", "server", servers[server], "--on", "client", f"{clients[server]} server:4433 1000000")
    ended = run_leobench(
        "emulate", scenario, *PATIENT, "--settle", "1500", *places, "--out", "out", cwd=tmp_path
    )
    assert ended.returncode == 0, ended.stderr
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    directions = manifest["spin"]
    assert len(directions) == 2
    samples = leobench.open(tmp_path / "out").tables.spin
    for direction in directions:
        assert direction["packets"] > 5
        if spins:
            assert direction["spin_bit"] == "spins"
            assert direction["samples"] >= 3
            assert direction["rtt_ms"]["min"] > 60
            assert direction["rtt_ms"]["p50"] < 60 + 120 + 25
        else:
            assert (direction["spin_bit"], direction["samples"]) == ("constant", 0)
            assert direction["rtt_ms"] is None
    assert samples.height == sum(direction["samples"] for direction in directions)
