"""Programs on a network that one line describes: a shipped scenario, or a few options."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
import time
from pathlib import Path

import pytest

from leobench import templates
from tests.support.paths import ROOT
from tests.support.programs import PATIENT, leobench, wait_until_gone

PROGRAMS = Path(__file__).with_name("host_programs.py")
WEB_PAGE = ROOT / "examples" / "web_page.py"
# Listens on the port of `host_programs.py` after a while, and answers one client.
LATE = """
import socket, time
time.sleep(1)
socket.create_server(("", 7000)).accept()[0].sendall(b"late")
"""
# Finds its port in use.
TAKEN = 'import socket; a = socket.socket(); a.bind(("", 7000)); socket.create_server(("", 7000))'
# Connects without a second try.
ONCE = 'import socket; print(socket.create_connection(("server", 7000)).recv(9).decode())'
# A browser for one page, as root too: without a window, and without what it would ask the Internet.
BROWSER = "--headless --no-sandbox --disable-gpu --disable-background-networking --dump-dom"


def python(code: str) -> str:
    return shlex.join([sys.executable, "-c", code])


def shown(*args: str, cwd: Path) -> dict[str, object]:
    """The scenario that a command line shows."""
    ended = leobench("emulate", *args, "--show", cwd=cwd)
    assert ended.returncode == 0, ended.stderr
    scenario: dict[str, object] = json.loads(ended.stdout)
    return scenario


def test_options_describe_a_link(tmp_path: Path) -> None:
    """Down is to the near host: from the second node to the first."""
    options = ("--rate", "50/10Mbps", "--delay", "25ms", "--loss", "0.1%", "--queue", "codel:60packets")
    scenario = shown(*options, cwd=tmp_path)
    (link,) = scenario["links"].values()  # type: ignore[attr-defined]
    assert link["between"] == ["client", "server"]
    for direction, rate in (("forward", "10 Mbps"), ("backward", "50 Mbps")):
        way = link[direction]
        assert (way["rate"], way["delay"]) == (rate, "25 ms")
        assert way["loss"] == {"kind": "bernoulli", "probability": 0.001}
        assert (way["queue"]["kind"], way["queue"]["limit"]) == ("codel", "60 packets")


def test_two_values_are_down_and_up(tmp_path: Path) -> None:
    scenario = shown("--rate", "2Mbps/500kbps", "--delay", "5/40ms", "--loss", "0%/2.5%", cwd=tmp_path)
    (link,) = scenario["links"].values()  # type: ignore[attr-defined]
    up, down = link["forward"], link["backward"]
    assert (up["rate"], down["rate"]) == ("500 kbps", "2 Mbps")
    assert (up["delay"], down["delay"]) == ("40 ms", "5 ms")
    assert (up["loss"]["probability"], down["loss"]["probability"]) == (0.025, 0)
    assert down["queue"] == {"kind": "fifo", "limit": "100 ms"}


def test_a_shipped_scenario_stands_for_its_file(tmp_path: Path) -> None:
    """A file of that name comes first, and a shipped scenario brings its data from anywhere."""
    assert shown("ka", cwd=tmp_path)["name"] == "ka"
    (tmp_path / "ka").mkdir()
    assert shown("ka", cwd=tmp_path)["name"] == "ka"
    trace = shown("trace", cwd=tmp_path)
    (tmp_path / "again.json").write_text(json.dumps(trace), encoding="utf-8")
    assert shown("again.json", cwd=tmp_path) == trace


def test_starlink_without_a_place_is_that_of_a_fit(tmp_path: Path) -> None:
    """The note names the fit and the places of its measurements, as the fit does."""
    ended = leobench("emulate", "starlink", "--show", cwd=tmp_path)
    scenario = json.loads(ended.stdout)
    (link,) = scenario["links"].values()
    assert (link["channel"]["kind"], link["channel"]["fit"]) == ("starlink", "starlink")
    assert "constellation" not in scenario
    note, near = ended.stderr.splitlines()
    assert note == f"leobench: {templates.FITTED}"
    assert near == "leobench: near host: roof, far host: pop (also server)"
    shipped = ROOT / "crates" / "link" / "src" / "channel" / "starlink" / "fits" / "starlink.json"
    about = json.loads(shipped.read_text(encoding="utf-8"))["about"]
    for word in ("Seattle", "Osnabrueck", "Germany"):
        assert word in note
        assert word in about["place"]


def test_starlink_is_anywhere(tmp_path: Path) -> None:
    for place, latitude in (
        (("--dish",), "47.6"),
        (("--at", "Munich"), "48.1"),
        (("--at", "-33.9,151.2"), "-33.9"),
    ):
        scenario = shown("starlink", *place, cwd=tmp_path)
        terminal = scenario["constellation"]["terminals"]["roof"]  # type: ignore[index]
        assert terminal["latitude"].startswith(latitude)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ("starlnk", "--", "true"),
            "starlnk: is neither a file nor a scenario that `leobench new` lists; did",
        ),
        (("buffers", "--", "true"), "buffers: is a campaign; allowed: a scenario that `leobench new` lists"),
        (("ka.toml", "--", "true"), "ka.toml: cannot be read: no such file; allowed: a scenario file"),
        (
            ("--", "true"),
            "no network is given; allowed: a scenario file, a scenario that `leobench new` lists",
        ),
        (
            ("ka", "--rate", "1Mbps", "--", "true"),
            "--rate: describes a network of its own, and so does the sce",
        ),
        (
            ("--delay", "1ms", "true"),
            "--delay: describes a network of its own, and so does the scenario true",
        ),
        (("ka", "--at", "Rome", "--", "true"), "--at: is for the scenario `starlink` only; leave it out"),
        (
            ("--rate", "50", "--", "true"),
            "--rate 50: has no unit; allowed: DOWN/UP with a unit, such as 50/10M",
        ),
        (
            ("--rate", "50/10", "--", "true"),
            "--rate 50/10: has no unit; allowed: DOWN/UP with a unit, such as",
        ),
        (("--rate", "5Mbit", "--", "true"), '--rate 5Mbit: has an unknown unit "Mbit"; allowed: a rate with'),
        (("--rate", "5Mbit/s", "--", "true"), "--rate 5Mbit/s: cannot be read; allowed: DOWN/UP with a unit"),
        (
            ("--rate", "0Mbps", "--", "true"),
            "--rate 0Mbps: is zero, so the link is never up; allowed: a rate a",
        ),
        (("--rate", "", "--", "true"), "--rate : cannot be read; allowed: DOWN/UP with a unit"),
        (("--rate", '1"Mbps', "--", "true"), '--rate 1"Mbps: has an unknown unit'),
        (
            ("--delay", "25", "--", "true"),
            "--delay 25: has no unit; allowed: a time with a unit, such as 25ms",
        ),
        (("--delay=-1ms", "--", "true"), "--delay -1ms: is negative; allowed: a time with its unit"),
        (
            ("--loss", "0.1", "--", "true"),
            "--loss 0.1: has no unit; allowed: a percentage of packets such as",
        ),
        (("--loss", "101%", "--", "true"), "--loss 101%: is out of range; allowed: from 0% to 100%"),
        (("--queue", "codl", "--", "true"), "--queue codl: unknown kind; allowed: `fifo`, `codel`,"),
        (("--queue", "fifo:3", "--", "true"), '--queue fifo:3: has no unit; allowed: "15 packets"'),
        (("--queue", "device", "--", "true"), "--queue device: ring: is required but missing"),
        (("ka", "--server", "", "--", "true"), "--server: has no command"),
        (
            ("ka", "--server", "nobody", "--", "true"),
            "nobody: no such program; install it, or give its whole",
        ),
        (("ka", "--server", "true"), "no command is given; give one after `--`, or with --on HOST COMMAND"),
    ],
)
@pytest.mark.usefixtures("hosts")
def test_bad_input(args: tuple[str, ...], message: str, tmp_path: Path) -> None:
    ended = leobench("emulate", "--out", "out", *args, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"leobench: {message}")
    assert ended.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("hosts")
def test_a_ping_takes_twice_the_delay(tmp_path: Path) -> None:
    if shutil.which("ping") is None:
        pytest.skip("ping is not installed")
    link = ("--rate", "50/10Mbps", "--delay", "25ms")
    ended = leobench("emulate", *link, *PATIENT, "--", "ping", "-c", "3", "-i", "0.2", "server", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    times = [float(found) for found in re.findall(r"time=([\d.]+)", ended.stdout)]
    assert len(times) == 3
    assert 50 <= min(times) < 52


@pytest.mark.usefixtures("hosts")
def test_the_main_program_waits_until_the_server_listens(tmp_path: Path) -> None:
    """A client that tries once is answered by a server that takes a second to start."""
    words = ("--rate", "10Mbps", *PATIENT, "--server", python(LATE), "--", sys.executable, "-c", ONCE)
    ended = leobench("emulate", *words, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (0, "late\n"), ended.stderr


@pytest.mark.usefixtures("hosts")
def test_a_server_of_datagrams_listens_too(tmp_path: Path) -> None:
    echo = shlex.join([sys.executable, str(PROGRAMS), "echo", "-"])
    words = ("--rate", "10Mbps", *PATIENT, "--settle", "60000", "--server", echo, "--", "true")
    ended = leobench("emulate", *words, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "not listening" not in ended.stderr


@pytest.mark.usefixtures("hosts")
def test_a_server_that_never_listens_is_told_of(tmp_path: Path) -> None:
    mark = f"sleep 3609.{time.monotonic_ns()}"
    words = ("--rate", "10Mbps", *PATIENT, "--settle", "200", "--server", mark, "--", "echo", "on")
    ended = leobench("emulate", *words, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (0, "on\n")
    said = f"leobench: server: `{mark}` was not listening after 0.2 s; starting the main program anyway\n"
    assert ended.stderr.startswith(said)
    wait_until_gone(mark)


@pytest.mark.usefixtures("hosts")
def test_a_server_whose_port_is_in_use_ends_the_session(tmp_path: Path) -> None:
    """The server's own message comes before that of leobench; what runs beside it ends, too."""
    mark = f"sleep 3610.{time.monotonic_ns()}"
    words = ("--out", "out", "--on", "client", mark, "--server", python(TAKEN), "--", "echo", "not reached")
    ended = leobench("emulate", "--rate", "10Mbps", *PATIENT, *words, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, ""), ended.stderr
    assert "Address already in use" in ended.stderr
    said = ended.stderr.splitlines()[-1]
    assert said.startswith(f"leobench: server: `{sys.executable} -c")
    assert said.endswith("` ended before it listened: exit code 1")
    assert list(tmp_path.iterdir()) == []
    wait_until_gone(mark)


