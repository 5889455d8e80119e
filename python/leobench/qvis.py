"""Qlogs of leobench's own QUIC as qvis loads them: version 0.3, one trace per path.

The stack streams the present drafts (main-schema-13, quic-events-13), in which a connection that moves stays
in one trace. Here, every pair of addresses that the connection used gets a trace, and all have the same group
(draft-ietf-quic-qlog-main-schema-02, draft-ietf-quic-qlog-quic-events-02).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from leobench.errors import InputError
from leobench.files import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# The names of version 0.3 by those of the present drafts.
_NAMES = {
    "quic:connection_started": "connectivity:connection_started",
    "quic:connection_closed": "connectivity:connection_closed",
    "quic:packet_sent": "transport:packet_sent",
    "quic:packet_received": "transport:packet_received",
    "quic:packet_lost": "recovery:packet_lost",
    "quic:recovery_metrics_updated": "recovery:metrics_updated",
    "quic:congestion_state_updated": "recovery:congestion_state_updated",
    "quic:key_updated": "security:key_updated",
}
_OF_PATHS = ("frame_type_bytes", "path_id")
_STARTED, _MOVED = "quic:connection_started", "quic:tuple_assigned"
_SCHEMA = "urn:ietf:params:qlog:events:quic-13"


def convert(source: Path) -> dict[str, Any]:
    """The qlog of one end of a connection (`.sqlog`) in version 0.3, with a trace for each path.

    An event belongs to the path that the end used at that time; of several paths at a time, to the one that
    it names. A path used again continues its trace.

    Raises:
        InputError: If the file is not a qlog of the stack `own`; the message names the file.
    """
    records = _records(source)
    header = next(records, None)
    trace = header.get("trace") if isinstance(header, dict) else None
    if not isinstance(trace, dict) or trace.get("event_schemas") != [_SCHEMA]:
        raise InputError(f"{source}: is not a qlog of the stack `own`; allowed: a file that `--qlog` wrote")
    traces: dict[str, dict[str, Any]] = {}
    # The trace that each of several paths continues, by its ID; the first one is not named.
    present: dict[str | None, list[dict[str, Any]]] = {}
    for event in records:
        name, data, number = event["name"], event["data"], event.get("tuple")
        if name in (_STARTED, _MOVED):
            keys = ("local", "remote") if name == _STARTED else ("tuple_local", "tuple_remote")
            local, remote = (_address(data[key]) for key in keys)
            named = "" if number is None else f", path {number}"
            path = f"{_text(local)} to {_text(remote)}{named}"
            is_new = path not in traces
            if is_new:
                traces[path] = _trace(path, trace)
            present[number] = traces[path]["events"]
            if not is_new:
                continue
            name, data = _STARTED, _ends(local, remote)
        if name not in _NAMES:
            raise InputError(f"{source}: `{name}` has no name in version 0.3; allowed: {', '.join(_NAMES)}")
        converted = {"time": event["time"], "name": _NAMES[name], "data": _data(data, int(number or 0))}
        present[number].append(converted)
    return {
        "qlog_version": "0.3",
        "qlog_format": "JSON",
        "title": header["title"],  # type: ignore[index]
        "traces": list(traces.values()),
    }


def write(converted: dict[str, Any], out: Path) -> None:
    """Writes a converted qlog.

    Raises:
        InputError: If the file cannot be written.
    """
    try:
        out.write_text(json.dumps(converted), encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"--out {out}: cannot be written: {error.strerror}; allowed: a file in a folder that exists"
        ) from None


def _records(source: Path) -> Iterator[dict[str, Any]]:
    """The records of a JSON text sequence (RFC 7464)."""
    try:
        first, *rest = read_text(source).split("\x1e")
        if first:
            raise ValueError(first)
        for record in rest:
            yield json.loads(record)
    except OSError as error:
        raise InputError(f"{source}: cannot be read: {error.strerror}; allowed: a qlog (.sqlog)") from None
    except ValueError:
        raise InputError(f"{source}: is not a JSON text sequence; allowed: a qlog (.sqlog)") from None


def _trace(path: str, trace: dict[str, Any]) -> dict[str, Any]:
    group = trace["common_fields"].get("group_id", "")
    return {
        "title": path,
        "vantage_point": trace["vantage_point"],
        "common_fields": {"ODCID": group, "group_id": group, "time_format": "relative", "reference_time": 0},
        "events": [],
    }


def _address(ends: dict[str, Any]) -> tuple[str, int]:
    family = "v4" if "ip_v4" in ends else "v6"
    return ends[f"ip_{family}"], ends[f"port_{family}"]


def _text(address: tuple[str, int]) -> str:
    ip, port = address
    return f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"


def _ends(local: tuple[str, int], remote: tuple[str, int]) -> dict[str, Any]:
    """The data of `connection_started` in version 0.3."""
    version = "v6" if ":" in local[0] else "v4"
    return {
        "ip_version": version,
        "src_ip": local[0],
        "dst_ip": remote[0],
        "src_port": local[1],
        "dst_port": remote[1],
    }


def _data(data: dict[str, Any], path: int) -> dict[str, Any]:
    """The data of an event in version 0.3: frames of streams and handshakes have their length themselves.

    In the trace of a path, what acknowledges its own packets is an ACK frame, PATH_ACK or not.
    """
    if "initiator" in data:
        data = {("owner" if key == "initiator" else key): value for key, value in data.items()}
    if "frames" not in data:
        return data
    return {**data, "frames": [_frame(frame, path) for frame in data["frames"]]}


def _frame(frame: dict[str, Any], path: int) -> dict[str, Any]:
    if frame["frame_type"] == "unknown":
        if frame.get("path_id") == path and "acked_ranges" in frame:
            known = {key: value for key, value in frame.items() if key not in _OF_PATHS}
            return {**known, "frame_type": "ack"}
        return {**frame, "frame_type": "unknown_frame_type"}
    if frame["frame_type"] not in ("stream", "crypto"):
        return frame
    plain = {key: value for key, value in frame.items() if key != "raw"}
    return {**plain, "length": frame["raw"]["length"]}
