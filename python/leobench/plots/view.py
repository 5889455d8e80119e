"""The part of a run that a figure shows: flows, link and time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from leobench.errors import InputError, allowed
from leobench.plots import routes, style

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from leobench.result import Result

    Summary = dict[str, Any]

# Beyond so many flows, colours cannot be told apart.
MOST_FLOWS = len(style.FLOWS)

# With fewer messages delivered, their delays say less than the round-trip times: they are files.
_FEW_MESSAGES = 10


@dataclass(frozen=True)
class View:
    """The part of a result that is shown.

    Attributes:
        result: The run.
        flows: Summaries of the flows shown.
        left_out: Number of flows left out for lack of room.
        link: Summary of the link direction shown.
        start_s: First second shown.
        end_s: Last second shown.
    """

    result: Result
    flows: list[Summary]
    left_out: int
    link: Summary
    start_s: float
    end_s: float

    @property
    def scope(self) -> str:
        """The scope of the numbers in the titles, if it differs from that of the drawing."""
        whole = self.start_s == 0 and self.end_s == self.result.summary["virtual_s"]
        return "" if whole else " (whole run)"

    @property
    def whose(self) -> str:
        """The flow shown, or the number shown if some are left out."""
        if len(self.flows) == 1:
            return f" of {self.flows[0]['name']}"
        total = len(self.flows) + self.left_out
        return f" of the first {len(self.flows)} of {total} flows" if self.left_out else ""

    def colour(self, flow: Summary) -> str:
        """The colour of one flow of several, the same in every panel."""
        return style.FLOWS[self.flows.index(flow)]

    def alone(self) -> View:
        """The same view of the first flow only."""
        return replace(self, flows=self.flows[:1], left_out=0)

    @property
    def has_window(self) -> bool:
        """Whether any flow shown has a congestion window."""
        return any(flow["congestion"] is not None for flow in self.flows)

    def within(self, frame: pl.DataFrame, time: str) -> pl.DataFrame:
        """The rows in the time shown."""
        return frame.filter(pl.col(time).is_between(round(self.start_s * 1e9), round(self.end_s * 1e9)))

    def queues(self, links: Collection[str]) -> pl.DataFrame:
        """The samples of the queues of these link directions, in the time shown."""
        return self.within(self.result.tables.queues.filter(pl.col("link").is_in(links)), "t_ns")

    def messages(self, flow: Summary) -> pl.DataFrame:
        """The messages of a flow, of the whole run."""
        return self.result.tables.messages.filter(pl.col("flow") == flow["name"])

    def transport(self, flow: Summary) -> pl.DataFrame:
        """The `transport` rows of a flow, of the whole run."""
        return self.result.tables.transport.filter(pl.col("flow") == flow["name"])

    def has_delays(self, flow: Summary) -> bool:
        """Whether enough messages were delivered to show their delays."""
        delivered = self.messages(flow)["delivered_ns"]
        return len(delivered) - delivered.null_count() >= _FEW_MESSAGES

    def has_rtt(self, flow: Summary) -> bool:
        """Whether any round-trip time was measured."""
        rows = self.transport(flow)
        return rows["srtt_ns"].null_count() < rows.height


def choose(
    kind: str,
    result: Result,
    flow: str | None,
    link: str | None,
    start_s: float | None,
    end_s: float | None,
) -> View:
    """The part of a run to show, from the arguments and the flows and links of the run.

    Raises:
        InputError: If there is no such flow, link or time.
    """
    flows = {each["name"]: each for each in result.summary["flows"]}
    links = {each["name"]: each for each in result.summary["links"]}
    if flow is not None:
        require_flows(kind, result)
    named = _named("flow", flow, flows)
    chosen = [named] if named else _foreground(result, flows)
    shown = chosen[:MOST_FLOWS]
    last = float(result.summary["virtual_s"])
    start, end = start_s or 0.0, last if end_s is None else end_s
    if not 0 <= start < end <= last:
        raise InputError(
            f"{kind}: cannot show from {start:g} s to {end:g} s; "
            f"allowed: a part of the run, from 0 s to {last:g} s"
        )
    bottleneck = _named("link", link, links) or _bottleneck(result, shown, links)
    return View(result, shown, len(chosen) - len(shown), bottleneck, start, end)


def of_each(results: Sequence[Result], labels: Sequence[str], choose: Callable[[Result], View]) -> list[View]:
    """The part of every run to show, by `choose`; the label of a run stands for one without a folder.

    Raises:
        InputError: That of `choose`, with the run.
    """
    views = []
    for result, label in zip(results, labels, strict=True):
        try:
            views.append(choose(result))
        except InputError as error:
            raise InputError(f"{result.folder or label}: {error}") from error
    return views


def span(views: Sequence[View]) -> tuple[float, float]:
    """The first and the last second that any of several views shows."""
    return min(view.start_s for view in views), max(view.end_s for view in views)


def require_flows(kind: str, result: Result) -> None:
    """Checks that a run has flows.

    Raises:
        InputError: If it has none, as an emulation of programs.
    """
    if not result.summary["flows"]:
        raise InputError(
            f"{kind}: the run has no flows; allowed: --kind timeline of this run alone, which shows its links"
        )


def require_series(kind: str, result: Result) -> None:
    """Checks that a run recorded the series that figures over time need.

    Raises:
        InputError: If it did not.
    """
    if result.tables.queues.is_empty():
        raise InputError(f"{kind}: the run recorded no series; run it with record.series = true")


def _bottleneck(result: Result, flows: list[Summary], links: Mapping[str, Summary]) -> Summary:
    """The most utilised link direction on the path of the flows' data; of all, without flows."""
    ways = (routes.of_flow(result, flow["name"]) for flow in flows)
    carrying = [links[name] for name in dict.fromkeys(name for way in ways for name in way)]
    return max(carrying or links.values(), key=lambda each: each["utilisation"] or 0.0)


def _foreground(result: Result, flows: Mapping[str, Summary]) -> list[Summary]:
    specs = result.scenario["flows"]
    return [flow for name, flow in flows.items() if not specs[name]["background"]] or list(flows.values())


def _named(what: str, name: str | None, known: Mapping[str, Summary]) -> Summary | None:
    if name is None or name in known:
        return known[name] if name is not None else None
    raise InputError(f"--{what} = {name}: no such {what}; {allowed(name, known)}")
