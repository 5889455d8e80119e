"""A way out of the emulated network, in a world of namespaces; nothing of it is left afterwards."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.emulation.world import PROGRAMS, World, made_world, settled, wait_for
from tests.support.paths import ROOT
from tests.support.programs import LEOBENCH, PATIENT, children_of, leobench

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("hosts")

# 25 ms each way.
ONE_FLOW = ROOT / "scenarios" / "one-flow.toml"
LOSSLESS = ("--set", "links.path.forward.loss.probability=0")
EMULATE = ("emulate", ONE_FLOW, *PATIENT, *LOSSLESS)
BEYOND = "198.51.100.7"


@pytest.fixture(scope="module")
def world(hosts: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    del hosts
    if os.geteuid() != 0:
        pytest.skip("only root may make a world")
    lacking = [tool for tool in ("nft", "ip", "nsenter", "curl", "ping") if shutil.which(tool) is None]
    if lacking:
        if os.environ.get("LEOBENCH_HAS_NFT"):
            pytest.fail(f"{', '.join(lacking)}: not installed")
        pytest.skip(f"{', '.join(lacking)}: not installed")
    with made_world(tmp_path_factory.mktemp("world")) as made:
        settled(made.state)
        yield made


@pytest.fixture(autouse=True)
def unchanged(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whatever a test does, the caller's machine is as before in the end."""
    if "world" not in request.fixturenames:
        yield
        return
    made: World = request.getfixturevalue("world")
    before = made.state()
    yield
    wait_for_state(made, before)


def wait_for_state(world: World, expected: str) -> None:
    """Waits until the caller's machine is as it was: the kernel removes namespaces after their processes."""
    limit = time.monotonic() + 20
    while (state := world.state()) != expected:
        assert time.monotonic() < limit, sorted({*state.splitlines()} ^ {*expected.splitlines()})
        time.sleep(0.05)


def wait_until_begun(session: subprocess.Popen[str]) -> None:
    """Waits for the first word of the main program."""
    assert session.stdout is not None
    assert session.stdout.readline() == "begun\n", session.communicate()


