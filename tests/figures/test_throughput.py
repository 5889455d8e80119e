"""Throughput over capacity, and the bands of dense series."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.patches import StepPatch

import leobench
from leobench import InputError, plots
from leobench.plots import bands, rates, throughput, timeline, view
from tests.support import made_up

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from leobench.result import Result


def capacity(axes: Axes) -> tuple[np.ndarray, np.ndarray]:
    """Edges in seconds and heights of the area."""
    area, _ = (patch for patch in axes.patches if isinstance(patch, StepPatch))
    values, edges, _ = area.get_data()
    return np.asarray(edges), np.asarray(values)


def delivered(axes: Axes) -> tuple[np.ndarray, np.ndarray]:
    (line,) = axes.get_lines()
    return np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)


def mean_rate(result: Result, start_s: float, end_s: float) -> float:
    """The mean rate of the made-up link from one time to another, in Mbit/s, a millisecond at a time."""
    rows = result.tables.channel
    times = np.arange(start_s, end_s, 1e-4) + 5e-5
    at = np.searchsorted(rows["t_ns"].to_numpy() / 1e9, times, "right") - 1
    return float(rows["rate_bps"].to_numpy()[at].mean()) / 1e6


def test_the_area_is_the_rate_of_the_link_and_the_line_what_was_acknowledged() -> None:
    result = made_up.result()
    (axes,) = plots.kind("throughput")(result).axes
    edges, heights = capacity(axes)
    assert np.diff(edges) == pytest.approx(0.2)
    for at in (0, 17, 250):
        assert heights[at] == pytest.approx(mean_rate(result, edges[at], edges[at + 1]), rel=1e-3)
    times, rate = delivered(axes)
    assert times == pytest.approx((edges[1:] + edges[:-1]) / 2)
    # 5 bytes a microsecond.
    assert rate[:-1] == pytest.approx(40.0)
    assert axes.get_ylabel() == "rate (Mbit/s)"
    assert axes.get_xlabel() == "time (s)"
    assert axes.get_legend_handles_labels()[1] == [
        "capacity of lms/sat->ground",
        "delivered (means of 200 ms)",
    ]
    mean = mean_rate(result, 0.0, 60.0)
    assert axes.get_title(loc="left") == (
        f"Throughput of main (QUIC, cubic): goodput 37.9 Mbit/s of {mean:.1f} Mbit/s"
    )
    panel, *_ = timeline.draw(result).axes
    assert capacity(panel)[1] == pytest.approx(heights)


def test_the_opportunities_of_a_trace_are_a_capacity_and_no_comb(scenarios: Path) -> None:
    result = leobench.run(scenarios / "trace.toml", overrides={"duration": "40 s"})
    (axes,) = throughput.draw(result).axes
    edges, heights = capacity(axes)
    # The rule of the trace: 6 Mbit/s for 15 s, then 3 Mbit/s, nothing in the first 100 ms of each.
    first, second = (edges[:-1] >= 1) & (edges[1:] <= 15), (edges[:-1] >= 16) & (edges[1:] <= 30)
    assert set(heights[first].round(9)) == {6.0}
    assert set(heights[second].round(9)) == {3.0}
    assert heights[0] < 3.5
    rate = delivered(axes)[1]
    assert rate[first].mean() == pytest.approx(6 * 1_200 / 1_280, rel=0.05)
    sampled = result.tables.opportunities.filter(link="access/terminal->server")
    assert sampled["offered_bytes"].to_numpy()[-1] * 8 / 40 / 1e6 == pytest.approx(np.mean(heights), rel=1e-3)
    none = {name: frame for name, frame in result.tables.items() if name != "opportunities"}
    (axes,) = throughput.draw(made_up.rebuilt(result, none)).axes
    assert axes.texts[0].get_text() == "the capacity of access/terminal->server was not recorded"
    assert not axes.patches


def test_where_a_trace_and_a_rate_are_on_the_way_the_lower_mean_counts() -> None:
    frames = made_up.tables()
    ns = np.arange(0, 60_000_000_000, 10_000_000)
    trace = pl.DataFrame({"t_ns": [0], "link": ["trace/ground->far"], "up": [True], "label": ["trace"]})
    frames["channel"] = pl.concat([frames["channel"], trace], how="diagonal_relaxed")
    frames["opportunities"] = pl.DataFrame(
        {"t_ns": ns, "link": "trace/ground->far", "offered_bytes": ns // 400}
    )
    frames["paths"] = frames["paths"].with_columns(bottleneck_bps=pl.lit(None, pl.Int64))
    result = made_up.result(frames)
    result.scenario["links"]["trace"] = {"between": ["ground", "far"], "delay": "1 ms"}
    result.scenario["flows"]["main"]["to"] = "far"
    result.summary["links"].append(made_up.link("trace/ground->far"))
    (axes,) = throughput.draw(result).axes
    edges, heights = capacity(axes)
    inner = slice(1, -1)
    expected = [min(20.0, mean_rate(result, *ends)) for ends in pairwise(edges)]
    assert heights[inner] == pytest.approx(expected[inner], rel=2e-3)
    assert min(heights[inner]) < 15.0
    assert max(heights) == pytest.approx(20.0)
    assert axes.get_legend_handles_labels()[1][0] == "capacity of the narrowest link"
    (axes,) = throughput.draw(result, link="trace/ground->far").axes
    assert capacity(axes)[1][inner] == pytest.approx(20.0)


def test_a_transport_without_acknowledgements_shows_what_arrived() -> None:
    frames = made_up.tables()
    flows = [made_up.flow("main", transport="udp", congestion=None)]
    result = made_up.result(frames | {"transport": frames["transport"].clear()}, flows=flows)
    (axes,) = throughput.draw(result, start_s=10, end_s=40).axes
    times, rate = delivered(axes)
    step = float(np.diff(times)[0])
    arrived = frames["messages"]["delivered_ns"].to_numpy() / 1e9
    inside = (arrived > times[50] - step / 2) & (arrived <= times[50] + step / 2)
    assert rate[50] == pytest.approx(inside.sum() * 1_200 * 8 / step / 1e6)


def test_an_interrupted_link_has_no_capacity() -> None:
    frames = made_up.tables()
    frames["channel"] = frames["channel"].with_columns(up=pl.col("t_ns") < 30_000_000_000)
    result = made_up.result(frames)
    edges = np.array([0.0, 30e9, 45e9, 60e9])
    rate = rates.of_link(result, made_up.LINK, edges)
    assert rate is not None
    assert rate[2] == 0.0
    assert rate[0] > 1e6


def test_refusals() -> None:
    frames = made_up.tables()
    with pytest.raises(InputError, match="throughput: the run recorded no series"):
        throughput.draw(made_up.result({name: frame.clear() for name, frame in frames.items()}))
    with pytest.raises(InputError, match=r"--flow = mian: no such flow; .* did you mean `main`"):
        throughput.draw(made_up.result(), flow="mian")
    with pytest.raises(InputError, match="--link = lms: no such link"):
        throughput.draw(made_up.result(), link="lms")


@pytest.mark.parametrize(
    ("span", "step"), [(60.0, 200_000_000), (20.0, 50_000_000), (0.5, 10_000_000), (59.0, 200_000_000)]
)
def test_steps_are_round_numbers(span: float, step: int) -> None:
    shown = view.choose("throughput", made_up.result(), None, None, 0.0, span)
    assert rates.step_ns(shown) == step
    edges = rates.edges_ns(shown, step)
    assert edges[0] == 0
    assert edges[-1] >= span * 1e9


def test_a_dense_queue_is_a_band_of_quantiles() -> None:
    rng = np.random.default_rng(3)
    frames = made_up.tables()
    noisy = frames["queues"].with_columns(
        backlog_bytes=pl.Series(rng.integers(1_000, 9_000, frames["queues"].height))
    )
    _, queue, *_ = timeline.draw(made_up.result(frames | {"queues": noisy})).axes
    assert queue.get_legend_handles_labels()[1] == ["median of 200 ms", "5 % to 95 %", "lowest to highest"]
    (median,) = queue.get_lines()
    values = noisy["backlog_bytes"].to_numpy().reshape(bands.SLICES, -1)[100] / 1e3
    assert np.asarray(median.get_ydata())[100] == pytest.approx(np.median(values))
    between, around = (
        each
        for each in queue.collections
        if isinstance(each, PolyCollection) and not str(each.get_label()).startswith("_")
    )
    middle = np.asarray(median.get_xdata())[100]
    for each, ends in ((between, np.quantile(values, (0.05, 0.95))), (around, (values.min(), values.max()))):
        corners = np.asarray(each.get_paths()[0].vertices)
        heights = corners[np.isclose(corners[:, 0], middle)][:, 1]
        assert (heights.min(), heights.max()) == pytest.approx(tuple(ends))


def test_a_smooth_series_stays_a_line() -> None:
    times = np.linspace(0.0, 60.0, 60_001)
    assert not bands.is_dense(np.sin(times))
    assert not bands.is_dense(np.array([0.0, 1.0] * 100)), "few samples"
    assert not bands.is_dense(np.full(60_001, 3.0)), "it does not move"
    assert bands.is_dense(np.array([0.0, 1.0] * 30_000))
    shape = bands.of(np.array([0.0, 1.0, 2.0]), np.array([np.nan, 4.0, 6.0]), slices=1)
    assert (shape.lowest[0], shape.median[0], shape.highest[0]) == (4.0, 5.0, 6.0)
