"""Captures as recordings: their counts are those of the sender, of tshark, and of packets written by hand."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest

import leobench
from leobench import InputError
from leobench.fitting.replay import capture, posterior, recordings, results, segments
from tests.captures.test_captures import AGAIN
from tests.replay import frames, paths
from tests.replay.frames import ACK, FIRST, MS, PUSH

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.replay.frames import Captured

needs_tshark = pytest.mark.skipif(
    shutil.which("tshark") is None, reason="tshark is not installed (Debian, Ubuntu: apt install tshark)"
)

# A segment of 1000 bytes and headers of 40.
SIZE = 1040.0


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of CUBIC with drops of the queue and losses of the channel."""
    folder = tmp_path_factory.mktemp("known")
    return paths.record(folder, [(0, 12.0), (4, 6.0)], seconds=8.0, loss=0.001, pcap=True)


def at_sender(recording: Path) -> Path:
    return recording / "pcap" / "main-sender.pcapng"


def written(folder: Path, packets: Sequence[Captured]) -> Path:
    return frames.write(folder / "some.pcap", frames.pcap(packets, nano=True))


def assert_as_sampled(recording: Path) -> None:
    """The series that follow from the packets are those that the sender sampled."""
    found, own = recordings.read(at_sender(recording)), results.read(recording, None)
    at = np.arange(0.1, own.end_s - 0.1, 0.1)
    for name in ("sent", "in_flight", "lost", "passed"):
        ours, its = (np.interp(at, each.times, getattr(each, name), left=0.0) for each in (found, own))
        # A packet that leaves or arrives at the time of the sample, and another factor for the last ones.
        assert ours == pytest.approx(its, abs=2 * 1500), name
    assert found.own["rtt_p50_ms"] == pytest.approx(own.own["rtt_p50_ms"], rel=0.02)
    assert found.own["rtt_p95_ms"] == pytest.approx(own.own["rtt_p95_ms"], rel=0.02)
    assert found.own["goodput_mbps"] == pytest.approx(own.own["goodput_mbps"], rel=0.01)
    assert np.nanmin(found.rtt_s) == pytest.approx(np.nanmin(own.rtt_s), abs=1e-4)


def test_a_capture_shows_what_its_sender_sampled(recording: Path) -> None:
    assert_as_sampled(recording)


def without(folder: Path, option: str) -> Path:
    """A run of CUBIC with losses, and without an option of TCP."""
    flow = {**paths.BULK, "transport": {"kind": "tcp", "congestion": "cubic", option: False}}
    return paths.record(folder, [(0, 12.0)], seconds=6.0, flow=flow, pcap=True)


def test_timestamps_are_not_needed(tmp_path: Path) -> None:
    assert_as_sampled(without(tmp_path, "timestamps"))


def test_losses_without_selective_acknowledgements_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"losses without selective acknowledgements.*; allowed: .* with SACK"
    ):
        recordings.read(at_sender(without(tmp_path, "sack")))


def test_a_receiver_that_limits_the_sender_only_bounds_the_capacity(tmp_path: Path) -> None:
    flow = {**paths.BULK, "transport": {"kind": "tcp", "congestion": "cubic", "receive_buffer": "30 kB"}}
    out = paths.record(tmp_path, seconds=8.0, flow=flow, pcap=True)
    found = posterior.infer(recordings.read(at_sender(out)), None, None, 8, 1)
    assert found.paths.bound[:, 5:-5].mean() > 0.9
    assert np.quantile(found.paths.capacity[:, 5:-5], 0.05) > 5.0


def test_its_path_is_that_of_the_result_folder(recording: Path) -> None:
    both = [
        posterior.infer(each, None, None, 16, 1)
        for each in (recordings.read(at_sender(recording)), results.read(recording, None))
    ]
    for early, late, mbps in ((15, 35, 12.0), (50, 70, 6.0)):
        medians = [float(np.median(each.paths.capacity[:, early:late])) for each in both]
        assert medians[0] == pytest.approx(medians[1], rel=0.01)
        assert medians[0] == pytest.approx(mbps, rel=0.02)
    delays = [float(np.median(each.paths.base_ms)) for each in both]
    assert delays[0] == pytest.approx(delays[1], abs=0.5)
    assert both[0].queue_limit == pytest.approx(both[1].queue_limit, rel=0.05)
    assert both[0].paths.bound.mean() == pytest.approx(both[1].paths.bound.mean(), abs=0.02)


