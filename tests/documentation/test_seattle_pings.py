"""Pings of the model beside those measured over Starlink in Seattle, and what the guide says of both."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tools import seattle

PAGE = (seattle.ROOT / "docs" / "reports" / "starlink.md").read_text(encoding="utf-8")

needs_data = pytest.mark.skipif(not seattle.DATA.exists(), reason="the measured pings are not here")


def rows() -> dict[str, list[tuple[float, float]]]:
    """The quantiles of the guide's table, measured and modelled."""
    lines = re.findall(r"^\| ((?:odd slots|second half)[^|]*) \|(.*)\|$", PAGE, re.MULTILINE)
    pair = re.compile(r"([0-9.]+), ([0-9.]+) \(")
    return {name: [(float(a), float(b)) for a, b in pair.findall(cells)] for name, cells in lines}


@pytest.fixture(scope="module")
def runs() -> list[seattle.Pings]:
    return [seattle.modelled(seed) for seed in seattle.SEEDS]


def test_the_guide_has_the_quantiles_of_the_model(runs: list[seattle.Pings]) -> None:
    table = rows()
    assert len(table) == 5
    model = seattle.together(runs)
    shown = {"odd slots": model, "second half": seattle.pooled(seattle.FIRST_HALF)}
    shown |= {f"odd slots from {hour}:00": model.hour(hour) for hour in seattle.HOURS}
    for name, pings in shown.items():
        assert [rounded for _, rounded in table[name]] == pytest.approx(pings.quantiles(), abs=0.051), name


@needs_data
def test_the_guide_has_the_quantiles_of_the_pings() -> None:
    pings, slots = seattle.measured()
    judged = pings.where(slots % 2 == 1)
    data = {"odd slots": judged, "second half": pings.where(np.arange(len(slots)) >= len(slots) // 2)}
    data |= {f"odd slots from {hour}:00": judged.hour(hour) for hour in seattle.HOURS}
    for name, part in data.items():
        assert [real for real, _ in rows()[name]] == pytest.approx(part.quantiles(), abs=0.051), name


@needs_data
def test_slots_not_fitted_are_within_15_percent(runs: list[seattle.Pings]) -> None:
    pings, slots = seattle.measured()
    judged = pings.where(slots % 2 == 1)
    for run in runs:
        assert run.quantiles() == pytest.approx(judged.quantiles(), rel=0.15)
        for hour in seattle.HOURS:
            assert run.hour(hour).quantiles() == pytest.approx(judged.hour(hour).quantiles(), rel=0.15)


@needs_data
def test_what_is_not_claimed_does_not_hold() -> None:
    """If the halves did not differ by more than 15 %, the guide would withdraw too much."""
    pings, slots = seattle.measured()
    first = np.arange(len(slots)) < len(slots) // 2
    early, late = pings.where(first).quantiles(), pings.where(~first).quantiles()
    assert late[2] / early[2] == pytest.approx(1.18, abs=0.01)
    assert late[4] / early[4] == pytest.approx(1.21, abs=0.01)
    propagation = seattle.modelled(1, seattle.WITHOUT_FRAMES).quantiles()
    assert propagation[2] < 0.7 * early[2]


@needs_data
def test_echoes_arrive_on_a_grid_of_four_frames() -> None:
    pings, slots = seattle.measured()
    hertz = np.arange(130, 290, 0.25)
    power = seattle.on_a_grid(pings.t_s, slots, hertz)
    assert hertz[power.argmax()] == 750 / 4
    # Times without a grid have a power of 1, exponential in each of some 600 slots: 0.04 either way.
    assert power.max() > 15


def test_without_others_a_ping_waits_for_a_frame_each_way() -> None:
    alone = {"links.sky.access.wait": "0 ms", "links.sky.access.day": None, "duration": "60 s"}
    rtts = seattle.modelled(1, alone).rtt_ms
    # Two waits, each uniform over a frame at most; the way changes by less than 3 ms within a minute.
    assert 16 / 3 < np.ptp(rtts) < 2 * 16 / 3 + 3
