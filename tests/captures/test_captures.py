"""Captures are valid: `tshark`, which knows nothing of us, finds nothing wrong and counts as we do."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

import leobench
from leobench import cli
from tests.support.controllers import over_tcp

if TYPE_CHECKING:
    from pathlib import Path

    Capture = pytest.CaptureFixture[str]

SCENARIO = """\
name = "lossy"
duration = "20 s"
until = "drained"
drain_limit = "10 min"

[nodes.client]
[nodes.server]

[links.satellite]
between = ["client", "server"]
rate = "20 Mbps"
delay = "25 ms"
queue = { kind = "fifo", limit = "60 packets" }
loss = { kind = "bernoulli", probability = 0.02 }

[flows.main]
transport = "tcp"
from = "client"
to = "server"
source = { kind = "bulk", size = "2 MB" }
"""

# What makes losses of every kind: on the channel, in a queue, in outages, of handshakes and acknowledgements.
CASES: dict[str, dict[str, object]] = {
    **{name: {"flows.main.transport.congestion": name} for name in over_tcp()},
    "paced": {"flows.main.transport.pacing": True},
    "TLS": {"flows.main.transport.tls": True},
    "ECN": {"flows.main.transport.ecn": True},
    "no SACK": {"flows.main.transport.sack": False},
    "no timestamps": {"flows.main.transport.timestamps": False},
    "small window": {"flows.main.transport.receive_buffer": "20 kB"},
    "short queue": {"links.satellite.loss": None, "links.satellite.queue.limit": "10 packets"},
    "much loss": {"links.satellite.loss.probability": 0.3, "flows.main.source.size": "60 kB"},
    "messages": {"flows.main.source": {"kind": "cbr", "rate": "400 kbps", "size": "3 kB"}},
    "outages": {
        "links.satellite.rate": None,
        "links.satellite.channel": {"kind": "on_off", "rate": "20 Mbps", "on": "1 s", "off": "3 s"},
    },
}

# Under each of these names tshark sees a segment that was sent before. It calls one out of order that follows
# new data within the first round-trip time and is not the first one missing; but a host sends nothing out of
# order, so that where it is captured at its sender, that too is one sent again.
AGAIN = (
    "tcp.analysis.retransmission",
    "tcp.analysis.fast_retransmission",
    "tcp.analysis.spurious_retransmission",
    "tcp.analysis.out_of_order",
)
FIELDS = (
    *AGAIN, "ip.src", "frame.len", "frame.cap_len", "ip.dsfield.ecn", "tcp.flags", "tcp.len", "_ws.malformed",
    "ip.checksum.status", "tcp.checksum.status", "udp.checksum.status", "tcp.analysis.lost_segment",
    "tcp.analysis.ack_lost_segment", "_ws.expert.severity", "_ws.expert.message", "frame.protocols",
    "tcp.options.mss_val", "tcp.options.sack.count",
)  # fmt: skip

GOOD = "1"  # of a checksum's status
ERROR = 0x0080_0000  # tshark's severity of what it takes for wrong
FIN, SYN, PSH, ACK, ECE, CWR = 0x01, 0x02, 0x08, 0x10, 0x40, 0x80

needs_tshark = pytest.mark.skipif(
    shutil.which("tshark") is None,
    reason="tshark is not installed (Debian, Ubuntu: apt install tshark): nobody else reads the captures",
)


@pytest.fixture
def lossy(tmp_path: Path) -> Path:
    file = tmp_path / "lossy.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    return file


def run(scenario: Path, overrides: dict[str, object], **options: Any) -> leobench.Result:
    """A run with captures of whole packets."""
    out = scenario.parent / "out"
    return leobench.run(scenario, 1, overrides, out, pcap=True, **{"snaplen": 65_535, **options})


def packets(result: leobench.Result, end: str) -> list[dict[str, str]]:
    """The fields that tshark shows of every packet captured at an end of the flow, checksums verified."""
    assert result.folder is not None
    checks = [f"{protocol}.check_checksum:TRUE" for protocol in ("ip", "tcp", "udp")]
    command = ["tshark", "-n", "-r", str(result.folder / "pcap" / f"main-{end}.pcapng"), "-T", "fields"]
    command += [word for check in checks for word in ("-o", check)]
    command += [word for field in FIELDS for word in ("-e", field)]
    said = subprocess.run([*command, "-E", "separator=|"], check=True, capture_output=True, text=True)
    return [dict(zip(FIELDS, line.split("|"), strict=True)) for line in said.stdout.splitlines()]


def assert_sound(captured: list[dict[str, str]], transport: str) -> None:
    """No packet is malformed, cut or wrong."""
    for packet in captured:
        assert packet["_ws.malformed"] == "", packet
        assert packet["frame.protocols"].startswith(f"raw:ip:{transport}"), packet
        assert packet["ip.checksum.status"] == packet[f"{transport}.checksum.status"] == GOOD, packet
        severities = packet["_ws.expert.severity"].split(",")
        assert all(int(severity, 0) < ERROR for severity in severities if severity), packet


@needs_tshark
@pytest.mark.parametrize("case", CASES)
def test_tshark_finds_nothing_wrong_and_counts_our_retransmissions(case: str, lossy: Path) -> None:
    result = run(lossy, CASES[case])
    (flow,) = result.summary["flows"]
    for end in ("sender", "receiver"):
        captured = packets(result, end)
        assert_sound(captured, "tcp")
        # A capture at a host holds all that the host has sent: acknowledgements name nothing that is missing.
        assert not any(packet["tcp.analysis.ack_lost_segment"] for packet in captured)
    captured = packets(result, "sender")
    ours = [packet for packet in captured if packet["ip.src"] == captured[0]["ip.src"]]
    assert len(ours) == flow["sent_packets"]
    assert not any(packet["tcp.analysis.lost_segment"] for packet in ours)
    again = [packet for packet in ours if any(packet[name] for name in AGAIN)]
    assert len(again) == flow["retransmitted_packets"] > 5
    assert sum(int(packet["tcp.len"]) for packet in again) == flow["retransmitted_bytes"]


@needs_tshark
def test_a_conversation_begins_and_ends_as_one(lossy: Path) -> None:
    result = run(lossy, {"until": "time", "flows.main.transport.ecn": True, "links.satellite.loss": None})
    captured = packets(result, "sender")
    flags = [int(packet["tcp.flags"], 16) for packet in captured]
    assert flags[:3] == [SYN | ECE | CWR, SYN | ACK | ECE, ACK]
    assert [packet["tcp.options.mss_val"] for packet in captured[:3]] == ["1460", "1460", ""]
    assert flags[-2:] == [FIN | ACK, ACK], "the server's last word, and the client's"
    assert [flag for flag in flags if flag & FIN] == [FIN | PSH | ACK, FIN | ACK]
    new = [packet for packet in captured if not any(packet[name] for name in AGAIN)]
    assert {packet["ip.dsfield.ecn"] for packet in new if packet["tcp.len"] != "0"} == {"2"}, "ECT(0)"
    assert {packet["ip.dsfield.ecn"] for packet in new if packet["tcp.len"] == "0"} == {"0"}


@needs_tshark
@pytest.mark.parametrize("kind", ["quic", "udp"])
def test_datagrams_are_sound(kind: str, lossy: Path) -> None:
    source = {"kind": "cbr", "rate": "1 Mbps", "size": "3 kB"}
    result = run(lossy, {"flows.main.transport": kind, "flows.main.source": source, "duration": "4 s"})
    for end in ("sender", "receiver"):
        captured = packets(result, end)
        assert len(captured) > 300
        assert_sound(captured, "udp")
        # Of QUIC tshark sees packets whose protection it cannot take off.
        assert {packet["frame.protocols"] == "raw:ip:udp:quic" for packet in captured} == {kind == "quic"}


@needs_tshark
def test_packets_are_cut_unless_told_otherwise(lossy: Path) -> None:
    captured = packets(run(lossy, {}, snaplen=None), "sender")
    assert {int(packet["frame.cap_len"]) for packet in captured if packet["frame.len"] == "1500"} == {128}
    assert not any(packet["_ws.malformed"] for packet in captured)


def test_captures_are_written_on_request(
    tmp_path: Path, quick: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["run", str(quick), "--out", "out", "--quiet"]
    assert cli.main([*command, "--pcap"]) == 0
    files = sorted((tmp_path / "out" / "pcap").iterdir())
    assert [file.name for file in files] == ["main-receiver.pcapng", "main-sender.pcapng"]
    small = [file.stat().st_size for file in files]
    assert cli.main([*command, "--pcap", "--snaplen", "65535", "--force"]) == 0
    assert all(file.stat().st_size > 3 * size for file, size in zip(files, small, strict=True))
    # Whoever puts something of their own there keeps it.
    (tmp_path / "out" / "pcap" / "notes.txt").write_text("mine")
    assert cli.main([*command, "--force"]) == 2
    assert "holds `pcap`, which leobench did not write" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--snaplen", "200"], "snaplen: applies to packet captures only; add pcap"),
        (["--pcap", "--snaplen", "99"], "snaplen: 99 is out of range; allowed: from 100"),
        (["--pcap", "--snaplen", "65536"], "snaplen: 65536 is out of range"),
    ],
)
def test_a_wrong_length_is_refused(
    arguments: list[str], message: str, tmp_path: Path, quick: Path, capsys: Capture
) -> None:
    out = tmp_path / "out"
    assert cli.main(["run", str(quick), "--out", str(out), *arguments]) == 2
    assert capsys.readouterr().err.startswith(f"leobench: {message}")
    assert not out.exists()


def test_captures_need_a_folder(quick: Path) -> None:
    with pytest.raises(leobench.InputError, match="pcap: needs a folder to write to; give `out`"):
        leobench.run(quick, pcap=True)
