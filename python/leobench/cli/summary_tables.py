"""The summary of a run as text tables for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leobench.cli.columns import NONE, table
from leobench.plots import units

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_MOST_STREAMS = 10  # of a flow
_MOST_SATELLITES = 10
_DELAYS = ("mean", "p50", "p95", "p99")

# Two lines per column, the unit where there is one.
_DELAY_HEAD = (("delay", "mean ms"), ("", "p50"), ("", "p95"), ("", "p99"))
_RATE_HEAD = (("offered", "Mbit/s"), ("goodput", "Mbit/s"))
_FLOW_HEAD = (("", "flow"), ("", "transport"), *_RATE_HEAD, ("", "messages"), ("not", "arrived"))
_COMPLETE_HEAD = ("complete", "after s")
_SENDER_HEAD = (("RTT", "mean ms"), ("packets", "lost"))
_STREAM_HEAD = (("", "flow"), ("", "stream"), _RATE_HEAD[1], *_DELAY_HEAD)
_PAGE_HEAD = (
    ("", "page"), ("", "objects"), ("", "arrived"), ("first", "byte s"), ("byte", "index s"), _COMPLETE_HEAD,
)  # fmt: skip
_VIDEO_HEAD = (
    ("", "video"), ("start", "s"), ("", "stalls"), ("stalled", "s"), ("", "segments"),
    ("bitrate", "Mbit/s"), ("", "switches"), ("quality", "Mbit/s"),
)  # fmt: skip
_LIVE_HEAD = (("behind", "mean s"), ("", "max"))
_CALL_HEAD = (
    ("", "call"), ("arrived", "Mbit/s"), ("start", "s"), ("frames", "shown"), ("", "late"), ("", "freezes"),
    ("frozen", "s"), ("mouth to ear", "mean ms"), ("voice", "missed"), ("opinion", "1 to 4.5"),
)  # fmt: skip
_LATE_HEAD = ("", "late")
_LINK_HEAD = (
    ("", "link"), ("mean rate", "Mbit/s"), ("", "used"), ("packets", "delivered"), ("dropped", "by queue"),
    ("on", "channel"), ("while", "down"), ("over", "MTU"),
)  # fmt: skip
_WAIT_HEAD = (("queued", "mean ms"), ("", "p95"))
_SATELLITE_HEAD = (
    ("", "satellite"), ("served", "s"), ("", "used"), ("packets", "sent"), ("", "withdrawn"),
    ("dropped", "by queue"),
)  # fmt: skip
_LONGEST_HEAD = (("queued", "mean ms"), ("", "max"))
_LINK_CAUSES = ("queue", "channel", "down", "mtu")
# Bytes that several paths carry more than once.
_REPEATED = ("reinjected_bytes", "duplicate_bytes")
# Causes of drops at nodes, which no link counts.
_NODE_CAUSES = ("no_route", "no_port")
_HANDOVER_HEAD = (
    ("", "flow"), ("", "handovers"), ("outage", "mean ms"), ("", "max"),
    ("recovery", "mean ms"), ("", "max"),
    ("lost", "mean bytes"), ("retransmitted", "mean bytes"), ("spurious", "mean bytes"),
)  # fmt: skip
_PHASES = {
    "no_way_ms": ("no route", "mean ms"),
    "detection_ms": ("detection", "mean ms"),
    "validation_ms": ("validation", "mean ms"),
    "retransmission_ms": ("retransmission", "mean ms"),
    "slow_start_ms": ("slow start", "mean ms"),
}
_PATHS_HEAD = (
    ("", "several paths of"), ("bytes", "reinjected"), ("received", "twice"),
    ("reordering", "mean ms"), ("", "p95"), ("", "max"),
)  # fmt: skip
_TRANSFERS_HEAD = (
    ("", "transfers"), ("", "completed"), ("goodput", "Mbit/s"),
    ("completed", "p50 ms"), ("", "p95"), ("", "p99"),
    ("slowdown", "mean"), ("", "p99"), ("Jain's", "fairness"),
)  # fmt: skip
_MOST_PAIRS = 20
_RECOVERY_HEAD = (("", "recovery of"), ("", "handovers"), *_PHASES.values())


def render(summary: Mapping[str, Any]) -> str:
    """Flows, pages, streams where there are several or deadlines, and links."""
    flows = summary["flows"]
    stranded = [
        cause for cause in _NODE_CAUSES if any(flow.get("dropped_packets", {}).get(cause) for flow in flows)
    ]
    parts = [_flows(flows, stranded)] if flows or "traffic" not in summary else []
    if "traffic" in summary:
        parts += _traffic(summary["traffic"])
    moved = [flow for flow in flows if flow.get("handovers", {}).get("count")]
    if moved:
        parts.append(table(_HANDOVER_HEAD, [_handovers(flow) for flow in moved], words=1))
        parts.append(table(_RECOVERY_HEAD, [_recovery(flow) for flow in moved], words=1))
    repeated = [flow for flow in flows if any(flow.get(key) for key in _REPEATED)]
    if repeated:
        parts.append(table(_PATHS_HEAD, [_several_paths(flow) for flow in repeated], words=1))
    pages = [_page(flow) for flow in summary["flows"] if "page" in flow]
    if pages:
        parts.append(table(_PAGE_HEAD, pages, words=1))
    parts += _media(summary)
    several = [flow for flow in summary["flows"] if len(flow["streams"]) > 1 or _has_deadlines(flow)]
    deadlines = any(_has_deadlines(flow) for flow in several)
    streams = [
        _stream(flow, stream) + [_late(stream)] * deadlines
        for flow in several
        for stream in flow["streams"][:_MOST_STREAMS]
    ]
    if streams:
        parts.append(table((*_STREAM_HEAD, *[_LATE_HEAD] * deadlines), streams, words=2))
        left = sum(len(flow["streams"]) for flow in several) - len(streams)
        if left:
            parts[-1] += f"\n... and {left:,} more streams; all in summary.json"
    parts.append(_links(summary["links"], summary.get("traffic")))
    if summary.get("satellites"):
        parts.append(_satellites(summary["satellites"]))
    if summary["fairness_jain"] is not None:
        parts.append(_competition(summary))
    return "\n\n".join(parts)


def _flows(flows: Sequence[Mapping[str, Any]], stranded: Sequence[str]) -> str:
    """The flows: delays if any has messages, and the time of completion if any transfers bytes to an end."""
    delays = any(_has_delays(flow) for flow in flows)
    ends = any(_ends(flow) for flow in flows)
    head = [
        *_FLOW_HEAD,
        *(_DELAY_HEAD if delays else ()),
        *((_COMPLETE_HEAD,) if ends else ()),
        *_SENDER_HEAD,
        *(("dropped", cause) for cause in stranded),
    ]
    rows = []
    for flow in flows:
        middle = [_millis(flow["delay_ms"][key]) for key in _DELAYS] if delays else []
        if ends:
            middle.append(_seconds(flow["completion_s"] if _ends(flow) else None))
        rows.append(_flow(flow, middle, stranded))
    return table(head, rows, words=2)


def _has_delays(flow: Mapping[str, Any]) -> bool:
    return flow["delay_ms"]["mean"] is not None


def _ends(flow: Mapping[str, Any]) -> bool:
    """Whether the flow is a transfer of bytes, without messages, that was completed."""
    return flow.get("completion_s") is not None and not _has_delays(flow)


def _flow(flow: Mapping[str, Any], middle: Sequence[str], stranded: Sequence[str]) -> list[str]:
    sent, lost = flow["sent_packets"], flow["lost_packets"]
    return [
        flow["name"],
        f"{flow['transport']} {flow['congestion'] or ''}".rstrip(),
        _megabits(flow["offered_bps"]),
        _megabits(flow["goodput_bps"]),
        f"{flow['messages']:,}",
        f"{flow['undelivered_messages']:,}",
        *middle,
        _millis(flow["rtt_ms"]["mean"]),
        # A UDP sender never learns which datagrams were lost.
        NONE if flow["transport"] == "udp" else f"{lost:,}" + (f" ({lost / sent:.2%})" if lost else ""),
        *(f"{flow.get('dropped_packets', {}).get(cause, 0):,}" for cause in stranded),
    ]


def _handovers(flow: Mapping[str, Any]) -> list[str]:
    """A flow's row of the handover table: outages, recovery times, and bytes lost or retransmitted."""
    found = flow["handovers"]
    return [
        flow["name"],
        f"{found['count']:,}",
        *(_millis(found[key][of]) for key in ("outage_ms", "recovery_ms") for of in ("mean", "max")),
        *(
            f"{found[key]['mean']:,.0f}"
            for key in ("lost_bytes", "retransmitted_bytes", "retransmitted_in_vain_bytes")
        ),
    ]


