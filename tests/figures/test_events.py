"""Events in figures over time, the sampling of series, and legends that keep clear of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from leobench.plots import handovers, rates, sampling, shares, states, style, throughput, timeline, view
from tests.support import made_up

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from leobench.result import Result

DOWN_MS = 40


def moving(interval: str = "10 ms", **tables: pl.DataFrame) -> Result:
    """The made-up run with a handover of 40 ms at 15 s."""
    rows = pl.DataFrame(
        {
            "t_ns": [15_000_000_000, 15_000_000_000 + DOWN_MS * 1_000_000],
            "handover": ["move"] * 2,
            "number": [0] * 2,
            "node": ["ground"] * 2,
            "from_link": ["lms"] * 2,
            "to_link": ["other"] * 2,
            "stage": ["begin", "end"],
        }
    )
    result = made_up.result(made_up.tables() | {"handovers": rows} | tables)
    result.scenario["record"]["interval"] = interval
    return result


def shown(result: Result, start_s: float, end_s: float) -> view.View:
    return view.choose("timeline", result, None, None, start_s, end_s)


def remarks(figure: Figure) -> str:
    """The text below the panels, with the titles of the legends."""
    return " ".join([figure.get_supxlabel(), *(each.get_title().get_text() for each in figure.legends)])


def test_drops_are_marked_at_their_exact_times() -> None:
    times = [12_345_678_901, 12_345_999_999, 47_000_000_001]
    losses = pl.DataFrame(
        {"place": [made_up.LINK] * 3, "dropped_ns": times, "cause": ["queue", "queue", "channel"]}
    )
    _, queue, *_ = timeline.draw(made_up.result(made_up.tables() | {"losses": losses})).axes
    marks = {str(line.get_label()): np.asarray(line.get_xdata(), float) for line in queue.get_lines()[1:]}
    assert marks["dropped by the queue"].tolist() == [times[0] / 1e9, times[1] / 1e9]
    assert marks["dropped by channel"].tolist() == [times[2] / 1e9]
    _, queue, *_ = timeline.draw(made_up.result(made_up.tables() | {"losses": losses}), start_s=20).axes
    assert [line.get_label() for line in queue.get_lines()[1:]] == ["dropped by channel"]


def test_a_zoomed_figure_is_drawn_from_every_sample() -> None:
    # 40 Mbit/s: a step of 10 ms holds 50 kB.
    assert rates.step_ns(shown(moving(), 14, 16)) == 10_000_000
    # One sample is the finest; its step stays as long however much the figure is zoomed.
    assert rates.step_ns(shown(moving("100 ms"), 14, 16)) == 100_000_000
    assert rates.step_ns(shown(moving("100 ms"), 0, 60)) == 200_000_000
    slow = made_up.tables()["transport"].with_columns(bytes_delivered=pl.col("bytes_delivered") // 1_000)
    assert rates.step_ns(shown(moving(transport=slow), 14, 16)) == 100_000_000


def test_a_figure_says_when_its_series_are_coarser_than_what_it_shows() -> None:
    assert sampling.note([shown(moving(), 0, 30)]) == ""
    fine, coarse, outside = ((moving(each), *span) for each, *span in (
        ("10 ms", 14, 14.9), ("100 ms", 0, 30), ("100 ms", 20, 50),
    ))  # fmt: skip
    assert sampling.note([shown(*fine)]).startswith(
        "series are sampled every 10 ms; a shorter record.interval"
    )
    said = sampling.note([shown(*coarse)])
    assert said.startswith(
        "series are sampled every 100 ms, handovers take 40.0 ms; a shorter record.interval"
    )
    assert sampling.note([shown(*outside)]) == ""
    for figure in (timeline.draw(coarse[0], end_s=30), throughput.draw(coarse[0], end_s=30)):
        assert said in remarks(figure)
    assert said in remarks(timeline.overlay([coarse[0], made_up.result(seed=2)], end_s=30))
    # The line and the band of the handover come from its table, whatever the samples are.
    (handover,) = handovers.within(shown(*coarse))
    assert (handover.start_s, handover.end_s) == (15.0, 15.04)


def test_states_too_many_for_shades_alternate_and_are_explained() -> None:
    def of(labels: list[str], **options: Any) -> list[states.State]:
        channel = pl.DataFrame(
            {
                "t_ns": [at * 1_000_000_000 for at in range(len(labels))],
                "rate_bps": [0 if label == "handover" else 1_000 for label in labels],
                "up": [label != "down" for label in labels],
                "label": labels,
            }
        )
        return states.of_channel(channel, float(len(labels)), **options)

    many = of([f"s{number}" for number in range(8)])
    assert [state.label for state in many] == ["", "every second of 8 states"]
    assert [start for start, _ in many[1].spans] == [1.0, 3.0, 5.0, 7.0]
    assert len({state.colour for state in many}) == 2
    # A satellite that stays keeps its shade through a handover; neighbours always differ.
    sky = of(["a", "handover", "a", "b", "handover", "a", "down"], satellites=True)
    assert [(state.label, [start for start, _ in state.spans]) for state in sky] == [
        ("", [0.0, 2.0, 5.0]), ("every second satellite", [3.0]), ("down", [6.0]),
    ]  # fmt: skip
    assert [patch.get_label() for patch in states.legend(sky)] == ["every second satellite", "down"]


def test_no_legend_of_a_panel_covers_its_data() -> None:
    names = [f"{'flow-with-a-name-of-forty-characters-no':x<39}{number}" for number in range(5)]
    frames = made_up.tables()
    for table in ("messages", "transport", "paths"):
        frames[table] = pl.concat([frames[table].with_columns(flow=pl.lit(name)) for name in names])
    figures = [
        timeline.draw(made_up.result()),
        timeline.draw(made_up.result(frames, flows=[made_up.flow(name) for name in names])),
        throughput.draw(moving()),
    ]
    plain = figures[0].get_figheight()
    assert figures[1].get_figheight() > plain + 0.5, "room for rows of the legends"
    for figure in figures:
        figure.draw_without_rendering()
        for axes in figure.axes:
            legend = axes.get_legend()
            assert legend is not None or len(axes.get_lines()) == 1, axes.get_title(loc="left")
            if legend is None:
                continue
            place = legend.get_window_extent()
            assert place.y0 >= axes.get_window_extent().y1 - 1
            assert place.x1 <= figure.bbox.x1
            title = axes._left_title.get_window_extent()  # type: ignore[attr-defined]
            assert place.y1 <= title.y0 + 2
            assert title.x1 <= figure.bbox.x1


def test_long_titles_and_entries_are_broken_between_words() -> None:
    assert style.fill("one two three", 10.0) == "one two three"
    assert style.fill("one two three", 7 * style.LETTER) == "one two\nthree"
    assert style.fill("up/a-b->c", 10 * style.LETTER) == "up/a-b->c"
    assert style.fill("uplink/client->server", 14 * style.LETTER) == "uplink/client-\n>server"


def test_shares_has_its_legend_above_the_goodputs(scenarios: Any) -> None:
    import leobench

    run = leobench.run(scenarios / "competition.toml", overrides={"duration": "20 s"})
    top, _ = shares.draw(run).axes
    legend = top.get_legend()
    assert legend is not None
    top.figure.draw_without_rendering()  # type: ignore[union-attr]
    assert legend.get_window_extent().y0 >= top.get_window_extent().y1 - 1


@pytest.mark.parametrize("span", [0.5, 5.0, 60.0])
def test_steps_are_whole_samples(span: float) -> None:
    step = rates.step_ns(shown(moving("30 ms"), 0, span))
    assert step % 30_000_000 == 0 or step >= 300_000_000
