from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from leobench.durations import nanoseconds, seconds
from leobench.errors import InputError
from leobench.files import write_text
from leobench.plots import style, units

if TYPE_CHECKING:
    from pathlib import Path


def test_series_share_the_unit_of_their_largest_number() -> None:
    nan = float("nan")
    assert units.scale_of("bit/s", [np.array([nan, 800.0]), np.array([2e6, nan])]) == (1e6, "Mbit/s")
    assert units.scale_of("B", []) == (1.0, "B")
    assert units.scale_of("B", [np.array([])]) == (1.0, "B")


def test_stacked_panels_fill_a_page_and_share_their_time() -> None:
    figure, stacked = style.stack(2, 4.4, ratios=(2.9, 1.5))
    assert tuple(figure.get_size_inches()) == (style.PAGE, 4.4)
    style.time_axis(stacked, 3.0, 5.0)
    assert [axes.get_xlim() for axes in stacked] == [(3.0, 5.0)] * 2
    assert [axes.get_xlabel() for axes in stacked] == ["", "time (s)"]


def test_an_axis_is_extended_on_its_own_scale() -> None:
    _, (left, right) = style.panels(2)
    left.set_ylim(10, 20)
    style.extend(left, 0.2)
    assert left.get_ylim() == pytest.approx((10, 22))
    right.set_yscale("log")
    right.set_ylim(1, 100)
    style.extend(right, 0.5, 1.0)
    assert right.get_ylim() == pytest.approx((0.01, 1000))


def test_only_the_edges_of_a_grid_are_labelled() -> None:
    _, grid = style.grid(2, 2, (5.0, 4.0))
    for axes in grid.flat:
        style.dress(axes, "", "delay (ms)")
        style.label_x(axes, "time (s)")
    style.label_edges(grid)
    assert [axes.get_ylabel() for axes in grid.flat] == ["delay (ms)", "", "delay (ms)", ""]
    assert [axes.get_xlabel() for axes in grid.flat] == ["", "", "time (s)", "time (s)"]


def test_a_legend_names_its_entries_by_their_labels() -> None:
    figure, _ = style.panels()
    entries = [style.line_entry("up", style.BLUE, linewidth=1.0), style.patch_entry("down", style.CLOSED)]
    style.key_of(figure, entries)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["up", "down"]


def test_times_of_scenarios_are_numbers() -> None:
    assert [nanoseconds(text) for text in ("3 ns", "1.5 us", "250 ms", "2 min")] == [
        3, 1_500, 250_000_000, 120_000_000_000,
    ]  # fmt: skip
    assert seconds("1600 ms") == 1.6


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing/page\.md: cannot be written: there is no folder"):
        write_text(tmp_path / "missing" / "page.md", "")
