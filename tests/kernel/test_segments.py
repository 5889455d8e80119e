"""The comparison with Linux: what it reads from a packet log, and what it reports where it cannot run."""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tools.kernel import compare, namespaces
from tools.kernel.figures import Figures
from tools.kernel.link import MILLISECOND, Packet
from tools.kernel.segments import (
    ACK,
    SYN,
    acknowledged,
    by_timers,
    delivered_in_order,
    parse,
    retransmissions,
    segments,
    since,
)
from tools.kernel.setups import SETUPS

if TYPE_CHECKING:
    import pytest

START = 0xFFFF_FF00  # sequence numbers wrap within the transfer


def packet(at_ms: int, seq: int, payload: int, *, flags: int = ACK, delivered: bool = True) -> Packet:
    """A packet of data whose header carries a timestamp and a SACK block."""
    options = b"\x01\x01\x08\x0a" + bytes(8) + b"\x01\x01\x05\x0a" + struct.pack("!II", 10, 20)
    offset = (20 + len(options)) // 4 << 4
    tcp = struct.pack("!HHIIBBHHH", 1, 2, seq % (1 << 32), 7, offset, flags, 0, 0, 0) + options
    ip = struct.pack("!BBHHHBBH8x", 0x45, 0, 20 + len(tcp) + payload, 0, 0, 64, 6, 0)
    data = ip + tcp + bytes(payload)
    at = at_ms * MILLISECOND
    return Packet(at, data, len(data), at + 5 * MILLISECOND if delivered else None)


def test_a_segment_is_read_from_its_bytes() -> None:
    segment = parse(packet(3, 1_000, 100))
    assert segment is not None
    assert (segment.seq, segment.ack, segment.payload, segment.flags) == (1_000, 7, 100, ACK)
    assert segment.blocks == ((10, 20),)
    assert parse(Packet(0, b"\x60" + bytes(60), 61)) is None, "IPv6"


def test_data_is_counted_from_the_first_byte_and_once() -> None:
    log = [
        packet(0, START, 0, flags=SYN),
        packet(1, START + 1, 200),
        packet(2, START + 201, 200, delivered=False),
        packet(3, START + 401, 200),
        packet(4, START + 201, 200),
        packet(5, START + 601, 200, delivered=False),
        packet(6, START + 801, 200),
    ]
    sent = segments(log)
    assert [segment.seq for segment in sent[1:]] == [0, 200, 400, 200, 600, 800]
    assert [segment.at for segment in retransmissions(sent)] == [4 * MILLISECOND]
    assert delivered_in_order(sent) == 600


def test_acknowledgements_count_when_the_sender_has_them() -> None:
    acks = segments([packet(at, 1, 0) for at in (1, 2)])
    assert acknowledged(acks) == [(6 * MILLISECOND, 6)], "7 less the SYN's one, told once"
    assert since([(0, 100), (10, 300), (20, 1_300)], 10, 1_000) == 1e-8
    assert since([(0, 100), (10, 300)], 10, 1_000) is None


def test_what_follows_an_acknowledgement_was_not_sent_by_a_timer() -> None:
    sent = [at * MILLISECOND for at in (90, 120, 124, 300, 700, 1_100)]
    acked = [at * MILLISECOND for at in (60, 120, 1_090)]
    assert by_timers(sent, acked, (100 * MILLISECOND, 1_000 * MILLISECOND)) == [
        300 * MILLISECOND,
        700 * MILLISECOND,
    ]


def test_the_table_has_means_deviations_and_ratios() -> None:
    found = compare.Comparison(SETUPS[0])
    found.linux = [Figures({"recoveries": 3, "undos": 0}), Figures({"recoveries": 5, "undos": 0})]
    found.leobench = [Figures({"recoveries": 8, "undos": 0}), Figures({"recoveries": 8, "undos": 0})]
    rows = found.rows()
    assert rows == [("loss reno", "recoveries", "4 ± 1.4", "8", "2.00")]
    assert (
        compare.table(rows, markdown=True).splitlines()[2]
        == "| loss reno | recoveries | 4 ± 1.4 | 8 | 2.00 |"
    )


def test_it_says_why_it_cannot_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1_000)
    assert compare.main([]) == 2
    assert capsys.readouterr().err == "skipped: needs root, to make network namespaces\n"
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(namespaces, "DEVICE", Path("/dev/net/no-such-device"))
    assert compare.main([]) == 2
    assert "needs /dev/net/no-such-device" in capsys.readouterr().err
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "needs Linux" in (namespaces.obstacle() or "")
