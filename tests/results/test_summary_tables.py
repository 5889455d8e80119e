from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leobench.campaign import Status
from leobench.cli import progress, summary_tables
from leobench.manifest import doubts
from tests.support import made_up

if TYPE_CHECKING:
    from collections.abc import Mapping


def test_the_summary_is_a_table_a_person_can_read() -> None:
    flows = [
        made_up.flow("main"),
        made_up.flow(
            "bg", transport="udp", congestion=None, goodput_bps=None, rtt_ms={"mean": None}, lost_packets=0
        ),
    ]
    competition = {
        "from_s": 5.0,
        "to_s": 60.0,
        "friendliness_ratio": 0.75,
        "convergence_s": 12.5,
        "flows": [],
    }
    summary = made_up.result(flows=flows, fairness_jain=0.98765, competition=competition).summary
    expected = """\
                  offered  goodput                not    delay                           RTT     packets
flow  transport    Mbit/s   Mbit/s  messages  arrived  mean ms    p50    p95    p99  mean ms        lost
----  ----------  -------  -------  --------  -------  -------  -----  -----  -----  -------  ----------
main  quic cubic    40.00    37.90     3,000        0    212.4  150.0  612.0  803.0    230.0  23 (0.01%)
bg    udp           40.00        -     3,000        0    212.4  150.0  612.0  803.0        -           -

                 mean rate           packets   dropped       on  while  over   queued
link                Mbit/s   used  delivered  by queue  channel   down   MTU  mean ms    p95
---------------  ---------  -----  ---------  --------  -------  -----  ----  -------  -----
lms/ground->sat      41.30   2.0%    230,000         0        0      0     0    180.2  590.0
lms/sat->ground      41.30  93.0%    230,000         0        0      0     0    180.2  590.0

All flows together from 5 s to 60 s: Jain's fairness of their goodputs 0.988, friendliness ratio 0.750, \
fair shares after 12.5 s"""
    assert summary_tables.render(summary) == expected


def test_satellites_with_queues_have_rows_the_busiest_of_many() -> None:
    def satellite(name: str, sent: int, **more: object) -> dict[str, object]:
        return {
            "name": name,
            "served_s": 40.357,
            "utilisation": 0.75,
            "sent_packets": sent,
            "withdrawn_packets": 12,
            "dropped_packets": {"queue": 3, "codel": 1},
            "queue_delay_ms": {"mean": 1.25, "max": 40.0},
        } | more

    idle = {"utilisation": None, "queue_delay_ms": {"mean": None, "max": None}}
    two = [satellite("chain-0/there", 1_250), satellite("chain-0/back", 0, **idle)]
    expected = """\
               served         packets              dropped  dropped   queued
satellite           s   used     sent  withdrawn  by queue    codel  mean ms   max
-------------  ------  -----  -------  ---------  --------  -------  -------  ----
chain-0/there    40.4  75.0%    1,250         12         3        1      1.2  40.0
chain-0/back     40.4      -        0         12         3        1        -     -"""
    assert summary_tables.render(made_up.result(satellites=two).summary).split("\n\n")[2] == expected
    many = [satellite(f"chain-{number}/there", number) for number in range(13)]
    text = summary_tables.render(made_up.result(satellites=many).summary)
    assert "chain-3/there" in text
    assert "chain-2/there" not in text
    assert "... and 3 more; all in summary.json" in text


def test_bytes_that_several_paths_carry_twice_are_shown_where_there_are_any() -> None:
    waited = {"mean": 24.5, "p50": 0.0, "p95": 49.0, "p99": 49.0, "max": 50.0}
    none = {"reinjected_bytes": 0, "duplicate_bytes": 0, "reordering_delay_ms": waited}
    flows = [
        made_up.flow("main", **none | {"reinjected_bytes": 1_250_000, "duplicate_bytes": 1_200_000}),
        made_up.flow("other", **none),
        made_up.flow("single"),
    ]
    expected = """\
                       bytes   received  reordering
several paths of  reinjected      twice     mean ms   p95   max
----------------  ----------  ---------  ----------  ----  ----
main               1,250,000  1,200,000        24.5  49.0  50.0"""
    assert summary_tables.render(made_up.result(flows=flows).summary).split("\n\n")[1] == expected
    text = summary_tables.render(made_up.result(flows=flows[1:]).summary)
    assert "several paths of" not in text