@pytest.mark.usefixtures("hosts")
def test_a_server_that_has_ended_is_not_waited_for(tmp_path: Path) -> None:
    words = ("--rate", "10Mbps", *PATIENT, "--server", "true", "--", "echo", "not reached")
    ended = leobench("emulate", *words, cwd=tmp_path)
    said = "leobench: server: `true` ended before it listened: exit code 0\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", said)


@pytest.mark.usefixtures("hosts")
def test_the_scenario_beside_the_results_runs_again(tmp_path: Path) -> None:
    """With all that the command line said of it."""
    words = ("--delay", "3ms", "--seed", "7", *PATIENT, "--out", "out", "--", "true")
    ended = leobench("emulate", *words, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    file = tmp_path / "out" / "scenario.json"
    scenario = json.loads(file.read_text(encoding="utf-8"))
    assert (scenario["seed"], scenario["real"]["stall"]) == (7, "10 s")
    again = leobench("emulate", file, "--out", "again", "--", "true", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "again" / "scenario.json").read_bytes() == file.read_bytes()
    replaced = leobench("emulate", file, "--out", "again", "--force", "--", "true", cwd=tmp_path)
    assert replaced.returncode == 0, replaced.stderr


@pytest.mark.usefixtures("hosts")
def test_words_after_the_dashes_are_the_programs(tmp_path: Path) -> None:
    """Options and further dashes among them, and without a scenario before."""
    words = ("--rate", "10Mbps", *PATIENT, "--quiet", "--", "echo", "--rate", "--", "-n")
    ended = leobench("emulate", *words, cwd=tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "--rate -- -n\n", "")


@pytest.mark.usefixtures("hosts")
def test_a_browser_loads_a_page_over_starlink(tmp_path: Path) -> None:
    """30 objects of 50 kB over the fitted link, by a line that knows no scenario."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium is installed")
    server = shlex.join([sys.executable, str(WEB_PAGE), "8000"])
    words = [*BROWSER.split(), f"--user-data-dir={tmp_path}/profile", "http://server:8000/"]
    ended = leobench("emulate", "starlink", *PATIENT, "--server", server, "--", browser, *words, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    loaded = re.search(r"loaded 30 of 30 objects in (\d+) ms", ended.stdout)
    assert loaded is not None, ended.stdout + ended.stderr
    # Six at a time take five round trips of 20 ms or more.
    assert int(loaded[1]) > 100
