"""Hosts that are containers: network namespaces of processes that leobench did not make."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.emulation import real_scenarios
from tests.emulation.real_scenarios import two_ways
from tests.emulation.world import PROGRAMS, Machine, machine, settled, wait_for
from tests.support.paths import ROOT
from tests.support.programs import PATIENT, children_of, leobench, start

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("hosts")

ONE_FLOW = ROOT / "scenarios" / "one-flow.toml"
LOSSLESS = ("--set", "links.path.forward.loss.probability=0")
EMULATE = ("emulate", ONE_FLOW, *PATIENT, *LOSSLESS)
SERVER, SERVER_V6 = "172.16.0.2", "fd6c:656f:6265:6e63:6800:0:ac10:2"


@pytest.fixture
def container(hosts: None, tmp_path: Path) -> Iterator[Machine]:
    """A container that has a network of its own already, with strict reverse paths."""
    del hosts
    if os.geteuid() != 0:
        pytest.skip("only root may make one")
    lacking = [tool for tool in ("ip", "nsenter", "unshare", "ping", "curl") if shutil.which(tool) is None]
    if lacking:
        pytest.skip(f"{', '.join(lacking)}: not installed")
    folder = tmp_path / "container"
    folder.mkdir()
    script = (
        "for each in all default; do echo 1 > /proc/sys/net/ipv4/conf/$each/rp_filter; done\n"
        "echo 1 > /proc/sys/net/ipv6/conf/default/addr_gen_mode\n"
        "ip link set lo up; ip link add eth0 type veth peer name other; ip link set eth0 up; "
        "ip link set other up; ip addr add 192.0.2.2/24 dev eth0; ip route add default via 192.0.2.1"
    )
    with machine(folder, script) as made:
        before = settled(lambda: state(made))
        yield made
        wait_for_state(made, before)


def state(of: Machine) -> str:
    """Everything of a container that a session may change; interfaces may go while one looks."""
    return of.script(
        "ip -o link show | grep -v eth0 | grep -v other || true; ip -o -4 addr show; ip rule; ip -6 rule; "
        "ip route show table all; ip -6 route show table all; "
        "grep -rs . /proc/sys/net/ipv4/conf/*/rp_filter /proc/sys/net/ipv4/conf/*/forwarding || true"
    )


def wait_for_state(of: Machine, expected: str) -> None:
    limit = time.monotonic() + 20
    while (now := state(of)) != expected:
        assert time.monotonic() < limit, sorted({*now.splitlines()} ^ {*expected.splitlines()})
        time.sleep(0.05)


@pytest.mark.parametrize("address", [SERVER, f"[{SERVER_V6}]"])
def test_a_container_is_a_host(address: str, container: Machine, tmp_path: Path) -> None:
    """Its own program reaches the far host over the link; a program of leobench's is beside it by name."""
    served = f"{sys.executable} {PROGRAMS} serve {tmp_path / 'ready'}"
    attach = ("--attach", f"client={container.process}")
    session = start(
        *EMULATE, *attach, "--on", "server", served, "--host", "client",
        "--", "sh", "-c", f"ping -c 1 server && touch {tmp_path / 'pinged'} && sleep 60", cwd=tmp_path,
    )  # fmt: skip
    try:
        wait_for(tmp_path / "ready", session)
        wait_for(tmp_path / "pinged", session)
        page = ("curl", "-sS", "-w", "%{time_connect}", f"http://{address}/")
        hello, took = container.run(*page).stdout.splitlines()
        assert hello == ("hello 172.16.0.1" if "." in address else "hello " + SERVER_V6[:-1] + "1")
        assert float(took) >= 0.05
        assert "default via 192.0.2.1 dev eth0" in container.script("ip route")
    finally:
        session.kill()
        session.communicate()


def test_a_container_without_a_default_route_gets_one(container: Machine, tmp_path: Path) -> None:
    container.script("ip route del default")
    try:
        command = ("sh", "-c", "ip route; ip rule")
        attach = ("--attach", f"client={container.process}")
        ended = leobench(*EMULATE, *attach, "--host", "client", "--", *command, cwd=tmp_path)
    finally:
        container.script("ip route add default via 192.0.2.1")
    assert ended.returncode == 0, ended.stderr
    assert "default dev path" in ended.stdout
    assert "from 10.0.0.1 lookup 1000" in ended.stdout