def test_streams_are_listed_where_there_are_several() -> None:
    streams = [
        {"name": name, "goodput_bps": bps, "delay_ms": {"mean": 1.0, "p50": None, "p95": None, "p99": None}}
        for name, bps in (("fast", 2e6), ("slow", 1e6))
    ]
    text = summary_tables.render(made_up.result(flows=[made_up.flow("main", streams=streams)]).summary)
    assert "fast" in text
    assert "1.00" in text
    assert "fast" not in summary_tables.render(made_up.result().summary)
    many = [streams[0] | {"name": f"s{number}"} for number in range(1, 1_001)]
    text = summary_tables.render(made_up.result(flows=[made_up.flow("main", streams=many)]).summary)
    assert "s10 " in text
    assert "s11 " not in text
    assert "... and 990 more streams; all in summary.json" in text


def test_the_progress_bar_says_how_far_and_how_long() -> None:
    assert progress.render(15.0, 60.0, 12_345, 0.5) == (
        "[###         ]  25%  15.0 of 60 s  1.5 s left  30 virtual s/s  24,690 packets/s"
    )
    over = progress.render(70.0, 60.0, 21, 7.0)
    assert over == f"[{'#' * 17}] 100%  70.0 of 60 s  10 virtual s/s  3 packets/s  21 packets"
    start = progress.render(0.0, 60.0, 0, 0.0)
    assert "left" not in start
    assert "/s  0 packets" in start, "no packet was sent, so no rate is told"
    assert "2 h 0 min left" in progress.render(60.0, 3_660.0, 123_456_789, 120.0)


@pytest.mark.parametrize("width", [5, 12, 20, 39, 60, 79, 200])
def test_the_progress_bar_fits(width: int) -> None:
    """Whatever the numbers; the bar, then how far and the time left are kept the longest."""
    for now, end, packets, elapsed in (
        (15.0, 60.0, 1, 0.5),
        (3e5, 1e6, 10**12, 9e4),
        (1e-3, 3600.0, 7, 900.0),
    ):
        line = progress.render(now, end, packets, elapsed, width)
        assert len(line) <= width
        assert "%" in line
        assert ("left" in line) or width < 60
    line = progress.render_campaign(Status(123_456, 7, 1_000_000, 0), 86_400.0, width)
    assert len(line) <= width


CBR: dict[str, object] = {"kind": "cbr", "rate": "1 Mbps", "size": "1 kB"}
FILE: dict[str, object] = {"kind": "bulk", "size": "1 GB"}


def _warned(spec: Mapping[str, object], missing: int, *, until: str = "time", **changes: object) -> bool:
    """Whether a flow of 3,000 messages is warned of that misses some of them at the end."""
    flow = made_up.flow("main", undelivered_messages=missing, **changes)
    scenario = {"until": until, "flows": {"main": spec}}
    return bool(doubts(scenario, {"flows": [flow]}, {"main"}, {}))


def test_a_source_without_an_end_is_not_warned_of_for_having_none() -> None:
    for endless in ("bulk", {"kind": "bulk"}, {"kind": "bulk", "size": None}):
        assert not _warned({"source": endless}, 1, messages=1)
    assert _warned({"source": FILE}, 1, messages=1), "a file that was cut off"
    assert not _warned({"source": CBR}, 30), "one in a hundred is under way"
    assert _warned({"source": CBR}, 31), "the network did not keep up: the longest delays are missing"
    assert _warned({"source": CBR}, 1, until="drained"), "the run was to wait for it"
    blocking: dict[str, object] = {"application": "blocking"}
    assert not _warned({"source": CBR} | blocking, 1, messages=5), "the call that blocks at the end"
    assert _warned({"source": FILE} | blocking, 1, messages=1)


def test_every_stream_with_a_source_of_its_own_is_judged_by_it() -> None:
    def stream(name: str, messages: int, missing: int) -> dict[str, object]:
        return {"name": name, "messages": messages, "undelivered_messages": missing}

    endless = {"streams": [{"source": CBR}, {"source": {"kind": "bulk"}}]}
    parts = [stream("s1", 3000, 3), stream("s2", 1, 1)]
    assert not _warned(endless, 4, messages=3001, streams=parts)
    cut = {"streams": [{"source": CBR}, {"source": FILE}]}
    assert _warned(cut, 4, messages=3001, streams=parts)


