"""The manifest of a run: what ran, where, for how long, and how far its numbers can be trusted."""

from __future__ import annotations

import json
import os
import platform
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leobench import durations

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from leobench._core import Scenario
    from leobench.emulation.programs import Program
    from leobench.emulation.session import Ended

    Stalls = Mapping[str, tuple[float, float]]


# The largest part of its messages that a source which keeps to a clock may have under way when the run ends
# at a time. It leaves quantiles up to the 95th nearly as they are. A source that the network keeps up with
# stays below it if the run lasts a hundred times as long as a delay.
_UNDER_WAY = 0.01

# The verdicts on a run: nothing against its numbers; reasons to look closer; a clock that cannot be trusted.
VALID, WARNINGS, INVALID = "valid", "warnings", "invalid"

# Why a connection ended by its `idle_timeout`.
_IDLE = "timed out"

# Congestion controllers that the kernel calls by another name.
KERNEL_NAMES = {"newreno": "reno"}


@dataclass(frozen=True)
class Doubt:
    """A reason not to take the numbers of a flow at face value.

    Attributes:
        kind: `clock`, `lost`, `unconnected`, `silent`, `stalled`, `undelivered` or `unused`;
            `docs/howto/campaigns.md` explains them.
        text: What a user is told.
    """

    kind: str
    text: str


