"""The panel of pages: when each object was requested, and when it arrived."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from leobench.plots import style, units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from leobench.plots.view import Summary, View


def draw(axes: Axes, view: View, colours: Sequence[str]) -> None:
    """A bar per object from request to delivery, in the order of the requests, the first on top.

    Args:
        axes: The panel.
        view: The part of the run shown; every flow is a page.
        colours: One per flow, if there are several. The objects of a single flow are coloured by name.
    """
    rows = pl.concat([_objects(view, flow) for flow in view.flows]).sort("created_ns", maintain_order=True)
    rows = rows.filter(
        pl.col("created_ns") <= view.end_s * 1e9,
        pl.col("delivered_ns").is_null() | (pl.col("delivered_ns") >= view.start_s * 1e9),
    ).with_row_index("row")
    arrived = rows.filter(pl.col("delivered_ns").is_not_null())
    names = rows["name"].unique(maintain_order=True).to_list()
    if len(view.flows) == 1:
        colours = style.CATEGORIES
    if len(names) > len(colours):
        arrived, names = arrived.with_columns(name=pl.lit("delivered")), ["delivered"]
    for name, colour in zip(names, colours, strict=False):
        _bars(axes, arrived.filter(name=name), name, {"color": colour})
    missing = rows.filter(pl.col("delivered_ns").is_null()).with_columns(delivered_ns=round(view.end_s * 1e9))
    look = {"facecolor": "none", "edgecolor": style.VERMILION, "linewidth": 0.6}
    _bars(axes, missing, f"never delivered ({missing.height:,})", look)
    style.dress(axes, _title(view), "object", zero=False)
    axes.set_ylim(rows.height - 0.25, -0.75)
    axes.set_yticks([])
    if rows.is_empty():
        style.say(axes, "no object was in transit in this time")


def _objects(view: View, flow: Summary) -> pl.DataFrame:
    """The messages of a page in the order of the scenario, with the `name` of each bar."""
    specs = view.result.scenario["flows"][flow["name"]]["objects"]
    names = [spec["name"] for spec in specs for _ in range(spec["count"])]
    streams = [each["name"] for each in flow["page"]["objects"]]
    if len(view.flows) > 1:
        names = [flow["name"]] * len(streams)
    known = pl.DataFrame({"stream": streams, "name": names}, schema={"stream": pl.String, "name": pl.String})
    messages = view.messages(flow).select("stream", "created_ns", "delivered_ns")
    return known.join(messages, on="stream", maintain_order="left")


def _bars(axes: Axes, rows: pl.DataFrame, label: str, look: dict[str, object]) -> None:
    if rows.is_empty():
        return
    starts, ends = (rows[column].to_numpy() / 1e9 for column in ("created_ns", "delivered_ns"))
    axes.barh(rows["row"].to_numpy(), ends - starts, 0.8, starts, label=label, **look)  # type: ignore[arg-type]


def _title(view: View) -> str:
    if len(view.flows) > 1:
        return "Objects of the pages, from request to delivery"
    (flow,) = view.flows
    done = flow["page"]["completion_s"]
    said = "never complete" if done is None else f"complete after {units.millis_text(done * 1e3)}"
    return f"Objects of {flow['name']}, from request to delivery: {said}"
