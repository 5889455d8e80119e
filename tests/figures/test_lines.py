from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from leobench import InputError
from leobench.plots import lines
from leobench.plots.frames import Column, Interval

X, Y, BY = (
    Column("off_s", "mean interruption", "s"),
    Column("delay_ms", "mean delay", "ms"),
    Column("scheduler"),
)
ENDS = Interval("low", "high")


def sweep() -> pl.DataFrame:
    # Out of order, as runs end.
    return pl.DataFrame(
        {
            "scheduler": ["RR", "BP", "RR", "BP", "RR", "BP"],
            "off_s": [0.4, 0.0, 0.0, 0.2, 0.2, 0.4],
            "delay_ms": [80.0, 30.0, 32.0, None, 60.0, 50.0],
            "low": [70.0, 28.0, 30.0, None, 50.0, 45.0],
            "high": [90.0, 32.0, 34.0, None, 70.0, 55.0],
        }
    )


def test_lines_go_through_the_swept_values_in_order() -> None:
    figure = lines.draw(sweep(), x=X, y=Y, series=BY, interval=ENDS, title="Delay")
    (axes,) = figure.axes
    first, second = axes.get_lines()
    assert (first.get_label(), second.get_label()) == ("RR", "BP")
    assert np.asarray(first.get_xdata()).tolist() == pytest.approx([0.0, 200.0, 400.0])
    assert np.asarray(first.get_ydata()).tolist() == [32.0, 60.0, 80.0]
    assert np.isnan(np.asarray(second.get_ydata(), float)).tolist() == [False, True, False]
    assert first.get_marker() != second.get_marker()
    assert first.get_linestyle() != second.get_linestyle()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("mean interruption (ms)", "mean delay (ms)")
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "200", "400"]
    assert axes.get_ylim()[0] == 0.0
    assert figure.get_supxlabel() == "bands: 95 % confidence interval of the mean"


def test_bands_span_the_interval_and_stop_where_there_is_none() -> None:
    (axes,) = lines.draw(sweep(), x=X, y=Y, series=BY, interval=ENDS).axes
    rr, bp = axes.collections
    corners = {tuple(corner) for corner in np.round(np.asarray(rr.get_paths()[0].vertices), 6).tolist()}
    assert {(0.0, 30.0), (0.0, 34.0), (200.0, 50.0), (200.0, 70.0), (400.0, 70.0), (400.0, 90.0)} <= corners
    assert all(200.0 not in np.asarray(path.vertices)[:, 0] for path in bp.get_paths())


def test_whiskers_stand_a_little_apart_and_end_where_the_intervals_do() -> None:
    figure = lines.draw(sweep(), x=X, y=Y, series=BY, interval=ENDS, whiskers=True)
    (axes,) = figure.axes
    first, second = (line for line in axes.get_lines() if line.get_label() in ("RR", "BP"))
    offsets = [np.asarray(line.get_xdata(), float) - [0, 200, 400] for line in (first, second)]
    assert (offsets[0] < 0).all()
    assert (offsets[1] > 0).all()
    rr, bp = ([np.asarray(path.vertices) for path in each.get_paths()] for each in axes.collections)
    assert [(line[0, 1], line[1, 1]) for line in rr] == [(30, 34), (50, 70), (70, 90)]
    assert [line[0, 0] for line in rr] == pytest.approx(np.asarray(first.get_xdata(), float))
    assert [line[0, 1] for line in bp if np.isfinite(line).all()] == [28, 45]
    assert figure.get_supxlabel() == "whiskers: 95 % confidence interval of the mean"


def test_an_interval_below_zero_ends_with_a_logarithmic_axis() -> None:
    data = sweep().filter(pl.col("scheduler") == "RR").with_columns(low=pl.lit(-5.0))
    y = Column("delay_ms", "mean delay", "ms", log=True)
    (axes,) = lines.draw(data, x=X, y=y, interval=ENDS, whiskers=True).axes
    assert axes.get_ylim()[0] == pytest.approx(20.0), (
        "1, 2 or 5 times a power of ten below the lowest mean, 32"
    )
    (collection,) = axes.collections
    assert min(np.asarray(path.vertices)[:, 1].min() for path in collection.get_paths()) == pytest.approx(3.2)


def test_differences_below_zero_are_shown_against_zero() -> None:
    data = sweep().filter(pl.col("scheduler") == "RR").with_columns(pl.col("delay_ms", "low", "high") - 60.0)
    figure = lines.draw(data, x=X, y=Y, interval=ENDS)
    (axes,) = figure.axes
    assert axes.get_ylim()[0] < -30.0
    assert any(np.all(np.asarray(line.get_ydata()) == 0) for line in axes.get_lines())
    assert figure.legends == []


def test_logarithmic_axes_mark_the_swept_values() -> None:
    data = pl.DataFrame({"rate": [1e6, 4e6, 16e6], "v": [1.0, 20.0, 3_000.0]})
    figure = lines.draw(data, x=Column("rate", "rate", "bit/s", log=True), y=Column("v", log=True))
    (axes,) = figure.axes
    figure.canvas.draw()
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "4", "16"]
    assert {"1", "10", "100", "1000"} <= {label.get_text() for label in axes.get_yticklabels()}


def test_what_is_no_sweep_is_refused() -> None:
    with pytest.raises(InputError, match=r"lines: several rows for off_s = 0\.\d; allowed: one"):
        lines.draw(sweep(), x=X, y=Y)
    with pytest.raises(InputError, match="lines: column `scheduler` holds String; allowed: numbers"):
        lines.draw(sweep(), x="scheduler", y=Y)
    with pytest.raises(InputError, match=r"lines: no column `hi`; .*did you mean `high`\?"):
        lines.draw(sweep(), x=X, y=Y, series=BY, interval=Interval("low", "hi"))
    with pytest.raises(InputError, match="holds 0; allowed on a logarithmic axis"):
        lines.draw(sweep(), x=Column("off_s", log=True), y=Y, series=BY)
