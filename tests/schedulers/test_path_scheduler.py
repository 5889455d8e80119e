"""Path schedulers written in Python: what they see and decide, and what is said when they go wrong."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest

import leobench
from leobench import cli, plugins
from tests.schedulers.python_schedulers import files
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = """\
name = "two-paths"
duration = "3 s"
until = "drained"

[nodes.client]
[nodes.server]

[links.fast]
between = ["client", "server"]
rate = "10 Mbps"
delay = "10 ms"
queue = { kind = "fifo", limit = "30 packets" }

[links.slow]
between = ["client", "server"]
rate = "5 Mbps"
delay = "60 ms"
queue = { kind = "fifo", limit = "30 packets" }

[flows.main]
transport = { kind = "quic", multipath = { links = ["fast", "slow"], scheduler = { python = "mine:Mine" } } }
from = "client"
to = "server"
source = { kind = "bulk", size = "2 MB" }
"""
AT = "flows.main.transport.multipath.scheduler"

MIN_RTT = """\
class Mine:
    def __init__(self, links, random):
        pass

    def choose(self, now, paths, backlog):
        return min((path for path in paths if path.has_room), key=lambda path: (path.rtt, path.id))
"""

BROKEN_CLASS = """\
import leobench


class Mine(leobench.PathScheduler):
    def choose(self, now, paths, backlog):
        free = [path for path in paths if path.has_room]
        full = [path for path in paths if not path.has_room]
        if now >= START:
            BODY
        return free[0]
