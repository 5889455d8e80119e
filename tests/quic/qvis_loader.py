"""Reads a qlog of version 0.3 as qvis does in its FileLoader, QlogLoaderV2 and congestion graph.

https://github.com/quiclog/qvis, visualizations/src; commit 72c8c4b. Checks name what goes wrong without them.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

# Of how many characters FileLoader tells the format, and the versions that QlogLoader hands to V2.
HEAD = 1024
VERSIONS = {"draft-02", "draft-02-RC1", "qlog-03-WIP", "0.3"}
# The events and frames of QlogSchema02 that the stack writes. qvis shows others by their name only.
DRAWN = {
    "connectivity:connection_started",
    "security:key_updated",
    "transport:packet_sent",
    "transport:packet_received",
    "recovery:metrics_updated",
    "recovery:congestion_state_updated",
    "recovery:packet_lost",
}
PACKET_TYPES = {"initial", "handshake", "0RTT", "1RTT", "retry", "version_negotiation", "stateless_reset"}
METRICS = {"bytes_in_flight", "congestion_window", "min_rtt", "smoothed_rtt", "latest_rtt"}


def load(file: Path) -> list[dict[str, Any]]:
    """Loads a file as qvis does, and checks that no step would fail or complain; returns its traces."""
    assert file.suffix == ".qlog", "another extension is another format, or none"
    text = file.read_text(encoding="utf-8")
    head = text[:HEAD]
    assert "qlog_version" in head, "the format is unsupported"
    assert "qlog_format" in head
    assert "NDJSON" not in head, "it would be read line by line"
    assert "JSON-SEQ" not in head, "it would be read as a text sequence"
    assert "JSON" in head
    log = json.loads(text)
    assert log["qlog_version"] in VERSIONS, "no loader reads it"
    assert log["qlog_format"], "qvis alerts without one"
    traces: list[dict[str, Any]] = log["traces"]
    for trace in traces:
        _check_trace(trace)
    return traces


def _check_trace(trace: dict[str, Any]) -> None:
    assert "error_description" not in trace, "an error instead of a trace"
    assert not trace.get("event_fields"), "events would be arrays"
    events = trace["events"]
    assert events, "the loader looks at the last event"
    assert "group_id" not in events[0], "the trace would be split by it"
    assert all(event for event in events), "only the last one may be empty"
    assert trace["vantage_point"]["type"] in {"client", "server"}, "neither end has sent anything"
    common = trace["common_fields"]
    assert common["time_format"] == "relative"
    assert isinstance(common["reference_time"], (int, float)), "0 with a complaint"
    assert "protocol_type" not in common or common["protocol_type"] != "TCP"
    times = [event["time"] for event in events]
    assert all(isinstance(time, (int, float)) for time in times)
    assert times == sorted(times), "qvis alerts, and sorts"
    for event in events:
        category, _, name = event["name"].partition(":")
        assert category, event
        assert name, event
        data = event["data"]
        header = data.get("header", {})
        # Names of draft-01, about which qvis alerts.
        assert not {"packet_size", "payload_length"} & set(header), event
        assert "packet_type" not in data, event


def graph(trace: dict[str, Any]) -> Counter[str]:
    """Counts the points that the congestion graph draws: packets sent, acknowledged and lost, and metrics."""
    drawn: Counter[str] = Counter()
    sent: dict[tuple[str, str], bool] = {}
    for event in trace["events"]:
        if event["name"] not in DRAWN:
            continue
        drawn[event["name"]] += 1
        data = event["data"]
        match event["name"]:
            case "transport:packet_sent":
                assert data["raw"]["length"] > 0, "a packet without a size is left out"
                assert data["header"]["packet_type"] in PACKET_TYPES
                key = (data["header"]["packet_type"], str(data["header"]["packet_number"]))
                assert key not in sent, "the later packet would take the acknowledgement of the earlier one"
                sent[key] = False
            case "transport:packet_received":
                assert data["raw"]["length"] > 0
                for frame in data.get("frames", ()):
                    if frame["frame_type"] == "ack":
                        _acknowledge(sent, data["header"]["packet_type"], frame["acked_ranges"], drawn)
            case "recovery:packet_lost":
                assert data["header"]["packet_type"] in PACKET_TYPES
                drawn["lost here"] += (
                    data["header"]["packet_type"],
                    str(data["header"]["packet_number"]),
                ) in sent
            case "recovery:metrics_updated":
                for name in METRICS & set(data):
                    assert isinstance(data[name], (int, float)), name
                    drawn[name] += 1
            case _:
                pass
    return drawn


def _acknowledge(
    sent: dict[tuple[str, str], bool], kind: str, ranges: list[list[int]], drawn: Counter[str]
) -> None:
    """Ranges are `[from, to]`, both included, or `[number]`."""
    for each in ranges:
        assert len(each) in {1, 2}
        for number in range(each[0], each[-1] + 1):
            key = (kind, str(number))
            drawn["acknowledged elsewhere"] += key not in sent
            if sent.get(key) is False:
                sent[key] = True
                drawn["acknowledged"] += 1
