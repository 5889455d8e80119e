"""Qlogs of the own QUIC stack, converted for qvis."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import leobench
from leobench import cli, qvis
from leobench.errors import InputError
from tests.quic.qvis_loader import graph, load
from tests.quic.test_qlog import records
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

# What draft-ietf-quic-qlog-quic-events-02 demands of the data of each event, as far as the stack writes it.
REQUIRED = {
    "connectivity:connection_started": {"src_ip", "dst_ip"},
    "connectivity:connection_closed": {"owner"},
    "transport:packet_sent": {"header"},
    "transport:packet_received": {"header"},
    "recovery:packet_lost": {"header"},
    "recovery:metrics_updated": set(),
    "recovery:congestion_state_updated": {"new"},
    "security:key_updated": {"key_type"},
}


@pytest.fixture
def moved(tmp_path: Path) -> Path:
    """The qlogs of an upload that moves to the satellite after 2 s, and back after 4 s."""
    overrides: dict[str, object] = {
        "duration": "6 s",
        "flows.upload.transport": {"kind": "quic", "stack": "own"},
        "handovers.backhaul": {
            "node": "device",
            "links": ["terrestrial", "leo"],
            "kind": "migrate",
            "at": ["2 s", "4 s"],
        },
        "links.terrestrial.between": ["device", "office"],
        "links.leo.between": ["device", "office"],
    }
    leobench.run(ROOT / "scenarios" / "emergency.toml", 1, overrides, tmp_path / "out", qlog=True)
    return tmp_path / "out" / "qlog"


def check(log: dict[str, Any]) -> list[dict[str, Any]]:
    """Checks the structure that the drafts of version 0.3 define; returns the traces."""
    assert (log["qlog_version"], log["qlog_format"]) == ("0.3", "JSON")
    traces: list[dict[str, Any]] = log["traces"]
    for trace in traces:
        assert trace["vantage_point"]["type"] in {"client", "server"}
        common = trace["common_fields"]
        assert (common["time_format"], common["reference_time"]) == ("relative", 0)
        assert common["group_id"] == common["ODCID"] != ""
        times = [event["time"] for event in trace["events"]]
        assert times == sorted(times)
        for event in trace["events"]:
            assert set(event) == {"time", "name", "data"}
            assert REQUIRED[event["name"]] <= set(event["data"])
            for frame in event["data"].get("frames", ()):
                assert frame["frame_type"] not in {"stream", "crypto"} or frame["length"] >= 0
    return traces


@pytest.mark.parametrize("end", ["sender", "receiver"])
def test_every_path_has_a_trace_and_all_have_one_group(moved: Path, end: str) -> None:
    source = moved / f"upload-{end}.sqlog"
    first, second = check(qvis.convert(source))
    assert first["common_fields"] == second["common_fields"]
    assert first["title"] != second["title"]
    paths = [trace["events"][0]["data"] for trace in (first, second)]
    # The device has an address per link; the office has one.
    here, there = ("src_ip", "dst_ip") if end == "sender" else ("dst_ip", "src_ip")
    assert paths[0][here] != paths[1][here]
    assert paths[0][there] == paths[1][there]
    # The second path is in use from 2 s to 4 s, the first one before and after; the office follows later.
    late = 0 if end == "sender" else 200
    data = [[e["time"] for e in t["events"] if e["name"] == "transport:packet_sent"] for t in (first, second)]
    assert all(not 2_000 + late <= time < 4_000 for time in data[0])
    assert all(2_000 <= time < 4_000 + late for time in data[1])
    assert data[0][-1] > 4_000
    # Nothing is lost on the way from one version to the other.
    _, *events = records(source)
    kept = Counter(str(event["name"]).split(":")[1] for event in events)
    found = Counter(e["name"].split(":")[1] for trace in (first, second) for e in trace["events"])
    for name in ("packet_sent", "packet_received", "packet_lost", "key_updated", "congestion_state_updated"):
        assert found[name] == kept[name] > 0 or name in {"packet_lost", "congestion_state_updated"}


def test_the_command_writes_it_and_refuses_what_is_none(
    moved: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(moved.parent.parent)
    assert cli.main(["qvis", str(moved / "upload-sender.sqlog")]) == 0
    check(json.loads((moved.parent.parent / "upload-sender.qlog").read_text(encoding="utf-8")))
    assert cli.main(["qvis", str(moved.parent / "summary.json")]) == 2
    assert "summary.json: is not a JSON text sequence; allowed: a qlog (.sqlog)" in capsys.readouterr().err
    assert cli.main(["qvis", "nowhere.sqlog"]) == 2
    assert "nowhere.sqlog: cannot be read" in capsys.readouterr().err


def test_a_qlog_of_another_schema_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "other.sqlog"
    file.write_text('\x1e{"trace":{"event_schemas":["urn:other"]}}\n', encoding="utf-8")
    with pytest.raises(InputError, match="is not a qlog of the stack `own`"):
        qvis.convert(file)


def converted(source: Path, tmp_path: Path) -> list[dict[str, Any]]:
    """The traces of a qlog as qvis loads them."""
    out = tmp_path / "for-qvis.qlog"
    assert cli.main(["qvis", str(source), "--out", str(out)]) == 0
    return load(out)


def test_qvis_loads_and_draws_it(moved: Path, tmp_path: Path) -> None:
    traces = converted(moved / "upload-sender.sqlog", tmp_path)
    for trace in traces:
        drawn = graph(trace)
        # What is in flight when the path changes is acknowledged on the other one.
        assert drawn["acknowledged"] > 0.9 * drawn["transport:packet_sent"] > 100
        for name in ("bytes_in_flight", "congestion_window", "smoothed_rtt", "latest_rtt"):
            assert drawn[name] > 100, name
        assert drawn["min_rtt"] > 0
    for trace in converted(moved / "upload-receiver.sqlog", tmp_path):
        assert graph(trace)["transport:packet_received"] > 100


def test_several_paths_have_a_trace_each_at_the_same_time(tmp_path: Path) -> None:
    """Each path has its packets and their acknowledgements, whose frames are those of multipath."""
    overrides: dict[str, object] = {"duration": "3 s"}
    leobench.run(ROOT / "scenarios" / "multipath.toml", 1, overrides, tmp_path / "out", qlog=True)
    source = tmp_path / "out" / "qlog" / "upload-sender.sqlog"
    first, second = converted(source, tmp_path)
    assert first["title"] != second["title"]
    for trace in (first, second):
        drawn = graph(trace)
        sent = drawn["transport:packet_sent"]
        # At the end, a window is in flight.
        assert sent > 1_000
        assert drawn["acknowledged"] + drawn["lost here"] > 0.9 * sent
        assert drawn["acknowledged elsewhere"] == 0
        assert trace["events"][-1]["time"] > 2_900
    _, *events = records(source)
    assert sum(graph(trace)["lost here"] for trace in (first, second)) > 0
    packets = sum(event["name"] == "quic:packet_sent" for event in events)
    assert sum(graph(trace)["transport:packet_sent"] for trace in (first, second)) == packets
