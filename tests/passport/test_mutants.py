"""Controllers with a known fault fail the checks that ask for it, and the Reno they are made of does not."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leobench import passport
from leobench.candidate import Candidate
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

# The fewest seeds with an interval worth having; built-in controllers cost less.
SEEDS, OF_BUILT_IN = 3, 5
# By group, at least three mutants; those without a colon are built in, and known for what they fail.
MUTANTS = {
    "alone": {
        "mutants:PacesAtHalf": ["fat-goodput", "thin-goodput"],
        "mutants:Stuck": ["fat-goodput", "long-goodput"],
        "mutants:SkipsSlowStart": ["long-goodput"],
        "mutants:IgnoresLoss": ["thin-loss"],
        "newreno": ["long-goodput"],
    },
    "queues": {
        "mutants:IgnoresLoss": ["shallow-loss", "medium-queue"],
        "mutants:TwiceThePath": ["shallow-loss"],
        "mutants:Stubborn": ["deep-queue"],
        "mutants:Stuck": ["medium-goodput"],
    },
    "itself": {
        "mutants:IgnoresLoss": ["four-loss"],
        "mutants:GivesWay": ["two-fairness", "rtt-fairness"],
        "mutants:TwiceThePath": ["four-loss"],
        "bbr": ["four-fairness", "four-loss"],
    },
    "others": {
        "mutants:IgnoresLoss": ["cubic-shallow-harm", "cubic-medium-harm"],
        "mutants:ManyInOne": ["cubic-medium-harm"],
        "mutants:Stuck": ["cubic-medium-starved", "bbr3-starved"],
        "mutants:GivesWay": ["cubic-medium-starved"],
        "bbr": ["cubic-shallow-harm", "cubic-medium-harm", "bbr3-harm"],
        "vegas": ["cubic-medium-starved", "cubic-deep-starved"],
    },
    "aqm": {
        "mutants:IgnoresMarks": ["codel-queue", "red-queue", "ecn-harm"],
        "mutants:StaysLow": ["pie-goodput", "red-goodput"],
        "mutants:Stuck": ["fq-codel-goodput"],
        "bbr": ["ecn-harm"],
    },
    "loss": {
        "mutants:DreadsLoss": ["loss-1in1000-goodput"],
        "mutants:Stuck": ["reordering-goodput", "bursts-goodput"],
        "mutants:StaysLow": ["loss-1in1000-goodput", "loss-1in100-goodput"],
    },
    "motion": {
        "mutants:DreadsChange": ["handover-goodput"],
        "mutants:DreadsLoss": ["handover-loss-recovery"],
        "mutants:IgnoresLoss": ["fading-loss"],
        "mutants:SleepsAfterSilence": ["outage-goodput"],
        "vegas": ["handover-goodput", "starlink-goodput"],
    },
    "traffic": {
        "mutants:IgnoresLoss": ["short-inflation"],
        "mutants:Stubborn": ["call-late"],
        "mutants:SleepsAfterSilence": ["idle-restart"],
        "mutants:BurstsAfterSilence": ["idle-loss"],
    },
    "limits": {
        "mutants:IgnoresLoss": ["policer-loss", "collapse-loss"],
        "mutants:TwiceThePath": ["collapse-loss"],
        "mutants:Stuck": ["policer-goodput"],
    },
}
# Checks of these that NewReno itself fails: RFC 9438 was written for such paths.
OF_RENO = {"long-goodput"}


def verdicts(text: str, checks: Sequence[str], tmp_path: Path, seeds: int | None = None) -> dict[str, str]:
    """The verdicts of some checks over few seeds."""
    code = tmp_path / "code"
    code.mkdir()
    shutil.copy(ROOT / "examples" / "reno.py", code)
    shutil.copy(Path(__file__).with_name("mutants.py"), code)
    seeds = seeds or (SEEDS if ":" in text else OF_BUILT_IN)
    suite = dataclasses.replace(passport.load_suite(1).restricted(only=checks), replicates=seeds)
    candidate = Candidate.parse(text, folder=code)
    (made,) = passport.examine_all([candidate], suite, tmp_path / "passport", workers=1)
    return {finding.check.id: finding.verdict for finding in made.findings}


@pytest.mark.parametrize(
    ("text", "checks"),
    [
        pytest.param(text, checks, id=f"{group}-{text}")
        for group, mutants in MUTANTS.items()
        for text, checks in mutants.items()
    ],
)
def test_a_mutant_fails_the_right_checks(text: str, checks: list[str], tmp_path: Path) -> None:
    assert verdicts(text, checks, tmp_path) == dict.fromkeys(checks, "fail")


def test_each_group_of_checks_has_three_mutants() -> None:
    groups = {check.id: check.group for check in passport.load_suite(1).checks}
    assert MUTANTS.keys() == set(groups.values())
    for group, mutants in MUTANTS.items():
        assert len(mutants) >= 3
        assert {groups[check] for checks in mutants.values() for check in checks} == {group}


def test_the_reno_of_the_mutants_fails_nothing_that_they_fail(tmp_path: Path) -> None:
    """Otherwise they would fail for being Reno."""
    checks = {check for mutants in MUTANTS.values() for each in mutants.values() for check in each}
    found = verdicts("newreno", sorted(checks - OF_RENO), tmp_path, SEEDS)
    assert {check for check, verdict in found.items() if verdict == "fail"} == set()
