"""The delays of many streams, and the panel of a page."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer
from matplotlib.patches import Rectangle

from leobench.plots import timeline
from tests.support import made_up

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

    from leobench.result import Result

# Name, from and until when it was on its way; a font is asked for when the style sheets have arrived.
OBJECTS = (
    ("html", 1.0, 2.0),
    ("style-1", 2.0, 3.0),
    ("style-2", 2.0, 4.5),
    ("font", 4.5, 5.0),
    ("image", 2.0, 6.0),
)


def page(name: str = "web", arrived: float = 60.0, count: int = len(OBJECTS)) -> Result:
    """The first objects of a page, of which those have arrived that had by a given time."""
    rows = [
        {"flow": name, "stream": stream, "created_ns": round(start * 1e9), "delivered_ns": round(end * 1e9)}
        for stream, start, end in OBJECTS[:count]
    ]
    messages = pl.DataFrame(rows).with_columns(
        pl.lit(1200).alias("size_bytes"),
        pl.when(pl.col("delivered_ns") <= arrived * 1e9).then("delivered_ns"),
    )
    objects = [{"name": stream} for stream, _, _ in OBJECTS]
    whole = {"completion_s": 5.0 if arrived >= 6 and count == len(OBJECTS) else None, "objects": objects}
    result = made_up.result(made_up.tables() | {"messages": messages}, flows=[made_up.flow(name, page=whole)])
    kinds = (("html", 1), ("style", 2), ("font", 1), ("image", 1))
    result.scenario["flows"][name]["objects"] = [{"name": kind, "count": many} for kind, many in kinds]
    return result


def bars(panel: Axes) -> dict[str, list[Rectangle]]:
    """The bars of a panel by their names in its legend."""
    drawn = [each for each in panel.containers if isinstance(each, BarContainer)]
    names = [str(each.get_label()) for each in drawn]
    assert panel.get_legend_handles_labels()[1] == names
    return {name: list(each.patches) for name, each in zip(names, drawn, strict=True)}


def spans(drawn: Iterable[Rectangle]) -> list[tuple[float, float]]:
    """From when to when bars go, from the top down."""
    return [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in sorted(drawn, key=Rectangle.get_y)]


def test_a_page_is_shown_as_a_bar_per_object() -> None:
    *_, panel = timeline.draw(page()).axes
    title = "Objects of web, from request to delivery: complete after 5 s"
    assert panel.get_title(loc="left") == title
    assert not panel.get_lines()
    drawn = bars(panel)
    # In the order in which they were asked for, the first on top.
    assert spans(chain(*drawn.values())) == [(1, 2), (2, 3), (2, 4.5), (2, 6), (4.5, 5)]
    assert panel.yaxis_inverted()
    assert spans(drawn["style"]) == [(2, 3), (2, 4.5)]
    assert list(drawn) == ["html", "style", "image", "font"]
    assert len({to_hex(some.get_facecolor()) for some, *_ in drawn.values()}) == 4


def test_objects_that_never_arrived_and_those_never_asked_for() -> None:
    *_, panel = timeline.draw(page(arrived=5.0)).axes
    assert panel.get_title(loc="left").endswith(": never complete")
    drawn = bars(panel)
    assert list(drawn) == ["html", "style", "font", "never delivered (1)"]
    assert spans(drawn["never delivered (1)"]) == [(2, 60)], "to the end of the run"
    *_, panel = timeline.draw(page(count=2)).axes
    assert list(bars(panel)) == ["html", "style"]


def test_a_part_of_a_page_can_be_shown() -> None:
    *_, panel = timeline.draw(page(), start_s=4.6, end_s=5).axes
    assert list(bars(panel)) == ["image", "font"]
    *_, panel = timeline.draw(page(), start_s=10).axes
    assert panel.texts[0].get_text() == "no object was in transit in this time"


def test_two_pages_have_a_colour_each() -> None:
    one, two = page("one"), page("two")
    both = made_up.result(
        made_up.tables() | {"messages": pl.concat([one.tables.messages, two.tables.messages])},
        flows=[*one.summary["flows"], *two.summary["flows"]],
    )
    for each in (one, two):
        both.scenario["flows"] |= each.scenario["flows"]
    *_, panel = timeline.draw(both).axes
    assert {name: len(drawn) for name, drawn in bars(panel).items()} == {"one": 5, "two": 5}


@pytest.mark.parametrize("streams", [5, 6])
def test_no_line_joins_messages_of_different_streams(streams: int) -> None:
    messages = made_up.tables()["messages"].with_columns(
        stream="s" + (pl.int_range(pl.len()) % streams).cast(pl.String)
    )
    *_, panel = timeline.draw(made_up.result(made_up.tables() | {"messages": messages})).axes
    joined = [line for line in panel.get_lines() if line.get_linestyle() != "None"]
    assert len(joined) == (streams if streams == 5 else 0)
    drawn = sum(np.asarray(line.get_xdata()).size for line in panel.get_lines())
    assert drawn == messages.height
    two = pl.concat([messages, messages.with_columns(flow=pl.lit("other"))])
    flows = [made_up.flow("main"), made_up.flow("other")]
    *_, panel = timeline.draw(made_up.result(made_up.tables() | {"messages": two}, flows=flows)).axes
    assert {line.get_linestyle() for line in panel.get_lines()} == {"None"}