def test_delays_that_are_missing_are_warned_of() -> None:
    whole = made_up.flow("main")
    cut = made_up.flow("main", undelivered_messages=31)
    silent = made_up.flow("main", messages=0, goodput_bps=None)
    bulk = made_up.flow("main", messages=0)
    strange = made_up.flow("strange", undelivered_messages=3000, goodput_bps=0.0)
    udp = made_up.flow("bg", transport="udp", undelivered_messages=7)

    def warnings(flow: dict[str, object], until: str = "time", **scenario: str) -> str:
        specs = {"flows": {name: {"source": CBR} for name in ("main", "bg", "strange")}}
        found = doubts(specs | {"until": until} | scenario, {"flows": [flow]}, {"main"}, {})
        return "\n".join(doubt.text for doubt in found)

    assert warnings(whole) == ""
    assert warnings(udp) == "", "datagrams that are lost are no fault of the run"
    assert "31 of 3000 messages had not arrived at the end of the run" in warnings(cut)
    assert 'set `until = "drained"`' in warnings(cut)
    assert "when `drain_limit` passed" in warnings(cut, "drained")
    assert "created no message, so" in warnings(silent)
    assert "created no message, so" in warnings(silent, warm_up="0 ns"), "as a resolved scenario has none"
    assert "created no message after the warm-up" in warnings(silent, warm_up="10 s")
    assert warnings(bulk, warm_up="10 s") == "", "its file was created in the warm-up, and is being delivered"
    assert warnings(strange, "drained").startswith("flow strange: its handshake was never completed")
    assert "drain_limit" not in warnings(strange, "drained")


def test_equal_flows_share_a_doubt_of_each_kind() -> None:
    """Those with another specification, or without a number, are told apart."""
    specs: dict[str, dict[str, object]]
    specs = {f"film-{number}": {"source": FILE} for number in (1, 2, 3, 10)}
    specs |= {
        "film-4": {"source": FILE, "start": "1 s"},
        "film-x": {"source": FILE},
        "other": {"source": FILE},
    }
    missing = {
        name: made_up.flow(name, messages=5, undelivered_messages=2) for name in specs if name != "film-1"
    }
    silent = made_up.flow("film-1", messages=0, goodput_bps=None)
    flows = [silent, *missing.values()]
    notices = [("film-1", "silent", "its viewer begins late"), ("film-2", "unused", "a key has no effect")]
    found = doubts({"flows": specs}, {"flows": flows}, set(specs), {}, notices)
    said = [(doubt.kind, doubt.text.partition(":")[0]) for doubt in found]
    assert said == [
        ("silent", "flow film-1"),
        ("unused", "flow film-2"),
        ("undelivered", "3 of 4 flows film-N, such as film-2"),
        ("undelivered", "flow film-4"),
        ("undelivered", "flow film-x"),
        ("undelivered", "flow other"),
    ]
    assert found[0].text == "flow film-1: its viewer begins late"


def test_a_recovery_is_shown_by_cause() -> None:
    causes = ("no_way_ms", "detection_ms", "validation_ms", "retransmission_ms", "slow_start_ms")
    moved: dict[str, object] = {
        "count": 2,
        **{key: {"mean": at * 1.5, "max": 9.0} for at, key in enumerate(causes)},
        **{key: {"mean": 40.0, "max": 50.0} for key in ("outage_ms", "recovery_ms")},
        **{
            key: {"mean": 1_000.0, "max": 2_000.0}
            for key in ("lost_bytes", "retransmitted_bytes", "retransmitted_in_vain_bytes")
        },
    }
    moved["slow_start_ms"] = {"mean": None, "max": None}
    text = summary_tables.render(made_up.result(flows=[made_up.flow("main", handovers=moved)]).summary)
    lines = [line.split() for line in text.splitlines()]
    assert ["recovery", "of", "handovers", *["mean", "ms"] * 5] in lines
    assert ["main", "2", "0.0", "1.5", "3.0", "4.5", "-"] in lines
