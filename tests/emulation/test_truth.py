"""The fate of each packet of a program: in a table, in captures at both ends, and by the clock."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import leobench
from leobench import cli

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("hosts")

# A datagram of 1,028 bytes takes 8.224 ms on the wire, and four of them may wait.
SCENARIO = """\
duration = "10 s"
record = { packets = true }
real = { lateness = "10 s", stall = "10 s", busy = 1 }

[nodes.client]
[nodes.server]

[links.path]
between = ["client", "server"]
rate = "1 Mbps"
delay = "20 ms"
queue = { kind = "fifo", limit = "4 packets" }
"""
WIRE_MS, DELAY_MS = 8.224, 20.0
LINK = "path/client->server"
# A burst of ten datagrams, whose number is their first byte, with the time at which each was sent.
BURST = """
import socket, time
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client.connect(("server", 7000))
for number in range(10):
    print(number, time.time_ns(), flush=True)
    client.send(bytes([number]) * 1000)
time.sleep(0.5)
"""
SINK = """
import socket
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("", 7000))
while True:
    server.recv(2000)
"""
FIELDS = ("frame.time_epoch", "frame.len", "frame.cap_len", "udp.payload", "frame.comment", "_ws.malformed")


@dataclass(frozen=True)
class Burst:
    """A session in which a burst was sent: its folder, its manifest, and when each datagram was sent."""

    folder: Path
    clock: dict[str, Any]
    sent: pl.DataFrame

    def packets(self) -> pl.DataFrame:
        """The rows of the datagrams, with their numbers in the burst."""
        rows = leobench.open(self.folder).tables.packets
        rows = rows.filter((pl.col("link") == LINK) & (pl.col("size_bytes") == 1_028))
        return rows.with_columns(number=pl.col("packet") - rows["packet"].min())

    def captured(self, host: str) -> list[dict[str, str]]:
        """The fields that tshark shows of the datagrams in the capture of a host."""
        command = [
            "tshark",
            "-n",
            "-r",
            str(self.folder / "pcap" / f"{host}.pcapng"),
            "-Y",
            "udp.port == 7000",
        ]
        command += [
            "-T",
            "fields",
            *(word for field in FIELDS for word in ("-e", field)),
            "-E",
            "separator=|",
        ]
        said = subprocess.run([*command], check=True, capture_output=True, text=True)
        return [dict(zip(FIELDS, line.split("|"), strict=True)) for line in said.stdout.splitlines()]


@pytest.fixture(scope="module")
def burst(tmp_path_factory: pytest.TempPathFactory) -> Burst:
    folder = tmp_path_factory.mktemp("burst")
    file, log = folder / "burst.toml", folder / "log"
    file.write_text(SCENARIO, encoding="utf-8")
    programs = [(f"{sys.executable} -c {shlex.quote(code)}") for code in (SINK, BURST)]
    client = ["sh", "-c", f"{programs[1]} > {shlex.quote(str(log))}"]
    done = leobench.emulate(
        file, [("server", programs[0]), ("client", client)], out=folder / "out", pcap=True, snaplen=100
    )
    assert done.code == 0
    rows = [[int(word) for word in line.split()] for line in log.read_text("utf-8").splitlines()]
    sent = pl.DataFrame(rows, schema=["number", "unix_ns"], orient="row")
    clock = json.loads((folder / "out" / "manifest.json").read_text("utf-8"))["clock"]
    return Burst(folder / "out", clock, sent)


def test_the_table_tells_how_long_the_queue_held_each_packet(burst: Burst) -> None:
    """The first is sent at once, each of the next four waits for those before it, and the rest is dropped."""
    ends = burst.packets().filter(pl.col("event") != "enqueue").sort("number")
    assert ends["event"].to_list() == ["deliver"] * 5 + ["drop"] * 5
    assert ends["cause"].to_list() == [None] * 5 + ["queue"] * 5
    queued = (ends["queued_ns"] / 1e6).to_list()
    # The burst itself takes a moment.
    assert queued == pytest.approx([WIRE_MS * number for number in range(5)] + [0.0] * 5, abs=4)
    assert queued[0] == 0
    assert queued[4] > 3.5 * WIRE_MS
    entered = burst.packets().filter(pl.col("event") == "enqueue").sort("number")
    rest = (ends["t_ns"] - entered["t_ns"] - ends["queued_ns"]) / 1e6
    assert rest[:5].to_list() == pytest.approx([WIRE_MS + DELAY_MS] * 5, abs=1e-5)


def test_a_programs_own_log_joins_the_table_by_time(burst: Burst) -> None:
    """A datagram enters its queue soon after the program has noted the time."""
    log = burst.sent.with_columns(t_ns=pl.col("unix_ns") - burst.clock["started_unix_ns"])
    entered = burst.packets().filter(pl.col("event") == "enqueue").select("t_ns", "packet", "number")
    joined = log.join_asof(entered, on="t_ns", strategy="forward", coalesce=False)
    delay = (joined["t_ns_right"] - joined["t_ns"]) / 1e6
    assert (delay >= 0).all()
    assert delay.median() < 5  # type: ignore[operator]
    direct = log.join(entered, on="number")
    assert (direct["t_ns_right"] >= direct["t_ns"]).all()
    assert abs(burst.clock["unix_drift_ms"]) < 1_000


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_captures_at_both_ends_say_what_became_of_each_packet(burst: Burst) -> None:
    sent, received = burst.captured("client"), burst.captured("server")
    assert len(sent) == 10
    assert len(received) == 5
    for packet in (*sent, *received):
        assert (packet["frame.len"], packet["frame.cap_len"]) == ("1028", "100")
        assert packet["_ws.malformed"] == ""
    table = burst.packets().filter(pl.col("event") != "enqueue").sort("number")
    for number, (packet, row) in enumerate(zip(sent, table.iter_rows(named=True), strict=True)):
        assert packet["udp.payload"].startswith(f"{number:02x}" * 4)
        comment = f"packet {row['packet']}; {LINK}: queue {row['queued_ns'] / 1e6:.3f} ms, "
        if number < 5:
            comment += f"link {WIRE_MS + DELAY_MS:.3f} ms, channel steady, delivered"
            assert received[number]["frame.comment"] == comment
            assert received[number]["udp.payload"] == packet["udp.payload"]
        else:
            comment += "channel steady, dropped (queue)"
        assert packet["frame.comment"] == comment
    # Both by the clock of the day, as a capture on the hosts would be.
    entered = (
        burst.packets().filter(pl.col("event") == "enqueue")["t_ns"].sort() + burst.clock["started_unix_ns"]
    )
    shown = [int(packet["frame.time_epoch"].replace(".", "")) for packet in sent]
    assert shown == entered.to_list()
    way = float(received[0]["frame.time_epoch"]) - float(sent[0]["frame.time_epoch"])
    assert way * 1e3 == pytest.approx(WIRE_MS + DELAY_MS, abs=0.01)


def test_the_manifest_counts_what_captures_have(burst: Burst) -> None:
    captures = burst.clock["captures"]
    assert captures["packets"] >= 15
    assert (captures["left_out"], captures["unfinished"]) == (0, 0)
    assert sorted(file.name for file in (burst.folder / "pcap").iterdir()) == [
        "client.pcapng",
        "server.pcapng",
    ]


def test_bytes_and_their_cost_are_counted_by_program(burst: Burst) -> None:
    """Five of ten datagrams arrive; nothing else is sent but for what kernels say by themselves."""
    manifest = json.loads((burst.folder / "manifest.json").read_text("utf-8"))
    server, client = manifest["programs"]
    assert 10 * 1_028 <= client["bytes_sent"] < 10 * 1_028 + 1_000
    assert 5 * 1_028 <= server["bytes_received"] < 5 * 1_028 + 1_000
    gbit = (client["bytes_sent"] + client["bytes_received"]) * 8e-9
    assert client["cpu_s_per_gbit"] == pytest.approx(client["cpu_s"] / gbit, rel=0.1, abs=0.01)
    clock = burst.clock
    work = clock["driver_cpu_s"] - clock["driver_spin_s"]
    carried = sum(host["bytes_sent"] for host in clock["hosts"])
    assert clock["driver_cpu_s_per_gbit"] == pytest.approx(work / (carried * 8e-9), rel=1e-6)
    assert {"p50", "p99"} <= clock["device_wait_ms"].keys()


def test_programs_that_share_a_host_have_no_bytes_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "burst.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    programs = [("client", "sleep 0.1"), ("client", "ping -c 1 server")]
    leobench.emulate(file, programs, out=tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    for program in manifest["programs"]:
        assert (program["bytes_sent"], program["cpu_s_per_gbit"]) == (None, None)
    assert manifest["clock"]["captures"] is None
    assert not (tmp_path / "out" / "pcap").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pcap"], "pcap: needs a folder to write to; give `out`"),
        (["--snaplen", "200"], "snaplen: applies to packet captures only; add pcap"),
    ],
    ids=["no folder", "no captures"],
)
def test_captures_without_a_place_are_refused(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "burst.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    assert cli.main(["emulate", str(file), *words, "--", "true"]) == 2
    assert capsys.readouterr().err == f"leobench: {said}\n"