def _recovery(flow: Mapping[str, Any]) -> list[str]:
    """A flow's row of the recovery table: the mean time of each phase."""
    found = flow["handovers"]
    return [flow["name"], f"{found['count']:,}", *(_millis(found[key]["mean"]) for key in _PHASES)]


def _several_paths(flow: Mapping[str, Any]) -> list[str]:
    """A flow's row of the table of several paths: bytes carried more than once, and waits for the order."""
    delays = flow.get("reordering_delay_ms") or {}
    return [
        flow["name"],
        *(f"{flow.get(key, 0):,}" for key in _REPEATED),
        *(_millis(delays.get(key)) for key in ("mean", "p95", "max")),
    ]


def _stream(flow: Mapping[str, Any], stream: Mapping[str, Any]) -> list[str]:
    return [
        flow["name"],
        stream["name"],
        _megabits(stream["goodput_bps"]),
        *(_millis(stream["delay_ms"][key]) for key in _DELAYS),
    ]


def _has_deadlines(flow: Mapping[str, Any]) -> bool:
    return any("late_messages" in stream for stream in flow["streams"])


def _late(stream: Mapping[str, Any]) -> str:
    return f"{stream['late_messages']:,}" if "late_messages" in stream else NONE


def _page(flow: Mapping[str, Any]) -> list[str]:
    page = flow["page"]
    objects = page["objects"]
    arrived = sum(item["delivered_s"] is not None for item in objects)
    return [
        flow["name"],
        f"{len(objects):,}",
        f"{arrived:,}",
        *(_seconds(page.get(key)) for key in ("first_byte_s", "byte_index_s", "completion_s")),
    ]


