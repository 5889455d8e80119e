"""Stream schedulers written in Python: what they see, where they are found, and what becomes of them."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import subprocess
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

import leobench
from leobench import cli
from tests.schedulers import python_schedulers
from tests.schedulers.python_schedulers import SCENARIO, TURNS, files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    return python_schedulers.write(tmp_path)


def program(*args: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "leobench", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_a_round_robin_in_python_gives_the_bytes_of_the_one_built_in(scenario: Path, tmp_path: Path) -> None:
    before = files(scenario.parent)
    assert cli.main(["run", str(scenario), "--quiet", "--out", str(tmp_path / "python")]) == 0
    built_in = ["--set", "flows.main.transport.scheduler=rr", "--out", str(tmp_path / "rr")]
    assert cli.main(["run", str(scenario), "--quiet", *built_in]) == 0
    tables = {file.name: file.read_bytes() for file in (tmp_path / "python").glob("*.parquet")}
    assert tables == {file.name: file.read_bytes() for file in (tmp_path / "rr").glob("*.parquet")}
    assert len(tables) == 12
    manifest = json.loads((tmp_path / "python" / "manifest.json").read_text(encoding="utf-8"))
    scheduler = manifest["scenario"]["flows"]["main"]["transport"]["scheduler"]
    assert scheduler == {"kind": "python", "python": "turns:Turns", "parameters": {}}
    assert files(scenario.parent) == before, "no compiled module is left beside the scenario"


def test_a_broken_promise_to_fill_packets_stops_the_run(scenario: Path, tmp_path: Path) -> None:
    (scenario.parent / "turns.py").write_text(
        "class Turns:\n"
        "    fills_packets = True\n"
        "    def __init__(self, streams, random):\n"
        "        pass\n"
        "    def schedule(self, now, streams, room):\n"
        "        return [(streams[0], 1)]\n",
        encoding="utf-8",
    )
    ran = program("run", scenario, "--quiet", "--out", tmp_path / "out")
    assert ran.returncode == 1
    assert "`turns:Turns`" in ran.stderr
    assert "bytes of a packet empty, although it declares `fills_packets`" in ran.stderr


def test_random_choices_are_the_same_in_every_process(scenario: Path, tmp_path: Path) -> None:
    (scenario.parent / "turns.py").write_text(
        "import leobench\n"
        "class Turns(leobench.StreamScheduler):\n"
        "    def schedule(self, now, streams, room):\n"
        "        stream = self.random.choice(streams)\n"
        "        return [(stream, min(stream.backlog, room))]\n",
        encoding="utf-8",
    )
    tables = {}
    for name, seed in (("one", "1"), ("two", "1"), ("other", "2")):
        ran = program("run", scenario, "--seed", seed, "--quiet", "--out", tmp_path / name)
        assert (ran.returncode, ran.stderr) == (0, "")
        tables[name] = (tmp_path / name / "messages.parquet").read_bytes()
    assert tables["one"] == tables["two"] != tables["other"]


def test_what_a_scheduler_sees_of_its_streams(scenario: Path) -> None:
    (scenario.parent / "turns.py").write_text(
        "import leobench\n"
        "from seen import seen\n"
        "class Turns(leobench.StreamScheduler):\n"
        "    def __init__(self, streams, random, level, names):\n"
        "        super().__init__(streams, random)\n"
        "        seen.clear()\n"
        "        seen.append((streams, level, names))\n"
        "    def schedule(self, now, streams, room):\n"
        "        for s in streams:\n"
        "            seen.append((now, room, s, s.number, s.backlog, s.messages, s.head_age, s.sojourn_sum,\n"
        "                         s.deadline, s.weight, s.urgency, s.incremental))\n"
        "        first = streams[0]\n"
        "        return [(first.number, min(first.backlog, room))]\n",
        encoding="utf-8",
    )
    # A module that was imported by other means is used as it is, so both sides see one list.
    with seen_module() as seen:
        parameters = {"level": 3, "names": ["a", {"b": 0.5, "c": True}]}
        scheduler = {"python": "turns:Turns", "weights": [1, 2.5, 4], "parameters": parameters}
        result = leobench.run(scenario, overrides={"flows.main.transport.scheduler": scheduler})
    created = [
        result.tables.messages.filter(stream=name)["created_ns"].to_list() for name in ("s1", "s2", "s3")
    ]
    sizes = (700, 1_700, 90)
    assert seen[0] == (3, 3, ["a", {"b": 0.5, "c": True}])
    views = {view.number: view for _, _, view, *_ in seen[1:]}
    lifetimes = (0.080, None, None)
    assert len(seen) > 4_000
    for now, room, view, number, backlog, messages, head_age, sojourn_sum, deadline, *attributes in seen[1:]:
        # The smallest STREAM frame takes three bytes (RFC 9000 section 19.8), the largest fills the payload.
        assert 3 <= room <= 1_252
        assert view is views[number], "one object per stream"
        assert attributes == [(1, 2.5, 4)[number], (3, 1, 3)[number], number == 1]
        assert messages == -(-backlog // sizes[number]) >= 1
        # Messages leave in the order in which they come: those waiting are the last that were created by now.
        came = [time_ns / 1e9 for time_ns in created[number] if time_ns / 1e9 <= now]
        waiting = came[-messages:]
        assert head_age == pytest.approx(now - waiting[0], abs=1e-9)
        assert sojourn_sum == pytest.approx(sum(now - each for each in waiting), abs=1e-6)
        lifetime = lifetimes[number]
        assert deadline == (None if lifetime is None else pytest.approx(lifetime - head_age, abs=1e-9))
    view = next(iter(views.values()))
    with pytest.raises(AttributeError):
        view.backlog = 3
    assert repr(views[0]) == "<Stream 0: 0 bytes waiting>"
    assert (views[0].head_age, views[0].sojourn_sum, views[0].deadline) == (0, 0, None)
    assert isinstance(view, leobench.Stream)


@contextlib.contextmanager
def seen_module() -> Iterator[list[Any]]:
    """A module `seen` with a list of that name."""
    module = ModuleType("seen")
    module.seen = []  # type: ignore[attr-defined]
    sys.modules["seen"] = module
    yield module.seen
    del sys.modules["seen"]


def test_a_scheduler_hears_of_every_change_once(scenario: Path) -> None:
    (scenario.parent / "turns.py").write_text(
        "from seen import seen\n"
        "class Turns:\n"
        "    def __init__(self, streams, random):\n"
        "        pass\n"
        "    def on_change(self, stream):\n"
        "        seen.append((stream.number, stream.backlog, stream.held))\n"
        "    def schedule(self, now, streams, room):\n"
        "        seen.append([(stream.number, stream.backlog) for stream in streams])\n"
        "        return [(streams[-1], min(streams[-1].backlog, room))]\n",
        encoding="utf-8",
    )
    overrides: dict[str, object] = {"flows.main.transport.stream_window": "3 kB"}
    with seen_module() as seen:
        leobench.run(scenario, overrides=overrides)
    backlogs, held, since, packets = [0, 0, 0], [False] * 3, set[int](), 0
    for item in seen:
        if isinstance(item, tuple):
            number, backlog, is_held = item
            assert number not in since
            since.add(number)
            backlogs[number], held[number] = backlog, is_held
        else:
            # What was heard is all there is to know of who has bytes waiting.
            expected = [(n, backlogs[n]) for n in range(3) if backlogs[n] and not held[n]]
            assert item == expected
            since.clear()
            packets += 1
    assert packets > 1_000
    assert any(is_held for _, _, is_held in (item for item in seen if isinstance(item, tuple)))


def test_a_module_is_read_again_when_it_or_one_beside_it_has_changed(scenario: Path) -> None:
    folder = scenario.parent
    (folder / "turns.py").write_text(
        "from steps import STEP\n" + TURNS.replace("number + 1", "number + STEP"), encoding="utf-8"
    )
    seen = []
    for step in (1, 2, 1):
        # Of one size and within a second: compiled modules could not be told apart.
        (folder / "steps.py").write_text(f"STEP = {step}\n", encoding="utf-8")
        seen.append(leobench.run(scenario).tables.messages)
    assert seen[0].equals(seen[2])
    assert not seen[0].equals(seen[1])
    assert "turns" not in sys.modules
    assert "steps" not in sys.modules


# Serves the streams in turn, for a number of times that is kept in the class, the module, and one beside it.
COUNTING = """\
import leobench
import tally

