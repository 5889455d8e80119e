"""Qlogs of our own QUIC in the result folder; the Rust tests check their fields."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import leobench
from leobench import cli

if TYPE_CHECKING:
    from pathlib import Path

    Capture = pytest.CaptureFixture[str]


def records(file: Path) -> list[dict[str, object]]:
    """The records of a JSON text sequence (RFC 7464)."""
    first, *rest = file.read_text(encoding="utf-8").split("\x1e")
    assert first == ""
    assert all(record.endswith("\n") for record in rest)
    return [json.loads(record) for record in rest]


@pytest.mark.parametrize("protection", ["null", "tls"])
def test_the_own_stack_writes_qlogs(protection: str, tmp_path: Path, quick: Path) -> None:
    transport = {"kind": "quic", "stack": "own", "protection": protection}
    result = leobench.run(quick, 1, {"flows.main.transport": transport}, tmp_path / "out", qlog=True)
    (flow,) = result.summary["flows"]
    for end, side in (("sender", "client"), ("receiver", "server")):
        header, *events = records(tmp_path / "out" / "qlog" / f"main-{end}.sqlog")
        assert header["file_schema"] == "urn:ietf:params:qlog:file:sequential"
        assert header["trace"]["vantage_point"]["type"] == side  # type: ignore[index]
        names = [event["name"] for event in events]
        assert names[0] == "quic:connection_started"
        assert {"quic:packet_sent", "quic:packet_received", "quic:recovery_metrics_updated"} <= set(names)
        if end == "sender":
            # The handshake may coalesce packets; the summary counts datagrams.
            assert 0 <= names.count("quic:packet_sent") - flow["sent_packets"] <= 3
            assert names.count("quic:packet_lost") == flow["lost_packets"]


@pytest.mark.parametrize(
    ("transport", "problem"),
    [
        ('"quic", zero_rtt = true', "zero_rtt = true: requires `resumption`"),
        ('"quic", stack = "noq", resumption = true', "resumption = true: requires the stack `own`"),
        ('"quic", resumption = true, zero_rtt = "maybe"', 'zero_rtt = "maybe": unknown word'),
        ('"tcp", zero_rtt = true', "zero_rtt = true: unknown key"),
        ('"tcp", resumption = true', "resumption = true: unknown key"),
    ],
)
def test_early_data_is_refused_by_name(
    transport: str, problem: str, tmp_path: Path, quick: Path, capsys: Capture
) -> None:
    setting = f"flows.main.transport={{ kind = {transport} }}"
    assert cli.main(["run", str(quick), "--out", str(tmp_path / "out"), "--set", setting]) == 2
    said = capsys.readouterr().err
    assert f"flows.main.transport.{problem}" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(("zero_rtt", "decision"), [("true", "accepted"), ('"rejected"', "rejected")])
def test_early_packets_are_in_the_qlog(zero_rtt: str, decision: str, tmp_path: Path, quick: Path) -> None:
    transport = f'{{ kind = "quic", resumption = true, zero_rtt = {zero_rtt} }}'
    result = leobench.run(quick, 1, {"flows.main.transport": transport}, tmp_path / "out", qlog=True)
    _, *events = records(tmp_path / "out" / "qlog" / "main-sender.sqlog")
    sent = [event["data"]["header"] for event in events if event["name"] == "quic:packet_sent"]  # type: ignore[index]
    kinds = [header["packet_type"] for header in sent]
    # RFC 9000 section 12.3: 0-RTT and 1-RTT packets share their numbers, and the former come first.
    shared = [header["packet_number"] for header in sent if header["packet_type"] in {"0RTT", "1RTT"}]
    assert kinds[:2] == ["initial", "0RTT"]
    assert shared == list(range(len(shared)))
    assert "0RTT" not in kinds[kinds.index("1RTT") :]
    _, *events = records(tmp_path / "out" / "qlog" / "main-receiver.sqlog")
    received = [event["data"]["header"] for event in events if event["name"] == "quic:packet_received"]  # type: ignore[index]
    early = [header for header in received if header["packet_type"] == "0RTT"]
    assert bool(early) == (decision == "accepted")
    (flow,) = result.summary["flows"]
    assert flow["lost_packets"] == 0 or decision == "accepted"