@pytest.mark.alone
def test_a_page_by_name_over_the_link(world: World, tmp_path: Path) -> None:
    """The name takes a round trip over the link, the connection another one; the caller is who asks."""
    page = "-w '%{time_namelookup} %{time_connect}\\n' http://site.test/"
    command = f"for attempt in 1 2 3 4 5; do for v in 4 6; do curl -sS -$v {page}; done; done"
    ended = world.leobench(*EMULATE, "--way-out", "--", "sh", "-c", command, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert lines[::2] == ["hello 203.0.113.2", "hello 2001:db8::2"] * 5
    times = [[float(word) for word in line.split()] for line in lines[1::2]]
    named = sorted(name for name, _ in times)
    connected = sorted(connect - name for name, connect in times)
    assert min(named[0], connected[0]) >= 0.05
    assert named[0] < 0.06, named
    assert connected[len(connected) // 2] < 0.055


@pytest.mark.alone
@pytest.mark.parametrize("address", [BEYOND, "2001:db8:7::7"])
def test_the_delay_beyond_the_way_out_is_the_links(address: str, world: World, tmp_path: Path) -> None:
    """As precise as between hosts: 84 bytes of an echo take 0.07 ms at 10 Mbit/s, twice."""
    words = ("ping", "-c", "50", "-i", "0.02", address)
    ended = world.leobench(*EMULATE, "--way-out", "--", *words, cwd=tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    times = sorted(float(each) for each in re.findall(r"time=([\d.]+)", ended.stdout))
    assert len(times) == 50
    assert times[0] >= 50.0
    assert times[25] < 50.8, times


def test_names_over_tcp_and_unknown_names(world: World, tmp_path: Path) -> None:
    ask = " ".join([sys.executable, str(PROGRAMS), "ask", "site.test"])
    command = f"{ask} udp && {ask} tcp && curl -sS http://nobody.test/"
    ended = world.leobench(*EMULATE, "--way-out", "--", "sh", "-c", command, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (6, f"{BEYOND}\n{BEYOND}\n"), ended.stderr
    assert "Could not resolve host: nobody.test" in ended.stderr


def test_a_name_server_of_the_machine_itself(world: World, tmp_path: Path) -> None:
    """On its loopback, as systemd-resolved is; a server before it that is not there is passed over."""
    ready = tmp_path / "ready"
    serve = world.caller.inside(sys.executable, PROGRAMS, "serve", ready, "127.0.0.53")
    with world.resolver("192.0.2.53", "127.0.0.53"), subprocess.Popen(serve) as served:
        wait_for(ready)
        page = ("curl", "-sS", "--max-time", "30", "http://site.test/")
        ended = world.leobench(*EMULATE, "--way-out", "--", *page, cwd=tmp_path)
        served.kill()
    assert (ended.returncode, ended.stdout) == (0, "hello 203.0.113.2\n"), ended.stderr


def test_ports_are_exposed_and_nothing_else(world: World, tmp_path: Path) -> None:
    """TCP and UDP, over both families; other ports, and other ways in, lead nowhere."""
    served = f"{sys.executable} {PROGRAMS} serve {tmp_path / 'ready'}"
    ports = ("--expose", "8080:80", "--expose", "7:7")
    session = world.start(*EMULATE, "--way-out", *ports, "--", "sh", "-c", f"exec {served}", cwd=tmp_path)
    try:
        wait_for(tmp_path / "ready", session)
        for address in ("203.0.113.2", "[2001:db8::2]"):
            page = ("curl", "-sS", "-w", "%{time_connect}", f"http://{address}:8080/")
            for machine, asks in ((world.outside, "1"), (world.caller, "2")):
                family = "203.0.113." if "." in address else "2001:db8::"
                hello, took = machine.run(*page).stdout.splitlines()
                assert hello == f"hello {family}{asks}"
                assert float(took) >= 0.05
            assert world.outside.run("curl", f"http://{address}:8081/", check=False).returncode == 7
        echo = (
            "import socket; s = socket.socket(type=socket.SOCK_DGRAM); s.settimeout(20); "
            "s.connect(('203.0.113.2', 7)); s.send(b'hello'); print(s.recv(9))"
        )
        assert world.outside.run(sys.executable, "-c", echo).stdout == "b'hello'\n"
        world.outside.script("ip route add 198.18.0.0/15 via 203.0.113.2")
        inside = world.outside.run("curl", "-m", "1", "http://198.18.0.2/", check=False)
        assert inside.returncode == 28, inside.stderr
    finally:
        session.kill()
        session.communicate()
        world.outside.run("ip", "route", "del", "198.18.0.0/15", check=False)


def test_ten_kills_leave_nothing(world: World, tmp_path: Path) -> None:
    """At different moments; the last five amid a session with an exposed port."""
    before = world.state()
    for attempt in range(10):
        words = (*EMULATE, "--way-out", "--expose", "8080", "--", "sh", "-c", "echo begun; sleep 60")
        session = world.start(*words, cwd=tmp_path)
        if attempt < 5:
            time.sleep(0.3 * attempt)
        else:
            wait_until_begun(session)
            assert world.state() != before
        session.send_signal(signal.SIGKILL)
        session.communicate(timeout=60)
        wait_for_state(world, before)


def settings(state: str) -> list[str]:
    """The settings that were there before the session."""
    return [line for line in state.splitlines() if "/proc/sys" in line and "leobench" not in line]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_signals_leave_nothing(how: signal.Signals, world: World, tmp_path: Path) -> None:
    before = world.state()
    session = world.start(*EMULATE, "--way-out", "--", "sh", "-c", "echo begun; sleep 60", cwd=tmp_path)
    wait_until_begun(session)
    time.sleep(1)  # A shell that is interrupted before it waits for its program goes on to wait.
    session.send_signal(how)
    session.communicate(timeout=60)
    assert session.returncode == 128 + how
    # The kernel removes the device with the far host's namespace, a moment later.
    assert settings(world.state()) == settings(before)


def test_only_packets_of_sessions_are_forwarded(world: World, tmp_path: Path) -> None:
    """A machine that does not forward goes on to forward nothing else; one that does goes on, too."""
    world.outside.script(
        "ip route add 192.0.2.0/24 via 203.0.113.2; ip -6 route add 2001:db8:9::/64 via 2001:db8::2"
    )
    world.caller.script(
        "ip link add stub type veth peer name stub2; ip link set stub up; ip link set stub2 up; "
        "ip addr add 192.0.2.1/24 dev stub; ip -6 addr add 2001:db8:9::1/64 dev stub nodad; "
        "nft 'table inet count { chain f { type filter hook forward priority 10; "
        "ip daddr 192.0.2.9 counter comment v4; ip6 daddr 2001:db8:9::9 counter comment v6; }; }'; "
        "echo 1 > /proc/sys/net/ipv6/conf/all/forwarding"
    )
    try:
        session = world.start(*EMULATE, "--way-out", "--", "sh", "-c", "echo begun; sleep 60", cwd=tmp_path)
        wait_until_begun(session)
        for address in ("192.0.2.9", "2001:db8:9::9"):
            world.outside.run("ping", "-c", "1", "-W", "1", address, check=False)
        counted = world.caller.run("nft", "list", "table", "inet", "count").stdout
        session.kill()
        session.communicate()
    finally:
        world.caller.script(
            "ip link del stub; nft delete table inet count; echo 0 > /proc/sys/net/ipv6/conf/all/forwarding"
        )
        world.outside.script("ip route del 192.0.2.0/24; ip -6 route del 2001:db8:9::/64")
    assert re.search(r"192\.0\.2\.9 counter packets 0 ", counted), counted
    assert re.search(r"2001:db8:9::9 counter packets 1 ", counted), counted


def test_the_next_start_undoes_what_a_killed_keeper_could_not(world: World, tmp_path: Path) -> None:
    before = world.state()
    session = world.start(*EMULATE, "--way-out", "--", "sh", "-c", "echo begun; sleep 60", cwd=tmp_path)
    wait_until_begun(session)
    for process in (*children_of(session.pid), session.pid):
        os.kill(process, signal.SIGKILL)
    session.communicate(timeout=60)
    left = world.state()
    assert "conf/eth0/forwarding 1" in left
    ended = world.leobench(*EMULATE, "--way-out", "--", "true", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    wait_for_state(world, before)


def test_settings_stay_while_another_session_needs_them(world: World, tmp_path: Path) -> None:
    """Two ways out at a time, on networks of their own; the first to come is the first to go."""
    before = world.state()
    first = world.start(*EMULATE, "--way-out", "--", "sh", "-c", "echo begun; read word", cwd=tmp_path)
    wait_until_begun(first)
    command = "echo begun; read word; curl -sS http://site.test/"
    second = world.start(*EMULATE, "--way-out", "--", "sh", "-c", command, cwd=tmp_path)
    wait_until_begun(second)
    devices = world.caller.script("ip -o -4 addr")
    assert "198.18.0.1/30" in devices
    assert "198.18.0.5/30" in devices
    first.kill()
    first.communicate(timeout=60)
    limit = time.monotonic() + 20
    while "leobench0" in world.state():
        assert time.monotonic() < limit
        time.sleep(0.05)
    told, errors = second.communicate("go on\n", timeout=60)
    assert (second.returncode, told) == (0, "hello 203.0.113.2\n"), errors
    wait_for_state(world, before)


def test_without_ipv6_it_is_refused_at_once(world: World, tmp_path: Path) -> None:
    """The far host answers that there is no route, one round trip later."""
    world.caller.script("ip -6 route del default")
    try:
        command = "curl -sS http://site.test/; curl -sS -6 -m 20 http://site.test/"
        ended = world.leobench(*EMULATE, "--way-out", "--", "sh", "-c", command, cwd=tmp_path)
    finally:
        world.caller.script("ip -6 route add default via 2001:db8::1")
    assert (ended.returncode, ended.stdout) == (7, "hello 203.0.113.2\n"), ended.stderr


def test_networks_of_the_caller_are_left_alone(world: World, tmp_path: Path) -> None:
    world.caller.script("ip route add 198.18.0.0/16 via 203.0.113.1")
    try:
        command = "import subprocess; print(subprocess.run(['ip', 'route'], capture_output=True).stdout)"
        ended = world.leobench(
            *EMULATE, "--way-out", "--host", "server", "--", sys.executable, "-c", command, cwd=tmp_path
        )
    finally:
        world.caller.script("ip route del 198.18.0.0/16")
    assert "default via 198.19.0.1 dev way-out" in ended.stdout, ended.stderr


def refused(world: World, cwd: Path, *args: str, before: tuple[str, ...] = ()) -> str:
    """The message for a session that cannot start."""
    words = world.caller.inside(*before, *LEOBENCH, *EMULATE, "--out", "out", *args, "--", "true")
    ended = subprocess.run(words, capture_output=True, text=True, check=False, cwd=cwd, timeout=100)
    assert (ended.returncode, ended.stdout) == (2, ""), ended.stderr
    assert list(cwd.iterdir()) == []
    (line,) = ended.stderr.splitlines()
    return line.removeprefix("leobench: ")


def test_a_firewall_that_drops_what_is_forwarded(world: World, tmp_path: Path) -> None:
    """As Docker sets up; the message names rules with which it works."""
    chain = "chain FORWARD { type filter hook forward priority 0; policy drop; }; chain DOCKER-USER { }"
    world.caller.run("nft", f"table ip filter {{ {chain}; }}")
    try:
        assert refused(world, tmp_path, "--way-out") == (
            "--way-out: the chain FORWARD of the table ip filter drops forwarded packets (its policy), so "
            "there is no way out; `iptables -I DOCKER-USER -i leobench+ -j ACCEPT` and "
            "`iptables -I DOCKER-USER -o leobench+ -j ACCEPT` allow it"
        )
        for way in ("iifname", "oifname"):
            world.caller.run("nft", f'insert rule ip filter FORWARD {way} "leobench*" accept')
        page = ("curl", "-sS", "http://site.test/")
        ended = world.leobench(*EMULATE, "--way-out", "--", *page, cwd=tmp_path)
        assert (ended.returncode, ended.stdout) == (0, "hello 203.0.113.2\n"), ended.stderr
    finally:
        world.caller.run("nft", "delete table ip filter")


def test_a_name_server_that_does_not_answer(world: World, tmp_path: Path) -> None:
    with world.resolver("203.0.113.9"):
        assert refused(world, tmp_path, "--way-out") == (
            "--way-out: 203.0.113.9: the name server of /etc/resolv.conf does not answer within 2 s; "
            "name one there that does"
        )
    with world.resolver():
        assert refused(world, tmp_path, "--way-out") == (
            "--way-out: /etc/resolv.conf: names no name server, so names have no way out"
        )


def test_no_default_route(world: World, tmp_path: Path) -> None:
    world.caller.script("ip route del default")
    try:
        said = refused(world, tmp_path, "--way-out")
    finally:
        world.caller.script("ip route add default via 203.0.113.1")
    assert said == (
        "--way-out: this network namespace has no default route over IPv4, so there is no way out"
    )


def test_without_the_program_or_the_privilege(world: World, tmp_path: Path) -> None:
    hide = f'mount --bind /dev/null {shutil.which("nft")}; exec "$@"'
    hidden = ("unshare", "--mount", "sh", "-ec", hide, "sh")
    assert refused(world, tmp_path, "--way-out", before=hidden) == (
        "--way-out: the program `nft` is not installed; install nftables (apt install nftables)"
    )
    weak = ("unshare", "--user", "--map-root-user")  # with nothing to say about this network
    assert refused(world, tmp_path, "--way-out", before=weak) == (
        "--way-out: nft: Operation not permitted (you must be root); translation takes the capability "
        "CAP_NET_ADMIN: run as root, or start the container with --cap-add NET_ADMIN"
    )


# The capabilities of root in a container of Docker, and those that the documented options add.
CAPABILITIES = (
    "chown dac_override fsetid fowner mknod net_raw setgid setuid setfcap setpcap net_bind_service "
    "sys_chroot kill audit_write sys_admin net_admin"
)


def test_in_a_container_with_the_documented_options(world: World, tmp_path: Path) -> None:
    """Settings cannot be written there: it takes settings that let packets through from the start."""
    capabilities = "".join(f",+{name}" for name in CAPABILITIES.split())
    fixed = (
        "mount --bind /proc/sys /proc/sys; mount -o remount,bind,ro /proc/sys; "
        f'exec setpriv --bounding-set=-all{capabilities} --inh-caps=-all "$@"'
    )
    container = ("unshare", "--mount", "sh", "-ec", fixed, "sh")
    assert refused(world, tmp_path, "--way-out", before=container) == (
        "--way-out: /proc/sys/net/ipv4/conf/eth0/forwarding: cannot be written: Read-only file system; "
        "run as root, or start the container with --sysctl net.ipv4.conf.all.forwarding=1"
    )
    all_of_them = "for family in 4 6; do echo {} > /proc/sys/net/ipv$family/conf/all/forwarding; done"
    world.caller.script(all_of_them.format(1))
    try:
        command = "curl -sS -4 http://site.test/; curl -sS -6 http://site.test/"
        words = (*LEOBENCH, *EMULATE, "--way-out", "--", "sh", "-c", command)
        ended = world.caller.run(*container, *words)
    finally:
        world.caller.script(all_of_them.format(0))
    assert ended.stdout == "hello 203.0.113.2\nhello 2001:db8::2\n"


def test_a_way_out_behind_a_router(world: World, tmp_path: Path) -> None:
    """Programs on the LAN: translated by the router, the far host and the caller, or by the last two only."""
    for router in ("nat", "true"):
        command = "curl -sS -4 http://site.test/; curl -sS -6 http://site.test/; hostname"
        words = ("--way-out", "--router", router, "--", "sh", "-c", command)
        ended = world.leobench(*EMULATE, *words, cwd=tmp_path)
        assert ended.stdout == "hello 203.0.113.2\nhello 2001:db8::2\nlan\n", ended.stderr


def test_a_port_in_use(world: World, tmp_path: Path) -> None:
    command = (
        "import socket, time; s = socket.create_server(('', 8080)); print('up', flush=True); time.sleep(60)"
    )
    words = world.caller.inside(sys.executable, "-c", command)
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as taken:
        assert taken.stdout is not None
        assert taken.stdout.readline() == "up\n"
        said = refused(world, tmp_path, "--way-out", "--expose", "8080")
        taken.kill()
    assert said == (
        "--way-out: --expose 8080: the port cannot be taken: Address already in use; "
        "allowed: a port that is free, such as --expose 18080:8080"
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--expose", "80"), "--expose: there is no way out; allowed: with --way-out"),
        (
            ("--way-out", "--expose", "0"),
            "--expose 0: allowed: a port from 1 to 65,535, or two with a colon between them",
        ),
        (
            ("--way-out", "--expose", "80:"),
            "--expose 80:: allowed: a port from 1 to 65,535, or two with a colon between them",
        ),
        (
            ("--way-out", "--expose", "80", "--expose", "80:81"),
            "--expose: 80, 80:81: a port is given twice",
        ),
        (
            ("--way-out-at", "severs"),
            "--way-out-at severs: is not a host of the scenario; "
            "allowed: `client`, `server`; did you mean `server`?",
        ),
        (
            ("--way-out", "--host", "server", "--expose", "80"),
            "--expose: the main program's host, server, has the way out; allowed: another host",
        ),
    ],
)
def test_bad_input(args: tuple[str, ...], message: str, tmp_path: Path) -> None:
    ended = leobench("emulate", ONE_FLOW, *args, "--", "true", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (2, f"leobench: {message}\n")


def test_without_a_way_out_there_is_none(world: World, tmp_path: Path) -> None:
    command = f"! curl -sS -m 1 http://{BEYOND}/ && ! curl -sS -m 1 http://site.test/"
    ended = world.leobench(*EMULATE, "--out", "out", "--", "sh", "-c", command, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["exit_code"] == 0