def describe(
    scenario: Scenario,
    summary: dict[str, Any],
    wall_s: float,
    connected: Container[str],
    stalls: Stalls,
    clock: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The manifest of a finished run. Only here may values depend on the clock or the machine.

    Args:
        scenario: What ran.
        summary: What came out.
        wall_s: How long it took, in seconds.
        connected: Names of the flows whose handshake was completed by at least one end.
        stalls: By flow, from when to when (in seconds) it stood still, if it did.
        clock: How far the times can be trusted, of a run in real time.
    """
    from leobench import _core, version

    resolved: dict[str, Any] = json.loads(scenario.to_json())
    of_run = [
        *clock_doubts(clock),
        *of_sky(scenario, resolved),
        *doubts(resolved, summary, connected, stalls, _core.notices(scenario)),
    ]
    warnings = [doubt.text for doubt in of_run]
    described = {
        "leobench": _core.__version__,
        "commit": version.loaded(),
        "engine": summary["engine"],
        "seed": scenario.seed,
        "wall_s": round(wall_s, 3),
        "machine": machine(),
        "validity": validity(warnings, clock),
        "scenario": resolved,
    }
    if clock is not None:
        described["clock"] = _figures(clock)
        described["spin"] = clock["spin"]
        described["kernel_tcp"] = {
            flow["name"]: KERNEL_NAMES.get(flow["congestion"], flow["congestion"])
            for flow in summary["flows"]
            if flow["transport"] == "tcp"
        }
    return described


def validity(warnings: Sequence[str], clock: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The verdict on a run with these warnings, whose `clock` may not be one to trust."""
    is_invalid = clock is not None and clock["verdict"] == INVALID
    verdict = INVALID if is_invalid else WARNINGS if warnings else VALID
    return {"verdict": verdict, "warnings": list(warnings)}


def clock_doubts(clock: Mapping[str, Any] | None) -> list[Doubt]:
    """Reasons not to trust the times of a run in real time."""
    return [Doubt("clock", f"invalid: {reason}") for reason in clock["reasons"]] if clock else []


def _figures(clock: Mapping[str, Any]) -> dict[str, Any]:
    elsewhere = {"verdict", "reasons", "warnings", "spin"}
    return {name: figure for name, figure in clock.items() if name not in elsewhere}


def of_emulation(scenario: Scenario, programs: Sequence[Program], ended: Ended) -> dict[str, Any]:
    """The manifest of a run in real time: its verdict says whether its times can be trusted, or why not."""
    from leobench import _core, version

    verdict = ended.verdict
    return {
        "leobench": _core.__version__,
        "commit": version.loaded(),
        "engine": "real",
        "seed": scenario.seed,
        "wall_s": round(verdict["elapsed_s"], 3),
        "machine": machine(),
        "validity": validity([*verdict["reasons"], *verdict["warnings"]], verdict),
        "clock": _figures(verdict),
        "spin": verdict["spin"],
        "programs": [
            {
                "host": program.host,
                "command": list(program.words),
                "exit_code": exit_.code,
                "cpu_s": round(exit_.cpu_s, 3),
                **_carried(program.host, exit_.cpu_s, programs, verdict),
            }
            for program, exit_ in zip(programs, ended.exits, strict=True)
        ],
        "exit_code": ended.code,
        "scenario": json.loads(scenario.to_json()),
    }


def _carried(
    host: str, cpu_s: float, programs: Sequence[Program], clock: Mapping[str, Any]
) -> dict[str, Any]:
    """The bytes of a host's packets and what they cost its program; unknown if it shares the host."""
    own = next(each for each in clock["hosts"] if each["host"] == host)
    sent, received = own["bytes_sent"], own["bytes_received"]
    if sum(program.host == host for program in programs) > 1:
        sent = received = None
    gbit = ((sent or 0) + (received or 0)) * 8 / 1e9
    cost = round(cpu_s / gbit, 3) if gbit else None
    return {"bytes_sent": sent, "bytes_received": received, "cpu_s_per_gbit": cost}


def machine() -> dict[str, Any]:
    """The machine that this is."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "architecture": platform.machine(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
    }


def of_sky(scenario: Scenario, resolved: dict[str, Any]) -> list[Doubt]:
    """Reasons to distrust the constellation of a scenario, such as old element sets."""
    from leobench import _core

    if "constellation" not in resolved:
        return []
    return [Doubt("constellation", text) for text in _core.constellation_warnings(scenario)]


def doubts(
    scenario: dict[str, Any],
    summary: dict[str, Any],
    connected: Container[str],
    stalls: Stalls,
    notices: Iterable[tuple[str, str, str]] = (),
) -> list[Doubt]:
    """Reasons not to take the numbers of a summary at face value.

    Flows that are equal but for their numbers, as a `count` makes them, share one of each kind.

    Args:
        scenario: The resolved scenario.
        summary: As in `describe`.
        connected: As in `describe`.
        stalls: As in `describe`.
        notices: What has no effect in the scenario: flow, kind and words.
    """
    noticed: dict[str, list[Doubt]] = {}
    for name, kind, text in notices:
        noticed.setdefault(name, []).append(Doubt(kind, text))
    found = []
    for flow in summary["flows"]:
        known = noticed.get(flow["name"], [])
        kinds = {doubt.kind for doubt in known}
        others = (each for each in _of_flow(flow, scenario, connected, stalls) if each.kind not in kinds)
        found += [(flow["name"], doubt) for doubt in (*known, *others)]
    return _by_group(found, scenario["flows"])


def _by_group(found: Sequence[tuple[str, Doubt]], flows: Mapping[str, Any]) -> list[Doubt]:
    """The doubts about flows, one of each kind for equal flows with numbers, with the words of the first."""
    every = Counter(_group(name, flows) for name in flows) if len(found) > 1 else Counter()
    members: dict[tuple[str, str, str], list[tuple[str, Doubt]]] = {}
    for name, doubt in found:
        members.setdefault((*_group(name, flows), doubt.kind), []).append((name, doubt))
    shared = []
    for (base, spec, kind), each in members.items():
        name, doubt = each[0]
        whose = f"flow {name}"
        if len(each) > 1:
            whose = f"{len(each):,} of {every[base, spec]:,} flows {base}-N, such as {name}"
        shared.append(Doubt(kind, f"{whose}: {doubt.text}"))
    return shared


def _group(name: str, flows: Mapping[str, Any]) -> tuple[str, str]:
    """The name of a flow without its number, and its specification; the name alone if it has no number."""
    base, _, number = name.rpartition("-")
    return (base, json.dumps(flows.get(name))) if base and number.isdecimal() else (name, "")


def _of_flow(
    flow: dict[str, Any], scenario: dict[str, Any], connected: Container[str], stalls: Stalls
) -> Iterator[Doubt]:
    if "lost" in flow and not _ended_idle(flow):
        lost, missing = flow["lost"], flow["undelivered_messages"]
        yield Doubt(
            "lost",
            f"its {lost['end']} lost the connection at {lost['at_s']:.4g} s: {lost['reason']}; "
            f"{missing} of {flow['messages']} messages did not arrive",
        )
        return
    doubt = _doubt(flow, scenario, connected)
    if flow["name"] in stalls and (doubt is None or doubt.kind != "unconnected"):
        start, end = stalls[flow["name"]]
        yield Doubt(
            "stalled",
            f"nothing was delivered from {start:.4g} s to {end:.4g} s while data waited "
            f"and {_open(flow)}; the `transport` and `events` tables show why",
        )
    if doubt:
        yield doubt


def _ended_idle(flow: dict[str, Any]) -> bool:
    """Whether a connection with nothing left to deliver ended by its idle timeout, as the scenario asks."""
    complete = "page" not in flow or flow["page"]["completion_s"] is not None
    return flow["lost"]["reason"] == _IDLE and flow["undelivered_messages"] == 0 and complete


def _open(flow: dict[str, Any]) -> str:
    """Describes a stalled flow's path: open, or open except to some addresses (`no_route`, `no_port`)."""
    lost = {cause: flow.get("dropped_packets", {}).get(cause, 0) for cause in ("no_route", "no_port")}
    found = " and ".join(f"{number:,} with {cause}" for cause, number in lost.items() if number)
    if not found:
        return "its path was open"
    return f"the links of its path were open, though not to every address (packets dropped: {found})"


def _doubt(flow: dict[str, Any], scenario: dict[str, Any], connected: Container[str]) -> Doubt | None:
    name, messages = flow["name"], flow["messages"]
    if flow["transport"] != "udp" and flow["sent_packets"] and name not in connected:
        return Doubt(
            "unconnected",
            "its handshake was never completed, so nothing could be delivered; "
            "the `events` table says what became of its packets",
        )
    if messages == 0 and not flow["goodput_bps"]:
        warm = " after the warm-up" if durations.seconds(scenario.get("warm_up", "0 s")) else ""
        said = f"created no message{warm}, so it has no goodput and no delay"
        return Doubt("silent", said)
    drained = scenario.get("until") == "drained"
    why = "when `drain_limit` passed" if drained else "at the end of the run"
    advice = "raise `drain_limit`" if drained else 'set `until = "drained"`'
    if "page" in flow and flow["page"]["completion_s"] is None:
        objects = flow["page"]["objects"]
        arrived = sum(item["delivered_s"] is not None for item in objects)
        said = f"its page was not complete {why}: {arrived} of {len(objects)} objects had arrived"
        return Doubt("undelivered", f"{said}; {advice} to wait for the rest")
    cut_off = _cut_off(flow, scenario["flows"][name], drained=drained)
    if flow["transport"] != "udp" and cut_off:
        # What is cut off at the end is what was delayed most: the delays that remain are biased.
        return Doubt(
            "undelivered",
            f"{cut_off} of {messages} messages had not arrived {why}, "
            f"and their delays are not counted; {advice} to wait for them",
        )
    return None


def _cut_off(flow: dict[str, Any], spec: dict[str, Any], *, drained: bool) -> int:
    """Missing messages, if the run was meant to deliver some of them; those in datagrams may be lost.

    Args:
        flow: What the summary says of the flow.
        spec: What the resolved scenario says of it.
        drained: Whether the run waits for every byte.
    """
    if "call" in flow:
        return 0  # Its frames travel in datagrams.
    if isinstance(spec.get("streams"), list):
        parts = [
            (_without_cancelled(part), stream["source"])
            for part, stream in zip(flow["streams"], spec["streams"], strict=True)
            if stream.get("carried") != "datagrams"
        ]
    else:
        parts = [(_without_abandoned(flow), spec.get("source"))]
    blocking = spec.get("application") == "blocking"
    missing = any(
        part["undelivered_messages"] and not _goes_on(part, source, drained=drained, blocking=blocking)
        for part, source in parts
    )
    return sum(part["undelivered_messages"] for part, _ in parts) if missing else 0


def _without_cancelled(stream: dict[str, Any]) -> dict[str, Any]:
    """A stream without the messages that its sender has given up."""
    cancelled = stream.get("cancelled", {"messages": 0})["messages"]
    return {**stream, "undelivered_messages": stream["undelivered_messages"] - cancelled}


def _without_abandoned(flow: dict[str, Any]) -> dict[str, Any]:
    """A flow without the segments that its player has given up, some of which may have arrived."""
    abandoned = flow.get("video", {}).get("abandoned", 0)
    return {**flow, "undelivered_messages": max(0, flow["undelivered_messages"] - abandoned)}


def _goes_on(
    part: dict[str, Any], source: dict[str, Any] | str | None, *, drained: bool, blocking: bool
) -> bool:
    """Whether what a source has under way at the end is no more than a source without an end always has."""
    if source is None:  # The objects of a page.
        return False
    kind, size = (source, None) if isinstance(source, str) else (source["kind"], source.get("size"))
    if kind == "bulk":
        return size is None
    if drained:
        return False
    # Calls that block leave one message of a stream under way, and nothing behind it. In a buffer more waits
    # than is under way if the network has not kept up with the source: then the longest delays are missing.
    return blocking or part["undelivered_messages"] <= _UNDER_WAY * part["messages"]
