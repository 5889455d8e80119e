"""Harms of runs whose outcome is known by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from leobench.attack import evaluate, write
from leobench.attack.goals import GOALS, Seen
from leobench.attack.space import Event, Path
from leobench.candidate import Candidate

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEP_S = 0.01
TIMES: NDArray[np.float64] = np.linspace(STEP_S, 10, 1_000)
EVEN = np.full(TIMES.size, 1_000.0)
# Ten seconds in which 1,000 bytes per sample can pass, half of which are data of the flow.
PLAIN = Seen(
    times=TIMES,
    delivered=EVEN / 2,
    beside=EVEN * 0,
    offered=EVEN,
    taken=0.0,
    rtt=EVEN * 0 + 0.05,
    base_rtt=EVEN * 0 + 0.05,
    cwnd=EVEN,
    data_share=1.0,
)


def harm(goal: str, seen: Seen) -> float:
    return GOALS[goal].measure(seen)


def between(start_s: float, end_s: float, inside: float, outside: float) -> NDArray[np.float64]:
    return np.where((start_s + 1e-9 < TIMES) & (end_s + 1e-9 >= TIMES), inside, outside)


def test_a_path_without_capacity_starves_nobody() -> None:
    closed = between(5, 10, 0, 1_000)
    assert harm("starve", PLAIN) == pytest.approx(0.5)
    assert harm("starve", replace(PLAIN, offered=closed, delivered=closed)) == 0.0


def test_bytes_of_others_were_not_possible() -> None:
    # 250,000 of the 1,000,000 bytes were taken, and 500,000 of the 750,000 others carried the flow.
    assert harm("starve", replace(PLAIN, taken=250_000.0)) == pytest.approx(1 / 3)
    # Others took three quarters: the missing half of the rest counts half.
    assert harm("starve", replace(PLAIN, taken=750_000.0, delivered=EVEN / 8)) == pytest.approx(0.25)


def test_an_outage_is_no_stall_but_what_follows_is() -> None:
    closed = between(4, 6, 0, 1_000)
    stalled = between(4, 6.8, 0, 500)
    assert harm("stall", replace(PLAIN, offered=closed, delivered=closed)) == 0.0
    # 0.8 s after the outage, less a round trip of 50 ms.
    assert harm("stall", replace(PLAIN, offered=closed, delivered=stalled)) == pytest.approx(0.75)


def test_bloat_is_relative_to_the_idle_path() -> None:
    doubled = between(2, 8, 0.1, 0.05)
    assert harm("bloat", replace(PLAIN, rtt=doubled)) == pytest.approx(1.0)
    # The same round trip is that of the idle path of a moment ago.
    assert harm("bloat", replace(PLAIN, rtt=doubled, base_rtt=doubled)) == 0.0


def test_the_second_after_a_fall_of_the_rate_is_no_bloat() -> None:
    fallen = between(5, 10, 100, 1_000)
    assert harm("bloat", replace(PLAIN, offered=fallen, rtt=between(5, 5.95, 0.5, 0.05))) == 0.0
    assert harm("bloat", replace(PLAIN, offered=fallen, rtt=between(5, 8, 0.5, 0.05))) == pytest.approx(9.0)


def test_unfairness_is_a_difference_of_shares_of_the_path() -> None:
    assert harm("unfair", replace(PLAIN, beside=EVEN / 2)) == 0.0
    assert harm("unfair", replace(PLAIN, beside=EVEN / 4)) == pytest.approx(0.25)
    # Two flows that both get nothing are not unfair to each other.
    assert harm("unfair", replace(PLAIN, delivered=EVEN * 0, beside=EVEN * 0)) == 0.0


def test_a_run_is_seen_as_its_path_is() -> None:
    outage = Event("outage", 5.0, (("length", 1_000.0),))
    candidate = Candidate.parse("cubic")
    text = write.scenario(Path(8, 20, 60, (outage,)), candidate, GOALS["starve"], 1)
    seen = evaluate.look(text, candidate)
    # 19 of 20 s at 8 Mbit/s.
    assert seen.offered.sum() == pytest.approx(19e6, rel=1e-3)
    assert set(seen.base_rtt[~np.isnan(seen.base_rtt)]) == {0.04}
    # Packets that waited when the outage began still went out.
    assert seen.delivered.sum() <= 1.01 * seen.possible
    assert harm("starve", seen) < 0.2


def test_bursts_count_as_taken() -> None:
    train = Event("train", 0.0, (("period", 1.0), ("length", 100.0), ("rate", 2.0)))
    candidate = Candidate.parse("cubic")
    text = write.scenario(Path(10, 20, 400, (train,)), candidate, GOALS["starve"], 1)
    seen = evaluate.look(text, candidate)
    # Twenty bursts of 100 ms at 20 Mbit/s, most of which pass a long queue.
    assert 0.6 * 20 * 250e3 < seen.taken <= 20 * 250e3 * 1.001
