"""Figures of runs without flows, such as emulations of programs: their links, or one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from leobench import InputError, plots
from leobench.plots import timeline
from tests.support import made_up

if TYPE_CHECKING:
    from leobench.result import Result

OTHER = "lms/ground->sat"


def programs(**tables: pl.DataFrame) -> Result:
    """The made-up run as an emulation records it: links in both directions, and no flows."""
    frames = made_up.tables()
    for name in ("queues", "channel"):
        frames[name] = pl.concat([frames[name], frames[name].with_columns(link=pl.lit(OTHER))])
    for name in ("transport", "paths", "messages"):
        frames[name] = frames[name].clear()
    links = [made_up.link(OTHER, delivered_packets=7), made_up.link(made_up.LINK, delivered_packets=1_230)]
    return made_up.result(frames | tables, flows=[], links=links)


def test_a_run_without_flows_shows_its_links() -> None:
    result = programs()
    figure = timeline.draw(result)
    rate, queue = figure.axes
    assert rate.get_title(loc="left") == "The run has no flows. Capacity, means of 200 ms"
    (legend,) = figure.legends
    entries = [text.get_text() for text in legend.get_texts()]
    assert entries == [f"{made_up.LINK}: 1,230 packets", f"{OTHER}: 7 packets"]
    for axes in (rate, queue):
        assert len({str(line.get_color()) for line in axes.get_lines()}) == 2
    backlog = result.tables.queues.filter(link=OTHER)["backlog_bytes"].to_numpy()
    assert np.max(np.asarray(queue.get_lines()[1].get_ydata(), float)) == pytest.approx(backlog.max() / 1e6)
    fastest = max(rate for _, rate in made_up.STATES) / 1e6
    assert 0.5 * fastest < np.max(np.asarray(rate.get_lines()[0].get_ydata(), float)) <= fastest
    (one,) = timeline.draw(result, link=OTHER, start_s=10, end_s=20).axes[1].get_lines()
    assert np.asarray(one.get_xdata(), float).min() == 10.0


def test_idle_links_are_called_empty() -> None:
    idle = programs().tables.queues.with_columns(backlog_bytes=pl.lit(0))
    _, queue = timeline.draw(programs(queues=idle)).axes
    assert [text.get_text() for text in queue.texts] == ["empty at every sample"]


@pytest.mark.parametrize(
    "kind", sorted(set(plots.KINDS) - {"timeline", "lasers", "player", "stalls", "call"})
)
def test_other_figures_of_a_run_without_flows_are_refused(kind: str) -> None:
    said = f"{kind}: the run has no flows; allowed: --kind timeline of this run alone"
    with pytest.raises(InputError, match=said):
        plots.kind(kind)(programs())
    with pytest.raises(InputError, match=said):
        plots.overlay(kind)([programs(), made_up.result()])


def test_there_is_no_flow_to_ask_for() -> None:
    with pytest.raises(InputError, match="timeline: the run has no flows; allowed: "):
        timeline.draw(programs(), flow="main")
    with pytest.raises(InputError, match="timeline: the run has no flows; allowed: "):
        timeline.overlay([programs(), programs()])
    with pytest.raises(InputError, match="--link = lms: no such link"):
        timeline.draw(programs(), link="lms")
