"""Measurements of other tools as channels. The rows follow by hand from docs/reference/recording.md."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

import leobench as library
from tests.recording.measurements import intervals, iperf3, irtt, ping
from tests.support.paths import ROOT
from tests.support.programs import leobench
from tests.support.quick import QUICK

if TYPE_CHECKING:
    from pathlib import Path

HEADER = "time,rate,delay,loss,up"
SEATTLE = ROOT.parent / "shared" / "data" / "starlink-seattle-2023" / "ping.csv.gz"


def record(*args: object, cwd: Path) -> list[str]:
    """The table that comes of a measurement."""
    ended = leobench("record", *args, "--out", "out.csv", "--force", cwd=cwd)
    assert ended.returncode == 0, ended.stderr
    return (cwd / "out.csv").read_text(encoding="utf-8").splitlines()


def test_the_delay_is_half_the_median_round_trip_of_a_row(tmp_path: Path) -> None:
    answers = [
        (1, 0.0, 40.0),
        (2, 0.03, 44.0),
        (3, 0.06, 90.0),
        (4, 0.1, 50.0),
        (5, 0.3, 50.0),
        (6, 0.4, 60.0),
    ]
    (tmp_path / "ping.txt").write_text(ping(*answers), encoding="utf-8")
    assert record("ping.txt", "--rate", "20", cwd=tmp_path) == [
        HEADER,
        "0 s,20000000 bps,22.000 ms,0,true",
        "0.1 s,20000000 bps,25.000 ms,0,true",
        "0.4 s,20000000 bps,30.000 ms,0,true",
    ]


def test_one_lost_probe_is_loss_and_three_are_an_interruption(tmp_path: Path) -> None:
    """Probes every 100 ms; number 2 is missing, and 5 to 7 are."""
    answers = [(number, 0.1 * number, 40.0) for number in (1, 3, 4, 8, 9)]
    (tmp_path / "ping.txt").write_text(ping(*answers), encoding="utf-8")
    up, down = "20000000 bps,20.000 ms,0,true", "20000000 bps,20.000 ms,0,false"
    assert record("ping.txt", "--rate", "20", cwd=tmp_path) == [
        HEADER,
        f"0 s,{up}",
        "0.1 s,20000000 bps,20.000 ms,0.99,true",
        f"0.2 s,{up}",
        f"0.4 s,{down}",
        f"0.7 s,{up}",
    ]


def test_sequence_numbers_overflow_and_answers_overtake(tmp_path: Path) -> None:
    answers = [(65_535, 0.0, 250.0), (65_534, -0.1, 400.0), (0, 0.1, 30.0), (1, 0.2, 30.0)]
    (tmp_path / "ping.txt").write_text(ping(*answers), encoding="utf-8")
    rows = record("ping.txt", "--rate", "20", cwd=tmp_path)
    assert [row.split(",")[2] for row in rows[1:]] == ["200.000 ms", "125.000 ms", "15.000 ms"]


def test_iperf3_gives_rates_and_a_trace(tmp_path: Path) -> None:
    """12 and 24 Mbit/s for 100 ms each: an opportunity of 1,500 bytes every millisecond, and then two."""
    (tmp_path / "iperf3.json").write_text(iperf3(12e6, 24e6), encoding="utf-8")
    rows = record("iperf3.json", "--mahimahi", "out.mahimahi", cwd=tmp_path)
    assert rows == [HEADER, "0 s,12000000 bps,0.000 ms,0,true", "0.1 s,24000000 bps,0.000 ms,0,true"]
    trace = [int(line) for line in (tmp_path / "out.mahimahi").read_text(encoding="ascii").split()]
    assert trace[:100] == list(range(1, 101))
    assert len(trace) == 300
    assert trace == sorted(trace)
    assert trace[-1] == 200


@pytest.mark.parametrize("since", [1_000, 1_700_000_000])
@pytest.mark.parametrize(
    ("told", "bin_ms", "length", "mean", "expected"),
    [
        ([(0, 1, 1e6), (1, 1, 2e6)], 100, 2, 1.5, [("0 s", 1_000_000), ("1 s", 2_000_000)]),
        ([(0, 1, 1e6), (1, 1, 2e6)], 1000, 2, 1.5, [("0 s", 1_000_000), ("1 s", 2_000_000)]),
        ([(n, 1, 9e6 if n % 2 else 1e6) for n in range(10)], 2000, 10, 5, [("0 s", 5_000_000)]),
        # The last row has half its length; its rate counts for that half.
        ([(0, 1, 1e6), (1, 1, 2e6), (2, 1, 6e6)], 2000, 3, 3, [("0 s", 1_500_000), ("2 s", 6_000_000)]),
        # A quarter of the second row is of the first interval.
        ([(0, 1.25, 4e6), (1.25, 1.75, 8e6)], 1000, 3, 19 / 3,
         [("0 s", 4_000_000), ("1 s", 7_000_000), ("2 s", 8_000_000)]),
    ],
)  # fmt: skip
def test_a_row_holds_the_mean_of_its_intervals(
    since: int,
    told: list[tuple[float, float, float]],
    bin_ms: int,
    length: float,
    mean: float,
    expected: list[tuple[str, int]],
    tmp_path: Path,
) -> None:
    """By the clock since 1970, changes came a row too late: a double has no nanoseconds there."""
    (tmp_path / "iperf3.json").write_text(intervals(*told, since=since), encoding="utf-8")
    ended = leobench("record", "iperf3.json", "--out", "out.csv", "--bin", bin_ms, cwd=tmp_path)
    assert f" over {length} s, " in ended.stdout
    assert float(ended.stdout.split('mean_rate = "')[1].split()[0]) == pytest.approx(mean, abs=1e-6)
    rows = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert rows == [f"{at},{bps} bps,0.000 ms,0,true" for at, bps in expected]


def test_the_last_interval_holds_not_the_mean_of_its_row(tmp_path: Path) -> None:
    (tmp_path / "iperf3.json").write_text(intervals((0, 0.05, 1e6), (0.05, 0.05, 3e6)), encoding="utf-8")
    (tmp_path / "ping.txt").write_text(ping((1, 0.0, 40.0), (2, 0.3, 40.0)), encoding="utf-8")
    rows = record("iperf3.json", "ping.txt", cwd=tmp_path)
    assert [row.split(",")[1] for row in rows[1:]] == ["2000000 bps", "3000000 bps"]


def test_irtt_and_a_dish(tmp_path: Path) -> None:
    text = irtt(("false", 50_000_000), ("true", None), ("false", 60_000_000))
    (tmp_path / "irtt.json").write_text(text, encoding="utf-8")
    assert record("irtt.json", "--rate", "20", cwd=tmp_path) == [
        HEADER,
        "0 s,20000000 bps,25.000 ms,0,true",
        "0.1 s,20000000 bps,25.000 ms,0.99,true",
        "0.2 s,20000000 bps,30.000 ms,0,true",
    ]
    (tmp_path / "dish.csv").write_text(
        "timestamp,pop_ping_drop_rate,pop_ping_latency_ms,downlink_throughput_bps\n"
        "100,0,40,50e6\n101,0.25,44,60e6\n102,1,,0\n103,0,40,50e6\n",
        encoding="utf-8",
    )
    assert record("dish.csv", "--bin", "1000", cwd=tmp_path) == [
        HEADER,
        "0 s,50000000 bps,20.000 ms,0,true",
        "1 s,60000000 bps,22.000 ms,0.25,true",
        "2 s,,22.000 ms,0,false",
        "3 s,50000000 bps,20.000 ms,0,true",
    ]


def test_a_scenario_runs_over_the_table(tmp_path: Path) -> None:
    """The delay that a run measures is the one recorded, and nothing passes in the interruption."""
    answers = [(number, 0.1 * number, 40.0) for number in range(21) if number not in range(10, 15)]
    (tmp_path / "ping.txt").write_text(ping(*answers), encoding="utf-8")
    record("ping.txt", "--rate", "10", cwd=tmp_path)
    channel = 'channel = { kind = "schedule", file = "out.csv" }'
    scenario = QUICK.replace('rate = "10 Mbps"\ndelay = "10 ms"', channel).replace(
        '"quic", congestion = "cubic"', '"udp"'
    )
    (tmp_path / "over.toml").write_text(scenario, encoding="utf-8")
    result = library.run(tmp_path / "over.toml")
    messages = result.tables.messages.drop_nulls("delivered_ns")
    delays = ((messages["delivered_ns"] - messages["created_ns"]) / 1e6).to_list()
    assert 20 < min(delays) < 22
    delivered = (messages["delivered_ns"] / 1e9).to_list()
    assert not [at for at in delivered if 1.03 < at < 1.5]


def test_a_measured_hour_becomes_a_channel(tmp_path: Path) -> None:
    """Real pings from Seattle: the median of the table's delays is half that of the round trips."""
    if not SEATTLE.exists():
        pytest.skip("the measured pings are not there")
    lines = gzip.decompress(SEATTLE.read_bytes()).decode().splitlines()[1:10_001]
    measured = [line.split(",") for line in lines]
    answers = [
        (int(number), float(at) - 1_000 - float(rtt) / 1e3, float(rtt))
        for at, number, rtt in measured
        if float(rtt) > 0  # the file has -1 for those without an answer
    ]
    (tmp_path / "ping.txt").write_text(ping(*answers), encoding="utf-8")
    rows = record("ping.txt", "--rate", "20", "--bin", "250", cwd=tmp_path)
    delays = sorted(float(row.split(",")[2].split()[0]) for row in rows[1:])
    rtts = sorted(rtt for *_, rtt in answers)
    assert delays[len(delays) // 2] == pytest.approx(rtts[len(rtts) // 2] / 2, rel=0.05)


@pytest.mark.parametrize(
    ("text", "args", "message"),
    [
        (
            "64 bytes from x: icmp_seq=1 ttl=60 time=4 ms",
            "",
            "file:1: the answer has no time; run `ping -D`",
        ),
        (
            "hello",
            "",
            "file: has an unknown format; name it with --kind; allowed: `dish`, `iperf3`, `irtt`, `ping`, "
            "`probes`; `probes` is a CSV with columns for a time (datetimestamp_utc, timestamp, unix_s, "
            "unix_time_s, time_s, time), a round trip (rtt_ms, rtt_s, rtt_us, rtt), and perhaps a number "
            "(sequence, seq, icmp_seq)",
        ),
        ("hello", "--kind ping", "file: contains no measurements in the format of ping"),
        ('{"intervals": 3}', "", "file:1: has no array `intervals`"),
        ('{"error": "no route", "intervals": []}', "", "file: iperf3 failed: no route"),
        (
            ping((1, 0.0, 40.0)),
            "",
            "no rate was measured; give one with --rate, or a file of iperf3 or a dish",
        ),
        (
            ping((1, 0.0, 40.0)),
            "--rate -1",
            "--rate: -1 is out of range; allowed: above 0, below 1,000,000 Mbit/s",
        ),
        (
            "timestamp,pop_ping_latency_ms\n1,soon",
            "--rate 1",
            "file:2: pop_ping_latency_ms is 'soon'; allowed: a finite number",
        ),
    ],
)
def test_bad_input(text: str, args: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(text, encoding="utf-8")
    ended = leobench("record", "file", "--out", "out.csv", *args.split(), cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (2, f"leobench: {message}\n")
    assert not (tmp_path / "out.csv").exists()


def test_nothing_is_replaced_unasked(tmp_path: Path) -> None:
    (tmp_path / "ping.txt").write_text(ping((1, 0.0, 40.0)), encoding="utf-8")
    record("ping.txt", "--rate", "1", cwd=tmp_path)
    ended = leobench("record", "ping.txt", "--rate", "1", "--out", "out.csv", cwd=tmp_path)
    said = "leobench: out.csv: exists already; choose another file, or replace it with --force\n"
    assert (ended.returncode, ended.stderr) == (2, said)


@pytest.mark.parametrize("option", ["--out", "--mahimahi"])
@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("none/out", "there is no folder `none`"),
        ("ping.txt/out", "`ping.txt` is a file, not a folder"),
        ("folder", "Is a directory"),
        (300 * "a", "File name too long"),
    ],
)
def test_a_place_that_cannot_be_written_to(option: str, place: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "ping.txt").write_text(ping((1, 0.0, 40.0)), encoding="utf-8")
    (tmp_path / "folder").mkdir()
    places = {"--out": "out.csv", "--mahimahi": "out.trace"} | {option: place}
    ended = leobench(
        "record", "ping.txt", "--rate", "1", "--force", *(word for each in places.items() for word in each),
        cwd=tmp_path,
    )  # fmt: skip
    said = f"leobench: {place}: cannot be written to: {reason}\n"
    assert (ended.returncode, ended.stderr) == (2, said)