TOTAL = [0]


class Turns(leobench.StreamScheduler):
    count = 0

    def schedule(self, now, streams, room):
        Turns.count += 1
        TOTAL[0] += 1
        tally.count += 1
        assert Turns.count == TOTAL[0] == tally.count
        stream = streams[(Turns.count // 1_000) % len(streams)]
        return [[stream, min(stream.backlog, room)]]
"""


def test_runs_share_nothing_by_way_of_a_module(scenario: Path, tmp_path: Path) -> None:
    (scenario.parent / "turns.py").write_text(COUNTING, encoding="utf-8")
    (scenario.parent / "tally.py").write_text("count = 0\n", encoding="utf-8")
    first, second = (leobench.run(scenario, 3).tables.messages for _ in range(2))
    assert first.equals(second)
    campaign = scenario.parent / "campaign.toml"
    campaign.write_text(CAMPAIGN.replace("replicates = 2", "replicates = 4"), encoding="utf-8")
    two = leobench.sweep(campaign, tmp_path / "two", workers=2)
    one = leobench.sweep(campaign, tmp_path / "one", workers=1)
    assert two.failures.is_empty()
    assert two.runs.equals(one.runs)
    assert two.tables.messages.equals(one.tables.messages)


def test_connections_of_one_run_share_a_module(scenario: Path) -> None:
    text = SCENARIO + SCENARIO[SCENARIO.index("[flows.main]") :].replace("flows.main", "flows.other")
    scenario.write_text(text, encoding="utf-8")
    (scenario.parent / "turns.py").write_text(
        TURNS.replace("    def __init__", "    made = []\n\n    def __init__").replace(
            "self.next = 0", "self.next = 0\n        self.made.append(self)\n        seen.append(self.made)"
        )
        + "\n\nfrom seen import seen\n",
        encoding="utf-8",
    )
    with seen_module() as seen:
        leobench.run(scenario)
    # A check of both flows, and a run of both.
    assert len({id(made) for made in seen}) == 2
    assert len(seen) == sum(len(made) for made in {id(made): made for made in seen}.values())


def test_scenarios_in_different_folders_may_have_modules_of_one_name(scenario: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "turns.toml").write_text(SCENARIO, encoding="utf-8")
    (other / "turns.py").write_text("from names import Turns", encoding="utf-8")
    (other / "names.py").write_text(TURNS.replace("class Turns", "class Turn"), encoding="utf-8")
    leobench.check(scenario)
    with pytest.raises(leobench.ScenarioError, match="cannot import name 'Turns' from 'names'"):
        leobench.check(other / "turns.toml")
    leobench.check(scenario)


def test_modules_of_packages_and_installed_ones(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = scenario.parent / "mine"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "turns.py").write_text("from .base import Turns\n", encoding="utf-8")
    (package / "base.py").write_text(TURNS, encoding="utf-8")
    expected = leobench.run(scenario).tables.messages
    inside = leobench.run(scenario, overrides={"flows.main.transport.scheduler.python": "mine.turns:Turns"})
    assert inside.tables.messages.equals(expected)

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "installed_turns.py").write_text(TURNS, encoding="utf-8")
    monkeypatch.syspath_prepend(elsewhere)
    name = {"flows.main.transport.scheduler.python": "installed_turns:Turns"}
    installed = leobench.run(scenario, overrides=name)
    assert installed.tables.messages.equals(expected)
    assert importlib.import_module("installed_turns").__name__ in sys.modules


CAMPAIGN = """\
name = "turns"
scenario = "turns.toml"
replicates = 2
seed = 1
metrics = ["flows.main.goodput_bps"]
tables = ["messages"]

[[grid]]
"flows.main.transport.scheduler" = ["rr", { python = "turns:Turns" }]
"""


def test_a_campaign_in_two_processes(scenario: Path, tmp_path: Path) -> None:
    campaign = scenario.parent / "campaign.toml"
    campaign.write_text(CAMPAIGN, encoding="utf-8")
    two = leobench.sweep(campaign, tmp_path / "two", workers=2)
    one = leobench.sweep(campaign, tmp_path / "one", workers=1)
    assert two.failures.is_empty()
    assert two.runs.equals(one.runs)
    by_variant = dict(two.runs.group_by("variant", maintain_order=True).agg("value").iter_rows())
    assert len(by_variant) == 2
    assert len({tuple(values) for values in by_variant.values()}) == 1, "rr is rr"
    manifest = json.loads((tmp_path / "two" / "manifest.json").read_text(encoding="utf-8"))
    digest = hashlib.sha256(TURNS.encode()).hexdigest()
    assert manifest["identity"]["files"] == {"turns.py": digest}


# Dask's own threads and sockets are not always closed when it says so.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_a_campaign_on_a_cluster(scenario: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="needs the extra: pip install leobench[dask]")
    campaign = scenario.parent / "campaign.toml"
    campaign.write_text(CAMPAIGN, encoding="utf-8")
    here = leobench.sweep(campaign, tmp_path / "here", workers=1)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as local,
        distributed.Client(local) as client,
    ):
        there = leobench.sweep(campaign, tmp_path / "there", client.get_executor())
    assert there.failures.is_empty()
    assert there.runs.equals(here.runs)


def test_a_campaign_is_not_continued_with_another_scheduler(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = scenario.parent / "campaign.toml"
    campaign.write_text(CAMPAIGN, encoding="utf-8")
    args = ["sweep", str(campaign), "--out", str(tmp_path / "out"), "--workers", "1", "--quiet"]
    assert cli.main(args) == 0
    assert cli.main([*args, "--resume"]) == 0
    (scenario.parent / "turns.py").write_text(TURNS + "# changed\n", encoding="utf-8")
    assert cli.main([*args, "--resume"]) == 2
    assert "turns.py: has changed since" in capsys.readouterr().err


def test_a_campaign_keeps_what_a_failing_scheduler_said(scenario: Path, tmp_path: Path) -> None:
    campaign = scenario.parent / "campaign.toml"
    campaign.write_text(CAMPAIGN, encoding="utf-8")
    failing = TURNS.replace("shares = []", "shares = [][:1 // (now < 1)]")
    (scenario.parent / "turns.py").write_text(failing, encoding="utf-8")
    result = leobench.sweep(campaign, tmp_path / "out", workers=2)
    assert result.failures.height == 2
    for said in result.failures["error"]:
        assert said.startswith("flow `main`: scheduler `turns:Turns` at 1.0")
        assert said.endswith("ZeroDivisionError: integer division or modulo by zero")


def test_it_is_listed_with_its_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    assert leobench.kinds("schedulers")["python"] == "A scheduler class written in Python."
    assert cli.main(["list", "schedulers", "python"]) == 0
    said = capsys.readouterr().out
    assert "python (required)" in said
    assert "weights (optional)" in said
    assert "parameters (default: " in said
