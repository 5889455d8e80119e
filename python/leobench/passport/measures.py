"""The numbers that checks judge, each read off the summary of a run."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

from leobench.durations import seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from leobench.passport.suite import Case

    Summary = Mapping[str, Any]
    Number = float | None

_BOTTLENECK = "bottleneck/router->server"


def goodput_share(summary: Summary, case: Case) -> Number:
    """Goodput over the mean rate of the bottleneck."""
    del case
    return _ratio(_flow(summary, "main")["goodput_bps"], _link(summary)["mean_rate_bps"])


def queueing(summary: Summary, case: Case) -> Number:
    """Mean queueing delay over the round trip without queues."""
    return _ratio(_link(summary)["queue_delay_ms"]["mean"], case.base_rtt_ms)


def loss_share(summary: Summary, case: Case) -> Number:
    """Share of the packets of its flows that queues dropped."""
    own = [flow for flow in summary["flows"] if case.is_examined(flow["name"])]
    dropped = sum(flow["dropped_packets"]["queue"] for flow in own)
    return _ratio(dropped, sum(flow["sent_packets"] for flow in own))


def jain(summary: Summary, case: Case) -> Number:
    """Jain's fairness index over the goodputs of its flows."""
    del case
    value: Number = summary["fairness_jain"]
    return value


def own_share(summary: Summary, case: Case) -> Number:
    """Goodput over the fair share of what all flows delivered together."""
    del case
    return _fair_share(summary, "main")


def rival_share(summary: Summary, case: Case) -> Number:
    """Goodput of the rival over its fair share of what all flows delivered together."""
    del case
    return _fair_share(summary, "rival")


def distant_share(summary: Summary, case: Case) -> Number:
    """Goodput of the flow with the longer round trip over its fair share."""
    del case
    return _fair_share(summary, "distant")


def recovery(summary: Summary, case: Case) -> Number:
    """Mean seconds from the end of the outage of a handover until 90 % of the later rate."""
    handovers = _flow(summary, "main")["handovers"]
    outage = seconds(case.outage)
    if not handovers["count"]:
        return None
    lasting = seconds(case.duration)
    each = handovers["each"]
    return fmean(
        [lasting if one["recovery_ms"] is None else one["recovery_ms"] / 1e3 - outage for one in each]
    )


def inflation(summary: Summary, case: Case) -> Number:
    """Mean completion time of short transfers over that on the same path alone."""
    lasting = seconds(case.duration)
    times = []
    for flow in summary["flows"]:
        if flow["name"].startswith("short_"):
            end = lasting if flow["completion_s"] is None else flow["completion_s"]
            times.append(end - seconds(case.flows[flow["name"]]["start"]))
    return fmean(times) / case.alone_s


def late_share(summary: Summary, case: Case) -> Number:
    """Share of the messages of the call that missed their deadline, lost ones included."""
    del case
    voice = _flow(summary, "call")["streams"][0]
    return _ratio(voice["late_messages"], voice["messages"])


def second_transfer(summary: Summary, case: Case) -> Number:
    """Time of the transfer after the silence over that which the path's goodput allows."""
    delay = _flow(summary, "main")["streams"][0]["delay_ms"]["mean"]
    return (seconds(case.duration) if delay is None else delay / 1e3) / case.alone_s


# Every measure that checks may name.
MEASURES: Mapping[str, Callable[[Summary, Case], Number]] = {
    each.__name__: each
    for each in (
        goodput_share,
        queueing,
        loss_share,
        jain,
        own_share,
        rival_share,
        distant_share,
        recovery,
        inflation,
        late_share,
        second_transfer,
    )
}


def meaning(name: str) -> str:
    """The measure in words."""
    return (MEASURES[name].__doc__ or "").split("\n", 1)[0].removesuffix(".")


def _flow(summary: Summary, name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(flow for flow in summary["flows"] if flow["name"] == name)
    return found


def _link(summary: Summary) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(link for link in summary["links"] if link["name"] == _BOTTLENECK)
    return found


def _fair_share(summary: Summary, name: str) -> Number:
    flows = summary["competition"]["flows"]
    share = next(flow["share"] for flow in flows if flow["name"] == name)
    return None if share is None else share * len(flows)


def _ratio(value: Number, whole: Number) -> Number:
    return None if value is None or not whole else value / whole
