from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import leobench

if TYPE_CHECKING:
    from pathlib import Path


def test_a_run_gives_a_summary_tables_and_the_scenario(quick: Path) -> None:
    result = leobench.run(quick, seed=3, overrides={"links.uplink.queue.limit": "15 packets"})
    assert result.folder is None
    assert result.summary["seed"] == 3
    assert result.scenario["links"]["uplink"]["queue"]["limit"] == "15 packets"
    (flow,) = result.summary["flows"]
    messages = result.tables.messages
    assert messages.height == flow["messages"] == 1_250, "5 Mbit/s of 1000 B for 2 s"
    delays = (messages["delivered_ns"] - messages["created_ns"]) / 1e6
    assert delays.mean() == pytest.approx(flow["delay_ms"]["mean"], rel=1e-9)
    assert result.warnings == []


def test_overrides_may_be_any_value(quick: Path) -> None:
    result = leobench.run(
        quick,
        overrides={
            "flows.main.source": {"kind": "bulk", "size": "1 MB"},
            "flows.main.transport.pacing": False,
            "flows.main.transport.congestion": {"kind": "newreno", "initial_window": np.int64(4)},
            "links.uplink.loss": {"kind": "bernoulli", "probability": np.float64(0.001)},
            "links.uplink.between": ["server", "client"],
            "links.uplink.queue.limit": None,
        },
    )
    flow = result.scenario["flows"]["main"]
    assert flow["source"] == {"kind": "bulk", "size": "1 MB"}
    assert flow["transport"]["pacing"] is False
    assert flow["transport"]["congestion"]["initial_window"] == 4
    link = result.scenario["links"]["uplink"]
    assert link["loss"]["probability"] == 0.001
    assert link["between"] == ["server", "client"]
    assert link["queue"]["limit"] == "unlimited", "taken away, so that the default holds"
    assert result.summary["flows"][0]["completion_s"] is not None
    with pytest.raises(
        leobench.InputError, match="allowed: a string, a number, a boolean, a list or a table"
    ):
        leobench.check(quick, {"flows.main.source": {"kind": object()}})


def test_whether_to_trust_a_run(quick: Path) -> None:
    cut = leobench.run(quick, overrides={"links.uplink.loss": {"kind": "bernoulli", "probability": 1}})
    assert [warning.split(",")[0] for warning in cut.warnings] == [
        "flow main: its handshake was never completed"
    ]
    bulk = {"flows.main.source": {"kind": "bulk", "size": "1 MB"}, "warm_up": "500 ms", "until": "time"}
    file = leobench.run(quick, overrides=bulk)
    assert file.summary["flows"][0]["messages"] == 0
    assert file.warnings == []


def test_the_tables_have_the_documented_columns_and_units(quick: Path) -> None:
    tables = leobench.run(quick).tables
    assert {name: tables[name].columns for name in tables} == {
        "messages": [
            "flow", "stream", "message", "size_bytes", "created_ns", "first_sent_ns", "delivered_ns",
        ],
        "transport": [
            "t_ns", "flow", "path", "cwnd_bytes", "ssthresh_bytes", "in_flight_bytes", "srtt_ns",
            "latest_rtt_ns", "pacing_bps", "phase", "bytes_sent", "bytes_delivered", "bytes_lost",
            "bytes_retransmitted",
        ],
        "streams": ["t_ns", "flow", "stream", "backlog_bytes", "head_age_ns", "sojourn_sum_ns"],
        "queues": ["t_ns", "link", "backlog_bytes", "backlog_packets"],
        "channel": ["t_ns", "link", "rate_bps", "delay_ns", "loss", "up", "label"],
        "paths": ["t_ns", "flow", "path", "base_rtt_ns", "bottleneck_bps"],
        "events": ["t_ns", "kind", "subject", "detail"],
        "packets": ["t_ns", "packet", "link", "event", "cause", "size_bytes", "flow", "queued_ns"],
        "opportunities": ["t_ns", "link", "offered_bytes"],
        "routes": ["t_ns", "flow", "direction", "links"],
        "handovers": ["t_ns", "handover", "number", "node", "from_link", "to_link", "stage"],
        "losses": [
            "flow", "end", "packet", "size_bytes", "dropped_ns", "place", "cause", "declared_ns", "evidence",
            "repeated_ns", "repeated_bytes",
        ],
    }  # fmt: skip
    for name in tables:
        for column, kind in tables[name].schema.items():
            if column.endswith(("_ns", "_bytes", "_bps")):
                assert kind == pl.Int64, (name, column)


def test_a_folder_holds_what_the_library_gives(quick: Path, tmp_path: Path) -> None:
    in_memory = leobench.run(quick)
    written = leobench.run(quick, out=tmp_path / "out")
    opened = leobench.open(tmp_path / "out")
    assert written.folder == tmp_path / "out"
    assert in_memory.summary == written.summary == opened.summary
    assert in_memory.scenario == opened.scenario
    for name in in_memory.tables:
        assert opened.tables[name].equals(in_memory.tables[name]), name


