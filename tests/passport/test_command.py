"""`leobench passport`: its files, exit codes, resumption, comparisons and refusals."""

from __future__ import annotations

import dataclasses
import json
import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest

from leobench import cli, passport
from leobench.candidate import Candidate
from leobench.errors import InputError
from leobench.passport import document, tables

if TYPE_CHECKING:
    from pathlib import Path

    from leobench.campaign import Status

CHECKS = ("policer-goodput", "policer-loss", "thin-goodput", "call-late")

SLOW = """\
class Mine(CongestionController):
    def on_ack(self, ack): self.window = {window} * self.packet
    def on_loss(self, event): pass
"""


def short() -> passport.Suite:
    """A suite of three cases, two runs each, of 12 s."""
    suite = passport.load_suite(1).restricted(only=CHECKS)
    cases = {name: dataclasses.replace(case, duration="12 s") for name, case in suite.cases.items()}
    return dataclasses.replace(suite, cases=cases, replicates=2)


SMALL = short()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the command take the short suite."""
    monkeypatch.setattr(passport, "load_suite", lambda _: SMALL)


def made(folder: Path, *names: str, resume: bool = False) -> bytes:
    """The bytes of the passport of some controllers."""
    done = passport.examine_all(
        [Candidate.parse(name) for name in names], SMALL, folder, workers=1, resume=resume
    )
    document.write(document.as_json(*done), folder)
    return (folder / document.JSON).read_bytes()


def test_two_examinations_and_one_that_was_interrupted_give_the_same_bytes(tmp_path: Path) -> None:
    def stop(status: Status) -> None:
        if status.done == 4:
            raise KeyboardInterrupt

    first = made(tmp_path / "first", "newreno")
    with pytest.raises(KeyboardInterrupt):
        passport.examine_all(
            [Candidate.parse("newreno")], SMALL, tmp_path / "again", workers=1, progress=stop
        )
    kept: list[int] = []
    passport.examine_all(
        [Candidate.parse("newreno")],
        SMALL,
        tmp_path / "again",
        workers=2,
        resume=True,
        progress=lambda status: kept.append(status.kept),
    )
    assert kept[0] == 4
    assert made(tmp_path / "again", "newreno", resume=True) == first


@pytest.mark.usefixtures("small")
def test_the_command_writes_all_files_and_its_code_tells_whether_a_check_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    arguments = ["passport", "cubic", "--workers", "1", "--against", "newreno", "--out", str(out)]
    assert cli.main(arguments) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("cubic over QUIC, suite 1, 2 runs of each case: 0 fail, 1 warn,")
    # Warnings come first, under the head of three lines.
    assert shown.split("\n")[5].split()[:2] == ["warn", "call-late"]
    assert {file.name for file in out.iterdir()} == {*document.NAMES, "scenario", "runs", "against"}
    described = json.loads((out / document.JSON).read_text(encoding="utf-8"))
    assert [check["id"] for check in described["checks"]] == [check.id for check in SMALL.checks]
    assert all(check["rank"] in {"1", "1=", "2"} for check in described["checks"])
    title = ET.parse(out / document.BADGE).getroot()[0].text  # noqa: S314 (written above)
    assert title == "LEO passport, suite 1: 3 pass, 1 warn, 0 fail"
    assert (out / document.FIGURE).read_bytes().startswith(b"\x89PNG")
    # Stricter, and from the runs that are there.
    assert cli.main([*arguments, "--resume", "--threshold", "call-late=0.1", "--json"]) == 1
    strict = json.loads(capsys.readouterr().out)
    assert strict["suite"]["thresholds"] == {"call-late": 0.1}
    assert strict["counts"]["fail"] == 1


def test_a_passport_is_replaced_or_continued_only_if_asked_for(tmp_path: Path) -> None:
    """The controller's files are copied before the runs: not over those of other runs."""
    code, out = tmp_path / "code", tmp_path / "out"
    code.mkdir()
    (code / "mine.py").write_text("from leobench import *\n" + SLOW.format(window=20), encoding="utf-8")
    suite = dataclasses.replace(SMALL.restricted(only=["thin-goodput"]), replicates=2)
    passport.examine_all([Candidate.parse("mine:Mine", folder=code)], suite, out, workers=1)
    before = (out / "scenario" / "mine.py").read_bytes()
    (code / "mine.py").write_text("from leobench import *\n" + SLOW.format(window=30), encoding="utf-8")
    changed = Candidate.parse("mine:Mine", folder=code)
    with pytest.raises(InputError, match="holds the runs of a passport already; continue it with --resume"):
        passport.examine_all([changed], suite, out, workers=1)
    assert (out / "scenario" / "mine.py").read_bytes() == before
    with pytest.raises(InputError, match="cannot be resumed"):
        passport.examine_all([changed], suite, out, workers=1, resume=True)


