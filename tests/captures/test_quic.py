"""Captures of our own QUIC: `tshark` decrypts them, and shows null protection as documented."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from leobench import cli, folder

if TYPE_CHECKING:
    from pathlib import Path

    Capture = pytest.CaptureFixture[str]

SCENARIO = """\
name = "lossy"
duration = "3 s"
until = "drained"
drain_limit = "1 min"

[nodes.client]
[nodes.server]

[links.satellite]
between = ["client", "server"]
rate = "20 Mbps"
delay = "25 ms"
queue = { kind = "fifo", limit = "60 packets" }
loss = { kind = "bernoulli", probability = 0.01 }

[flows.main]
transport = { kind = "quic", stack = "own", retry = true, key_update = 300 }
from = "client"
to = "server"
source = { kind = "bulk", size = "1 MB" }
"""

FIELDS = (
    "quic.frame_type", "quic.decryption_failed", "quic.bad_retry", "_ws.malformed", "quic.key_phase",
    "quic.dcid", "quic.long.packet_type", "quic.packet_number", "quic.header_form", "quic.connection.unknown",
    "quic.packet_length", "udp.length",
)  # fmt: skip
INITIAL, HANDSHAKE, RETRY = "0", "2", "3"

pytestmark = pytest.mark.skipif(
    shutil.which("tshark") is None,
    reason="tshark is not installed (Debian, Ubuntu: apt install tshark): nobody else reads the captures",
)


@pytest.fixture
def lossy(tmp_path: Path) -> Path:
    file = tmp_path / "lossy.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    return file


def run(scenario: Path, *arguments: str) -> Path:
    """The result folder of a run with captures."""
    out = scenario.parent / "out"
    assert cli.main(["run", str(scenario), "--out", str(out), "--pcap", "--force", *arguments]) == 0
    return out


def packets(out: Path, end: str, *options: str) -> list[dict[str, list[str]]]:
    """The fields that tshark shows of every datagram captured at an end of the flow."""
    command = ["tshark", "-n", "-r", str(out / "pcap" / f"main-{end}.pcapng"), "-T", "fields", *options]
    command += [word for field in FIELDS for word in ("-e", field)]
    said = subprocess.run([*command, "-E", "separator=|"], check=True, capture_output=True, text=True)
    rows = [line.split("|") for line in said.stdout.splitlines()]
    return [
        {field: value.split(",") if value else [] for field, value in zip(FIELDS, row, strict=True)}
        for row in rows
    ]


def test_tshark_decrypts_every_frame_with_the_secrets(lossy: Path, capsys: Capture) -> None:
    out = run(lossy, "--snaplen", "65535", "--set", "flows.main.transport.protection=tls")
    secrets = out / "pcap" / "tls-secrets.log"
    assert str(secrets) in capsys.readouterr().out, "the user is told where they are"
    for end in ("sender", "receiver"):
        captured = packets(out, end, "-o", f"tls.keylog_file:{secrets}")
        assert len(captured) > 800
        phases = set()
        for packet in captured:
            for problem in (
                "quic.decryption_failed",
                "quic.bad_retry",
                "_ws.malformed",
                "quic.connection.unknown",
            ):
                assert packet[problem] == [], packet
            if packet["quic.long.packet_type"] != [RETRY]:
                # As many packets with frames and numbers as there are in the datagram.
                assert packet["quic.frame_type"], packet
                assert len(packet["quic.packet_number"]) == len(packet["quic.header_form"]) >= 1, packet
            phases.update(packet["quic.key_phase"])
        assert phases == {"0", "1"}, "keys were updated"
        assert [RETRY] in [packet["quic.long.packet_type"] for packet in captured]


def test_without_the_secrets_only_the_handshake_opens(lossy: Path) -> None:
    out = run(lossy, "--quiet", "--snaplen", "65535", "--set", "flows.main.transport.protection=tls")
    captured = packets(out, "sender")
    opened = [packet for packet in captured if packet["quic.frame_type"]]
    assert opened, "the keys of Initial packets are known to all"
    assert all(INITIAL in packet["quic.long.packet_type"] for packet in opened)


def test_every_connection_has_its_secrets_in_one_file(lossy: Path) -> None:
    text = SCENARIO + SCENARIO[SCENARIO.index("[flows.main]") :].replace("main", "other")
    lossy.write_text(text.replace('stack = "own"', 'stack = "own", protection = "tls"'), encoding="utf-8")
    out = run(lossy, "--quiet", "--snaplen", "65535")
    lines = (out / "pcap" / folder.SECRETS).read_text().splitlines()
    labels = [line.split()[0] for line in lines]
    assert labels.count("CLIENT_TRAFFIC_SECRET_0") == labels.count("SERVER_TRAFFIC_SECRET_0") == 2
    assert len({line.split()[1] for line in lines}) == 2, "one client random for each connection"


def test_the_path_of_the_secrets_is_in_the_json(lossy: Path, capsys: Capture) -> None:
    out = run(lossy, "--json", "--set", "flows.main.transport.protection=tls")
    assert json.loads(capsys.readouterr().out)["tls_secrets"] == str(out / "pcap" / folder.SECRETS)
    # A folder with secrets may be replaced, and one without encryption has none.
    out = run(lossy, "--json")
    assert "tls_secrets" not in json.loads(capsys.readouterr().out)
    assert sorted(file.name for file in (out / "pcap").iterdir()) == [
        "main-receiver.pcapng",
        "main-sender.pcapng",
    ]


def test_what_tshark_shows_of_null_protection(lossy: Path) -> None:
    """The statements of docs/howto/captures.md on null protection."""
    out = run(lossy, "--quiet", "--snaplen", "65535")
    captured = packets(out, "sender")
    assert len(captured) > 800
    (retry,) = (packet for packet in captured if packet["quic.long.packet_type"] == [RETRY])
    assert retry["quic.bad_retry"], "a tag of zeros"
    for packet in captured:
        assert packet["_ws.malformed"] == packet["quic.frame_type"] == packet["quic.key_phase"] == []
        if packet is retry:
            continue
        # Types, connection IDs and sizes are there and right.
        forms = len(packet["quic.header_form"])
        assert len(packet["quic.packet_length"]) == forms, packet
        assert packet["quic.dcid"], packet
        sizes = sum(int(size) for size in packet["quic.packet_length"])
        assert sizes == int(packet["udp.length"][0]) - 8, packet
        assert packet["quic.decryption_failed"], packet
        # A packet number is shown only where the keys are known to all, and it is wrong.
        if INITIAL in packet["quic.long.packet_type"]:
            assert all(int(number) > 100 for number in packet["quic.packet_number"]), packet
        else:
            assert packet["quic.packet_number"] == [], packet
    types = {kind for packet in captured for kind in packet["quic.long.packet_type"]}
    assert types == {INITIAL, HANDSHAKE, RETRY}
