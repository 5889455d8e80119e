"""The paths of an attack stay within their bounds, and their timelines are what the events say."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from leobench.attack import space, write
from leobench.attack.goals import GOALS
from leobench.attack.space import Event, Path, State
from leobench.candidate import Candidate
from leobench.scenario import load_text
from tests.support.paths import ROOT

ALL = GOALS["starve"].kinds


@pytest.mark.parametrize("corner", [0.0, 1.0, None])
def test_paths_are_within_their_bounds(corner: float | None) -> None:
    rng = np.random.default_rng(5)
    for _ in range(1 if corner is not None else 200):
        size = len(space.genes(ALL))
        point = [corner] * size if corner is not None else list(rng.random(size))
        path = space.decode([float(share) for share in point], ALL)
        assert 4 <= path.rate_mbps <= 40
        assert 10 <= path.delay_ms <= 40
        assert path.queue_packets >= space.SHORTEST_QUEUE
        for event in path.events:
            assert 0 <= event.at_s <= space.LAST_S
            for name, value in event.values:
                bound = space.BOUNDS[event.kind][name]
                limited = event.kind == "train" and name == "length"
                assert value <= bound.high * 1.005
                assert limited or bound.low > 0 or value >= bound.low
        slots = [event.at_s for event in path.of_kind("reconfiguration") if event.at_s > 0]
        assert all(later - earlier == pytest.approx(15) for earlier, later in pairwise(slots))


def test_bursts_take_at_most_two_fifths_of_the_slowest_satellite() -> None:
    rng = np.random.default_rng(6)
    seen = 0
    for _ in range(300):
        path = space.decode(list(map(float, rng.random(len(space.genes(ALL))))), ALL)
        slowest = min((event["rate"] for event in path.of_kind("reconfiguration")), default=1.0)
        for train in path.of_kind("train"):
            seen += 1
            share = train["length"] / 1e3 * train["rate"] / train["period"]
            assert share <= 0.4 * slowest * 1.01
    assert seen > 50


def test_overlapping_events_add_up() -> None:
    events = (
        Event("reconfiguration", 5.0, (("delay", 10.0), ("rate", 0.5), ("outage", 100.0))),
        Event("fade", 4.0, (("length", 2_000.0), ("rate", 0.1))),
        Event("loss", 8.0, (("length", 20.0),)),
        Event("outage", 9.0, (("length", 500.0),)),
    )
    assert space.timeline(Path(20, 15, 50, events)) == [
        State(0.0, 20, 15, 0.0, True),
        State(4.0, 2, 15, 0.0, True),
        State(5.0, 1, 25, 0.0, False),
        State(5.1, 1, 25, 0.0, True),
        State(6.0, 10, 25, 0.0, True),
        State(8.0, 10, 25, 1.0, True),
        State(8.02, 10, 25, 0.0, True),
        State(9.0, 10, 25, 0.0, False),
        State(9.5, 10, 25, 0.0, True),
    ]


@pytest.mark.parametrize("goal", GOALS)
def test_every_path_is_a_scenario(goal: str) -> None:
    rng = np.random.default_rng(7)
    kinds = GOALS[goal].kinds
    candidate = Candidate.parse("cubic")
    for _ in range(10):
        path = space.decode(list(map(float, rng.random(len(space.genes(kinds))))), kinds)
        load_text(write.scenario(path, candidate, GOALS[goal], 1), "any")


def test_the_scenario_has_the_states_of_the_timeline() -> None:
    path = Path(20, 15, 50, (Event("loss", 8.0, (("length", 20.0),)),))
    text = write.scenario(path, Candidate.parse("cubic"), GOALS["starve"], 1)
    assert '{ at = "0 s", rate = "20 Mbps", delay = "15 ms" }, { at = "8 s", loss = 1.0 }' in text
    assert '{ at = "8.02 s", loss = 0.0 }' in text
    assert len(text.splitlines()) <= 20


def test_the_page_has_every_bound() -> None:
    page = (ROOT / "docs" / "reference" / "attack.md").read_text(encoding="utf-8")
    table = page.partition("## Bounds")[2].partition("## ")[0]
    stated = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert stated == [
        f"| {kind} | {name} | {bound.low:g} to {bound.high:g} {bound.unit} | {bound.reason} |"
        for kind, bounds in space.BOUNDS.items()
        for name, bound in bounds.items()
    ]
    goals = page.partition("## Goals")[2].partition("## ")[0]
    assert all(f"| `{goal.name}` |" in goals and f"| {goal.unit} |" in goals for goal in GOALS.values())
