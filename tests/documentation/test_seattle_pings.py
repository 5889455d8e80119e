"""Pings of the models beside those measured over Starlink in Seattle, and what the report says of both."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tools import seattle

if TYPE_CHECKING:
    from collections.abc import Mapping

    Rows = list[tuple[str, seattle.Array]]

PAGE = (seattle.ROOT / "docs" / "reports" / "starlink.md").read_text(encoding="utf-8")

needs_data = pytest.mark.skipif(not seattle.DATA.exists(), reason="the measured pings are not here")


def of_the_page() -> Rows:
    """The table of the report."""
    row = r"^\| (fit of the other half|[^|]* measured|geometry and frames) \|(.*)\|$"
    lines = re.findall(row, PAGE, re.MULTILINE)
    return [(name, np.array([float(cell) for cell in cells.split("|")])) for name, cells in lines]


@pytest.fixture(scope="module")
def rows() -> Rows:
    """The rows with one run of each model, not with five."""
    return list(seattle.rows(seattle.SEEDS[:1]))


def shown(rows: Rows) -> Mapping[str, Rows]:
    """The rows of each half by its name: the measured one, and the model of the other half."""
    return {"first": rows[:2], "second": rows[2:4]}


@needs_data
def test_the_report_has_the_table(rows: Rows) -> None:
    """Measured rows are as printed; quantiles of a single run are within the 15 % of the report."""
    table = of_the_page()
    assert [name for name, _ in table] == [name for name, _ in rows]
    for (_, printed), (name, numbers) in zip(table, rows, strict=True):
        if "measured" in name:
            assert printed == pytest.approx(numbers, rel=0.006, abs=0.0051), name
        else:
            assert printed[:5] == pytest.approx(numbers[:5], rel=0.15), name


@needs_data
@pytest.mark.slow
def test_the_report_has_the_means_over_all_seeds() -> None:
    for (_, printed), (name, numbers) in zip(of_the_page(), seattle.rows(), strict=True):
        assert printed == pytest.approx(numbers, rel=0.006, abs=0.0051), name


def test_the_fit_has_the_order_of_pings_that_it_has_not_seen() -> None:
    """Share of variance between slots, steps of their medians, and means over a second, in the table."""
    for name, ((_, real), (_, model)) in shown(of_the_page()).items():
        between, step, second, five = slice(5, 6), slice(6, 7), slice(7, 8), slice(8, 9)
        assert model[between] == pytest.approx(real[between], rel=0.2), name
        assert model[step] == pytest.approx(real[step], rel=0.4), name
        assert model[second] == pytest.approx(real[second], rel=0.2), name
        assert model[five] == pytest.approx(real[five], rel=0.3), name


@needs_data
def test_frames_have_the_distribution_only() -> None:
    rows = of_the_page()
    whole = seattle.quantiles(seattle.measured())
    frames = rows[-1][1]
    assert frames[:5] == pytest.approx(whole, rel=0.15)
    assert frames[5] < 0.3 * min(rows[0][1][5], rows[2][1][5])


@needs_data
def test_the_evening_gets_busier() -> None:
    """If the halves did not differ by more than 15 %, the report would withdraw too much."""
    early, late = (seattle.quantiles(half) for half in seattle.halves(seattle.measured()))
    assert late[2] / early[2] > 1.15
    assert late[4] / early[4] > 1.15
    propagation = seattle.quantiles(seattle.modelled(seattle.FRAMES, 1, seattle.WITHOUT_FRAMES))
    assert propagation[2] < 0.7 * early[2]


@needs_data
def test_echoes_arrive_on_a_grid_of_four_frames() -> None:
    hertz = np.arange(130, 290, 0.25)
    power = seattle.on_a_grid(seattle.measured(), hertz)
    assert hertz[power.argmax()] == 750 / 4
    # Times without a grid have a power of 1, exponential in each of some 600 slots: 0.04 either way.
    assert power.max() > 15


def test_without_others_a_ping_waits_for_a_frame_each_way() -> None:
    alone = {"links.sky.access.wait": "0 ms", "links.sky.access.day": None, "duration": "60 s"}
    run = seattle.modelled(seattle.FRAMES, 1, alone)
    # Two waits, each uniform over a frame at most; the way changes by less than 3 ms within a minute.
    assert 16 / 3 < np.ptp(run.values) < 2 * 16 / 3 + 3
