"""Programs that know nothing of leobench, on the hosts of a scenario."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from leobench.errors import INVALID_RUN
from tests.emulation import real_scenarios
from tests.emulation.real_scenarios import Link, two_ways
from tests.support.paths import ROOT
from tests.support.programs import PATIENT, children_of, leobench, start, wait_until_gone

pytestmark = pytest.mark.usefixtures("hosts")

PROGRAMS = Path(__file__).with_name("host_programs.py")
ONE_FLOW = ROOT / "scenarios" / "one-flow.toml"


def program(what: str, host: str = "-") -> str:
    return shlex.join([sys.executable, str(PROGRAMS), what, host])


def until_it_succeeds(command: str) -> tuple[str, ...]:
    """Words that try a command again, for ten seconds or more: its server may need as long to start."""
    return ("sh", "-c", f"for attempt in $(seq 100); do {command} && exit; sleep 0.1; done; exit 1")


def emulate(*args: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return leobench("emulate", *PATIENT, *args, cwd=cwd)


def test_datagrams_of_all_sizes_come_back_unchanged(tmp_path: Path) -> None:
    """25 ms each way, and 0.05 ms or more to serialise: nothing is earlier."""
    for host in ("server", "server.v6"):
        ended = emulate(
            ONE_FLOW,
            "--set",
            "links.path.forward.loss.probability=0",
            "--on",
            "server",
            program("echo"),
            "--on",
            "client",
            program("probe", host),
            cwd=tmp_path,
        )
        assert ended.returncode == 0, ended.stderr
        times = [float(line) for line in ended.stdout.split()]
        assert len(times) == 21
        assert min(times) >= 50.08


def test_a_download_survives_a_handover(tmp_path: Path) -> None:
    """However late the programs start, 2 MB take longer than from one handover to the next."""
    scenario = tmp_path / "two-ways.toml"
    links, handovers = two_ways("reroute", "van", "700 ms")
    scenario.write_text(real_scenarios.scenario(*links, more=handovers), encoding="utf-8")
    roles = ("--on", "office", program("serve"), "--on", "van", program("fetch", "office"))
    ended = emulate(scenario, "--settle", "0", *roles, "--out", "out", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["engine"] == "real"
    assert manifest["validity"] == {"verdict": "valid", "warnings": []}
    assert manifest["clock"]["packets_in"] > 1_000
    assert manifest["exit_code"] == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    delivered = {link["name"]: link["delivered_packets"] for link in summary["links"]}
    assert delivered["ground/office->van"] > 0, delivered
    assert delivered["space/office->van"] > 0, delivered


def test_busy_processors_make_a_run_invalid(tmp_path: Path) -> None:
    """Programs wait for them. This one computes for a second: more than a thousandth of their time."""
    compute = ("--busy", "0.001", "--out", "out", "--", sys.executable, PROGRAMS, "compute", "-")
    ended = emulate(ONE_FLOW, *compute, cwd=tmp_path)
    assert ended.returncode == INVALID_RUN
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["clock"]["budget"]["busy"] == 0.001
    assert 0.001 < manifest["clock"]["processors_busy"] <= 1
    (reason,) = manifest["validity"]["warnings"]
    assert reason.startswith("the processors were busy for")
    assert reason in ended.stderr


def test_web_server_and_client(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 300_000)
    server = shlex.join([sys.executable, "-m", "http.server", "8000", "--directory", str(tmp_path)])
    roles = ("--on", "server", server, "--on", "client", program("load", "server"))
    ended = emulate(ONE_FLOW, *roles, cwd=tmp_path)
    assert (ended.returncode, ended.stdout.split()[-1:]) == (0, ["300000"]), ended.stderr
    if (curl := shutil.which("curl")) is not None:
        client = until_it_succeeds(f"{curl} --silent --output got http://server:8000/file")
        ended = emulate(ONE_FLOW, "--on", "server", server, "--host", "client", "--", *client, cwd=tmp_path)
        assert ended.returncode == 0, ended.stderr
        assert (tmp_path / "got").read_bytes() == (tmp_path / "file").read_bytes()


def test_the_page_for_browsers(tmp_path: Path) -> None:
    """Its page and its objects come, each as long as it was asked to be."""
    page = shlex.join([sys.executable, str(ROOT / "examples" / "web_page.py"), "8000", "2", "1000"])
    load = (
        "import re, time, urllib.error, urllib.request as web\n"
        "limit = time.monotonic() + 60\n"
        "while True:\n"
        "    try:\n"
        "        page = web.urlopen('http://server:8000/').read().decode()\n"
        "        break\n"
        "    except urllib.error.URLError:\n"
        "        assert time.monotonic() < limit\n"
        "        time.sleep(0.02)\n"
        "names = re.findall('src=\"(.*?)\"', page)\n"
        "print(names, *(len(web.urlopen('http://server:8000' + name).read()) for name in names))"
    )
    ended = emulate(
        ONE_FLOW,
        "--on",
        "server",
        page,
        "--host",
        "client",
        "--",
        sys.executable,
        "-c",
        load,
        cwd=tmp_path,
    )
    assert ended.stdout.split("\n")[0] == "['/0.js', '/1.js'] 1002 1002", ended.stderr


@pytest.mark.parametrize("options", ["-C cubic", "-u -b 5M"])
def test_iperf3(options: str, tmp_path: Path) -> None:
    if shutil.which("iperf3") is None:
        pytest.skip("iperf3 is not installed")
    client = until_it_succeeds(f"iperf3 --client server --time 2 --json {options} > said.json")
    server = ("--on", "server", "iperf3 --server --one-off")
    ended = emulate(ONE_FLOW, *server, "--host", "client", "--", *client, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    said = (tmp_path / "said.json").read_text(encoding="utf-8")
    rate = json.loads(said)["end"]["sum_received" if "-C" in options else "sum"]["bits_per_second"]
    assert 0 < rate < 25e6


def test_ping(tmp_path: Path) -> None:
    if shutil.which("ping") is None:
        pytest.skip("ping is not installed")
    ended = emulate(
        ONE_FLOW,
        "--host",
        "client",
        "--",
        "ping",
        "-c",
        "3",
        "-i",
        "0.2",
        "-s",
        "3000",
        "server",
        cwd=tmp_path,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    times = [float(time) for time in re.findall(r"time=([\d.]+)", ended.stdout)]
    assert len(times) == 3
    # 3,028 bytes in three fragments at 25 Mbit/s take 1 ms each way.
    assert min(times) >= 51.9


def test_exit_codes_and_streams_are_the_main_programs(tmp_path: Path) -> None:
    assert emulate(ONE_FLOW, "--", "sh", "-c", "exit 7", cwd=tmp_path).returncode == 7
    assert emulate(ONE_FLOW, "--", "sh", "-c", "kill -TERM $$", cwd=tmp_path).returncode == 143
    ended = subprocess.run(
        [
            sys.executable,
            "-m",
            "leobench",
            "emulate",
            str(ONE_FLOW),
            *PATIENT,
            "--quiet",
            "--",
            "tr",
            "a-z",
            "A-Z",
        ],
        input="hello",
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=60,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "HELLO", "")


def test_hosts_see_their_own_devices_and_processes_only(tmp_path: Path) -> None:
    seen = "ls /sys/class/net /proc | grep -E '^(path|lo|eth0|[0-9]+)$'; cat /etc/hosts; echo $LEOBENCH_HOST"
    ended = emulate(ONE_FLOW, "--host", "server", "--", "sh", "-c", seen, cwd=tmp_path)
    lines = ended.stdout.splitlines()
    assert {"172.16.0.1 client", "172.16.0.2 server"} <= set(lines)
    assert lines[-1] == "server"
    assert sum(line.isdigit() for line in lines) <= 5


def test_a_stopped_driver_makes_a_run_invalid(tmp_path: Path) -> None:
    """50 ms: the driver's process is stopped from outside while a program waits for it."""
    command = "echo ready; while [ ! -e over ]; do sleep 0.1; done"
    process = start("emulate", ONE_FLOW, "--lateness", "10000", "--", "sh", "-c", command, cwd=tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    driver = _driver(process.pid)
    os.kill(driver, signal.SIGSTOP)
    time.sleep(0.05)
    os.kill(driver, signal.SIGCONT)
    # It looks around every 10 ms.
    time.sleep(0.1)
    (tmp_path / "over").touch()
    _, said = process.communicate(timeout=60)
    assert process.returncode == INVALID_RUN
    assert re.search(r"invalid: the driver stalled for \d+\.\d ms; allowed: 20 ms", said), said


def test_a_session_within_the_warm_up_is_summed_up_whole(tmp_path: Path) -> None:
    ended = emulate(ONE_FLOW, "--set", "warm_up=30 s", "--out", "out", "--", "sleep", "0.5", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert [link["mean_rate_bps"] for link in summary["links"]] == [pytest.approx(25e6, rel=1e-5)] * 2


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_behind(how: signal.Signals, tmp_path: Path) -> None:
    """Ten starts and kills, at different moments; what ran on the hosts is gone, children of children too."""
    for attempt in range(10):
        mark = f"3600.{os.getpid()}{attempt}"
        process = start("emulate", ONE_FLOW, "--", "sh", "-c", f"sleep {mark} & sleep {mark}", cwd=tmp_path)
        time.sleep(0.1 * attempt)
        process.send_signal(how)
        process.communicate(timeout=60)
        # Before it has set up its handlers, or amid its imports, the signal ends it as any Python program.
        ended = {-how} if how == signal.SIGKILL else {-how, 128 + how, -signal.SIGINT}
        assert process.returncode in ended
        wait_until_gone(mark)


def test_an_interrupt_ends_everything(tmp_path: Path) -> None:
    """Ctrl-C reaches all processes of the terminal, as in a shell; the main program decides what it does."""
    mark = f"3601.{os.getpid()}"
    command = f"sleep {mark} & echo ready; sleep {mark}"
    process = start("emulate", ONE_FLOW, "--", "sh", "-c", command, cwd=tmp_path, own_group=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(1)  # A shell that is interrupted before it waits for its program goes on to wait.
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    wait_until_gone(mark)


def test_a_crash_of_the_main_program_ends_everything(tmp_path: Path) -> None:
    mark = f"3602.{os.getpid()}"
    ended = emulate(
        ONE_FLOW,
        "--on",
        "server",
        f"sleep {mark}",
        "--",
        "sh",
        "-c",
        f"sleep {mark} & kill -SEGV $$",
        cwd=tmp_path,
    )
    assert ended.returncode == 128 + signal.SIGSEGV
    wait_until_gone(mark)


def test_runs_side_by_side_do_not_meet(tmp_path: Path) -> None:
    """The same names, addresses and ports, but links of different length."""
    roles = ("--on", "server", program("echo"), "--on", "client", program("probe", "server"))
    lossless = ("--set", "links.path.forward.loss.probability=0")
    runs = {
        delay: start(
            "emulate",
            ONE_FLOW,
            *PATIENT,
            *lossless,
            "--set",
            f"links.path.delay={delay} ms",
            *roles,
            cwd=tmp_path,
        )
        for delay in (5, 60)
    }
    for delay, process in runs.items():
        said, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
        times = [float(line) for line in said.split()]
        assert len(times) == 21
        assert 2 * delay < min(times) < 2 * delay + 100
    assert len(runs) == 2


def test_two_sessions_do_not_write_to_one_folder(tmp_path: Path) -> None:
    """The second one is refused before its program starts; where the first was killed, the next one runs."""
    first = start("emulate", ONE_FLOW, "--out", "out", "--", "sh", "-c", "echo begun; sleep 60", cwd=tmp_path)
    assert first.stdout is not None
    assert first.stdout.readline() == "begun\n"
    ended = emulate(ONE_FLOW, "--out", "out", "--", "echo", "not reached", cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("leobench: out: another leobench is writing there; wait until it")
    first.kill()
    first.communicate(timeout=60)
    ended = emulate(ONE_FLOW, "--out", "out", "--", "true", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def _driver(parent: int) -> int:
    """The grandchild of a process."""
    of = parent
    for _ in range(2):
        (child,) = children_of(of)
        of = child
    return of


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ("--host", "cleint", "--", "true"),
            "cleint: is not a host of the scenario; allowed: `client`, `server`; did you mean `client`?",
        ),
        (("--", "no-such-program"), "no-such-program: no such program; install it, or give its whole path"),
        (("--host", "client"), "--host: has no command; give one after `--`"),
        ((), "no command is given; give one after `--`, or with --on HOST COMMAND"),
        (("--on", "server", "'open"), '--on server: "\'open" cannot be read: No closing quotation'),
        (("--on", "server", ""), "--on server: has no command"),
        (("--busy", "much", "--", "true"), "--busy: much: is not a number; see `leobench emulate --help`"),
        (
            ("--busy", "95", "--", "true"),
            f"{ONE_FLOW}: real.busy = 95.0: is out of range; allowed: a number from 0 to 1",
        ),
        (("--on", "server", "'' --help"), "--on server: has no command"),
        (("--", ""), "the command after `--` is empty; allowed: a program and its arguments"),
        (
            ("--lateness", "soon", "--", "true"),
            "--lateness: soon: is not a number of milliseconds; see `leobench emulate --help`",
        ),
    ],
)
def test_bad_input(args: tuple[str, ...], message: str, tmp_path: Path) -> None:
    ended = leobench("emulate", ONE_FLOW, *args, cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (2, f"leobench: {message}\n")


def test_a_host_that_migrates_has_another_address(tmp_path: Path) -> None:
    """As a phone that goes from one network to another: an address goes with its link, another comes."""
    scenario = tmp_path / "migrate.toml"
    links, handovers = two_ways("migrate", "van", "700 ms")
    moved = real_scenarios.scenario(*links, transport='"quic"', more=handovers)
    scenario.write_text(moved, encoding="utf-8")
    ended = emulate(
        scenario, "--on", "office", program("echo"), "--on", "van", program("move", "office"), cwd=tmp_path
    )
    assert ended.returncode == 0, ended.stderr
    home, *answered = ended.stdout.split("\n")[:-1]
    addresses = {line.split()[1] for line in answered if line.startswith("new")}
    assert len(addresses) == 2, answered
    # A socket that is bound to an address goes with it.
    assert {line for line in answered if line.startswith("old")} == {f"old {home}"}


@pytest.mark.alone
def test_the_kernels_tcp_goes_on_from_another_address(tmp_path: Path) -> None:
    """A connection ends with its address; a program that connects anew goes on. 4 MB take 1.6 s."""
    scenario = tmp_path / "migrate.toml"
    links, handovers = two_ways("migrate", "van", "700 ms")
    moved = real_scenarios.scenario(*links, transport='"quic"', more=handovers)
    scenario.write_text(moved, encoding="utf-8")
    roles = ("--on", "office", program("serve"), "--on", "van", program("resume", "office"))
    ended = emulate(scenario, *roles, "--out", "out", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    addresses = ended.stdout.split()
    assert len(addresses) >= 2
    assert len(set(addresses)) == 2, addresses
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    delivered = {link["name"]: link["delivered_packets"] for link in summary["links"]}
    # A receiver that was held up acknowledges many packets at once.
    assert min(delivered.values()) > 0, delivered
    assert min(delivered[f"{link}/office->van"] for link in ("ground", "space")) > 100, delivered


def test_an_error_passes_address_translation(tmp_path: Path) -> None:
    """The kernel of the server quotes a packet of the router's address; the client's kernel knows its own."""
    scenario = tmp_path / "rebind.toml"
    links, handovers = two_ways("rebind", "router", "700 ms")
    access = Link.steady("access", ("client", "router"), "1 Gbps", "1 ms")
    scenario.write_text(real_scenarios.scenario(access, *links, more=handovers), encoding="utf-8")
    ended = emulate(scenario, "--on", "client", program("refused", "server"), cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (0, "refused\n"), ended.stderr
