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


@pytest.mark.parametrize("stack", ["own", "noq"])
def test_early_data_is_refused_by_name(stack: str, tmp_path: Path, quick: Path, capsys: Capture) -> None:
    transport = f'flows.main.transport={{ kind = "quic", stack = "{stack}", zero_rtt = true }}'
    assert cli.main(["run", str(quick), "--out", str(tmp_path / "out"), "--set", transport]) == 2
    said = capsys.readouterr().err
    assert "flows.main.transport.zero_rtt = true: no stack sends 0-RTT data" in said
    assert said.count("\n") == 1
