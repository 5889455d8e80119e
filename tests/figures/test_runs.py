from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from leobench import InputError, plots
from leobench.plots import bands, routes, states, timeline, units
from tests.support import made_up

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from leobench.result import Result


def lines(axes: Axes) -> dict[str, np.ndarray]:
    return {str(line.get_label()): np.asarray(line.get_ydata(), float) for line in axes.get_lines()}


def test_the_panels_show_the_queue_the_window_and_the_delay() -> None:
    result = made_up.result()
    _, queue, window, delay = timeline.draw(result).axes
    (backlog,) = lines(queue).values()
    assert np.max(backlog) == pytest.approx(np.max(result.tables.queues["backlog_bytes"].to_numpy()) / 1e6)
    assert set(lines(window)) == {"congestion window", "in flight", "slow-start threshold"}
    assert np.max(lines(window)["congestion window"]) == pytest.approx(
        np.max(result.tables.transport["cwnd_bytes"].to_numpy()) / 1e6
    )
    messages = result.tables.messages
    worst = np.max((messages["delivered_ns"] - messages["created_ns"]).to_numpy())
    assert np.max(lines(delay)["delivered"]) == pytest.approx(worst / 1e9)
    assert [axes.get_ylabel() for axes in (queue, window, delay)] == [
        "backlog (MB)",
        "window (MB)",
        "delay (s)",
    ]
    assert delay.get_xlim() == (0.0, 60.0)


def test_a_part_of_the_run_can_be_shown() -> None:
    _, queue, _, delay = timeline.draw(made_up.result(), start_s=10, end_s=20).axes
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


def two_flows(**tables: pl.DataFrame) -> Result:
    """The made-up run with everything of `main` a second time for `other`."""
    frames = made_up.tables() | tables
    for name in ("messages", "transport", "paths"):
        frames[name] = pl.concat([frames[name], frames[name].with_columns(flow=pl.lit("other"))])
    flows = [made_up.flow("main"), made_up.flow("other", congestion="newreno", goodput_bps=12e6)]
    return made_up.result(frames, flows=flows)


def test_background_flows_and_idle_links_are_not_shown_unless_asked_for() -> None:
    flows = [made_up.flow("bg"), made_up.flow("main")]
    result = made_up.result(flows=flows)
    _, queue, window, _ = timeline.draw(result).axes
    assert "main" in window.get_title(loc="left")
    assert queue.get_title(loc="left").startswith("Queue of lms/sat->ground: ")
    _, _, window, _ = timeline.draw(result, flow="bg").axes
    assert "of bg" in window.get_title(loc="left")
    _, queue, *_ = timeline.draw(result, link="lms/ground->sat").axes
    assert "lms/ground->sat" in queue.get_title(loc="left")
    with pytest.raises(InputError, match="allowed: `bg`, `main`; did you mean `main`"):
        timeline.draw(result, flow="man")
    with pytest.raises(InputError, match="--link = lms: no such link"):
        timeline.draw(result, link="lms")


def test_several_flows_are_shown_together_in_a_colour_each() -> None:
    rate, _, window, delay = timeline.draw(two_flows()).axes
    assert [str(line.get_label()) for line in rate.get_lines()] == ["main: 37.9 Mbit/s", "other: 12 Mbit/s"]
    assert [str(line.get_label()) for line in window.get_lines()] == [
        "main (cubic)",
        "other (newreno)",
    ]
    assert [str(line.get_label()) for line in delay.get_lines()] == ["main", "other"]
    for axes in (rate, window, delay):
        assert len({str(line.get_color()) for line in axes.get_lines()}) == 2
    colours = [[line.get_color() for line in axes.get_lines()] for axes in (rate, window, delay)]
    assert colours[0] == colours[1] == colours[2], "a flow has one colour throughout"
    _, _, window, _ = timeline.draw(two_flows(), flow="other").axes
    assert set(lines(window)) == {"congestion window", "in flight", "slow-start threshold"}
    crowd = made_up.result(flows=[made_up.flow("main"), *(made_up.flow(f"f{n}") for n in range(6))])
    _, _, window, _ = timeline.draw(crowd).axes
    assert window.get_title(loc="left") == "Congestion windows of the first 5 of 7 flows"


