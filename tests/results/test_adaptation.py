"""Adaptations of videos in Python: the choices of the built-in one, and those that go wrong."""

from __future__ import annotations

import hashlib
import json
import shutil
from typing import TYPE_CHECKING

import pytest

import leobench
from leobench import cli, plugins
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    Capture = pytest.CaptureFixture[str]

SCENARIO = """\
name = "film"
duration = "90 s"

[nodes.server]
[nodes.viewer]

[links.path]
between = ["server", "viewer"]
delay = "20 ms"
channel = { kind = "on_off", rate = "4 Mbps", on = "12 s", off = "4 s" }

[flows.film]
transport = "quic"
from = "server"
to = "viewer"
opened_by = "to"

[flows.film.video]
ladder = ["500 kbps", "1 Mbps", "2 Mbps", "4 Mbps"]
length = "60 s"
segment = "2 s"
adaptation = { python = "adaptation:Buffer" }
"""

CHOSEN = "flows.film.video.adaptation"

# Differences from the scenario.
CASES: dict[str, dict[str, object]] = {
    "outages": {},
    "sizes that vary": {"flows.film.video.variation": 0.4},
    "a short buffer": {"flows.film.video.most_buffer": "8 s"},
    "live": {
        "flows.film.video.live": {"latency": "12 s", "catch_up": 0.05},
        "flows.film.video.most_buffer": "14 s",
    },
    "a slow link": {"links.path.channel": {"kind": "steady", "rate": "700 kbps"}},
    "fading": {"links.path.channel": {"kind": "lms", "preset": "s"}},
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "film.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    shutil.copy(ROOT / "examples" / "adaptation.py", tmp_path)
    return file


@pytest.mark.parametrize("transport", ["quic", "tcp"])
@pytest.mark.parametrize("case", CASES)
def test_the_example_chooses_as_the_built_in_does(case: str, transport: str, file: Path) -> None:
    changes = {"flows.film.transport": transport, **CASES[case]}
    in_python = leobench.run(file, seed=3, overrides=changes)
    built_in = leobench.run(file, seed=3, overrides={**changes, CHOSEN: "buffer"})
    assert in_python.tables.segments.equals(built_in.tables.segments)
    assert in_python.tables.segments.height > 8
    if case != "a slow link":
        assert in_python.tables.segments["bitrate_bps"].n_unique() > 1


def test_parameters_reach_the_class(file: Path) -> None:
    shares = {"reservoir": 0.1, "cushion": 0.3}
    in_python = {f"{CHOSEN}.parameters": shares}
    built_in = {CHOSEN: {"kind": "buffer", **shares}}
    tables = [leobench.run(file, overrides=each).tables.segments for each in (in_python, built_in, {})]
    assert tables[0].equals(tables[1])
    assert not tables[0].equals(tables[2])


SEEN = """\
class Seen:
    def __init__(self, ladder, segment, random):
        self.ladder, self.segment, self.random, self.downloads = ladder, segment, random, []

    def choose(self, view):
        assert self.ladder == (5e5, 1e6, 2e6, 4e6) and self.segment == 2.0
        assert view.bits == tuple(2 * rate for rate in self.ladder) and view.most_buffer == 30.0
        count = len(self.downloads)
        assert (view.last is None) == (count == 0) and 0 <= view.buffer <= 30.0
        if count:
            done = self.downloads[-1]
            assert done.bytes == self.ladder[view.last] * 2 / 8
            assert abs(done.throughput - done.bytes * 8 / done.seconds) < 1e-6
            assert done.seconds <= view.now
        return self.random.randrange(4)

    def on_download(self, download):
        self.downloads.append(download)
"""


def test_a_class_sees_every_download_and_repeats_by_its_seed(file: Path) -> None:
    file.with_name("seen.py").write_text(SEEN, encoding="utf-8")
    chosen = {CHOSEN: {"python": "seen:Seen"}}
    first, again, other = (leobench.run(file, seed=seed, overrides=chosen) for seed in (1, 1, 2))
    assert first.tables.segments.equals(again.tables.segments)
    rungs = [each.tables.segments["bitrate_bps"].to_list() for each in (first, other)]
    assert rungs[0] != rungs[1]


CLASS = """\
import leobench


class Broken(leobench.Adaptation):
    def choose(self, view):
        if view.now > 3.0:
            {}
        return 1

    def on_download(self, download):
        {}
"""

ALLOWED = "allowed: the number of a bitrate in the ladder, from 0 to 3 (broken.py, line 5)"

# Mistakes in `choose` after 3 s, and the messages about them.
BROKEN = {
    "return 4": f"returned 4; {ALLOWED}",
    "return -1": f"returned -1; {ALLOWED}",
    "return True": f"returned True; {ALLOWED}",
    "return 1.0": f"returned 1.0; {ALLOWED}",
    "return '1'": f"returned '1'; {ALLOWED}",
    "return None": f"returned None; {ALLOWED}",
    "return 1 // 0": "raised ZeroDivisionError",
    "raise SystemExit('enough')": "raised SystemExit: enough",
}


def run(file: Path, source: str, *changes: str) -> int:
    file.with_name("broken.py").write_text(source, encoding="utf-8")
    changes = (f'{CHOSEN}={{ python = "broken:Broken" }}', *changes)
    sets = [part for change in changes for part in ("--set", change)]
    return cli.main(["run", str(file), "--quiet", *sets, "--out", str(file.with_name("out"))])


@pytest.mark.parametrize("transport", ["quic", "tcp"])
@pytest.mark.parametrize("line", BROKEN)
def test_the_run_ends_and_says_why_and_when(line: str, transport: str, file: Path, capsys: Capture) -> None:
    assert run(file, CLASS.format(line, "pass"), f"flows.film.transport={transport}") == 1
    said = capsys.readouterr().err
    assert BROKEN[line] in said
    assert "flow `film`: adaptation `broken:Broken` at 3." in said
    assert "broken.py" in said
    assert not file.with_name("out").exists()


def test_a_failure_after_a_download_ends_the_run(file: Path, capsys: Capture) -> None:
    assert run(file, CLASS.format("pass", "raise KeyError('late')")) == 1
    said = capsys.readouterr().err
    assert "adaptation `broken:Broken` at" in said
    assert "raised KeyError: 'late'" in said
    assert "in on_download" in said


@pytest.mark.parametrize("lines", [("while True: pass", "pass"), ("pass", "while True: pass")])
def test_a_call_that_never_returns_ends_the_run(
    lines: tuple[str, str], file: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugins, "LONGEST_CALL_S", 1.0)
    assert run(file, CLASS.format(*lines)) == 1
    said = capsys.readouterr().err
    assert "the call went on for 1 s of real time" in said
    assert "broken.py" in said


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("class Other:\n    def choose(self, view): ...\n", "has no `Broken`"),
        ("class Broken:\n    def __init__(self, ladder, segment, random): ...\n", "has no method `choose`"),
        ("class Broken:\n    def choose(self, view): ...\n", "cannot be built"),
        ("def broken(:\n", "cannot be imported"),
    ],
)
def test_a_class_that_is_none_is_refused_before_the_run(
    source: str, said: str, file: Path, capsys: Capture
) -> None:
    assert run(file, source) == 2
    message = capsys.readouterr().err
    assert said in message
    assert f"{CHOSEN}.python" in message
    assert message.count("\n") == 1, "one line"


def test_results_keep_the_digest_of_the_module(file: Path) -> None:
    assert cli.main(["run", str(file), "--quiet", "--out", str(file.with_name("out"))]) == 0
    scenario = json.loads((file.with_name("out") / "manifest.json").read_text(encoding="utf-8"))["scenario"]
    digest = hashlib.sha256((ROOT / "examples" / "adaptation.py").read_bytes()).hexdigest()
    assert plugins.sources(scenario, file.parent) == {"adaptation.py": digest}