def _media(summary: Mapping[str, Any]) -> Iterator[str]:
    """The tables of videos, with a sentence on all viewers together, and of calls, if there are any."""
    videos = [flow for flow in summary["flows"] if "video" in flow]
    if videos:
        live = any(flow["video"]["latency_s"] is not None for flow in videos)
        rows = [_video(flow, live=live) for flow in videos]
        shown = table((*_VIDEO_HEAD, *(_LIVE_HEAD if live else ())), rows, words=1)
        yield f"{shown}\n{_audience(summary['audience'])}" if "audience" in summary else shown
    calls = [_call(flow) for flow in summary["flows"] if "call" in flow]
    if calls:
        yield table(_CALL_HEAD, calls, words=1)


def _audience(found: Mapping[str, Any]) -> str:
    start, stalled = _seconds(found["startup_s"]), _seconds(found["stalled_s"])
    bitrate, least = _megabits(found["bitrate_bps"]), _megabits(found["least_bitrate_bps"])
    return (
        f"All {found['viewers']:,} viewers: {found['started']:,} saw pictures, {found['undisturbed']:,} of "
        f"them without a stall; start {start} s, stalled {stalled} s, "
        f"bitrate {bitrate} Mbit/s on average, {least} at least"
    )


def _video(flow: Mapping[str, Any], *, live: bool) -> list[str]:
    """A flow's row of the table of videos: what its viewer noticed."""
    found = flow["video"]
    behind = [_seconds(found.get(key)) for key in ("latency_s", "most_latency_s")] if live else []
    return [
        flow["name"],
        _seconds(found["startup_s"]),
        f"{found['stalls']:,}",
        _seconds(found["stalled_s"]),
        f"{found['segments']:,}",
        _megabits(found["bitrate_bps"]),
        f"{found['switches']:,}",
        _megabits(found["quality_bps"]),
        *behind,
    ]


