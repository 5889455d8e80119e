"""Handovers in figures, and in what a run prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import leobench
from leobench.cli import summary_tables
from leobench.manifest import doubts
from leobench.plots import throughput, timeline
from tests.support import made_up
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from leobench.result import Result

EMERGENCY = ROOT / "scenarios" / "emergency.toml"


def emergency(**overrides: object) -> Result:
    return leobench.run(
        EMERGENCY,
        overrides={"duration": "14 s"} | {key.replace("__", "."): value for key, value in overrides.items()},
    )


@pytest.fixture(scope="module")
def once() -> Result:
    return emergency(handovers__backhaul__outage="1 s")


@pytest.fixture(scope="module")
def often() -> Result:
    times = [f"{at} s" for at in range(2, 12)]
    return emergency(handovers__backhaul__at=times)


def lines(axes: Axes) -> list[float]:
    """The times of the lines that cross a panel from bottom to top."""
    return [float(np.asarray(line.get_xdata())[0]) for line in crossing(axes)]


def crossing(axes: Axes) -> list[Line2D]:
    return [line for line in axes.lines if np.asarray(line.get_ydata()).tolist() == [0, 1]]


def texts(figure: Figure) -> list[str]:
    return [text.get_text().strip() for text in figure.axes[0].texts]


def legends(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_a_run_has_a_line_with_the_names_of_the_links(once: Result) -> None:
    figure = timeline.draw(once)
    assert all(lines(axes) == [10.0] for axes in figure.axes)
    assert "terrestrial → leo" in texts(figure)


def test_runs_with_the_same_handovers_are_marked_once_and_show_all_queues(once: Result) -> None:
    slower = emergency(handovers__backhaul__outage="1 s", links__leo__rate="5 Mbps")
    figure = timeline.overlay([once, slower])
    assert all(lines(axes) == [10.0] for axes in figure.axes)
    assert "terrestrial → leo" in texts(figure)
    queue = figure.axes[1]
    assert queue.get_title(loc="left") == "Queue of terrestrial/van->office, leo/van->office"
    later = emergency(handovers__backhaul__at=["11 s"])
    figure = throughput.overlay([once, later])
    assert sorted(lines(figure.axes[0])) == [10.0, 11.0]
    assert len({str(line.get_color()) for line in crossing(figure.axes[0])}) == 2


def test_the_lines_of_many_handovers_have_names_in_a_legend(often: Result) -> None:
    figure = timeline.draw(often)
    assert len(lines(figure.axes[0])) == 10
    assert legends(figure) == ["terrestrial → leo", "leo → terrestrial"]


def test_the_lines_of_several_nodes_name_them(tmp_path: Path) -> None:
    text = EMERGENCY.read_text(encoding="utf-8") + (
        '[links.satellite]\nbetween = ["office", "device"]\nrate = "1 Mbps"\ndelay = "300 ms"\n'
        '[links.cable]\nbetween = ["office", "device"]\nrate = "1 Mbps"\ndelay = "200 ms"\n'
        '[handovers.office]\nnode = "office"\nlinks = ["satellite", "cable"]\nat = ["5 s"]\n'
    )
    (tmp_path / "two.toml").write_text(text, encoding="utf-8")
    figure = timeline.draw(leobench.run(tmp_path / "two.toml", overrides={"duration": "12 s"}))
    assert texts(figure) == [], "there is no room for the second name"
    assert legends(figure) == ["office: satellite → cable", "van: terrestrial → leo"]


def test_there_is_no_capacity_during_an_outage(once: Result) -> None:
    from leobench.plots import rates, view

    chosen = view.choose("timeline", once, None, None, None, None)
    edges = rates.edges_ns(chosen, 1_000_000_000)
    capacity = rates.of_path(chosen, chosen.flows[0], edges)
    assert capacity is not None
    assert list(capacity) == [10e6] * 10 + [0.0] + [10e6] * 3


def test_a_run_prints_what_flows_noticed(once: Result) -> None:
    said = summary_tables.render(once.summary)
    assert "handovers" in said
    stranded = once.summary["flows"][0]["dropped_packets"]["no_route"]
    assert stranded > 0
    head, _, row = said.splitlines()[1:4]
    assert head.endswith("no_route")
    assert row.endswith(f" {stranded}")
    assert "no_route" not in summary_tables.render(made_up.result().summary)


def test_a_stall_behind_a_translation_does_not_claim_an_open_path() -> None:
    flow = made_up.flow("main", dropped_packets={"no_route": 0, "no_port": 17})
    (doubt,) = doubts({"flows": {"main": {}}}, {"flows": [flow]}, {"main"}, {"main": (1.0, 60.0)})
    assert "not to every address (packets dropped: 17 with no_port)" in doubt.text
    (doubt,) = doubts(
        {"flows": {"main": {}}}, {"flows": [made_up.flow("main")]}, {"main"}, {"main": (1.0, 60.0)}
    )
    assert "and its path was open;" in doubt.text


def test_campaigns_find_the_metrics_of_handovers(tmp_path: Path) -> None:
    from leobench.campaign import Campaign, metrics

    campaign = (
        f'name = "moves"\nscenario = "{EMERGENCY}"\nreplicates = 2\n'
        'metrics = ["flows.upload.handovers.outage_ms.mean", '
        '"links.leo/van->office.dropped_packets.handover"]\n'
    )
    (tmp_path / "moves.toml").write_text(campaign, encoding="utf-8")
    planned = Campaign.load(tmp_path / "moves.toml")
    known = metrics.produced(planned)
    assert known is not None
    assert set(planned.metrics) <= known


@pytest.mark.parametrize(
    ("queue", "problem"),
    [
        ('{ kind = "pie", update = "1 ns" }', "update"),
        ('{ kind = "pie", alpha = 1e300 }', "alpha"),
        ('{ kind = "pie", limit = "1 B" }', "less than a packet"),
        ('{ kind = "cake", limit = "1 B" }', "less than a packet"),
        ('{ kind = "cake", rtt = "1 ns" }', "rtt"),
        ('{ kind = "red", min_threshold = "1 BDP" }', "depends on a link"),
        ('{ kind = "device", ring = "100 ms", queue = "codel" }', "depends on a link"),
    ],
)
def test_queues_that_make_no_sense_are_refused(queue: str, problem: str, quick: Path) -> None:
    import tomllib

    table = tomllib.loads(f"queue = {queue}")["queue"]
    with pytest.raises(leobench.InputError, match=problem):
        leobench.check(quick, overrides={"links.uplink.queue": table})


def test_the_list_names_only_values_that_are_accepted() -> None:
    described = leobench.describe("queues", "device")
    ring, queue = described["parameters"]
    assert ring["type"] == '"7 packets", "10 kB", or "unlimited"'
    assert queue["type"].startswith("`fifo` or ")
    assert (
        "BDP"
        not in next(
            each
            for each in leobench.describe("queues", "red")["parameters"]
            if each["name"] == "max_threshold"
        )["type"]
    )
