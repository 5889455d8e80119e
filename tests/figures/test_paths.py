"""Figures of flows with several paths: a colour for each link, and the sum of all below their capacity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import StepPatch

import leobench
from leobench import plots
from leobench.plots import paths, rates, routes, style, throughput, timeline, view

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.result import Result

MOVING = """\
name = "moving"
duration = "12 s"

[nodes.van]
[nodes.pop]
[nodes.office]

[links.terrestrial]
between = ["van", "office"]
rate = "10 Mbps"
delay = "10 ms"
queue = { kind = "fifo", limit = "100 kB" }

[links.leo]
between = ["van", "pop"]
rate = "6 Mbps"
delay = "40 ms"
queue = { kind = "fifo", limit = "100 kB" }

[links.geo]
between = ["van", "pop"]
rate = "3 Mbps"
delay = "100 ms"
queue = { kind = "fifo", limit = "100 kB" }

[links.lan]
between = ["pop", "office"]
rate = "100 Mbps"
delay = "1 ms"

[handovers.roam]
node = "van"
links = ["terrestrial", "leo"]
at = ["4 s", "8 s"]
kind = "migrate"
outage = "500 ms"

[flows.upload]
transport = { kind = "quic", multipath = { links = ["terrestrial", "leo", "geo"] } }
from = "van"
to = "office"
source = "bulk"
"""


@pytest.fixture(scope="module")
def moving(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("moving") / "moving.toml"
    file.write_text(MOVING, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def moved(moving: Path) -> Result:
    """Paths over two links are abandoned in turn and come back under other numbers; the third one stays."""
    return leobench.run(moving)


@pytest.fixture(scope="module")
def still(scenarios: Path) -> Result:
    return leobench.run(scenarios / "multipath.toml", overrides={"duration": "5 s"})


def titles(figure: Figure) -> list[str]:
    return [axes.get_title(loc="left") for axes in figure.axes]


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for each in figure.legends for text in each.get_texts()]


def capacity_bps(axes: Axes) -> float:
    """The highest capacity that a panel of rates shows, in the unit of its axis."""
    steps = [patch for patch in axes.patches if isinstance(patch, StepPatch) and not patch.get_fill()]
    return max(float(np.max(patch.get_data()[0])) for patch in steps)


def colours(axes: Axes) -> set[str]:
    return {to_hex(line.get_color()) for line in axes.get_lines() if line.get_linestyle() != "None"}


def test_paths_are_told_apart_by_their_links_whatever_their_numbers(moved: Result) -> None:
    tracks = paths.of_flow(moved, "upload")
    assert [track.link for track in tracks] == ["terrestrial", "leo", "geo"]
    numbers = {track.link: [span.path for span in track.spans] for track in tracks}
    assert numbers["terrestrial"][0] == 0
    assert [len(each) for each in numbers.values()] == [2, 1, 1]
    known = {path["path"] for path in moved.summary["flows"][0]["paths"]}
    assert {number for each in numbers.values() for number in each} == known
    # Break before make: half a second without either of the two.
    terrestrial, leo, geo = (
        [(span.start_ns / 1e9, span.end_ns / 1e9) for span in track.spans] for track in tracks
    )
    assert terrestrial == [(0, 4), (8.5, 12)]
    assert leo == [(4.5, 8)]
    assert geo[0][1] == 12
    assert all(
        span.validated_ns is not None and span.validated_ns >= span.start_ns
        for track in tracks
        for span in track.spans
    )
    assert [track.ways for track in tracks] == [
        ("terrestrial/van->office",),
        ("leo/van->pop", "lan/pop->office"),
        ("geo/van->pop", "lan/pop->office"),
    ]  # fmt: skip


def test_the_paths_of_a_download_are_found_by_the_end_that_opened_them(moving: Path) -> None:
    turned = {"flows.upload.from": "office", "flows.upload.to": "van", "flows.upload.opened_by": "to"}
    down = leobench.run(moving, overrides=turned)
    tracks = paths.of_flow(down, "upload")
    assert [track.ways for track in tracks][1:] == [
        ("lan/office->pop", "leo/pop->van"), ("lan/office->pop", "geo/pop->van"),
    ]  # fmt: skip
    assert [len(track.spans) for track in tracks] == [2, 1, 1]


def test_the_rates_over_all_links_add_up_to_what_was_acknowledged(moved: Result) -> None:
    shown = view.choose("timeline", moved, None, None, None, None)
    edges = rates.edges_ns(shown, 100_000_000)
    tracks = paths.of_flow(moved, "upload")
    each, capacity = paths.summed(shown, "upload", tracks, edges)
    spans_s = np.diff(edges) / 1e9
    total = sum(float(rate @ spans_s) for rate in each.values()) / 8
    acked = moved.tables.transport.group_by("path").max()["bytes_delivered"].sum()
    assert total == pytest.approx(acked, rel=1e-9)
    assert capacity is not None
    at = {second: float(capacity[int(second * 10)]) / 1e6 for second in (2, 4.2, 6, 8.2, 10)}
    assert at == pytest.approx({2: 13, 4.2: 3, 6: 9, 8.2: 3, 10: 13})
    # No more than the paths could carry, but for what was in the queues.
    assert np.sum(list(each.values())) <= np.sum(capacity) * 1.001


def test_a_timeline_has_the_sum_and_a_panel_for_each_link(still: Result, moved: Result) -> None:
    figure = plots.kind("timeline")(still)
    assert legend(figure)[:3] == ["capacity of all paths", "terrestrial", "leo"]
    (goodput, *links), others = titles(figure)[:3], figure.axes[3:]
    rate = still.summary["flows"][0]["goodput_bps"] / 1e6
    assert f"goodput {rate:.1f} Mbit/s of 19.9 Mbit/s over 2 links" in goodput
    assert [title.split(":")[0] for title in links] == ["Over terrestrial", "Over leo"]
    assert [axes.get_ylabel().split(" (")[0] for axes in others] == ["backlog", "window", "RTT"]
    both = {to_hex(style.CATEGORIES[0]), to_hex(style.CATEGORIES[1])}
    for axes in others:
        assert colours(axes) == both, axes.get_title(loc="left")
    assert capacity_bps(figure.axes[0]) == pytest.approx(20)
    assert {"no path", "path abandoned"} <= set(legend(timeline.draw(moved)))
    assert "path abandoned" not in legend(figure)


def test_a_path_that_comes_back_has_the_colour_of_its_link(moved: Result) -> None:
    figure = timeline.draw(moved)
    *_, window, _ = figure.axes
    tracks = paths.of_flow(moved, "upload")
    drawn = [line for line in window.get_lines() if to_hex(line.get_color()) == tracks[0].colour]
    assert len(drawn) == 2, "a line before it was abandoned and one after"
    ends = [(np.min(line.get_xdata()), np.max(line.get_xdata())) for line in drawn]
    assert ends[0][1] <= 4
    assert ends[1][0] >= 8.5
    texts = [text.get_text().strip() for text in figure.axes[1].texts]
    assert texts == [f"path {span.path}" for span in tracks[0].spans]


def test_a_link_can_be_chosen(moved: Result) -> None:
    figure = timeline.draw(moved, link="geo/van->pop")
    assert [title.split(":")[0] for title in titles(figure)][1] == "Over geo"
    assert "Over leo" not in " ".join(titles(figure))
    assert "goodput" not in titles(figure)[0], "it is that of all links"
    shared = timeline.draw(moved, link="lan/pop->office")
    assert sum(title.startswith("Over ") for title in titles(shared)) == 2
    assert any(title.startswith("Queue of lan") for title in titles(shared))


def test_an_overlay_has_a_row_for_each_link(still: Result, moved: Result, scenarios: Path) -> None:
    alone = leobench.run(
        scenarios / "multipath.toml", 2, {"duration": "5 s", "flows.upload.transport.multipath": None}
    )
    figure = plots.overlay("timeline")([still, alone])
    assert len(figure.axes) == 1 + 2 * 3
    first, second = figure.axes[1:4], figure.axes[4:]
    assert [axes.get_title(loc="left") for axes in second] == ["leo: rate", "leo: window", "leo: RTT"]
    one, other = style.CATEGORIES[:2]
    for axes in first:
        assert {to_hex(line.get_color()) for line in axes.get_lines()} == {one, other}
    for axes in second:
        assert {to_hex(line.get_color()) for line in axes.get_lines()} == {one}, "the other has no such path"
    assert len(throughput.overlay([still, moved]).axes) == 1 + 3


def test_several_flows_have_a_line_style_for_each_link(scenarios: Path) -> None:
    scenario = leobench.check(scenarios / "multipath.toml")
    second: dict[str, Any] = scenario["flows"]["upload"] | {"start": "1 s"}
    result = leobench.run(scenarios / "multipath.toml", overrides={"duration": "5 s", "flows.second": second})
    rate, _, window, trips = timeline.draw(result).axes
    assert len({(to_hex(line.get_color()), line.get_linestyle()) for line in window.get_lines()}) == 4
    names = trips.get_legend()
    assert names is not None
    assert [text.get_text() for text in names.get_texts()] == [
        "upload over terrestrial", "upload over leo", "second over terrestrial", "second over leo",
    ]  # fmt: skip
    assert capacity_bps(rate) == pytest.approx(20)


def test_paths_over_satellites_have_their_links(scenarios: Path) -> None:
    short = {"duration": "20 s", "record.interval": "100 ms"}
    result = leobench.run(scenarios / "maco-chain.toml", overrides=short)
    first, second = paths.of_flow(result, "upload")
    assert (first.link, second.link) == ("first", "second")
    # No satellite serves the second link at first (section 3.1 of Yang et al. 2024: the state s3).
    (used,) = second.spans
    assert used.start_ns == 15_000_000_000
    assert second.closed(20_000_000_000) == [(0, 15_000_000_000)]
    figure = timeline.draw(result)
    assert "no path" in legend(figure)
    assert [title.split(":")[0] for title in titles(figure)[1:3]] == ["Over first", "Over second"]


def test_the_ways_of_a_flow_with_one_path_are_not_those_of_several(scenarios: Path) -> None:
    one = leobench.check(scenarios / "one-flow.toml")
    (name,) = one["flows"]
    assert routes.of_paths(one, name) == {}