def test_a_resolved_scenario_runs_like_the_original(quick: Path, tmp_path: Path) -> None:
    resolved = tmp_path / "resolved.json"
    resolved.write_text(json.dumps(leobench.check(quick)), encoding="utf-8")
    assert leobench.run(resolved).summary == leobench.run(quick).summary


def test_what_goes_wrong_is_under_one_exception(quick: Path, tmp_path: Path) -> None:
    with pytest.raises(leobench.ScenarioError, match="did you mean `duration`"):
        leobench.check(quick, {"duratoin": "1 s"})
    with pytest.raises(leobench.InputError, match="qlog: needs a folder"):
        leobench.run(quick, qlog=True)
    with pytest.raises(leobench.InputError, match="did you mean `queues`"):
        leobench.kinds("queue")
    with pytest.raises(leobench.InputError, match="did you mean `fifo`"):
        leobench.describe("queues", "fifi")
    with pytest.raises(leobench.LeobenchError):
        leobench.open(tmp_path / "absent")


@pytest.mark.parametrize("given", [{"name": "mine"}, None, 3, ["mine.toml"], b"mine.toml", ""], ids=repr)
@pytest.mark.parametrize("name", ["run", "check", "survey", "why", "sweep", "reproduce", "open", "emulate"])
def test_what_is_no_path_is_refused_in_one_line(name: str, given: Any) -> None:
    more = [[("client", "true")]] if name == "emulate" else []
    with pytest.raises(leobench.InputError) as refused:
        getattr(leobench, name)(given, *more)
    (line,) = str(refused.value).splitlines()
    assert "; allowed: " in line
    assert repr(given) in line or given == ""


@pytest.mark.parametrize("given", ["duration=1 s", 3, ["duration"], {3: "1 s"}], ids=repr)
def test_overrides_are_by_place(given: Any, quick: Path) -> None:
    with pytest.raises(leobench.InputError, match="are not values by place; allowed: a dictionary such as"):
        leobench.run(quick, overrides=given)


def test_the_folder_of_results_is_a_path(
    quick: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wrong: Any
    for wrong, said in (
        (3, "out = 3: is not a path but of type int; allowed"),
        ("", "out: is empty; allowed"),
    ):
        with pytest.raises(leobench.InputError, match=said):
            leobench.run(quick, out=wrong)
        with pytest.raises(leobench.InputError, match=said):
            leobench.reproduce("khan2023/fig4", wrong, quick=True)
    assert list(tmp_path.iterdir()) == [quick]


def test_progress_is_reported_and_may_stop_the_run(quick: Path) -> None:
    reports: list[tuple[float, float, int]] = []
    leobench.run(quick, progress=lambda *report: reports.append(report))
    now, end, packets = reports[-1]
    assert end == 2.0
    assert now >= end
    assert packets > 1_000

    def stop(*_: float) -> None:
        raise TimeoutError("long enough")

    with pytest.raises(TimeoutError, match="long enough"):
        leobench.run(quick, overrides={"duration": "100000 s"}, progress=stop)


def test_another_flow_leaves_the_channel_as_it_was(tmp_path: Path, quick: Path) -> None:
    fading = quick.read_text().replace('rate = "10 Mbps"', 'channel = { kind = "lms", preset = "ka" }')
    other = """
[flows.other]
transport = "udp"
from = "server"
to = "client"
source = { kind = "poisson", rate = "1 Mbps", size = "500 B" }
"""
    channels = []
    for name, text in (("one", fading), ("two", fading + other)):
        file = tmp_path / f"{name}.toml"
        file.write_text(text)
        channel = leobench.run(file, overrides={"until": "time", "duration": "30 s"}).tables.channel
        channels.append(channel)
    assert channels[0].height > 20
    assert channels[0].equals(channels[1])


def test_bulk_fills_a_steady_link(tmp_path: Path, quick: Path) -> None:
    """Goodput is the rate times the share of the stream's bytes in what is sent, within 1 %.

    A full datagram of 1,252 bytes travels in an IPv4 packet of 1,280; QUIC takes at most 1 + 8 + 4 bytes of
    header, 16 of authentication tag, and a frame header of at most 1 + 8 + 8 + 2 (RFC 9000
    sections 17.3 and 19.8; RFC 9001 section 5.3), so 1,204 to 1,225 bytes are the application's.
    """
    bulk = quick.read_text().replace(
        'source = { kind = "cbr", rate = "5 Mbps", size = "1000 B" }',
        'source = { kind = "bulk", size = "25 MB" }',
    )
    file = tmp_path / "bulk.toml"
    file.write_text(bulk)
    result = leobench.run(file)
    (flow,) = result.summary["flows"]
    assert 10e6 * 1_204 / 1_280 * 0.99 < flow["goodput_bps"] < 10e6 * 1_225 / 1_280
    (forward,) = (link for link in result.summary["links"] if link["name"] == "uplink/client->server")
    assert forward["utilisation"] > 0.98
    assert forward["mean_rate_bps"] == pytest.approx(10e6)
