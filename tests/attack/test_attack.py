"""Whole attacks: the same bytes whatever the workers, resumption, refusals, and a weakness that is known."""

from __future__ import annotations

import json
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest

import leobench
from leobench import cli
from leobench.attack import attack, measured, search
from leobench.candidate import Candidate
from leobench.errors import InputError, RunError

if TYPE_CHECKING:
    from pathlib import Path

# A controller whose window never moves.
STILL = """
import leobench

class Still(leobench.CongestionController):
    def __init__(self, packet, random):
        super().__init__(packet, random)
        self.window = 2 * packet

    def on_loss(self, event):
        pass

    def on_ack(self, ack):
        pass
"""

SHORT = ["--evaluations", "24", "--quiet"]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few draws of measured channels, and few random paths before the first generation of CMA-ES."""
    monkeypatch.setattr(measured, "DRAWS", 1)
    monkeypatch.setattr(search, "_OPENING", 8)


def run(out: Path, *more: str) -> dict[str, bytes]:
    given = ["attack", "newreno", "--transport", "tcp", "--goal", "starve", "--out", str(out), *SHORT, *more]
    assert cli.main(given) == 0
    names = ("attack.json", "evaluations.jsonl", "settings.json", "scenario.toml", "found.toml", "attack.png")
    return {name: (out / name).read_bytes() for name in names}


def test_the_same_seed_gives_the_same_bytes_also_after_an_interruption(tmp_path: Path) -> None:
    first = run(tmp_path / "one", "--workers", "1")
    assert run(tmp_path / "two", "--workers", "2") == first
    # Half of the evaluations, and a part of a line, are what an interruption leaves.
    cut = tmp_path / "cut"
    cut.mkdir()
    (cut / "settings.json").write_bytes(first["settings.json"])
    lines = first["evaluations.jsonl"].splitlines(keepends=True)
    (cut / "evaluations.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]) + lines[-1][:20])
    assert run(cut, "--workers", "1") == first


def test_the_low_rate_attack_on_tcp_is_found_again(tmp_path: Path) -> None:
    """Kuzmanovic and Knightly 2003: bursts at the period of the retransmission timeout starve TCP."""
    folder = tmp_path / "shrew"
    outcome = attack(Candidate.parse("newreno", "tcp"), "starve", folder, evaluations=80, workers=1)
    path, harm = outcome.small
    assert harm >= 0.8 * outcome.found[1]
    assert harm > 0.6
    (train,) = path.of_kind("train")
    # Bursts take at most two fifths of the path, and the flow less than half of the rest.
    assert train["length"] / 1e3 * train["rate"] <= 0.41 * train["period"]
    text = (folder / "scenario.toml").read_text()
    assert len(text.splitlines()) <= 20
    tomllib.loads(text)
    written = json.loads((folder / "attack.json").read_text())
    assert written["harm"]["shrunk"] == harm
    assert set(written["harm"]["measured"]) == {
        "starlink",
        "osnabrueck-2024",
        "autobahn-2024",
        "seattle-2023",
        "trace",
    }
    # The scenario shows the shrunk harm when it is run again.
    assert list((folder / "run" / "pcap").glob("victim-*.pcapng"))


def test_harm_to_both_controllers_is_no_find(tmp_path: Path) -> None:
    candidate = Candidate.parse("cubic")
    outcome = attack(candidate, "starve", tmp_path / "a", against=candidate, evaluations=4, workers=1)
    assert outcome.small[1] == 0.0
    assert outcome.small[0].events == ()
    assert set(outcome.measured.values()) == {0.0}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (["cubic", "--goal", "starv"], "--goal starv: there is no such goal; allowed: `starve`"),
        (["cubik", "--goal", "stall"], "did you mean `cubic`?"),
        (["cubic", "--goal", "stall", "--evaluations", "0"], "--evaluations = 0: is not positive"),
        (
            ["cubic", "--goal", "bloat", "--events", "train"],
            "--events train: is no event of the goal `bloat`",
        ),
        (["kernel:cubic", "--goal", "stall"], "runs in real time only"),
        (["cubic", "--goal", "stall", "--seed", "-1"], "--seed: -1 is negative"),
    ],
)
def test_wrong_input_is_refused(
    given: list[str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["attack", *given, "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("budget", ["ten", "10", "0 s", "-5min"])
def test_a_budget_is_a_time(budget: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        cli.main(["attack", "cubic", "--goal", "stall", f"--budget={budget}"])
    assert exit_.value.code == 2
    assert "is no time; allowed: a number with s, min or h" in capsys.readouterr().err


def test_the_folder_of_another_attack_is_refused(tmp_path: Path) -> None:
    attack(Candidate.parse("newreno"), "starve", tmp_path / "a", evaluations=2, workers=1)
    with pytest.raises(InputError, match='holds another attack, whose controller is "newreno", not "cubic"'):
        attack(Candidate.parse("cubic"), "starve", tmp_path / "a", evaluations=2, workers=1)
    with pytest.raises(InputError, match="whose seed is 1, not 2"):
        attack(Candidate.parse("newreno"), "starve", tmp_path / "a", evaluations=2, workers=1, seed=2)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="is no folder of `leobench attack`"):
        attack(Candidate.parse("cubic"), "starve", tmp_path / "b", evaluations=2, workers=1)
    assert [file.name for file in (tmp_path / "b").iterdir()] == ["mine.txt"]


def test_a_library_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "cma", None)
    assert cli.main(["attack", "cubic", "--goal", "stall", "--out", str(tmp_path / "out")]) == 2
    assert "pip install 'leobench[attack]'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_class_in_python_is_attacked_and_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "still.py").write_text(STILL)
    monkeypatch.chdir(tmp_path)
    outcome = attack(Candidate.parse("still:Still"), "starve", tmp_path / "out", evaluations=4, workers=1)
    # Two packets per round trip carry little of any path, whatever happens to it.
    assert outcome.small[1] > 0.5
    assert outcome.small[0].events == ()
    assert (tmp_path / "out" / "still.py").read_text() == STILL
    assert list((tmp_path / "out" / "run" / "qlog").glob("victim-sender.sqlog"))
    # Another class of the same name is another attack.
    (tmp_path / "still.py").write_text(STILL + "# changed\n")
    with pytest.raises(InputError, match="whose files of the controller had other contents"):
        attack(Candidate.parse("still:Still"), "starve", tmp_path / "out", evaluations=4, workers=1)


def test_a_run_that_fails_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.py").write_text(STILL.replace("Still", "Broken") + "        1 / 0\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RunError, match=r"failed\.toml: .*division by zero"):
        attack(Candidate.parse("broken:Broken"), "starve", tmp_path / "out", evaluations=4, workers=1)
    assert "broken:Broken" in (tmp_path / "out" / "failed.toml").read_text()
    # The scenario fails again by itself, beside a copy of the class.
    with pytest.raises(RunError, match="division by zero"):
        leobench.run(tmp_path / "out" / "failed.toml")
    # It is the scenario of the controller that failed, also from a process of its own.
    cubic, broken = Candidate.parse("cubic"), Candidate.parse("broken:Broken")
    with pytest.raises(RunError, match="division by zero"):
        attack(cubic, "starve", tmp_path / "pair", against=broken, evaluations=4, workers=2)
    assert "broken:Broken" in (tmp_path / "pair" / "failed.toml").read_text()
