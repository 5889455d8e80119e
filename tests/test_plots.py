from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import made_up
import numpy as np
import polars as pl
import pytest

from leobench import InputError, plots
from leobench.plots import states, style, timeline

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes


def lines(axes: Axes) -> dict[str, np.ndarray]:
    return {str(line.get_label()): np.asarray(line.get_ydata(), float) for line in axes.get_lines()}


def test_the_panels_show_the_queue_the_window_and_the_delay() -> None:
    result = made_up.result()
    queue, window, delay = timeline.draw(result).axes
    (backlog,) = lines(queue).values()
    assert np.max(backlog) == pytest.approx(np.max(result.tables.queues["backlog_bytes"].to_numpy()) / 1e6)
    assert set(lines(window)) == {"congestion window", "in flight", "slow-start threshold"}
    assert np.max(lines(window)["congestion window"]) == pytest.approx(
        np.max(result.tables.transport["cwnd_bytes"].to_numpy()) / 1e6
    )
    messages = result.tables.messages
    worst = np.max((messages["delivered_ns"] - messages["created_ns"]).to_numpy())
    assert np.max(lines(delay)["s1"]) == pytest.approx(worst / 1e9)
    assert [axes.get_ylabel() for axes in (queue, window, delay)] == [
        "backlog (MB)",
        "window (MB)",
        "delay (s)",
    ]
    assert delay.get_xlim() == (0.0, 60.0)


def test_a_part_of_the_run_can_be_shown() -> None:
    queue, _, delay = timeline.draw(made_up.result(), start_s=10, end_s=20).axes
    times = np.asarray(queue.get_lines()[0].get_xdata(), float)
    assert times.min() == 10.0
    assert times.max() == 20.0
    assert delay.get_xlim() == (10.0, 20.0)
    for wrong in ({"start_s": 20, "end_s": 10}, {"end_s": 61}, {"start_s": -1}):
        with pytest.raises(InputError, match="allowed: a part of the run, from 0 s to 60 s"):
            timeline.draw(made_up.result(), **wrong)  # type: ignore[arg-type]


def test_the_background_covers_the_run_once_in_the_states_of_the_channel() -> None:
    channel = made_up.tables()["channel"]
    shown = states.of_channel(channel, 60.0)
    assert [state.label for state in shown] == [
        "line of sight (60 Mbit/s)",
        "moderate (40 Mbit/s)",
        "deep (8 Mbit/s)",
    ]
    spans = sorted(span for state in shown for span in state.spans)
    ends = [start + length for start, length in spans]
    assert [start for start, _ in spans[1:]] == pytest.approx(ends[:-1])
    assert spans[0][0] == 0.0
    assert ends[-1] == pytest.approx(60.0)
    # The darker, the slower.
    assert [float(state.colour) for state in shown] == sorted(
        (float(state.colour) for state in shown), reverse=True
    )


def test_an_interrupted_link_is_shown_as_down_whatever_its_state_is_called() -> None:
    channel = pl.DataFrame(
        {
            "t_ns": [0, 1_000_000_000, 3_000_000_000],
            "rate_bps": [8_000_000, 8_000_000, 8_000_000],
            "up": [True, False, True],
            "label": ["on", "off", "on"],
        }
    )
    shown = {state.label: state.spans for state in states.of_channel(channel, 4.0)}
    assert shown == {"on (8 Mbit/s)": [(0.0, 1.0), (3.0, 1.0)], "down": [(1.0, 2.0)]}


def test_a_trace_has_no_rate_and_one_state_needs_no_legend() -> None:
    channel = pl.DataFrame(
        {"t_ns": [0], "rate_bps": [None], "up": [True], "label": ["trace"]},
        schema_overrides={"rate_bps": pl.Int64},
    )
    (state,) = states.of_channel(channel, 5.0)
    assert state.label == "trace"
    assert states.legend([state]) == []