@needs_tshark
def test_tshark_counts_the_same(recording: Path) -> None:
    def fields(wanted: str, *names: str) -> list[list[str]]:
        command = ["tshark", "-n", "-r", str(at_sender(recording)), "-Y", wanted, "-T", "fields"]
        command += [word for name in names for word in ("-e", name)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return [line.split("\t") for line in said.splitlines()]

    sent = fields("tcp.dstport == 4433 && tcp.len > 0", "frame.len", "tcp.len", *AGAIN)
    again = [row for row in sent if any(row[2:])]
    found = recordings.read(at_sender(recording))
    assert found.sent[-1] == pytest.approx(sum(int(row[0]) for row in sent), abs=1)
    payload = sum(int(row[1]) for row in again)
    assert found.own["lost_share"] == pytest.approx(payload / sum(int(row[1]) for row in sent))
    assert len(again) == leobench.open(recording).summary["flows"][0]["retransmitted_packets"] > 50
    # tshark times acknowledgements of the newest byte too, with those of bytes that were sent twice.
    rtt = [
        float(row[0]) for row in fields("tcp.analysis.ack_rtt && tcp.srcport == 4433", "tcp.analysis.ack_rtt")
    ]
    assert found.own["rtt_p50_ms"] == pytest.approx(1e3 * np.median(rtt), rel=0.02)
    assert np.nanmin(found.rtt_s) == pytest.approx(min(rtt), abs=1e-6)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("six", [False, True])
@pytest.mark.parametrize("link", frames.LINKS)
def test_every_kind_of_pcap_is_read(tmp_path: Path, link: str, order: str, six: bool) -> None:
    content = frames.pcap(frames.transfer(six=six), link, order, six=six)
    assert_transfer(frames.write(tmp_path / "some.cap", content), SIZE + 20 * six)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("name", ["some.pcapng", "some.pcapng.gz", "some"])
def test_pcapng_is_read(tmp_path: Path, name: str, order: str) -> None:
    assert_transfer(frames.write(tmp_path / name, frames.pcapng(frames.transfer(), order)), SIZE)


def assert_transfer(file: Path, size: float) -> None:
    """A hundred segments of 1000 bytes, four in flight, over 40 ms."""
    found = recordings.read(file)
    assert found.start_s == pytest.approx(1_700_000_000, abs=1e-5)
    assert found.sent[-1] == found.passed[-1] == pytest.approx(100 * size)
    assert np.nanmax(found.rtt_s) == pytest.approx(0.04, abs=2e-6) == np.nanmin(found.rtt_s)
    middle = found.in_flight[(found.times > 0.2) & (found.times < 0.9)]
    assert np.median(middle) == pytest.approx(4 * size, abs=1.1 * size)
    assert found.lost[-1] == 0.0


def test_a_loss_is_known_from_selective_acknowledgements(tmp_path: Path) -> None:
    """Segments 0 to 9 every 10 ms; 2 is lost, and sent again at 300 ms; 9 is needlessly sent again."""
    packets = frames.handshake()
    for number in range(10):
        seq, at = FIRST + 1000 * number, (40 + 10 * number) * MS
        packets.append((at, frames.tcp(seq, 100, PUSH, size=1000)))
        if number < 2:
            packets.append((at + 40 * MS, frames.tcp(100, seq + 1000, ACK, back=True)))
        elif number > 2:
            blocks = frames.sack(FIRST + 3000, seq + 1000)
            packets.append((at + 40 * MS, frames.tcp(100, FIRST + 2000, ACK, back=True, options=blocks)))
    packets.append((300 * MS, frames.tcp(FIRST + 2000, 100, PUSH, size=1000)))
    packets.append((340 * MS, frames.tcp(100, FIRST + 10_000, ACK, back=True)))
    packets.append((345 * MS, frames.tcp(FIRST + 9000, 100, PUSH, size=1000)))
    twice = frames.sack(FIRST + 9000, FIRST + 10_000)
    packets.append((385 * MS, frames.tcp(100, FIRST + 10_000, ACK, back=True, options=twice)))
    found = recordings.read(written(tmp_path, frames.ordered(packets)))
    # Three segments above it, 3 to 5, had arrived at 130 ms.
    assert found.lost[found.times < 0.129].max() == 0.0
    assert found.lost[(found.times > 0.131) & (found.times < 0.3)] == pytest.approx(SIZE)
    assert found.lost[-1] == pytest.approx(SIZE)
    assert found.sent[-1] == pytest.approx(12 * SIZE)
    assert found.passed[-1] == pytest.approx(11 * SIZE)
    # The acknowledgement at 340 ms is of what was sent again.
    assert np.nanmax(found.rtt_s) == pytest.approx(0.04, abs=1e-6)
    assert found.own["lost_share"] == pytest.approx(1 / 12)


def test_segments_that_the_device_cuts_count_with_all_headers(tmp_path: Path) -> None:
    packets = frames.handshake()
    packets.append((40 * MS, frames.tcp(FIRST, 100, PUSH, size=10_000)))
    packets.append((80 * MS, frames.tcp(100, FIRST + 10_000, ACK, back=True)))
    assert recordings.read(written(tmp_path, packets)).sent[-1] == pytest.approx(10 * SIZE)


def test_segments_in_disorder_are_not_sent_again(tmp_path: Path) -> None:
    """Segments leave in pairs, and the capture has the second of each pair first."""
    packets = frames.handshake()
    for at in range(40, 1040, 20):
        seq = FIRST + 100 * (at - 40)
        packets += [(at * MS, frames.tcp(seq + off, 100, PUSH, size=1000)) for off in (1000, 0)]
        packets.append(((at + 40) * MS, frames.tcp(100, seq + 2000, ACK, back=True)))
    found = recordings.read(written(tmp_path, frames.ordered(packets)))
    assert found.sent[-1] == found.passed[-1] == pytest.approx(100 * SIZE)
    assert found.lost[-1] == 0.0
    assert np.nanmax(found.rtt_s) == pytest.approx(0.04, abs=1e-6)


def test_packets_that_two_interfaces_capture_count_once(tmp_path: Path) -> None:
    twice = [(ns + later, packet) for ns, packet in frames.transfer() for later in (0, 20_000)]
    assert_transfer(written(tmp_path, frames.ordered(twice)), SIZE)


def test_a_capture_may_begin_in_the_middle(tmp_path: Path) -> None:
    """Four segments are in flight when it begins; their acknowledgements show no round trip."""
    late = [each for each in frames.transfer() if each[0] >= 500 * MS]
    whole = recordings.read(written(tmp_path, frames.transfer()))
    found = recordings.read(written(tmp_path, late))
    assert found.end_s == pytest.approx(whole.end_s - 0.5, abs=0.021)
    assert found.in_flight[1:50] == pytest.approx(np.median(whole.in_flight[20:90]), abs=1.1 * SIZE)
    assert np.nanmax(found.rtt_s) == pytest.approx(0.04, abs=1e-6)


def test_the_largest_connection_is_taken(tmp_path: Path) -> None:
    small = frames.transfer(40, port=50_000)
    found = recordings.read(written(tmp_path, frames.ordered([*frames.transfer(), *small])))
    assert found.sent[-1] == pytest.approx(100 * SIZE)
    file = written(tmp_path, frames.ordered([*frames.transfer(), *frames.transfer(60, port=50_000)]))
    with pytest.raises(
        InputError, match=r"2 transfers of similar size: 10\.0\.0\.1:40000 - .*:50000"
    ) as refused:
        recordings.read(file)
    assert "\n" not in str(refused.value)
    assert len(segments.read(file)) == 2


def test_a_port_that_is_used_again_is_another_connection(tmp_path: Path) -> None:
    again = [(ns + 3000 * MS, packet) for ns, packet in frames.transfer(20)]
    file = written(tmp_path, [*frames.transfer(), *again])
    assert [max(each.payload) for each in segments.read(file)] == [100_000, 20_000]


def unseen(packets: Sequence[Captured]) -> list[Captured]:
    """Without every fifth of the segments that carry data."""
    data = [each for each in packets if each[1][33] == PUSH]
    return [each for each in packets if each not in data[::5]]


WHOLE = frames.transfer()
BAD: dict[str, tuple[bytes, str]] = {
    "other": (b"x" * 99, "is no capture; allowed: pcap or pcapng"),
    "empty": (b"", "is no capture"),
    "truncated": (frames.pcap(WHOLE)[:-7], "ends within a packet: it is truncated"),
    "truncated pcapng": (frames.pcapng(WHOLE)[:-7], "ends within a packet: it is truncated"),
    "no packets": (frames.pcap([]), "has no packet of TCP; allowed: "),
    "udp": (
        frames.pcap([(0, frames.ip(b"\x01\xbb\x01\xbb\x05\x00\x00\x00", 17, 1200))]),
        "has no packet of TCP, and 1 of UDP; .* for QUIC, the sender's qlog",
    ),
    "no data": (frames.pcap(frames.handshake()), "has no TCP connection that carries data"),
    "cut in TCP": (frames.pcap(frames.cut(WHOLE, 36)), "cut to 36 bytes, within their headers"),
    "cut in IP": (frames.pcap(frames.cut(WHOLE, 16)), "cut to 16 bytes, within their headers"),
    "cut in Ethernet": (frames.pcap(frames.cut(WHOLE, 0), "ethernet"), "cut to 14 bytes, within"),
    "wireless": (frames.pcap(WHOLE).replace(b"\x65\x00\x00\x00", b"\x69\x00\x00\x00", 1), "link type 105"),
    "one direction": (
        frames.pcap([each for each in WHOLE if each[1][15] == 1]),
        "has no acknowledgements; allowed: captures of both",
    ),
    "receiver": (frames.pcap(frames.transfer(rtt_ns=MS // 10)), "was captured at the receiver"),
    "missed": (frames.pcap(unseen(WHOLE)), "bytes were acknowledged that the capture does not have"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_capture_of_a_sender_is_refused(tmp_path: Path, case: str) -> None:
    content, message = BAD[case]
    file = frames.write(tmp_path / "some.pcap", content)
    with pytest.raises(InputError, match=message) as refused:
        recordings.read(file)
    assert str(refused.value).startswith(str(file))
    assert "\n" not in str(refused.value)


def test_the_receiver_is_known_by_the_handshake(recording: Path) -> None:
    with pytest.raises(
        InputError, match=r"was captured at the receiver: .*; allowed: a capture at the sender"
    ):
        capture.read(recording / "pcap" / "main-receiver.pcapng")


def test_a_damaged_gzip_is_refused(tmp_path: Path) -> None:
    file = frames.write(tmp_path / "some.pcap.gz", frames.pcap(WHOLE))
    file.write_bytes(file.read_bytes()[:-200])
    with pytest.raises(InputError, match="is damaged; allowed: complete gzip files"):
        recordings.read(file)