def _call(flow: Mapping[str, Any]) -> list[str]:
    """A flow's row of the table of calls: what was seen and heard."""
    call = flow["call"]
    picture, voice = call.get("picture"), call.get("voice")
    seen = ["-"] * 5
    if picture:
        captured = picture["frames"] + picture["skipped_frames"]
        shown = f"{picture['rendered_frames']:,} of {captured:,}"
        seen = [_seconds(picture["startup_s"]), shown, *["-"] * 3]
    if picture and picture["rendered_frames"]:
        counts = [f"{picture[key]:,}" for key in ("late_frames", "freezes")]
        seen[2:] = [*counts, _seconds(picture["frozen_s"])]
    heard = ["-"] * 3
    if voice:
        delay, score = voice["mouth_to_ear_ms"]["mean"], voice["opinion_score"]
        heard = [_millis(delay), f"{voice['missed_packets']:,}", "-" if score is None else f"{score:.2f}"]
    return [flow["name"], _megabits(call["received_bps"]), *seen, *heard]


def _competition(summary: Mapping[str, Any]) -> str:
    """How the flows shared the network while all were active."""
    found = summary["competition"]
    ratio, converged = found["friendliness_ratio"], found["convergence_s"]
    clauses = [
        f"All flows together from {found['from_s']:g} s to {found['to_s']:g} s",
        f"Jain's fairness of their goodputs {summary['fairness_jain']:.3f}",
    ]
    if ratio is not None:
        clauses.append(f"friendliness ratio {ratio:.3f}")
    clauses.append("no lasting fair shares" if converged is None else f"fair shares after {converged:g} s")
    return f"{clauses[0]}: {', '.join(clauses[1:])}"


def _traffic(traffic: Mapping[str, Any]) -> list[str]:
    """Transfers between places: by pair, the largest first, by transport, and by links between satellites."""
    pairs = sorted(traffic["pairs"], key=lambda pair: -pair["delivered_bytes"])
    rows = [_transfers("all", traffic), *(_transfers(pair["name"], pair) for pair in pairs[:_MOST_PAIRS])]
    parts = [table((("", "from->to"), *_TRANSFERS_HEAD), rows, words=1)]
    if len(pairs) > _MOST_PAIRS:
        parts[0] += f"\n... and {len(pairs) - _MOST_PAIRS:,} more pairs; all in summary.json"
    if traffic["pairs_fairness_jain"] is not None:
        parts[0] += f"\nJain's fairness of the pairs: {traffic['pairs_fairness_jain']:.3f}"
    for head, key in (("transport", "transports"), ("links in orbit", "hops")):
        groups = traffic.get(key, [])
        if len(groups) > 1:
            rows = [_transfers(group["name"], group) for group in groups]
            parts.append(table((("", head), *_TRANSFERS_HEAD), rows, words=1))
    return parts


def _transfers(name: str, group: Mapping[str, Any]) -> list[str]:
    """The row of a group of transfers."""
    fairness = group["fairness_jain"]
    return [
        name,
        f"{group['started']:,}",
        f"{group['completed']:,}",
        _megabits(group["goodput_bps"]),
        *(_millis(group["completion_ms"][key]) for key in ("p50", "p95", "p99")),
        *(_ratio(group["slowdown"][key]) for key in ("mean", "p99")),
        NONE if fairness is None else f"{fairness:.3f}",
    ]