"""

# `choose` of a class that goes wrong after 0.5 s, and what is said about it.
BROKEN = {
    "raises": ("return 1 // 0", ["raised ZeroDivisionError: ", ", line 9, in choose\n"]),
    "exits": ("raise SystemExit('enough')", ["raised SystemExit: enough", ", line 9, in choose\n"]),
    "an unknown path": (
        "return 7",
        ["chose path 7, which cannot carry data now; allowed: 0", "(mine.py, line 5)"],
    ),
    "an unknown path for a copy": (
        "return [free[0], 7]",
        ["chose path 7, which cannot", "(mine.py, line 5)"],
    ),
    "a full path": (
        "return full[0] if full else free[0]",
        ["chose path ", ", which has no room: ", " are in flight, and pacing", "(mine.py, line 5)"],
    ),
    "no path": ("return []", ["chose no path, but did not wait either", "(mine.py, line 5)"]),
    "a path twice": (
        "return [free[0], free[0].id]",
        ["chose path ", " twice for one packet", "(mine.py, line 5)"],
    ),
    "paths without an end": (
        "return __import__('itertools').repeat(free[0])",
        ["chose more paths than there are; allowed: up to ", "(mine.py, line 5)"],
    ),
    "a text": ("return 'fast'", ["returned 'fast'; allowed: a path or its number", "(mine.py, line 5)"]),
    "texts": ("return ['fast']", ["chose 'fast', which is no path; allowed: a path", "(mine.py, line 5)"]),
    "a boolean": ("return True", ["returned True; allowed: a path or its number", "(mine.py, line 5)"]),
    "a negative number": ("return -1", ["returned -1; allowed: a path or its number", "(mine.py, line 5)"]),
    "a fraction": ("return 0.5", ["returned 0.5; allowed: a path or its number", "(mine.py, line 5)"]),
    "raises on the way": (
        "return (1 // 0 for path in paths)",
        ["raised ZeroDivisionError", "in <genexpr>\n"],
    ),
}


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    folder = tmp_path / "scenario"
    folder.mkdir()
    (folder / "two-paths.toml").write_text(SCENARIO, encoding="utf-8")
    (folder / "mine.py").write_text(MIN_RTT, encoding="utf-8")
    return folder / "two-paths.toml"


def tables(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.glob("*.parquet")}


def failed(scenario: Path, text: str, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """The error of a run that a class ends."""
    (scenario.parent / "mine.py").write_text(text, encoding="utf-8")
    out = scenario.parent.parent / "out"
    assert cli.main(["run", str(scenario), "--quiet", "--out", str(out), *more]) == 1
    assert not out.exists()
    said = capsys.readouterr().err
    assert re.match(r"leobench: flow `\w+`: (path )?scheduler `mine:Mine` at [\d.]+ m?s: ", said), said
    return said


def test_the_shortest_round_trip_in_python_gives_the_bytes_of_the_one_built_in(
    scenario: Path, tmp_path: Path
) -> None:
    before = files(scenario.parent)
    assert cli.main(["run", str(scenario), "--quiet", "--out", str(tmp_path / "python")]) == 0
    built_in = ["--set", f"{AT}=min_rtt", "--out", str(tmp_path / "built-in")]
    assert cli.main(["run", str(scenario), "--quiet", *built_in]) == 0
    assert tables(tmp_path / "python") == tables(tmp_path / "built-in")
    assert len(tables(tmp_path / "python")) == 12
    summaries = [
        (tmp_path / name / "summary.json").read_text(encoding="utf-8") for name in ("python", "built-in")
    ]
    assert summaries[0] == summaries[1]
    assert len(json.loads(summaries[0])["flows"][0]["paths"]) == 2
    manifest = json.loads((tmp_path / "python" / "manifest.json").read_text(encoding="utf-8"))
    scheduler = manifest["scenario"]["flows"]["main"]["transport"]["multipath"]["scheduler"]
    assert scheduler == {"kind": "python", "python": "mine:Mine", "parameters": {}}
    assert files(scenario.parent) == before, "no compiled module is left beside the scenario"
    digest = hashlib.sha256(MIN_RTT.encode()).hexdigest()
    assert plugins.sources(manifest["scenario"], scenario.parent) == {"mine.py": digest}


def test_several_paths_carry_what_the_built_in_redundant_sends(scenario: Path) -> None:
    (scenario.parent / "mine.py").write_text(
        "class Mine:\n"
        "    def __init__(self, links, random):\n"
        "        pass\n"
        "    def choose(self, now, paths, backlog):\n"
        "        return sorted(paths, key=lambda path: (not path.has_room, path.rtt, path.id))\n",
        encoding="utf-8",
    )
    own, built_in = (
        leobench.run(scenario, overrides=changed).summary["flows"][0] for changed in ({}, {AT: "redundant"})
    )
    assert own == built_in
    assert own["reinjected_bytes"] > 800_000
    assert own["duplicate_bytes"] > 500_000


@pytest.mark.parametrize(("body", "parts"), BROKEN.values(), ids=BROKEN)
def test_a_run_ends_with_what_went_wrong_and_where(
    body: str, parts: list[str], scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = failed(scenario, BROKEN_CLASS.replace("BODY", body).replace("START", "0.5"), capsys)
    for part in parts:
        assert part in said
    at, unit = re.findall(r"at ([\d.]+) (m?s): ", said)[0]
    assert float(at) / (1_000 if unit == "ms" else 1) >= 0.5


def test_waiting_for_nothing_ends_a_run(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = failed(scenario, BROKEN_CLASS.replace("BODY", "return None").replace("START", "0"), capsys)
    assert "waits, although nothing is in flight: no event would ever end that (mine.py, line 5)" in said


def test_what_the_optional_methods_raise_ends_a_run(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = failed(
        scenario, f"{MIN_RTT}\n    def on_sent(self, path):\n        raise ValueError(path.link)\n", capsys
    )
    assert "raised ValueError: fast" in said
    assert "line 9, in on_sent" in said


def test_a_class_that_cannot_be_used_is_refused_before_the_run(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (scenario.parent / "mine.py").write_text("class Other:\n    def choose(self): ...\n", encoding="utf-8")
    assert cli.main(["check", str(scenario)]) == 2
    said = capsys.readouterr().err
    assert f'{AT}.python = "mine:Mine": module `mine` has no `Mine`; allowed: `Other`' in said
    (scenario.parent / "mine.py").write_text("class Mine:\n    def choose(self): ...\n", encoding="utf-8")
    assert cli.main(["check", str(scenario)]) == 2
    said = capsys.readouterr().err
    assert "cannot be built: TypeError" in said
    assert "allowed: a class that takes the names of the links, a `random.Random`" in said


def test_a_class_sees_the_paths_in_seconds_bytes_and_bits(scenario: Path) -> None:
    (scenario.parent / "mine.py").write_text(
        "import leobench\n"
        "\n"
        "\n"
        "class Mine(leobench.PathScheduler):\n"
        "    def __init__(self, links, random, least=0):\n"
        "        super().__init__(links, random)\n"
        "        assert links == ('fast', 'slow') and least == 7, (links, least)\n"
        "        self.sent = {}\n"
        "        self.kept = None\n"
        "\n"
        "    def choose(self, now, paths, backlog):\n"
        "        assert isinstance(paths, tuple)\n"
        "        assert [path.id for path in paths] == sorted({path.id for path in paths})\n"
        "        for path in paths:\n"
        "            # The server does not know the links.\n"
        "            assert path.link in (self.links[path.id], None), path\n"
        "            assert path.room == max(path.window - path.in_flight, 0)\n"
        "            assert path.has_room == (path.room >= path.payload and path.ready <= now + 1e-9), path\n"
        "            assert path.forecast is None and path.payload == 1252, path.payload\n"
        "            assert 0 < path.rtt_variation < path.rtt, (path.rtt, path.rtt_variation)\n"
        "            if now > 0.5 and path.link:\n"
        "                base = {'fast': 0.02, 'slow': 0.12}[path.link]\n"
        "                assert base <= path.rtt < base + 0.1, path.rtt\n"
        "                assert path.delivery_rate is None or path.delivery_rate < 12_000_000\n"
        "            assert not path.slow_start or now < 2, 'losses end it'\n"
        "        if self.kept is not None and now > 0.5:\n"
        "            assert self.kept in paths and any(self.kept is path for path in paths)\n"
        "        self.kept = self.kept or paths[0]\n"
        "        assert 0 <= backlog.waiting <= 2_000_000 and backlog.credit > 0, backlog\n"
        "        assert backlog.waiting or now > 1 or not paths[0].link, backlog\n"
        "        choice = min((path for path in paths if path.has_room), key=lambda path: path.rtt)\n"
        "        return choice if backlog.waiting % 2 else (choice.id,)\n"
        "\n"
        "    def on_sent(self, path):\n"
        "        self.sent[path] = self.sent.get(path, 0) + 1\n"
        "        assert len({hash(each) for each in self.sent}) == len(self.sent) <= 2\n",
        encoding="utf-8",
    )
    scheduler = {"python": "mine:Mine", "parameters": {"least": 7}}
    own, built_in = (
        leobench.run(scenario, overrides={AT: changed}).summary["flows"][0]
        for changed in (scheduler, "min_rtt")
    )
    assert own == built_in


def test_random_choices_follow_the_seed(scenario: Path) -> None:
    (scenario.parent / "mine.py").write_text(
        "import leobench\n"
        "class Mine(leobench.PathScheduler):\n"
        "    def choose(self, now, paths, backlog):\n"
        "        return self.random.choice([path for path in paths if path.has_room])\n",
        encoding="utf-8",
    )
    one, again, other = (leobench.run(scenario, seed).summary["flows"][0]["paths"] for seed in (1, 1, 2))
    assert one == again != other


@pytest.fixture
def example(tmp_path: Path) -> Path:
    for name in ("before_handover.toml", "before_handover.py"):
        shutil.copy(ROOT / "examples" / name, tmp_path)
    return tmp_path / "before_handover.toml"


def test_the_example_loses_nothing_to_handovers(example: Path) -> None:
    at = AT.replace("main", "upload")
    calm, blind = (
        leobench.run(example, overrides=changed).summary["flows"][0] for changed in ({}, {at: "min_rtt"})
    )
    assert blind["dropped_packets"]["handover"] > 20
    assert calm["dropped_packets"].get("handover", 0) == 0
    assert calm["goodput_bps"] > 0.95 * blind["goodput_bps"]
    assert calm["handovers"]["count"] > 2


@pytest.mark.parametrize("kind", ["path", "stream"])
def test_forecasts_reach_schedulers(kind: str, example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A class that has seen ten forecasts with a handover tells them by its exception."""
    choose = {
        "path": "def choose(self, now, paths, backlog):\n"
        "        return next(path for path in paths if path.has_room)",
        "stream": "def schedule(self, now, streams, room):\n"
        "        return [(streams[0], min(streams[0].backlog, room))]",
    }[kind]
    text = f"""\
class Mine:
    def __init__(self, given, random):
        self.seen = []

    {choose}

    def on_forecast(self, now, forecast):
        assert forecast.at == now + 15 or now > 45, (now, forecast.at)
        if forecast.path == 1 and forecast.handover:
            begins, ends = forecast.handover
            assert begins <= forecast.at and abs(ends - begins - 0.04) < 1e-9 or ends > forecast.at - 0.04
            assert 0.005 < forecast.base_rtt < 0.1 and forecast.bottleneck == 20_000_000
            self.seen.append((now, begins))
        if len(self.seen) == 10:
            raise ValueError(f"{{self.seen[-1]}}")
"""
    python = '{ python = "mine:Mine" }'
    change = {
        "path": f"{AT.replace('main', 'upload')}={python}",
        "stream": f'flows.upload.transport={{ kind = "quic", scheduler = {python}, '
        'multipath = { links = ["cell", "sky"] } }',
    }[kind]
    said = failed(example, text, capsys, "--set", change)
    assert "in on_forecast" in said
    now, begins = (float(part) for part in re.findall(r"raised ValueError: \(([\d.]+), ([\d.]+)\)", said)[0])
    assert now < begins <= now + 15


