"""Recordings become series of round trips or capacity, or are refused with one message."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from leobench import recording
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
        (f"time,downlink_mbps\n{START},5e4\n{START + 1},5e4", "is it in bit/s"),
        (f"time,rtt_ms\n{START},0.04\n{START + 1},0.04", "are they in seconds"),
        (f"time,downlink_mbps\n{START},50\n{START - 30},50", "the clock goes back by 30 s"),
        (f"time,rtt_ms\n{START},-1", "has no value of rtt"),
        ("downlink_mbps\n5", "lacks a column"),
        ("3\n2\n1", "time goes back"),
    ],
)
def test_recordings_that_tell_no_capacity_or_delay(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        readers.read(write(tmp_path, text), "downlink")


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
    """Pings every 20 ms whose numbers exceed 16 bits, one in a hundred lost."""
    rng = np.random.default_rng(1)
    lines = (
        ["unix_s,sequence,rtt_ms"] if form == "csv" else ["PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data."]
    )
    for number in range(65_400, 65_800):
        rtt = float(np.round(rng.uniform(20, 30), 1))
        came = START + 0.02 * number + rtt / 1e3
        lost = rng.random() < 0.01 and number != 65_400
        if form == "csv":
            lines.append(f"{came:.6f},{number},{-1 if lost else rtt}")
        elif not lost:
            sequence = number % 65_536
            lines.append(f"[{came:.6f}] 64 bytes from 192.0.2.1: icmp_seq={sequence} ttl=52 time={rtt} ms")
    return "\n".join(lines) + "\n"


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
    "row", ["x,4,30", f"{START},2,30", f"{START + 9},2,200000", f"{START + 9},2.5,30", f"{START + 9},2,nan"]
)
def test_the_fast_readers_leave_oddities_to_the_careful_ones(tmp_path: Path, row: str) -> None:
    rows = ["unix_s,sequence,rtt_ms", f"{START + 1},1,30", row, f"{START + 10},3,30"]
    assert quick.probes(Source.read(write(tmp_path, "\n".join(rows)))) is None