def test_a_container_over_two_links(container: Machine, tmp_path: Path) -> None:
    """Packets come in by the link of the moment, also where its kernel would have strict reverse paths."""
    scenario = tmp_path / "two-ways.toml"
    links, handovers = two_ways("reroute", "van", "300 ms")
    scenario.write_text(real_scenarios.scenario(*links, more=handovers), encoding="utf-8")
    ping = ("ping", "-c", "40", "-i", "0.05", "-q", "office")
    attach = ("--attach", f"van={container.process}")
    ended = leobench("emulate", scenario, *PATIENT, *attach, "--host", "van", "--", *ping, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    received = int(ended.stdout.split(" received")[0].split()[-1])
    # Outages of 50 ms in 300 ms.
    assert received >= 25, ended.stdout


def test_kills_leave_nothing_in_a_container(container: Machine, tmp_path: Path) -> None:
    """Nor does the next session leave what a killed keeper could not remove."""
    before = state(container)
    words = (*EMULATE, "--attach", f"client={container.process}", "--host", "client")
    for attempt in range(3):
        session = start(*words, "--", "sh", "-c", "echo begun; sleep 60", cwd=tmp_path)
        assert session.stdout is not None
        assert session.stdout.readline() == "begun\n"
        assert "leobench" in state(container)
        if attempt == 2:
            for process in children_of(session.pid):
                os.kill(process, signal.SIGKILL)
        session.kill()
        session.communicate(timeout=60)
        if attempt < 2:
            wait_for_state(container, before)
    assert "lookup 1000" in state(container)
    ended = leobench(*words, "--", "true", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    wait_for_state(container, before)


def engine(folder: Path, name: str, body: str) -> None:
    """A program that stands for a container engine."""
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\n{body}\n", encoding="ascii")
    file.chmod(0o755)


def test_containers_are_found_by_name(container: Machine, tmp_path: Path) -> None:
    """Docker does not know it, podman does."""
    asked = '[ "$*" = "container inspect --format {{.State.Pid}} -- web" ] && echo'
    engine(tmp_path / "bin", "docker", "echo no such container >&2; exit 1")
    engine(tmp_path / "bin", "podman", f"{asked} {container.process}")
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    words = (*EMULATE, "--attach", "server=container:web", "--", "ping", "-c", "1", "server")
    ended = leobench(*words, cwd=tmp_path, PATH=path)
    assert ended.returncode == 0, ended.stderr
    engine(tmp_path / "bin", "podman", "echo no such container >&2; exit 125")
    ended = leobench(*words, cwd=tmp_path, PATH=path)
    assert (ended.returncode, ended.stderr) == (
        2,
        "leobench: --attach server=container:web: docker and podman know no such container that runs; "
        "start it first\n",
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("client", "is not a pair; allowed: HOST=PID or HOST=container:NAME"),
        (
            "clint=1",
            "clint is not a host of the scenario; allowed: `client`, `server`; did you mean `client`?",
        ),
        ("client=web", "web is neither a process nor container:NAME"),
        ("client=4194305", "there is no process 4194305"),
        ("client=OWN", "process OWN has the network of this machine, not of a container"),
    ],
)
def test_bad_input(given: str, message: str, tmp_path: Path) -> None:
    """`OWN` stands for the number of this process, which differs from worker to worker."""
    given, message = (text.replace("OWN", str(os.getpid())) for text in (given, message))
    ended = leobench("emulate", ONE_FLOW, "--attach", given, "--", "true", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (2, f"leobench: --attach {given}: {message}\n")


def test_one_container_is_one_host(container: Machine, tmp_path: Path) -> None:
    given = [f"{host}={container.process}" for host in ("client", "server")]
    words = [word for each in given for word in ("--attach", each)]
    ended = leobench("emulate", ONE_FLOW, *words, "--", "true", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (
        2,
        f"leobench: --attach {given[1]}: another host of the scenario is in that network already\n",
    )
