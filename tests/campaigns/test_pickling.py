"""Results that go from one process to another."""

from __future__ import annotations

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

import leobench
from tests.support import campaigns

if TYPE_CHECKING:
    from pathlib import Path


def test_a_result_is_unpickled_as_it_was(quick: Path, tmp_path: Path) -> None:
    for result in (leobench.run(quick), leobench.run(quick, out=tmp_path / "out")):
        for _ in range(2):  # before and after its tables are read
            again = pickle.loads(pickle.dumps(result))  # noqa: S301
            assert again == result
            assert again.tables.messages.height > 0
            assert again.folder == result.folder


def test_results_of_different_runs_are_not_equal(quick: Path) -> None:
    first, second = leobench.run(quick), leobench.run(quick, overrides={"duration": "1 s"})
    assert first.tables != second.tables
    assert first.tables == first.tables
    assert first.tables != {}


def test_a_campaign_is_unpickled_as_it_was(tmp_path: Path) -> None:
    result = leobench.sweep(campaigns.write(tmp_path), tmp_path / "out", workers=1)
    assert result.tables.messages.height > 0
    again = pickle.loads(pickle.dumps(result))  # noqa: S301
    assert again == result
    assert again.tables == result.tables


def test_a_process_of_a_pool_runs_a_scenario(quick: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as executor:
        done = executor.submit(leobench.run, quick, seed=3)
        wrong = executor.submit(leobench.run, quick.with_name("absent.toml"))
    here = leobench.run(quick, seed=3)
    assert (done.result().summary, done.result().tables) == (here.summary, here.tables)
    assert isinstance(wrong.exception(), leobench.ScenarioError)
