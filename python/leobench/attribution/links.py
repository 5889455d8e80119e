"""Links without losses, handovers and outages, and links without the others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

from leobench.durations import nanoseconds
from leobench.plots import routes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leobench.attribution.causes import Evidence, Scenario
    from leobench.attribution.subject import Subject

# The longest delay that a link may have: nothing that is sent over it arrives while a run lasts.
_NEVER = "3600 s"

# Channels without states.
_CONSTANT = "steady"

# The share of the time up in which a channel without fading is no faster: peaks of a noisy schedule are rare.
_TOP = 0.95

_DIRECTIONS = ("forward", "backward")


def rates_bps(subject: Subject, seen: Evidence) -> list[float]:
    """The mean rate of each path: that of the narrowest link on its way."""
    means = {link["name"]: link["mean_rate_bps"] for link in seen.summary["links"]}
    ways = routes.of_paths(subject.scenario, subject.flow).values()
    return [min((means[link] or 0.0 for link in way), default=0.0) for way in ways]


def without_losses(scenario: Scenario, seen: Evidence) -> None:
    """Removes the loss processes of all links, and the losses of schedules that the scenario has inline."""
    for name, link in scenario["links"].items():
        for table in (link, *(link[direction] for direction in _DIRECTIONS)):
            table.pop("loss", None)
            channel = table.get("channel")
            if channel is None or channel["kind"] != "schedule":
                continue
            if channel.get("steps") is None:
                if _lost_by_channel(seen, name):
                    seen.miss("losses", f"the losses in the file of the schedule of `{name}` stay")
                continue
            for step in channel["steps"]:
                step.pop("loss", None)


def _lost_by_channel(seen: Evidence, link: str) -> bool:
    rows = seen.channel.filter(pl.col("link").str.starts_with(f"{link}/"))
    return float(rows["loss"].max() or 0.0) > 0  # type: ignore[arg-type]


def shared_bps(subject: Subject, seen: Evidence) -> float:
    """The rate of the narrowest link that all paths take, which no sum exceeds; infinite if there is none."""
    first, *others = routes.of_paths(subject.scenario, subject.flow).values()
    shared = set(first).intersection(*others)
    rates = [link["mean_rate_bps"] for link in seen.summary["links"] if link["name"] in shared]
    return min((rate for rate in rates if rate is not None), default=math.inf)


def lossy(subject: Subject) -> list[str]:
    """The links with losses on the ways of the flow, by name."""
    found = []
    for name in _taken(subject):
        link = subject.scenario["links"][name]
        tables = (link, *(link[direction] for direction in _DIRECTIONS))
        steps = [step for table in tables for step in (table.get("channel") or {}).get("steps") or ()]
        processes = [table["loss"]["kind"] for table in tables if "loss" in table]
        if any(kind != "none" for kind in processes) or any("loss" in step for step in steps):
            found.append(f"`{name}`")
    return found


def without_outages(scenario: Scenario, subject: Subject, seen: Evidence) -> None:
    """Removes handovers and outages; channels with states stay in a good one."""
    scenario["handovers"] = {}
    constellation = scenario.get("constellation")
    if constellation is None:
        _without_forecasts(scenario)
    if constellation is not None:
        constellation["outage"] = constellation["overlap"] = "0 ns"
        constellation["old_packets"] = "drain"
        seen.miss(
            "handovers", "satellites still take turns, as links through a constellation cannot do without"
        )
    for name, link in scenario["links"].items():
        if "constellation" in link:
            link["constellation"].pop("fading", None)
        else:
            _steady(name, link, subject, seen)


def _without_forecasts(scenario: Scenario) -> None:
    """Removes forecasts where there is nothing to foretell, and what needs them."""
    for flow in scenario["flows"].values():
        flow.pop("forecast", None)
        # Nothing acts on forecasts that do not come.
        flow["transport"].pop("on_forecast", None)
        multipath = flow["transport"].get("multipath") or {}
        manager = multipath.get("manager", {})
        if manager.get("kind") == "make_before_break":
            multipath["manager"] = {"kind": "standby", "after": manager["after"]}


def _steady(name: str, link: dict[str, Any], subject: Subject, seen: Evidence) -> None:
    """Gives a link with a channel that has states the rate of a good one."""
    for direction, ends in zip(_DIRECTIONS, (1, -1), strict=True):
        own = link[direction]
        channel = own.get("channel") or (None if own.get("rate") else link.get("channel"))
        if channel is None or channel["kind"] == _CONSTANT:
            continue
        between = subject.scenario["links"][name]["between"]
        start, end = between[::ends]
        good = _good(seen.channel.filter(link=f"{name}/{start}->{end}"), seen)
        if good is None:
            if name in _taken(subject):
                seen.miss("handovers", f"the trace of `{name}` stays: its gaps are not told from its rate")
            continue
        own.pop("channel", None)
        own.pop("rate_scale", None)
        own["rate"], own["delay"] = good
    if all(link[direction].get("rate") or link[direction].get("channel") for direction in _DIRECTIONS):
        link.pop("channel", None)
        link.pop("rate", None)


def _taken(subject: Subject) -> list[str]:
    """The links on the ways of the flow."""
    ways = routes.of_paths(subject.scenario, subject.flow).values()
    return list(dict.fromkeys(link.partition("/")[0] for way in ways for link in way))


def _good(rows: pl.DataFrame, seen: Evidence) -> tuple[str, str] | None:
    """A rate that the channel has not exceeded but in a twentieth of the time up, and its median delay.

    `None` if a trace serves it.
    """
    if rows.is_empty() or rows["rate_bps"].has_nulls():
        return None
    end = round(seen.summary["virtual_s"] * 1e9)
    spans = rows.with_columns(span=(pl.col("t_ns").shift(-1).fill_null(end) - pl.col("t_ns")))
    up = spans.filter(pl.col("up") & (pl.col("rate_bps") > 0) & (pl.col("span") > 0))
    if up.is_empty():
        return None
    return f"{_quantile(up, 'rate_bps', _TOP)} bps", f"{_quantile(up, 'delay_ns', 0.5)} ns"


def _quantile(rows: pl.DataFrame, column: str, share: float) -> int:
    """The least value that is not exceeded in this share of the time."""
    ordered = rows.sort(column).with_columns(part=pl.col("span").cum_sum() / pl.col("span").sum())
    return int(ordered.filter(pl.col("part") >= share - 1e-12)[column][0])


def interrupted(subject: Subject) -> list[str]:
    """Interruptions and slowdowns of the links of the flow, in words."""
    scenario = subject.scenario
    found = [f"the handovers `{name}`" for name in scenario["handovers"]]
    for name in _taken(subject):
        link = scenario["links"][name]
        tables = (link, *(link[direction] for direction in _DIRECTIONS))
        kinds = {table["channel"]["kind"] for table in tables if table.get("channel")} - {_CONSTANT}
        if kinds:
            found.append(f"the channel of `{name}` ({', '.join(sorted(kinds))})")
        elif link.get("constellation", {}).get("fading"):
            found.append(f"the fading of `{name}`")
    if nanoseconds_of(scenario.get("constellation", {}).get("outage")):
        found.append("the outages of the constellation")
    return found


def nanoseconds_of(duration: object) -> int:
    """The nanoseconds of a fixed time; 1 of one that varies, 0 of none."""
    return nanoseconds(duration) if isinstance(duration, str) else int(duration is not None)


def alone(scenario: Scenario, subject: Subject, seen: Evidence, link: str) -> None:
    """Makes the flow one of a single path over one of its links.

    Nothing arrives over other links of the node that opens the connection. Flows that use only these are left
    out, as they would move to the link that is left.
    """
    flow = scenario["flows"][subject.flow]
    opener = flow[flow["opened_by"]]
    del flow["transport"]["multipath"]
    away = [name for name, each in scenario["links"].items() if opener in each["between"] and name != link]
    for name in away:
        each = scenario["links"][name]
        each["delay"] = _NEVER
        for direction in _DIRECTIONS:
            if "delay" in each[direction]:
                each[direction]["delay"] = _NEVER
    for name in [name for name in scenario["flows"] if name != subject.flow]:
        _leave(scenario, seen, name, set(away), link)
    for name, handover in list(scenario["handovers"].items()):
        if handover["node"] == opener:
            if link in handover["links"]:
                handover["kind"] = "migrate"  # as several paths do: each is from the address of its link
            else:
                del scenario["handovers"][name]
    if not scenario["handovers"] and scenario.get("constellation") is None:
        _without_forecasts(scenario)


def _leave(scenario: Scenario, seen: Evidence, name: str, away: set[str], link: str) -> None:
    """Leaves out a flow that uses only links that nothing arrives over, or its paths over these."""
    flow = scenario["flows"][name]
    multipath = flow["transport"].get("multipath")
    used = set(multipath["links"]) if multipath else set(_used(seen, name))
    if not used & away:
        return
    left = [each for each in multipath["links"] if each not in away] if multipath else []
    if multipath and len(left) > 1:
        multipath["links"] = left
        multipath["backup"] = [each for each in multipath["backup"] if each in left]
    elif left:
        del flow["transport"]["multipath"]
    elif link not in used:
        del scenario["flows"][name]
        reference = scenario["competition"]["reference"]
        scenario["competition"]["reference"] = [each for each in reference if each != name]


def _used(seen: Evidence, flow: str) -> Iterator[str]:
    """The links that a flow took at any time."""
    for way in seen.routes.filter(flow=flow)["links"].drop_nulls():
        yield from (link.partition("/")[0] for link in way.split(" "))
