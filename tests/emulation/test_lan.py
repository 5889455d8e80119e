"""A router of the user's between a LAN and the emulated link."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.emulation import real_scenarios
from tests.emulation.real_scenarios import Link
from tests.support.paths import ROOT
from tests.support.programs import PATIENT, leobench

if TYPE_CHECKING:
    import subprocess

pytestmark = pytest.mark.usefixtures("hosts")

PROGRAMS = Path(__file__).with_name("host_programs.py")
ONE_FLOW = ROOT / "scenarios" / "one-flow.toml"
LOSSLESS = ("--set", "links.path.forward.loss.probability=0")


def emulate(*args: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return leobench("emulate", *PATIENT, *args, cwd=cwd)


def program(what: str, host: str = "-") -> str:
    return shlex.join([sys.executable, str(PROGRAMS), what, host])


def needs(*tools: str) -> None:
    lacking = [tool for tool in tools if shutil.which(tool) is None]
    if lacking:
        pytest.skip(f"{', '.join(lacking)}: not installed")


@pytest.mark.parametrize("router", ["nat", "true"])
@pytest.mark.parametrize("server", ["server", "server.v6"])
def test_programs_on_the_lan_reach_the_far_host(router: str, server: str, tmp_path: Path) -> None:
    """Translated to the router's address, or with the LAN's own, to which the network leads as well."""
    needs(*(["nft"] if router == "nat" else []))
    print_peer = (
        "import socket; s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); s.bind(('::', 7001)); "
        "data, peer = s.recvfrom(9); s.sendto(peer[0].encode(), peer)"
    )
    ask = (
        f"import socket, time; address = socket.getaddrinfo('{server}', 7001)[0]; "
        "s = socket.socket(address[0], socket.SOCK_DGRAM); s.settimeout(1); s.connect(address[4])\n"
        "for attempt in range(60):\n"
        "    try:\n"
        "        s.send(b'who'); print(s.recv(99).decode(), socket.gethostname()); break\n"
        "    except OSError:\n"
        "        time.sleep(0.1)\n"
    )
    roles = ("--on", "server", shlex.join([sys.executable, "-c", print_peer]))
    ended = emulate(
        ONE_FLOW, *LOSSLESS, "--router", router, *roles, "--host", "lan", "--", sys.executable, "-c", ask,
        cwd=tmp_path,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    expected = {
        ("nat", "server"): "::ffff:10.0.0.1",
        ("nat", "server.v6"): "fd6c:656f:6265:6e63:6800:0:a00:1",
        ("true", "server"): "::ffff:192.168.1.2",
        ("true", "server.v6"): "fd6c:656f:6265:6e6c::2",
    }
    assert ended.stdout == f"{expected[router, server]} lan\n"


def test_the_router_is_set_up_before_programs_start(tmp_path: Path) -> None:
    """It is told its devices, and what it leaves running goes on; programs run on the LAN unless asked."""
    marked = tmp_path / "marked"
    script = tmp_path / "router.sh"
    script.write_text(
        "#!/bin/sh -e\nsleep 1\nsleep 60 &\n"
        f"(echo $LAN $WAN $LAN_NETWORK $LAN_NETWORK_V6 $LEOBENCH_HOST; ip -o -4 addr show $LAN) >{marked}\n",
        encoding="ascii",
    )
    script.chmod(0o755)
    command = f"cat {marked}; hostname; ping -c 1 -W 9 router.lan >/dev/null && echo reached"
    ended = emulate(ONE_FLOW, "--router", str(script), "--", "sh", "-c", command, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    told, address, *rest = ended.stdout.splitlines()
    assert told == "lan path 192.168.1.0/24 fd6c:656f:6265:6e6c::/64 client"
    assert "192.168.1.1/24" in address
    assert rest == ["lan", "reached"]


@pytest.mark.alone
def test_a_shaper_on_the_router_holds_the_queue(tmp_path: Path) -> None:
    """A link of 10 Mbit/s has a queue of 1 s, which stays empty if a router shapes to 8 Mbit/s."""
    needs("tc", "iperf3", "nft")
    scenario = tmp_path / "bloated.toml"
    link = Link.steady("space", ("client", "server"), "10 Mbps", "20 ms", packets=830)
    scenario.write_text(real_scenarios.scenario(link), encoding="utf-8")
    script = tmp_path / "shape.sh"
    script.write_text(
        '#!/bin/sh -e\ntc qdisc add dev "$WAN" root tbf rate 8mbit burst 6kb latency 40ms\n'
        'nft "table ip nat { chain out { type nat hook postrouting priority 100; masquerade; }; }"\n',
        encoding="ascii",
    )
    script.chmod(0o755)
    medians, rates = {}, {}
    for name, router in (("link", "nat"), ("shaper", str(script))):
        load = "iperf3 -c server -t 8 --json -C cubic > said.json"
        ping = "sleep 3; ping -c 40 -i 0.1 server"
        command = f"({load}) & {ping}; wait"
        ended = emulate(
            scenario, "--settle", "1500", "--router", router, "--on", "server", "iperf3 -s -1",
            "--host", "lan", "--", "sh", "-c", command, cwd=tmp_path,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        times = sorted(float(each) for each in re.findall(r"time=([\d.]+)", ended.stdout))
        medians[name] = times[len(times) // 2]
        said = json.loads((tmp_path / "said.json").read_text(encoding="utf-8"))
        rates[name] = said["end"]["sum_received"]["bits_per_second"] / 1e6
    assert medians["link"] > 150, medians
    # The link's own 40 ms, up to 40 ms of the shaper's queue, and its burst.
    assert 45 < medians["shaper"] < 95, medians
    assert 8.5 < rates["link"] < 10, rates
    assert 6.5 < rates["shaper"] < 8, rates


@pytest.mark.parametrize(
    ("router", "message"),
    [
        (
            "no-such-program",
            "--router: no-such-program: no such program; "
            "allowed: a program that sets up the router, or `nat`",
        ),
        ("", "--router: has no command"),
        ("'open", '--router: "\'open" cannot be read: No closing quotation'),
    ],
)
def test_bad_input(router: str, message: str, tmp_path: Path) -> None:
    ended = leobench("emulate", ONE_FLOW, "--router", router, "--", "true", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (2, f"leobench: {message}\n")


def test_a_router_that_fails(tmp_path: Path) -> None:
    ended = emulate(ONE_FLOW, "--router", "sh -c 'exit 3'", "--", "echo", "not reached", cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "leobench: --router: `sh -c 'exit 3'` failed: exit code 3\n"
