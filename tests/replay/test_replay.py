"""`leobench replay`: every kind of recording, what it writes, and what it refuses."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import leobench
from leobench import InputError, cli
from leobench.fitting.replay import iperf3, outcome, posterior, qlog, recordings, results
from leobench.recording.source import Source
from tests.recording import measurements
from tests.replay import paths
from tools import replay_closed_loop

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return paths.record(tmp_path_factory.mktemp("known"), [(0, 12.0), (4, 6.0)], seconds=8.0)


@pytest.fixture(scope="module")
def over_quic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    flow = {**paths.BULK, "transport": {"kind": "quic", "congestion": "cubic"}}
    return paths.record(tmp_path_factory.mktemp("quic"), seconds=8.0, flow=flow, qlog=True)


def replay(recording: Path, out: Path, *options: str) -> int:
    return cli.main(
        ["replay", str(recording), "--out", str(out), "--draws", "19", "--workers", "1", *options]
    )


def test_a_transfer_is_replayed_and_changed(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = "flows.main.transport.congestion"
    assert replay(recording, tmp_path / "out", "--set", f"{place}=newreno") == 0
    printed = capsys.readouterr().out
    assert f"{place}=newreno" in printed
    found = json.loads((tmp_path / "out" / "replay.json").read_text(encoding="utf-8"))
    real: Any = leobench.run(recording.parent / "known.json", 1, {place: "newreno"}).flows["main"]
    own: Any = leobench.open(recording).flows["main"]
    assert found["unchanged"]["main.goodput_mbps"]["median"] == pytest.approx(own.goodput_bps / 1e6, rel=0.03)
    assert found["unchanged"]["main.rtt_p50_ms"]["median"] == pytest.approx(own.rtt_ms.p50, rel=0.1)
    assert found["changed"]["main.goodput_mbps"]["median"] == pytest.approx(real.goodput_bps / 1e6, rel=0.04)
    assert found["recorded"]["main.goodput_mbps"] == pytest.approx(own.goodput_bps / 1e6)
    assert found["set"] == {place: "newreno"}
    assert set(found["naive"]) == set(found["changed"])

    draws = pl.read_csv(tmp_path / "out" / "draws.csv", infer_schema_length=None)
    counts = dict(draws.filter(pl.col("metric") == "main.goodput_mbps").group_by("world").len().iter_rows())
    assert counts == {"unchanged": 19, "changed": 19, "naive": 1}
    bands = pl.read_csv(tmp_path / "out" / "posterior.csv")
    early = bands.filter((pl.col("time_s") > 1.5) & (pl.col("time_s") < 3.5))
    assert early["capacity_mbps_p50"].median() == pytest.approx(12.0, rel=0.03)
    assert (tmp_path / "out" / "replay.png").stat().st_size > 10_000
    leobench.run(tmp_path / "out" / "scenario.json")


def test_a_replay_is_replaced_only_on_request_and_has_the_same_bytes(recording: Path, tmp_path: Path) -> None:
    def written(folder: Path) -> list[bytes]:
        return [(folder / file).read_bytes() for file in ("draws.csv", "posterior.csv", "replay.json")]

    assert replay(recording, tmp_path / "one", "--quiet") == 0
    before = written(tmp_path / "one")
    out = (tmp_path / "one").rename(tmp_path / "other")
    assert replay(recording, out, "--quiet") == 2
    (out / "draws.csv").write_text("old", encoding="utf-8")
    assert replay(recording, out, "--quiet", "--force") == 0
    assert written(out) == before
    (out / "mine.txt").write_text("keep", encoding="utf-8")
    assert replay(recording, out, "--quiet", "--force") == 2


def test_iperf3_with_tcp_info_is_a_transfer(recording: Path, tmp_path: Path) -> None:
    file = tmp_path / "iperf3.json"
    file.write_text(paths.iperf3(recording), encoding="utf-8")
    transfer = recordings.read(file)
    assert transfer.start_s == pytest.approx(1_700_000_000)
    found = posterior.infer(transfer, None, None, 8, 1)
    capacity = np.median(found.paths.capacity, axis=0)
    assert np.median(capacity[20:35]) == pytest.approx(12.0, rel=0.08)
    assert np.median(capacity[55:70]) == pytest.approx(6.0, rel=0.08)


def test_a_qlog_is_a_transfer(over_quic: Path) -> None:
    transfer = qlog.read(over_quic / "qlog" / "main-sender.sqlog")
    table = leobench.open(over_quic).tables.transport
    sent = results.read(over_quic, None)
    assert transfer.sent[-1] == pytest.approx(sent.sent[-1], rel=0.01)
    assert transfer.lost[-1] == pytest.approx(sent.lost[-1], rel=0.02, abs=3000)
    assert np.nanmedian(transfer.rtt_s) * 1e9 == pytest.approx(table["latest_rtt_ns"].median(), rel=0.05)
    found = posterior.infer(transfer, None, None, 8, 1)
    assert np.median(found.paths.capacity[:, 20:70]) == pytest.approx(20.0, rel=0.03)


def pings(file: Path, since: float) -> Path:
    """The output of `ping -D` every half a second for six seconds, each of 41 ms."""
    answers = ((number, since - 1_000 + 0.5 * number, 41.0) for number in range(1, 12))
    file.write_text(measurements.ping(*answers), encoding="utf-8")
    return file


def test_light_round_trips_are_aligned_by_their_clock(recording: Path, tmp_path: Path) -> None:
    virtual = results.read(recording, None)
    file = tmp_path / "iperf3.json"
    file.write_text(paths.iperf3(recording), encoding="utf-8")
    dated = recordings.read(file)
    for transfer, start in ((virtual, 0.0), (dated, 1_700_000_000.0)):
        times, rtt = recordings.read_light(pings(tmp_path / "ping.txt", start + 4), transfer)
        # Those after the end of the transfer met another path.
        np.testing.assert_allclose(times, np.arange(4.5, transfer.end_s + 0.01, 0.5), atol=1e-5)
        assert rtt == pytest.approx(0.041)
    own, _ = recordings.read_light(recording, virtual)
    assert own[-1] == pytest.approx(virtual.end_s)


def test_light_round_trips_of_another_time_or_clock_are_refused(recording: Path, tmp_path: Path) -> None:
    virtual = results.read(recording, None)
    late = pings(tmp_path / "late.txt", 60)
    with pytest.raises(InputError) as told:
        recordings.read_light(late, virtual)
    assert str(told.value) == (
        f"--light {late}: was recorded at 60.500 s to 65.500 s, and {recording} at 0.000 s to 8.000 s; "
        "allowed: two recordings of the same time"
    )
    dated = pings(tmp_path / "dated.txt", 1_700_000_000)
    with pytest.raises(InputError) as told:
        recordings.read_light(dated, virtual)
    assert str(told.value) == (
        f"--light {dated}: was recorded at 2023-11-14 22:13:20 UTC to 2023-11-14 22:13:25 UTC, and "
        f"{recording} at 0.000 s to 8.000 s; allowed: two recordings by the same clock; "
        f"that of {recording} counts from its own start"
    )
    seconds = tmp_path / "seconds.csv"
    seconds.write_text("time_s,rtt_ms\n1,0.041\n2,0.042\n3,0.041\n", encoding="utf-8")
    with pytest.raises(InputError, match="are they in seconds"):
        recordings.read_light(seconds, virtual)
    rates = tmp_path / "rates.csv"
    rates.write_text("time_s,downlink_mbps\n1,41\n2,42\n3,41\n", encoding="utf-8")
    with pytest.raises(InputError, match="has no round trips; allowed: pings, irtt or a result folder"):
        recordings.read_light(rates, virtual)


def test_wrong_changes_are_refused_before_a_path_is_inferred(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posterior, "infer", None)
    assert replay(recording, tmp_path / "out", "--set", "flows.main.transport.congestion=fast") == 2
    assert f"replay of {recording}: flows.main.transport.congestion" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set", "flows.main.transport.congestion=fast"], "fast"),
        (["--set", "flows.other.transport=tcp"], "replay of"),
        (["--flow", "other"], "no such flow"),
        (["--draws", "0"], "not positive"),
        (["--draws", "18"], "--draws = 18: are too few; allowed: from 19, whose least and greatest"),
        (["--draws", "2000"], "up to 1000"),
        (["--queue", "0"], "--queue"),
        (["--seed", "-1"], "--seed"),
        (["--fit", "missing.json"], "missing.json"),
        (["--light", "missing.txt"], "missing.txt"),
    ],
)
def test_wrong_options_are_refused(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    out = tmp_path / "out"
    words = ["replay", str(recording), "--draws", "19", "--workers", "1", "--out", str(out), *options]
    assert cli.main(words) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert str(tmp_path / ".") not in error.replace(str(recording), "")
    assert not out.exists()


@pytest.mark.parametrize(
    ("changed", "interval_s", "message"),
    [
        ({"snd_cwnd": None}, 0.1, "there is no TCP_INFO"),
        ({"rtt": None}, 0.1, "there is no TCP_INFO"),
        ({"rtt": 0}, 0.1, "round trip in 0 % of its samples"),
        ({}, 2.0, "up to 1 s"),
    ],
)
def test_iperf3_that_says_too_little_is_refused(
    recording: Path, tmp_path: Path, changed: dict[str, Any], interval_s: float, message: str
) -> None:
    file = tmp_path / "iperf3.json"
    file.write_text(paths.iperf3(recording, interval_s, **changed), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        posterior.check(recordings.read(file))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("some.pcap", "x", "is no capture"),
        ("some.txt", "nothing", "is no recording"),
        ("some.json", '{"intervals": []}', "has 0 intervals"),
        ("some.json", '{"error": "no route", "intervals": []}', "iperf3 failed: no route"),
        ("some.json", '{"intervals": [{"streams": []}, {"streams": []}]}', "has 0 streams"),
        ("some.sqlog", '{"name": "quic:packet_sent"}', "is not a qlog that leobench reads"),
        ("some.sqlog", '{"time": 1, "name": "quic:other"}', "0 packets sent"),
        ("some.qlog", '{"traces": [1, 2]}', "has not one trace"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        recordings.read(file)


def test_short_and_gappy_recordings_are_refused(recording: Path, tmp_path: Path) -> None:
    whole = json.loads(paths.iperf3(recording))
    file = tmp_path / "iperf3.json"
    file.write_text(json.dumps({**whole, "intervals": whole["intervals"][:20]}), encoding="utf-8")
    with pytest.raises(InputError, match="lasts 2 s; allowed: from 5 s"):
        posterior.check(recordings.read(file))
    gap = whole["intervals"][:20] + whole["intervals"][45:]
    file.write_text(json.dumps({**whole, "intervals": gap}), encoding="utf-8")
    with pytest.raises(InputError, match=r"no samples for 2\.\d s from 2 s on"):
        posterior.check(iperf3.read(Source.read(file)))


def test_a_folder_without_samples_is_refused(recording: Path, tmp_path: Path) -> None:
    folder = tmp_path / "recording"
    shutil.copytree(recording, folder)
    table = pl.read_parquet(folder / "transport.parquet")
    table.clear().write_parquet(folder / "transport.parquet")
    with pytest.raises(InputError, match="has no samples of main"):
        results.read(folder, None)


def test_intervals_hold_their_share_of_the_draws() -> None:
    found = outcome.interval([float(value) for value in range(101)], 103)
    assert found.median == 50.0
    assert found.ends[0.9] == pytest.approx((4.1, 95.9))
    assert found.ends[0.5] == pytest.approx((24.5, 75.5))
    assert found.missing == 2


def test_intervals_cover_one_more_draw_as_often_as_they_say() -> None:
    """Of 20 draws from one distribution, any is as likely as another to be the one left out."""
    values = np.random.default_rng(5).standard_normal((4000, 20))
    inside = []
    for row in values:
        low, high = outcome.interval(row[1:].tolist(), 19).ends[0.9]
        inside.append(low <= row[0] <= high)
    # Four standard errors of a share of 0.9 in 4000.
    assert np.mean(inside) == pytest.approx(0.9, abs=0.019)


def test_the_closed_loop_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"target": "bbr3", "metric": "goodput_mbps", "truth": 10.0, "naive": 8.0}
    first = replay_closed_loop.FIRST_SEED
    rows = [
        {**row, "kind": kind.name, "seed": first, "median": 9.0, "low": 8.0, "high": 9.5}
        for kind in replay_closed_loop.KINDS
    ]
    rows.append({**rows[0], "seed": first + 1, "median": 11.0, "high": 12.0})
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
    monkeypatch.setattr(replay_closed_loop, "judge", None)
    kept = replay_closed_loop.run_all(file, 1, 1)
    assert len(kept) == len(replay_closed_loop.KINDS)
    line, *_ = replay_closed_loop.summary(rows)
    assert line["coverage"] == 0.5
    assert line["error"] == pytest.approx(0.1)
    assert line["naive"] == pytest.approx(0.2)
