"""The mutator of scenarios and campaigns, in short and in full."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

sys.path.insert(0, str(ROOT / "tools" / "mutate"))

import hostile
import judge
import mutations
import pool

import scenarios


def violations(plan: scenarios.Plan, seed: int, folder: Path, seconds: float) -> list[str]:
    """The violations found, each after the command of its case."""
    found = scenarios.violations(plan, seed, folder, pool.Bounds(seconds=seconds))
    return [f"{case.command}: {verdict}" for case, verdict in found]


def test_some_mutants_are_answered_or_refused(tmp_path: Path) -> None:
    assert violations(scenarios.Plan(80, 4, 6), 1, tmp_path, 60) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_mutants_are_answered_or_refused(seed: int, tmp_path: Path) -> None:
    plan = scenarios.Plan(10_000, 500, len(hostile.BODIES))
    assert violations(plan, seed, tmp_path, 60) == []


def test_a_tree_is_written_as_it_was_read() -> None:
    text = 'name = "a\\u0000b"\n[x."a b"]\ny = [1, { z = -0.5 }, "t"]\n'
    again = mutations.text(mutations.tree(text))
    assert mutations.tree(again) == mutations.tree(text)


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("__import__('os').abort()", "kills the process: SIGABRT"),
        ("\n        while True: pass", "takes more than 5 s"),
    ],
)
def test_the_mutator_notices(body: str, verdict: str, tmp_path: Path) -> None:
    module = hostile.module("a class").replace("return int", body)
    case = judge.Case("plugin-0", tmp_path, "plugin", body, module.encode())
    found = list(pool.judged([case], judge.judge, pool.Bounds(seconds=5), 1))
    assert found == [(case, verdict)]


def test_the_mutator_notices_a_message_that_controls_a_terminal(tmp_path: Path) -> None:
    case = judge.Case("mutant", tmp_path, "scenario", "scenarios/x.toml", b"")
    assert judge._message("a\x1b[2J", case, "refused") is not None
    assert judge._message("a" * 6_000, case, "refused") is not None
    assert judge._message("a: is wrong; allowed: b", case, "refused") is None
