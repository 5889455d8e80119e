"""The summary of a run as tables to read on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NONE = "-"
_FLOW_HEAD = (
    "flow", "transport", "offered", "goodput", "messages", "missing",
    "delay mean", "p50", "p95", "p99", "RTT mean", "lost packets",
)  # fmt: skip
_LINK_HEAD = (
    "link", "mean rate", "used", "delivered", "dropped: queue", "channel", "down",
    "queue delay mean", "p95",
)  # fmt: skip
_STREAM_HEAD = ("flow", "stream", "goodput", "delay mean", "p50", "p95", "p99")
_DELAYS = ("mean", "p50", "p95", "p99")


def render(summary: Mapping[str, Any]) -> str:
    """Flows, their streams where there are several, and links."""
    parts = [table(_FLOW_HEAD, [_flow(flow) for flow in summary["flows"]])]
    streams = [
        _stream(flow, stream)
        for flow in summary["flows"]
        if len(flow["streams"]) > 1
        for stream in flow["streams"]
    ]
    if streams:
        parts.append(table(_STREAM_HEAD, streams, words=2))
    parts.append(table(_LINK_HEAD, [_link(link) for link in summary["links"]]))
    if summary.get("fairness_jain") is not None and len(summary["flows"]) > 1:
        parts.append(f"Jain fairness of the goodputs: {summary['fairness_jain']:.3f}")
    return "\n\n".join(parts)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """Aligned columns: the first `words` to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = [
        "  ".join(
            cell.ljust(width) if column < words else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (head, *rows)
    ]
    rule = "  ".join("-" * width for width in widths)
    return "\n".join([lines[0], rule, *lines[1:]])


def _flow(flow: Mapping[str, Any]) -> list[str]:
    transport = flow["transport"]
    if flow.get("congestion"):
        transport += f" {flow['congestion']}"
    delay, rtt = flow.get("delay_ms") or {}, flow.get("rtt_ms") or {}
    lost, sent = flow.get("lost_packets"), flow.get("sent_packets")
    lost_cell = NONE if lost is None else f"{lost:,}"
    if lost and sent:
        lost_cell += f" ({lost / sent:.2%})"
    return [
        flow["name"],
        transport,
        rate(flow.get("offered_bps")),
        rate(flow.get("goodput_bps")),
        f"{flow['messages']:,}",
        f"{flow['undelivered_messages']:,}",
        *(millis(delay.get(key)) for key in _DELAYS),
        millis(rtt.get("mean")),
        lost_cell,
    ]


def _stream(flow: Mapping[str, Any], stream: Mapping[str, Any]) -> list[str]:
    delay = stream.get("delay_ms") or {}
    return [
        flow["name"],
        stream["name"],
        rate(stream.get("goodput_bps")),
        *(millis(delay.get(key)) for key in _DELAYS),
    ]


def _link(link: Mapping[str, Any]) -> list[str]:
    dropped, delay = link["dropped_packets"], link.get("queue_delay_ms") or {}
    used = link.get("utilisation")
    return [
        link["name"],
        rate(link.get("mean_rate_bps")),
        NONE if used is None else f"{used:.1%}",
        f"{link['delivered_packets']:,}",
        *(f"{dropped[cause]:,}" for cause in ("queue", "channel", "down")),
        millis(delay.get("mean")),
        millis(delay.get("p95")),
    ]


def rate(bps: float | None) -> str:
    """A rate in bits per second, in the unit that reads best."""
    if bps is None:
        return NONE
    for factor, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if bps >= factor:
            return f"{bps / factor:.2f} {unit}"
    return f"{bps:.0f} bit/s"


def millis(value: float | None) -> str:
    """A time given in milliseconds, in the unit that reads best."""
    if value is None:
        return NONE
    if value >= 10_000:
        return f"{value / 1000:.1f} s"
    return f"{value:.1f} ms"