def _links(links: Sequence[Mapping[str, Any]], traffic: Mapping[str, Any] | None = None) -> str:
    """The links, with a column for every cause that a queue of theirs names.

    Of many links with traffic between places, those that are used most.
    """
    used = sorted(links, key=lambda link: -(link["utilisation"] or 0.0))[:_MOST_PAIRS]
    shown = links if traffic is None else [link for link in links if any(link is each for each in used)]
    left = len(links) - len(shown)
    text = _links_table(shown)
    return text + (f"\n... and {left:,} more; all in summary.json" if left else "")


def _links_table(links: Sequence[Mapping[str, Any]]) -> str:
    drops = [cause for cause in _causes(links, "dropped_packets") if cause not in _LINK_CAUSES]
    marks = _causes(links, "marked_packets")
    head = [
        *_LINK_HEAD,
        *(("dropped", cause) for cause in drops),
        *(("marked", cause) for cause in marks),
        *_WAIT_HEAD,
    ]
    return table(head, [_link(link, drops, marks) for link in links], words=1)


def _satellites(satellites: Sequence[Mapping[str, Any]]) -> str:
    """The transmitters of the satellites that sent most, in the order of the summary."""
    busiest = sorted(satellites, key=lambda each: -each["sent_packets"])[:_MOST_SATELLITES]
    shown = [each for each in satellites if any(each is one for one in busiest)]
    drops = [cause for cause in _causes(shown, "dropped_packets") if cause != "queue"]
    marks = _causes(shown, "marked_packets")
    head = [
        *_SATELLITE_HEAD,
        *(("dropped", cause) for cause in drops),
        *(("marked", cause) for cause in marks),
        *_LONGEST_HEAD,
    ]
    text = table(head, [_satellite(each, drops, marks) for each in shown], words=1)
    left = len(satellites) - len(shown)
    return text + (f"\n... and {left:,} more; all in summary.json" if left else "")


def _satellite(satellite: Mapping[str, Any], drops: Sequence[str], marks: Sequence[str]) -> list[str]:
    used = satellite["utilisation"]
    dropped, marked = satellite["dropped_packets"], satellite.get("marked_packets", {})
    return [
        satellite["name"],
        f"{satellite['served_s']:,.1f}",
        NONE if used is None else f"{used:.1%}",
        f"{satellite['sent_packets']:,}",
        f"{satellite['withdrawn_packets']:,}",
        *(f"{dropped.get(cause, 0):,}" for cause in ("queue", *drops)),
        *(f"{marked.get(cause, 0):,}" for cause in marks),
        _millis(satellite["queue_delay_ms"]["mean"]),
        _millis(satellite["queue_delay_ms"]["max"]),
    ]


def _causes(links: Sequence[Mapping[str, Any]], what: str) -> list[str]:
    """All causes, in order of appearance."""
    return list(dict.fromkeys(cause for link in links for cause in link.get(what, {})))


def _link(link: Mapping[str, Any], drops: Sequence[str], marks: Sequence[str]) -> list[str]:
    used = link["utilisation"]
    dropped, marked = link["dropped_packets"], link.get("marked_packets", {})
    return [
        link["name"],
        _megabits(link["mean_rate_bps"]),
        NONE if used is None else f"{used:.1%}",
        f"{link['delivered_packets']:,}",
        *(f"{dropped.get(cause, 0):,}" for cause in (*_LINK_CAUSES, *drops)),
        *(f"{marked.get(cause, 0):,}" for cause in marks),
        _millis(link["queue_delay_ms"]["mean"]),
        _millis(link["queue_delay_ms"]["p95"]),
    ]


def _megabits(bps: float | None) -> str:
    """A rate given in bits per second, in Mbit/s."""
    return NONE if bps is None else units.fixed(bps / 1e6, 2)


def _millis(value: float | None) -> str:
    """A time in milliseconds, to a tenth."""
    return NONE if value is None else units.fixed(value, 1)


def _ratio(value: float | None) -> str:
    """A ratio, to a hundredth."""
    return NONE if value is None else units.fixed(value, 2)


def _seconds(value: float | None) -> str:
    """A time in seconds, to a thousandth."""
    return NONE if value is None else units.fixed(value, 3)