@pytest.mark.usefixtures("small")
def test_passports_are_compared_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made(tmp_path / "one", "cubic", "vegas")
    made(tmp_path / "two", "bbr", "vegas")
    assert cli.main(["passport", "--compare", str(tmp_path / "one"), str(tmp_path / "two")]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert lines[0] == "| check | question | cubic | bbr | vegas |"
    late = next(line for line in lines if line.startswith("| `call-late`"))
    cells = [cell.strip() for cell in late.strip("|").split("|")]
    assert cells[2].endswith("warn")
    assert cells[3:] == ["0", "0"]
    whole, quick = ({"suite": {"version": 1, "quick": quick}, "against": None} for quick in (False, True))
    with pytest.raises(InputError, match=r"passports are of suite 1, suite 1 \(quick\)"):
        tables.columns([whole, quick])


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("deep-queue=x", "is not CHECK=VALUE; allowed: such as deep-queue=2"),
        ("deep-queue=-5", "is negative; allowed: 0 or more"),
    ],
)
def test_a_threshold_that_is_none_is_refused(
    given: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["passport", "cubic", "--threshold", given])
    assert ended.value.code == 2
    assert f"{given}: {problem}" in capsys.readouterr().err


def test_a_class_whose_runs_fail_fails(tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (code / "mine.py").write_text(
        "import leobench\n"
        "class Mine(leobench.CongestionController):\n"
        "    def on_ack(self, ack): raise ValueError('no idea')\n"
        "    def on_loss(self, event): pass\n",
        encoding="utf-8",
    )
    suite = dataclasses.replace(SMALL.restricted(only=["thin-goodput"]), replicates=2)
    candidate = Candidate.parse("mine:Mine", folder=code)
    (found,) = passport.examine_all([candidate], suite, tmp_path / "out", workers=1)
    assert found.findings[0].verdict == "fail"
    assert "no idea" in (found.findings[0].note or "")
    assert list(found.files) == ["mine.py"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cubc"], "no such congestion controller; .*did you mean `cubic`"),
        (["cubic", "--suite", "2"], "--suite 2: there is no such suite; allowed: `1`"),
        (["cubic", "--threshold", "deep-quue=2"], "no such check; .*did you mean `deep-queue`"),
        (["cubic", "--quick", "--threshold", "pie-queue=2"], "suite 1 with --quick has no such check"),
        (["hollow:Hollow"], "has no method `on_loss`; allowed: a class that has"),
        (["hollow:Hollo"], "has no `Hollo`; .*did you mean `Hollow`"),
        (["./mine.so"], "there is no such file"),
        (["--stack", "./mine.so"], "--stack ./mine.so: there is no such file"),
        (["{ kind = 'cubic', bta = 0.5 }"], "unknown key; .*did you mean `beta`"),
        (["kernel:nothing"], "this kernel has no such controller"),
        (["lia", "--transport", "tcp"], "couples the paths"),
        ([], "CONTROLLER: is missing"),
        (["--compare", "nothing"], "nothing: holds no passport"),
    ],
)
def test_wrong_input_is_refused_in_one_line(
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "hollow.py").write_text(
        "class Hollow:\n    def __init__(self, packet, random): pass\n    def on_ack(self, ack): pass\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    assert cli.main(["passport", *words]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert re.search(message, said)
    assert not (tmp_path / "results").exists()


@pytest.mark.slow
def test_cubic_raises_no_alarm_in_the_whole_suite(tmp_path: Path) -> None:
    """The standard of RFC 9438 fails nothing, and its queue in deep buffers is told."""
    (found,) = passport.examine_all([Candidate.parse("cubic")], passport.load_suite(1), tmp_path)
    verdicts = {finding.check.id: finding.verdict for finding in found.findings}
    assert "fail" not in verdicts.values()
    assert verdicts["deep-queue"] == "warn"
