"""Causes of a loss over several paths, and the repair of each: the same scenario without it.

A cause is a function that repairs a resolved scenario in place and a line in `CAUSES`. Where a repair changes
nothing, the cause is not there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from leobench.attribution import links, places
from leobench.attribution.measure import streams

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import polars as pl

    from leobench.attribution.subject import Subject

    Scenario = dict[str, Any]

# Enough streams that no two packets in flight are of one: data never waits for other data.
_STREAMS = 4096

# Stream schedulers that serve the streams of one source in the order of its messages, or nearly so.
_IN_ORDER = ("rr", "fq", "max_delay")

_SIZES = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


@dataclass
class Evidence:
    """Observations of the run as it is.

    Attributes:
        channel: Its table `channel`.
        routes: Its table `routes`.
        paths: Its table `paths`.
        summary: Its summary.
        scheduler: The path scheduler that did best in the place of the flow's own; `None` if its own did, or
            none was tried yet.
        unmeasured: Reasons why a part of a cause could not be repaired, by cause.
    """

    channel: pl.DataFrame
    routes: pl.DataFrame
    paths: pl.DataFrame
    summary: dict[str, Any]
    scheduler: str | None = None
    unmeasured: dict[str, list[str]] = field(default_factory=dict)

    def miss(self, cause: str, reason: str) -> None:
        """Takes note of a part of a cause that cannot be repaired."""
        reasons = self.unmeasured.setdefault(cause, [])
        if reason not in reasons:
            reasons.append(reason)


@dataclass(frozen=True)
class Cause:
    """A cause, and its repair.

    Attributes:
        name: Its name in `why.json`.
        label: What it is, in words.
        absent: Why a scenario does not have it.
        repair: Removes it from a scenario, in place.
        advice: What to change about it, from the scenario and what was seen.
        of_one_path: Whether it may cost a single path something, too.
    """

    name: str
    label: str
    absent: str
    repair: Callable[[Scenario, Subject, Evidence], None]
    advice: Callable[[Subject, Evidence], str]
    of_one_path: bool = True


def repaired(subject: Subject, seen: Evidence, causes: Iterable[str]) -> Scenario:
    """The scenario without these causes."""
    import copy

    scenario = copy.deepcopy(subject.scenario)
    wanted = set(causes)
    for cause in CAUSES:
        if cause.name in wanted:
            cause.repair(scenario, subject, seen)
    return scenario


def present(subject: Subject, seen: Evidence) -> list[Cause]:
    """The causes whose repair changes the scenario."""
    return [
        cause for cause in CAUSES if places.changes(subject.scenario, repaired(subject, seen, [cause.name]))
    ]


def _windows(scenario: Scenario, subject: Subject, _seen: Evidence) -> None:
    """Makes the windows of flow control unlimited."""
    transport = scenario["flows"][subject.flow]["transport"]
    for key in _WINDOWS:
        transport[key] = "unlimited"


_WINDOWS = ("connection_window", "stream_window")


def _windows_advice(subject: Subject, seen: Evidence) -> str:
    transport = subject.spec["transport"]
    limited = [key for key in _WINDOWS if transport[key] != "unlimited"]
    now = ", ".join(f"`{key}` is {transport[key]}" for key in limited)
    rate = sum(links.rates_bps(subject, seen))
    trips = seen.paths.filter(flow=subject.flow)["base_rtt_ns"].drop_nulls().to_list()
    least = 2 * rate * max(trips, default=0) / 8e9
    return (
        f"{now}: set flows.{subject.flow}.transport.{limited[0]} to {size_text(least)} or more: twice the "
        "sum of the rates times the longest round trip (RFC 6182, section 5.3)"
    )


def size_text(size: float) -> str:
    """A size in bytes, with its unit."""
    unit, factor = next(((u, f) for u, f in (("MB", 1e6), ("kB", 1e3)) if size >= f), ("B", 1.0))
    return f"{size / factor:.3g} {unit}"


def size_bytes(text: str) -> float:
    """The bytes of a size in a resolved scenario, such as `1.252 kB`."""
    number, unit = text.split()
    return float(number) * _SIZES[unit]


def _order(scenario: Scenario, subject: Subject, seen: Evidence) -> None:
    """Spreads the data over so many streams that none of it waits for other data, within the same windows."""
    flow = scenario["flows"][subject.flow]
    reason = _bound_to_streams(flow)
    if reason is not None:
        seen.miss("order", reason)
        return
    transport = flow["transport"]
    each = streams(flow)
    count = len(each) or flow["streams"]
    windows = [(transport["connection_window"], 1), (transport["stream_window"], count)]
    limits = [times * size_bytes(window) for window, times in windows if window != "unlimited"]
    transport["stream_window"] = "unlimited"
    transport["connection_window"] = f"{round(min(limits))} B" if limits else "unlimited"
    source = flow.get("source")
    if source is not None and source["kind"] != "bulk":
        flow["streams"] = _STREAMS
        transport["scheduler"] = {"kind": "max_delay"}  # the oldest message first: the order of one stream
        return
    sources = [source] if source is not None else [stream["source"] for stream in each]
    flow.pop("source", None)
    transport["scheduler"] = {"kind": "rr"}
    payload = size_bytes(transport["payload"])
    flow["streams"] = [
        {"source": part} for bulk in sources for part in _split(bulk, _STREAMS // len(sources), payload)
    ]


def _bound_to_streams(flow: Scenario) -> str | None:
    """Why the data of a flow cannot be spread over other streams, if it cannot."""
    each = streams(flow)
    if "objects" in flow:
        return "every object of a page has a stream of its own already"
    if flow.get("video") is not None:
        return "the player of a video asks for its segments one after the other"
    if flow["application"] == "blocking":
        return "a blocking application writes its streams in turn"
    if each and any(stream["source"]["kind"] != "bulk" for stream in each):
        return "its streams have sources of their own"
    several = len(each) > 1 or (not each and flow["streams"] > 1)
    if several and flow["transport"]["scheduler"]["kind"] not in _IN_ORDER:
        return f"its stream scheduler `{flow['transport']['scheduler']['kind']}` tells its streams apart"
    return None


def _split(bulk: dict[str, Any], most: int, payload: float) -> Sequence[dict[str, Any]]:
    """A transfer in parts of a packet or more."""
    if bulk.get("size") is None:
        return [bulk] * most
    size = round(size_bytes(bulk["size"]))
    count = max(1, min(most, int(size // payload)))
    least, more = divmod(size, count)
    return [{"kind": "bulk", "size": f"{least + (at < more)} B"} for at in range(count)]


def _order_advice(subject: Subject, _seen: Evidence) -> str:
    place = f"flows.{subject.flow}"
    others = [f"spread independent data over several streams ({place}.streams)"]
    multipath = subject.spec["transport"]["multipath"]
    if multipath.get("reinject") == "on_timeout":
        others.append(
            f'repeat what holds others up on the faster path ({place}.transport.multipath.reinject = "idle")'
        )
    return "data waits for data on a slower path: " + ", or ".join(others)


def _scheduler(scenario: Scenario, subject: Subject, seen: Evidence) -> None:
    """Takes the best of the other path schedulers."""
    if seen.scheduler is not None:
        multipath = scenario["flows"][subject.flow]["transport"]["multipath"]
        multipath["scheduler"] = {"kind": seen.scheduler}


def _scheduler_advice(subject: Subject, seen: Evidence) -> str:
    now = subject.spec["transport"]["multipath"]["scheduler"]["kind"]
    place = f"flows.{subject.flow}.transport.multipath.scheduler"
    return f"the path scheduler is `{now}`: set {place}={seen.scheduler}, the best of the others here"


def _manager(scenario: Scenario, subject: Subject, _seen: Evidence) -> None:
    """Opens a path over every link, none of them a backup."""
    multipath = scenario["flows"][subject.flow]["transport"]["multipath"]
    multipath["manager"], multipath["backup"] = {"kind": "per_interface"}, []


def _manager_advice(subject: Subject, _seen: Evidence) -> str:
    multipath = subject.spec["transport"]["multipath"]
    place = f"flows.{subject.flow}.transport.multipath"
    if multipath["manager"]["kind"] == "per_interface":
        return f"backups carry nothing while another path can: empty {place}.backup"
    return f"`{multipath['manager']['kind']}` uses one path at a time: set {place}.manager=per_interface"


def _coupling(scenario: Scenario, subject: Subject, _seen: Evidence) -> None:
    """Lets every path have a controller of its own: the one that a coupled controller is on a single path."""
    transport = scenario["flows"][subject.flow]["transport"]
    congestion = transport["congestion"]
    if congestion["kind"] in _UNCOUPLED:
        kept = {key: congestion[key] for key in _OF_ALL_CONTROLLERS if key in congestion}
        transport["congestion"] = {"kind": _UNCOUPLED[congestion["kind"]], **kept}


# docs/reports/congestion-controllers.md, Coupled controllers.
_UNCOUPLED = {"lia": "newreno", "olia": "newreno", "balia": "newreno", "wvegas": "vegas", "maco": "elastic"}
_OF_ALL_CONTROLLERS = ("minimum_window", "slow_start", "loss_reduction")


def _coupling_advice(subject: Subject, _seen: Evidence) -> str:
    now = subject.spec["transport"]["congestion"]["kind"]
    return (
        f"`{now}` lets all paths together take no more than one share of a link that they have in common: if "
        f"there is none, set flows.{subject.flow}.transport.congestion={_UNCOUPLED[now]}"
    )


def _losses(scenario: Scenario, _subject: Subject, seen: Evidence) -> None:
    links.without_losses(scenario, seen)


def _losses_advice(subject: Subject, _seen: Evidence) -> str:
    lossy = ", ".join(links.lossy(subject)) or "channels"
    congestion = subject.spec["transport"]["congestion"]["kind"]
    return (
        f"packets are lost at random on {lossy}, which `{congestion}` answers as congestion: repair them on "
        f"the link (links.*.loss), or try another controller (flows.{subject.flow}.transport.congestion=bbr)"
    )


def _handovers(scenario: Scenario, subject: Subject, seen: Evidence) -> None:
    links.without_outages(scenario, subject, seen)


def _handovers_advice(subject: Subject, _seen: Evidence) -> str:
    interrupted = ", ".join(links.interrupted(subject))
    return (
        f"{interrupted} take links away for a time: `leobench plot` shows when, and "
        "docs/reports/what-a-handover-costs.md what transports can do about it"
    )


CAUSES = (
    Cause("windows", "flow-control windows", "unlimited", _windows, _windows_advice),
    Cause("order", "head-of-line blocking", "none", _order, _order_advice),
    Cause("scheduler", "path scheduler", "none is better", _scheduler, _scheduler_advice, of_one_path=False),
    Cause(
        "manager", "path manager and backups", "all are used", _manager, _manager_advice, of_one_path=False
    ),
    Cause("coupling", "coupled congestion control", "none", _coupling, _coupling_advice, of_one_path=False),
    Cause("losses", "random losses", "none", _losses, _losses_advice),
    Cause("handovers", "handovers and outages", "none", _handovers, _handovers_advice),
)