def test_files_are_shown_by_their_round_trips() -> None:
    frames = made_up.tables()
    file = frames["messages"].head(1)
    held = frames["transport"].with_columns(
        bytes_delivered=pl.col("bytes_delivered").clip(upper_bound=30_000_000_000 // 200)
    )
    *_, trips = timeline.draw(made_up.result(frames | {"messages": file, "transport": held})).axes
    assert trips.get_title(loc="left").startswith(
        "Round-trip time of main: mean 230 ms, 95 % within 700 ms; all"
    )
    assert trips.get_ylabel() == "RTT (s)"
    drawn = lines(trips)
    assert set(drawn) == {"latest sample", "smoothed", "with empty queues"}
    assert np.max(drawn["smoothed"]) == pytest.approx(
        frames["transport"]["srtt_ns"].head(3_000).to_numpy().max() / 1e9
    )
    assert set(drawn["with empty queues"]) == {0.02}
    ends = [float(np.max(np.asarray(line.get_xdata(), float))) for line in trips.get_lines()[:2]]
    assert ends == [pytest.approx(30.0, abs=0.011)] * 2, "nothing is measured after the last byte"
    *_, trips = timeline.draw(two_flows(messages=file)).axes
    assert set(lines(trips)) == {"main", "other", "with empty queues"}
    unrecorded = frames["messages"].clear()
    *_, trips = timeline.draw(made_up.result(frames | {"messages": unrecorded})).axes
    assert "smoothed" in lines(trips)


def test_what_was_not_recorded_or_never_happened_is_said() -> None:
    frames = made_up.tables()
    empty = {name: frame.clear() for name, frame in frames.items()}
    with pytest.raises(InputError, match="recorded no series"):
        timeline.draw(made_up.result(empty))
    silent = frames["transport"].with_columns(srtt_ns=pl.lit(None, pl.Int64))
    lost = frames["messages"].with_columns(delivered_ns=pl.lit(None, pl.Int64))
    flows = [made_up.flow("main", goodput_bps=0.0, delay_ms=dict.fromkeys(("mean", "p95")))]
    nothing = made_up.result(frames | {"messages": lost, "transport": silent}, flows=flows)
    rate, _, _, delay = timeline.draw(nothing).axes
    assert ": nothing delivered" in rate.get_title(loc="left")
    assert delay.texts[0].get_text() == "nothing was delivered"
    assert len(delay.get_yticks()) == 0
    assert f"never delivered ({lost.height:,})" in lines(delay)
    none = made_up.result(frames | {"messages": lost.clear(), "transport": silent}, flows=flows)
    *_, delay = timeline.draw(none).axes
    assert delay.texts[0].get_text() == "no message was created"
    early = frames["messages"].filter(pl.col("created_ns") < 30_000_000_000)
    *_, delay = timeline.draw(made_up.result(frames | {"messages": early}), start_s=40).axes
    assert delay.texts[0].get_text() == "no message was created in this time"


def test_a_transport_without_a_window_has_no_panel_for_it() -> None:
    frames = made_up.tables()
    flows = [made_up.flow("main", transport="udp", congestion=None)]
    without = made_up.result(frames | {"transport": frames["transport"].clear()}, flows=flows)
    _, _, delay = timeline.draw(without).axes
    assert delay.get_title(loc="left").startswith("Message delay of main, by time of creation: mean 212")


def test_messages_that_never_arrived_are_marked_and_no_legend_covers_them() -> None:
    frames = made_up.tables()
    last = pl.col("created_ns") > 59_000_000_000
    lost = frames["messages"].with_columns(delivered_ns=pl.when(~last).then("delivered_ns"))
    figure = timeline.draw(made_up.result(frames | {"messages": lost}))
    *_, delay = figure.axes
    count = lost["delivered_ns"].null_count()
    assert len(lines(delay)[f"never delivered ({count})"]) == count
    figure.canvas.draw()
    legend = delay.get_legend()
    assert legend is not None
    mark = next(line for line in delay.get_lines() if "never" in str(line.get_label()))
    assert not legend.get_window_extent().overlaps(mark.get_window_extent())


def test_a_message_that_arrived_alone_among_lost_ones_is_seen() -> None:
    messages = made_up.tables()["messages"].head(200).with_row_index()
    alone = pl.col("index").is_in([50, 120])
    kept = messages.with_columns(delivered_ns=pl.when(alone | (pl.col("index") > 185)).then("delivered_ns"))
    shown = made_up.result(made_up.tables() | {"messages": kept.drop("index")})
    *_, delay = timeline.draw(shown).axes
    marked = [line for line in delay.get_lines() if line.get_marker() == "o"]
    times = [time for line in marked for time in np.asarray(line.get_xdata(), float)]
    assert times == [created / 1e9 for created in messages.filter(alone)["created_ns"]]


def test_the_delay_of_a_link_is_shown_where_it_changes() -> None:
    frames = made_up.tables()
    stepped = frames["channel"].with_columns(
        delay_ns=pl.when(pl.col("t_ns") < 15_000_000_000).then(20_000_000).otherwise(40_000_000)
    )
    *_, delay = timeline.draw(made_up.result(frames | {"channel": stepped})).axes
    assert set(lines(delay)["lms when empty"]) == {0.02, 0.04}
    *_, delay = timeline.draw(made_up.result(frames | {"channel": stepped}), start_s=20).axes
    assert set(lines(delay)["lms when empty"]) == {0.04}


def test_the_link_shown_is_the_fullest_on_the_way_of_the_data() -> None:
    scenario: dict[str, Any] = {
        "links": {
            "long": {"between": ["a", "d"], "delay": "30 ms"},
            "first": {"between": ["b", "a"], "delay": "5 ms", "backward": {"delay": "500 us"}},
            "second": {"between": ["b", "d"], "delay": "29.5 ms"},
            "short": {"between": ["a", "d"], "delay": "30 ms"},
        },
        "flows": {"there": {"from": "a", "to": "d"}, "back": {"from": "d", "to": "a"}},
    }

    def way(flow: str) -> list[str]:
        result = made_up.result()
        result.scenario.clear()
        result.scenario.update(scenario)
        return routes.of_flow(result, flow)

    # All three ways take 30 ms from a to d: the fewest hops decide, then the first in the file.
    assert way("there") == ["long/a->d"]
    assert way("back") == ["long/d->a"]
    scenario["links"]["long"]["forward"] = {"delay": "0.1 s"}
    scenario["links"]["short"]["delay"] = "1 min"
    assert way("there") == ["first/a->b", "second/b->d"]
    result = made_up.result(
        links=[
            made_up.link("lms/ground->sat", utilisation=0.99),
            made_up.link("lms/sat->ground", utilisation=0.4),
        ]
    )
    _, queue, *_ = timeline.draw(result).axes
    assert "lms/sat->ground" in queue.get_title(loc="left"), "the other direction carries no data"


@pytest.mark.parametrize("suffix", plots.FORMATS)
def test_a_figure_is_saved_in_the_format_of_its_name_and_always_the_same(tmp_path: Path, suffix: str) -> None:
    starts = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    files = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for file in files:
        plots.save(timeline.draw(made_up.result()), file)
    first, second = (file.read_bytes() for file in files)
    assert first.startswith(starts[suffix])
    assert first == second


def test_a_figure_saved_again_is_the_same_in_every_format(tmp_path: Path) -> None:
    """Laying out moves panels in the last digits, which identifiers in SVG files are made of."""
    for figure in (
        timeline.draw(made_up.result()),
        plots.overlay("timeline")([made_up.result(), made_up.result(seed=2)]),
    ):
        saved: dict[str, set[bytes]] = {suffix: set() for suffix in plots.FORMATS}
        for number in range(2):
            for suffix, contents in saved.items():
                file = tmp_path / f"{number}{suffix}"
                plots.save(figure, file)
                contents.add(file.read_bytes())
        assert {suffix: len(contents) for suffix, contents in saved.items()} == dict.fromkeys(
            plots.FORMATS, 1
        )


def test_a_panel_that_was_moved_by_hand_stays_there(tmp_path: Path) -> None:
    figure = timeline.draw(made_up.result())
    figure.axes[0].set_position((0.1, 0.8, 0.5, 0.1))
    plots.save(figure, tmp_path / "moved.png")
    assert figure.axes[0].get_position().bounds == pytest.approx((0.1, 0.8, 0.5, 0.1))


def test_unknown_kinds_and_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--kind = timelime: .*; did you mean `timeline`"):
        plots.kind("timelime")
    with pytest.raises(InputError, match=r"allowed: \.png, \.svg, \.pdf"):
        plots.check_format(tmp_path / "figure.gif")
    with pytest.raises(InputError, match="there is no folder"):
        plots.check_format(tmp_path / "absent" / "figure.png")


def test_thinning_keeps_every_peak_and_only_points_of_the_series() -> None:
    rng = np.random.default_rng(7)
    times = np.linspace(0.0, 100.0, 100_000)
    values = rng.normal(size=times.size)
    values[31_415], values[27_182] = 50.0, -40.0
    thin_times, thin_values = bands.thin(times, values, columns=500)
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
    assert bands.thin(times, times)[1] is times
    times = np.arange(1_000.0)
    values = np.where(times < 500, np.nan, times)
    _, thinned = bands.thin(times, values, columns=10)
    assert np.isnan(thinned).sum() == 5
    assert np.nanmax(thinned) == 999.0


def test_units_read_well() -> None:
    assert units.scale("B", 1_500.0) == (1e3, "kB")
    assert units.scale("B", 0.0) == (1.0, "B")
    assert units.scale("s", 0.0123) == (1e-3, "ms")
    assert units.rate_text(45_330_000) == "45.3 Mbit/s"
    assert units.rate_text(800_000) == "800 kbit/s"
    assert units.millis_text(1_234.0) == "1.23 s"
    assert units.millis_text(212.4) == "212 ms"
