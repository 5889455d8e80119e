"""The distribution of message delays: the share of messages below each delay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from leobench.durations import seconds
from leobench.errors import InputError
from leobench.plots import ecdf, names, style, view
from leobench.plots.frames import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from leobench.plots.view import Summary, View
    from leobench.result import Result

# A 99 % quantile further above the median than this needs a logarithmic axis.
_FAR = 20.0


def draw(
    result: Result,
    *,
    flow: str | None = None,
    link: str | None = None,
    start_s: float | None = None,
    end_s: float | None = None,
) -> Figure:
    """Draws the distribution of message delays: a curve per stream, or per flow if there are several.

    Args:
        result: The run.
        flow: Name of the flow; the first five that are not background unless given.
        link: Not allowed for this kind of figure, which shows delays of flows.
        start_s: Start of the messages shown; the end of the warm-up unless given.
        end_s: End of the messages shown; the end of the run unless given.

    Raises:
        InputError: If there is no such flow or time, or no flow delivered enough messages.
    """
    chosen = _choose(result, flow, link, start_s, end_s)
    rows = pl.concat([_of_flow(chosen, each) for each in chosen.flows])
    by = "stream" if len(chosen.flows) == 1 else "flow"
    rows = rows.sort(by, maintain_order=True) if by == "stream" else rows
    if rows[by].n_unique() > len(style.CATEGORIES):
        rows = rows.with_columns(pl.format("{} {}s", pl.lit(rows[by].n_unique()), pl.lit(by)).alias(by))
    return _draw(rows, by, f"Messages{chosen.whose}")


def overlay(
    results: Sequence[Result],
    *,
    flow: str | None = None,
    link: str | None = None,
    start_s: float | None = None,
    end_s: float | None = None,
) -> Figure:
    """Draws the distribution of each of several runs; the arguments are those of `draw`.

    Raises:
        InputError: If there are more runs than colours, a run has no such flow or time, or too few messages.
    """
    labels = names.of_runs(results)
    views = view.of_each(results, labels, lambda each: _choose(each, flow, link, start_s, end_s))
    frames = [
        _of_flow(chosen, each).with_columns(run=pl.lit(label))
        for chosen, label in zip(views, labels, strict=True)
        for each in chosen.flows
    ]
    return _draw(pl.concat(frames), "run", "")


def _choose(
    result: Result, flow: str | None, link: str | None, start_s: float | None, end_s: float | None
) -> View:
    if link is not None:
        raise InputError(f"delays: --link = {link}: delays belong to flows; leave it out, or give --flow")
    view.require_flows("delays", result)
    warm_up = seconds(result.scenario["warm_up"])
    chosen = view.choose("delays", result, flow, None, warm_up if start_s is None else start_s, end_s)
    if not result.scenario["record"]["messages"]:
        raise InputError("delays: the run recorded no messages; run it with record.messages = true")
    if not any(chosen.has_delays(each) for each in chosen.flows):
        raise InputError(
            f"delays: fewer than 10 messages{chosen.whose} were delivered and recorded; "
            "allowed: flows with many messages (files show their round-trip times in --kind timeline)"
        )
    return chosen


def _of_flow(view: View, flow: Summary) -> pl.DataFrame:
    rows = view.within(view.messages(flow), "created_ns")
    delay = (pl.col("delivered_ns") - pl.col("created_ns")) / 1e6
    return rows.select("flow", "stream", delay_ms=delay)


def _draw(rows: pl.DataFrame, by: str, title: str) -> Figure:
    middle, far = (rows["delay_ms"].quantile(share) for share in (0.5, 0.99))
    log = middle is not None and far is not None and 0 < _FAR * middle < far
    delay = Column("delay_ms", "delay", "ms", log=log)
    return ecdf.draw(rows, value=delay, series=Column(by, by), of="messages", title=title)