def test_background_flows_and_idle_links_are_not_shown_unless_asked_for() -> None:
    flows = [made_up.flow("bg"), made_up.flow("main")]
    result = made_up.result(flows=flows)
    queue, window, _ = timeline.draw(result).axes
    assert "main" in window.get_title(loc="left")
    assert queue.get_lines()
    _, window, _ = timeline.draw(result, flow="bg").axes
    assert "of bg" in window.get_title(loc="left") or "Flow bg" in window.get_title(loc="left")
    with pytest.raises(InputError, match="allowed: `bg`, `main`; did you mean `main`"):
        timeline.draw(result, flow="man")
    with pytest.raises(InputError, match="--link = lms: no such link"):
        timeline.draw(result, link="lms")


def test_what_was_not_recorded_is_said() -> None:
    frames = made_up.tables()
    empty = {name: frame.clear() for name, frame in frames.items()}
    with pytest.raises(InputError, match="recorded no series"):
        timeline.draw(made_up.result(empty))
    without = made_up.result(frames | {"messages": frames["messages"].clear()})
    *_, delay = timeline.draw(without).axes
    assert delay.texts[0].get_text() == "no message in this time"
    without = made_up.result(frames | {"transport": frames["transport"].clear()})
    _, window, _ = timeline.draw(without).axes
    assert "no congestion window" in window.texts[0].get_text()


def test_messages_that_never_arrived_are_marked() -> None:
    frames = made_up.tables()
    last = pl.col("created_ns") > 59_000_000_000
    lost = frames["messages"].with_columns(delivered_ns=pl.when(~last).then("delivered_ns"))
    *_, delay = timeline.draw(made_up.result(frames | {"messages": lost})).axes
    count = lost["delivered_ns"].null_count()
    assert len(lines(delay)[f"never delivered ({count})"]) == count


@pytest.mark.parametrize("suffix", plots.FORMATS)
def test_a_figure_is_saved_in_the_format_of_its_name_and_always_the_same(tmp_path: Path, suffix: str) -> None:
    starts = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    files = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for file in files:
        plots.save(timeline.draw(made_up.result()), file)
    first, second = (file.read_bytes() for file in files)
    assert first.startswith(starts[suffix])
    assert first == second


def test_unknown_kinds_and_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--kind = pie: unknown kind of figure; allowed: timeline"):
        plots.kind("pie")
    with pytest.raises(InputError, match=r"allowed: \.png, \.svg, \.pdf"):
        plots.check_format(tmp_path / "figure.gif")
    with pytest.raises(InputError, match="there is no folder"):
        plots.check_format(tmp_path / "absent" / "figure.png")


def test_thinning_keeps_every_peak_and_only_points_of_the_series() -> None:
    rng = np.random.default_rng(7)
    times = np.linspace(0.0, 100.0, 100_000)
    values = rng.normal(size=times.size)
    values[31_415], values[27_182] = 50.0, -40.0
    thin_times, thin_values = style.thin(times, values, columns=500)
    assert len(thin_times) <= 1_000
    assert (np.diff(thin_times) > 0).all()
    assert {50.0, -40.0} <= set(thin_values)
    series = dict(zip(times, values, strict=True))
    assert all(series[time] == value for time, value in zip(thin_times, thin_values, strict=True))
    # In every slice the range drawn is the range there is.
    edges = np.linspace(0.0, 100.0, 501)
    for low, high in pairwise(edges):
        inside = values[(times >= low) & (times < high)]
        drawn = thin_values[(thin_times >= low) & (thin_times < high)]
        assert (drawn.min(), drawn.max()) == (inside.min(), inside.max())


def test_thinning_leaves_short_series_alone_and_keeps_gaps() -> None:
    times = np.arange(10.0)
    assert style.thin(times, times)[1] is times
    times = np.arange(1_000.0)
    values = np.where(times < 500, np.nan, times)
    _, thinned = style.thin(times, values, columns=10)
    assert np.isnan(thinned).sum() == 5
    assert np.nanmax(thinned) == 999.0


def test_units_read_well() -> None:
    assert style.byte_unit(1_500.0) == (1e3, "kB")
    assert style.byte_unit(0.0) == (1.0, "B")
    assert style.second_unit(0.0123) == (1e-3, "ms")
    assert style.rate_text(45_330_000) == "45.3 Mbit/s"
    assert style.rate_text(800_000) == "800 kbit/s"
    assert style.millis_text(1_234.0) == "1.23 s"
    assert style.millis_text(212.4) == "212 ms"