def test_forecasts_announce_links_that_come_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second subflow of the chain gets its satellite after 15 s, which a class that was told so says."""
    shutil.copy(ROOT / "scenarios" / "maco-chain.toml", tmp_path)
    text = """\
class Mine:
    def __init__(self, links, random):
        pass

    def choose(self, now, paths, backlog):
        return next(path for path in paths if path.has_room)

    def on_interface_forecast(self, now, forecast):
        if forecast.link == "second":
            raise ValueError(f"{now} {forecast.comes_up} {forecast.goes_down} {forecast.handover}")
"""
    scheduler = 'flows.upload.transport.multipath.scheduler={ python = "mine:Mine" }'
    said = failed(
        tmp_path / "maco-chain.toml", text, capsys, "--set", scheduler, "--set", "flows.upload.forecast={}"
    )
    # The first forecast after the handshake looks 15 s ahead.
    assert "ValueError: 1.0 15.0 None None" in said


def test_a_handover_and_what_it_does_to_links_are_told_with_one_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "moves" / "moves.toml"
    file.parent.mkdir()
    file.write_text(
        """\
name = "moves"
duration = "8 s"
nodes = { van = {}, office = {} }
links.one = { between = ["van", "office"], rate = "5 Mbps", delay = "10 ms" }
links.two = { between = ["van", "office"], rate = "5 Mbps", delay = "10 ms" }
handovers.move = { node = "van", links = ["one", "two"], kind = "migrate", at = ["5 s"], outage = "400 ms" }
[flows.upload]
transport = { kind = "quic", multipath = { links = ["one", "two"], scheduler = { python = "mine:Mine" } } }
from = "van"
to = "office"
source = "bulk"
forecast = { time_error = "200 ms" }
""",
        encoding="utf-8",
    )
    text = """\
class Mine:
    def __init__(self, links, random):
        self.told = {}

    def choose(self, now, paths, backlog):
        return next(path for path in paths if path.has_room)

    def on_interface_forecast(self, now, forecast):
        self.told[forecast.link] = forecast
        if len(self.told) == 2:
            down, (begins, ends) = self.told["one"].goes_down, self.told["one"].handover
            raise ValueError(f"{down} {begins} {ends} {self.told['two'].comes_up}")
"""
    said = failed(file, text, capsys)
    down, begins, ends, up = (float(number) for number in said.rsplit("ValueError: ", 1)[1].split()[:4])
    assert down == begins != 5.0
    assert up == ends == pytest.approx(begins + 0.4)
