"""Recordings become series of round trips or capacity, or are refused with one message."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from leobench import cli, recording
from leobench.errors import InputError
from leobench.fitting import quick, readers, series
from leobench.recording.source import Source

if TYPE_CHECKING:
    from pathlib import Path

START = 1_700_000_000.0


def write(folder: Path, text: str) -> Path:
    """A file of this text."""
    file = folder / "recording"
    file.write_text(text, encoding="utf-8")
    return file


def iperf3(protocol: str, *, reverse: int, sender: bool) -> str:
    """The JSON of three seconds at 10, 20 and 30 Mbit/s."""
    start = {"timestamp": {"timesecs": START}, "test_start": {"protocol": protocol, "reverse": reverse}}
    intervals: list[dict[str, Any]] = [
        {"sum": {"start": at, "end": at + 1, "seconds": 1, "bits_per_second": rate, "sender": sender}}
        for at, rate in enumerate((1e7, 2e7, 3e7))
    ]
    return json.dumps({"start": start, "intervals": intervals})


def test_a_lost_ping_is_nan_at_the_time_it_was_sent(tmp_path: Path) -> None:
    rows = [f"{START + 0.04},1,40", f"{START + 0.2},2,-1", f"{START + 0.44},3,40"]
    (found,) = readers.read(write(tmp_path, "\n".join(["unix_s,sequence,rtt_ms", *rows])))
    assert (found.quantity, found.unit, found.load) == ("rtt", "ms", "idle")
    np.testing.assert_allclose(found.times - START, [0, 0.2, 0.4], atol=1e-6)
    np.testing.assert_allclose(found.values, [40, np.nan, 40])


def test_rates_of_both_directions_with_speed(tmp_path: Path) -> None:
    rows = [f"{START},90,,0", f"{START + 1},80,9,50"]
    text = "\n".join(["unix_time_s,downlink_mbps,uplink_mbps,speed_kmh", *rows])
    down, up = readers.read(write(tmp_path, text))
    assert (down.quantity, up.quantity, up.load) == ("downlink", "uplink", "saturated")
    assert down.values.tolist() == [90, 80]
    assert up.values.tolist() == [9]
    assert up.speed_kmh is not None
    assert up.speed_kmh.tolist() == [50]


@pytest.mark.parametrize(("reverse", "quantity"), [(1, "downlink"), (0, "uplink")])
def test_the_receiver_of_iperf3_over_udp(tmp_path: Path, reverse: int, quantity: str) -> None:
    (found,) = readers.read(write(tmp_path, iperf3("UDP", reverse=reverse, sender=False)))
    assert found.quantity == quantity
    assert found.values.tolist() == [10, 20, 30]


def test_a_trace_of_mahimahi_by_100_ms(tmp_path: Path) -> None:
    millis = [*range(1, 101), *range(102, 201, 2)]
    file = write(tmp_path, "\n".join(map(str, millis)))
    (found,) = readers.read(file, "uplink", start_s=START)
    assert found.values.tolist() == pytest.approx([12.0, 6.0])
    assert found.times.tolist() == [START, START + 0.1]
    with pytest.raises(InputError, match="does not tell its direction"):
        readers.read(file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (iperf3("TCP", reverse=1, sender=False), "TCP: a lower bound of the capacity.*leobench replay"),
        (iperf3("UDP", reverse=0, sender=True), "rates of the sender"),
        ("start_s,end_s,bytes\n0,1,1000", "lower bound.*leobench replay"),
        (f"time,downlink_throughput_bps\n{START},5e6", "not of the capacity"),
        (f"time,downlink_mbps\n{START},5e4\n{START + 1},5e4", "is it in bit/s or kbit/s"),
        (f"time,downlink_mbps\n{START},0.2\n{START + 1},0", "is 0.2 Mbit/s.*is it in Gbit/s"),
        (f"time,rtt_ms\n{START},0.04\n{START + 1},0.04", "are they in seconds"),
        (f"time,rtt_ms\n{START},4e4\n{START + 1},4e4", "are they in microseconds"),
        (f"time,downlink_mbps\n{START},50\n{START - 30},50", "the clock goes back by 30 s"),
        (f"time,rtt_ms\n{START},-1", "has no value of rtt"),
        ("downlink_mbps\n5", "lacks a column"),
        ("3\n2\n1", "time goes back"),
    ],
)
def test_recordings_that_tell_no_capacity_or_delay(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        readers.read(write(tmp_path, text), None if "rtt_ms" in text else "downlink")


@pytest.mark.parametrize("form", ["csv", "ping"])
def test_round_trips_have_no_direction(tmp_path: Path, form: str) -> None:
    with pytest.raises(InputError, match=r"which take both directions; .* without `uplink=`"):
        readers.read(write(tmp_path, pings(form)), "uplink")


def test_milliseconds_in_a_column_of_seconds_are_named(tmp_path: Path) -> None:
    file = write(tmp_path, f"time,rtt_s\n{START},0.04\n{START + 1},121\n")
    with pytest.raises(InputError, match=r":3: .* 121 s; .*are they in ms\? Then name the column `rtt_ms`"):
        readers.read(file)


def test_names_with_a_direction() -> None:
    assert readers.named("uplink=a.csv") == ("uplink", "a.csv")
    assert readers.named("folder/a=b.csv") == (None, "folder/a=b.csv")
    with pytest.raises(InputError, match="`up` is no direction"):
        readers.named("up=a.csv")


def test_recordings_of_the_same_time_are_refused() -> None:
    one = series.make("a", START + np.arange(3.0), np.ones(3), "downlink", "saturated")
    two = series.make("b", START + 2 + np.arange(3.0), np.ones(3), "downlink", "saturated")
    with pytest.raises(InputError, match="b: begins before a ends"):
        series.joined([two, one])
    assert len(series.joined([two.between(START + 3, START + 9), one]).times) == 5


def test_slots_begin_at_seconds_12_27_42_57() -> None:
    minute = 60.0 * 28_000_000
    numbers = series.slots_of(minute + np.array([11.9, 12.0, 26.9, 27.0, 57.0]))
    assert (numbers - numbers[0]).tolist() == [0, 1, 1, 2, 4]


def pings(form: str) -> str:
    """Pings every 20 ms whose numbers exceed 16 bits, one in a hundred lost; some overtake the one before."""
    rng = np.random.default_rng(1)
    answers = []
    for number in range(65_400, 65_800):
        rtt = float(np.round(rng.uniform(20, 60), 1))
        if rng.random() > 0.01 or number == 65_400:
            answers.append((START + 0.02 * number + rtt / 1e3, number, rtt))
        elif form == "csv":
            answers.append((START + 0.02 * number, number, -1))
    if form == "csv":
        rows = [f"{came:.6f},{number},{rtt}" for came, number, rtt in answers]
        return "\n".join(["unix_s,sequence,rtt_ms", *rows]) + "\n"
    lines = [
        f"[{came:.6f}] 64 bytes from 192.0.2.1: icmp_seq={number % 65_536} ttl=52 time={rtt} ms"
        for came, number, rtt in sorted(answers)
    ]
    lines.insert(9, f"{lines[7]} (DUP!)")
    start = "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data."
    later = f"[{START + 9e3}] 64 bytes from 192.0.2.1: icmp_seq={{}} ttl=52 time=30 ms"
    return "\n".join([start, *lines, start, later.format(1), later.format(2)]) + "\n"


def jumping(form: str, ahead_s: float) -> str:
    """A minute of probes every 0.2 s; the clock is set after the first half."""
    at = START + 0.2 * np.arange(300.0) + np.where(np.arange(300) < 150, 0.0, ahead_s)
    if form == "csv":
        rows = [f"{came:.3f},{number},30" for number, came in enumerate(at.tolist())]
        return "\n".join(["unix_s,sequence,rtt_ms", *rows])
    if form == "ping":
        lines = [
            f"[{came:.3f}] 64 bytes from 192.0.2.1: icmp_seq={number} ttl=52 time=30 ms"
            for number, came in enumerate(at.tolist())
        ]
        return "\n".join(["PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.", *lines])
    trips = [
        {
            "seqno": number,
            "lost": "false",
            "delay": {"rtt": 30e6},
            "timestamps": {"client": {"send": {"wall": came * 1e9}}},
        }
        for number, came in enumerate(at.tolist())
    ]
    return json.dumps({"round_trips": trips})


@pytest.mark.parametrize("form", ["csv", "ping", "irtt"])
def test_a_clock_that_is_set_is_told_by_the_numbers(tmp_path: Path, form: str) -> None:
    (steady,) = readers.read(write(tmp_path, jumping(form, 0.0)))
    assert len(steady.times) == 300
    with pytest.raises(InputError, match=r"the clock jumps ahead by 7 s,.*between probes 149 and 150"):
        readers.read(write(tmp_path, jumping(form, 7.0)))
    with pytest.raises(InputError, match=r"the clock goes back by 6\.8 s.*between probes 149 and 150"):
        readers.read(write(tmp_path, jumping(form, -7.0)))


def together(form: str) -> str:
    """Four samples of each second that have its time."""
    at = np.floor(START + 0.25 * np.arange(400.0))
    if form == "rates":
        return "\n".join(["time_s,downlink_mbps", *(f"{time:.0f},{80 + time % 7}" for time in at.tolist())])
    rtt = 30 + np.arange(400.0) * 7 % 13 / 10
    if form == "csv":
        rows = [f"{time:.0f},{rtt_ms:.1f}" for time, rtt_ms in zip(at.tolist(), rtt.tolist(), strict=True)]
        return "\n".join(["unix_s,rtt_ms", *rows])
    digits = 6 if form == "ping" else 0
    lines = [
        f"[{time:.{digits}f}] 64 bytes from 192.0.2.1: icmp_seq={number} ttl=52 time={rtt_ms:.1f} ms"
        for number, (time, rtt_ms) in enumerate(zip(at.tolist(), rtt.tolist(), strict=True))
    ]
    return "\n".join(["PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.", *lines])


@pytest.mark.parametrize("form", ["rates", "csv", "ping", "ping of whole seconds"])
def test_times_that_samples_share_are_refused_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    file = write(tmp_path, together(form))
    told = []
    for words in (
        ["fit", str(file), "--out", str(tmp_path / "fit")],
        ["score", str(file), "--data", str(file)],
    ):
        assert cli.main(words) == 2
        told.append(capsys.readouterr().err)
    assert told[0] == told[1]
    expected = (
        f"{file}: 300 of 400 samples have the time of the one before, the first at 2023-11-14 22:13:20 UTC; "
        "allowed: times that ascend; were they rounded to 1 s, or are rows there twice?\n"
    )
    assert expected in told[0]


def test_a_row_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    rows = [f"{second}.5,{80 + second}" for second in (0, 1, 2, 2, 3)]
    with pytest.raises(
        InputError, match=r"1 of 5 samples have the time of the one before, the first at 2\.500 s"
    ):
        readers.read(write(tmp_path, "\n".join(["time_s,downlink_mbps", *rows])))


def test_answers_that_come_together_after_an_outage_are_read(tmp_path: Path) -> None:
    sent = START + 0.02 * np.arange(400.0)
    came = np.where((np.arange(400) > 200) & (np.arange(400) < 210), START + 4.25, sent + 0.03)
    rows = [
        f"{time:.6f},{number},{1e3 * (time - begun):.3f}"
        for number, (begun, time) in enumerate(zip(sent.tolist(), came.tolist(), strict=True))
    ]
    (found,) = readers.read(write(tmp_path, "\n".join(["unix_s,sequence,rtt_ms", *rows])))
    assert len(found.times) == 400


@pytest.mark.parametrize("column", ["downlink_mbps", "rtt_ms"])
def test_a_month_without_a_sample_is_a_jump_of_the_clock(tmp_path: Path, column: str) -> None:
    def text(days: float) -> str:
        at = START + np.arange(100.0) + np.where(np.arange(100) < 50, 0.0, days * 86_400)
        return "\n".join([f"time_s,{column}", *(f"{time:.3f},{80 + time % 7}" for time in at.tolist())])

    (found,) = readers.read(write(tmp_path, text(20)))
    assert len(found.times) == 100
    message = (
        r"jumps ahead by 300 days after 2023-11-14 22:14:0\d UTC; allowed: up to 30 days between two samples"
    )
    with pytest.raises(InputError, match=message):
        readers.read(write(tmp_path, text(300)))


def test_probes_that_are_missing_in_a_row_are_no_jump(tmp_path: Path) -> None:
    lines = jumping("ping", 0.0).splitlines()
    (found,) = readers.read(write(tmp_path, "\n".join(lines[:100] + lines[200:])))
    assert int((~found.present).sum()) == 100


@pytest.mark.parametrize("form", ["csv", "ping"])
def test_the_fast_readers_read_as_the_careful_ones(tmp_path: Path, form: str) -> None:
    file = write(tmp_path, pings(form))
    found = quick.probes(Source.read(file))
    assert found is not None
    probes = recording.read(file, None).probes
    np.testing.assert_allclose(found[0], [probe.at for probe in probes], rtol=0, atol=1e-6)
    careful = [np.nan if probe.rtt_s is None else probe.rtt_s * 1e3 for probe in probes]
    np.testing.assert_allclose(found[1], careful)
    assert np.isnan(found[1]).sum() > 0


@pytest.mark.parametrize(
    "row", ["x,4,30", f"{START},1,30", f"{START + 9},2,200000", f"{START + 9},2.5,30", f"{START + 9},2,nan"]
)
def test_the_fast_readers_leave_oddities_to_the_careful_ones(tmp_path: Path, row: str) -> None:
    rows = ["unix_s,sequence,rtt_ms", f"{START + 1},1,30", row, f"{START + 10},3,30"]
    assert quick.probes(Source.read(write(tmp_path, "\n".join(rows)))) is None


def test_a_direction_selects_its_column(tmp_path: Path) -> None:
    file = tmp_path / "both.csv"
    rows = "".join(f"{1_700_000_000 + second},100,10\n" for second in range(4))
    file.write_text("time_s,downlink_mbps,uplink_mbps\n" + rows)
    for direction in ("downlink", "uplink"):
        (found,) = readers.read(file, direction)
        assert found.quantity == direction
    file.write_text("time_s,downlink_mbps\n1700000000,100\n")
    with pytest.raises(InputError, match="has no column `uplink_mbps` for `uplink=`"):
        readers.read(file, "uplink")


def test_a_table_without_rows_is_named(tmp_path: Path) -> None:
    file = tmp_path / "head.csv"
    file.write_text("time_s,downlink_mbps\n")
    with pytest.raises(InputError, match=r"head\.csv: has no rate"):
        readers.read(file)


def test_the_refusal_of_a_text_names_what_can_be_fitted(tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_text("hello\n")
    with pytest.raises(InputError, match=r"text\.txt: is no recording to fit; .*`downlink_mbps`"):
        readers.read(file)


def test_a_clock_that_is_set_right_may_give_two_rows_one_time(tmp_path: Path) -> None:
    """As the recording of the motorway has it."""
    file = tmp_path / "set.csv"
    times = [START + second for second in (0, 1, 2, 2, *range(3, 30))]
    file.write_text("time_s,downlink_mbps\n" + "".join(f"{time},100\n" for time in times))
    (found,) = readers.read(file)
    assert len(found.times) == len(times)


def test_close_samples_may_share_no_time(tmp_path: Path) -> None:
    """The fast part of a process had two values there: its likelihood is zero."""
    times = [START + 0.1 * second for second in (0, 1, 2, 2, *range(3, 30))]
    file = write(tmp_path, "time_s,downlink_mbps\n" + "".join(f"{time:.1f},100\n" for time in times))
    with pytest.raises(
        InputError, match="1 of 31 samples have the time of the one before, the first at 2023"
    ):
        readers.read(file)
