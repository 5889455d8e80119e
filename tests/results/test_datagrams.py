"""Messages in DATAGRAM frames of QUIC, from the scenario to the summary."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import leobench
from leobench import ScenarioError

if TYPE_CHECKING:
    from pathlib import Path

    from leobench.result import Result

SCENARIO = """\
name = "datagrams"
duration = "20 s"
warm_up = "1 s"
until = "drained"

[nodes.a]
[nodes.b]

[links.path]
between = ["a", "b"]
rate = "RATE"
delay = "10 ms"
LINK

[flows.main]
transport = TRANSPORT
from = "a"
to = "b"

STREAMS
"""

MEDIA = """\
[[flows.main.streams]]
name = "media"
source = { kind = "cbr", rate = "400 kbps", size = "1000 B" }
carried = "datagrams"
"""
FILE = """\
[[flows.main.streams]]
name = "file"
source = { kind = "bulk", size = "5 MB" }
"""
LOSS = 'loss = { kind = "bernoulli", probability = 0.05 }'


def scenario(
    folder: Path, transport: str = '"quic"', streams: str = MEDIA, link: str = "", rate: str = "1 Mbps"
) -> Path:
    file = folder / "datagrams.toml"
    text = SCENARIO.replace("TRANSPORT", transport).replace("STREAMS", streams)
    file.write_text(text.replace("LINK", link).replace("RATE", rate))
    return file


def streams(result: Result) -> dict[str, Any]:
    return {stream["name"]: stream for stream in result.summary["flows"][0]["streams"]}


# Besides the content, a packet of QUIC has a header of 9 bytes and a number of one, 3 bytes of a frame, and
# a tag of 16.
@pytest.mark.parametrize(("transport", "overhead"), [("quic", 29), ("udp", 0)])
def test_a_message_takes_the_time_of_its_packet(transport: str, overhead: int, tmp_path: Path) -> None:
    result = leobench.run(scenario(tmp_path, f'"{transport}"'))
    messages = result.tables.messages.filter(result.tables.messages["created_ns"] >= 1_000_000_000)
    delays = (messages["delivered_ns"] - messages["created_ns"]).to_list()
    expected = 10_000_000 + (1_000 + overhead + 28) * 8_000
    assert len(delays) == 19 * 50
    # Every so often, the receiving end asks for an acknowledgement, whose frame the next packet takes along.
    assert delays.count(expected) >= (0.95 if transport == "quic" else 1) * len(delays)
    assert expected <= min(delays) <= max(delays) <= expected + 12 * 8_000
    assert result.warnings == []


# A message is lost if one of its packets is. Three standard errors of 950 messages.
@pytest.mark.parametrize(("size", "parts"), [(1_000, 1), (3_000, 3)])
def test_as_many_messages_are_lost_as_the_link_loses(size: int, parts: int, tmp_path: Path) -> None:
    media = MEDIA.replace("1000 B", f"{size} B").replace("400 kbps", f"{400 * size // 1_000} kbps")
    lost: dict[str, float] = {}
    for transport in ("quic", "udp"):
        result = leobench.run(scenario(tmp_path, f'"{transport}"', media, LOSS, "100 Mbps"))
        (flow,) = result.summary["flows"]
        lost[transport] = flow["undelivered_messages"] / flow["messages"]
        assert flow["messages"] == 950
        assert flow["retransmitted_bytes"] == 0
        assert result.warnings == []
    expected = 1 - 0.95**parts
    error = (expected * (1 - expected) / 950) ** 0.5
    assert lost == {name: pytest.approx(expected, abs=3 * error) for name in lost}


def test_every_loss_of_a_datagram_is_a_dropped_packet(tmp_path: Path) -> None:
    overrides = {"record.packets": True, "warm_up": "0 s"}
    result = leobench.run(scenario(tmp_path, link=LOSS), overrides=overrides)
    drops = result.tables.packets.filter(event="drop")
    # Only the packets with datagrams are so large.
    dropped = drops.filter((drops["size_bytes"] > 1_000) & (drops["size_bytes"] < 1_100)).height
    (flow,) = result.summary["flows"]
    assert flow["undelivered_messages"] == dropped > 20


def test_what_is_late_before_it_leaves_is_dropped(tmp_path: Path) -> None:
    """1.6 Mbit/s of media over 1 Mbit/s: about 5/8 get through, none later than its deadline and the way."""
    media = MEDIA.replace("400 kbps", "1.6 Mbps")
    queue = 'queue = { kind = "fifo", limit = "20 kB" }'
    late = leobench.run(scenario(tmp_path, streams=media + 'deadline = "300 ms"\n', link=queue))
    found = streams(late)["media"]
    # 20 kB take 160 ms.
    assert found["delay_ms"]["max"] < 300 + 160 + 10 + 10
    share = 1 - found["undelivered_messages"] / found["messages"]
    assert 0.4 < share < 0.62
    assert found["late_messages"] >= found["undelivered_messages"] > 0
    waiting = leobench.run(scenario(tmp_path, streams=media, link=queue))
    assert streams(waiting)["media"]["delay_ms"]["max"] > 5_000, "without a deadline, they wait"


def test_datagrams_share_a_connection_with_a_file(tmp_path: Path) -> None:
    """The most urgent messages wait for no file, only for the packet on the wire, and the queue."""
    queue = 'queue = { kind = "fifo", limit = "10 kB" }'
    transport = '{ kind = "quic", scheduler = "priority" }'
    both = MEDIA + "urgency = 0\n" + FILE
    result = leobench.run(scenario(tmp_path, transport, both, queue, "4 Mbps"))
    found = streams(result)
    assert found["file"]["undelivered_messages"] == 0
    delay = found["media"]["delay_ms"]
    assert delay["p99"] < 10 + 20 + 15, "the link, its queue, and the window"


def test_a_stream_waits_for_what_was_lost_and_datagrams_do_not(tmp_path: Path) -> None:
    transport = '{ kind = "quic", scheduler = "priority" }'
    found = {}
    for carried in ('carried = "datagrams"\n', ""):
        media = MEDIA.replace('carried = "datagrams"\n', carried) + "urgency = 0\n" + FILE
        found[carried] = streams(leobench.run(scenario(tmp_path, transport, media, LOSS, "4 Mbps")))["media"]
    datagrams, stream = found.values()
    assert stream["undelivered_messages"] == 0 < datagrams["undelivered_messages"]
    # A repetition takes a round trip of 20 ms at least, and 5 % of the packets need one.
    assert stream["delay_ms"]["p99"] > datagrams["delay_ms"]["p99"] + 20


def test_a_qlog_shows_datagrams(tmp_path: Path) -> None:
    leobench.run(scenario(tmp_path), overrides={"duration": "3 s"}, out=tmp_path / "out", qlog=True)
    file = tmp_path / "out" / "qlog" / "main-sender.sqlog"
    frames = [
        frame
        for line in file.read_text().split("\x1e")
        if line.strip()
        for frame in json.loads(line).get("data", {}).get("frames", [])
        if frame["frame_type"] == "datagram"
    ]
    assert len(frames) == 150
    assert {frame["raw"]["payload_length"] for frame in frames} == {1_000}


@pytest.mark.parametrize("name", ["tcp", "noq"])
def test_a_transport_without_datagrams_is_refused(name: str, tmp_path: Path) -> None:
    transport = '"tcp"' if name == "tcp" else '{ kind = "quic", stack = "noq" }'
    with pytest.raises(ScenarioError, match=f"carried = .*`{name}`.* does not send messages in datagrams"):
        leobench.run(scenario(tmp_path, transport))
