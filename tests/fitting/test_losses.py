"""Losses of the link are told from those of routers and of single changes; interruptions have their time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from leobench import cli
from leobench._core import Process
from leobench.errors import InputError
from leobench.fitting import fit, losses, phases, readers, series, transfers

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from leobench.fitting.series import Floats, Series

START = 1_700_000_000.0 - 1_700_000_000.0 % 60 + series.PHASE_S
DELAY = {"floor": 20, "location": 3.0, "scale": 0.4, "shares": {"slot": 0.5, "slow": 0.3, "fast": 0.2}}


def pinged(times: Floats, lost: NDArray[np.bool_]) -> Series:
    """Round trips of 50 ms, without the lost ones."""
    return series.make("drawn", times, np.where(lost, np.nan, 50.0), "rtt", "idle")


def interrupted(length_s: float, share: float, seed: int = 1) -> Series:
    """Probes every 0.2 s; a share of 400 slots has an interruption between 3 and 3.5 s after its begin.

    A probe is lost on its way there or, 25 ms later, on its way back.
    """
    rng = np.random.default_rng(seed)
    times = START + np.cumsum(rng.uniform(0.19, 0.21, 30_000))
    begins = START + np.arange(400) * series.SLOT_S + rng.uniform(3.0, 3.5, 400)
    begins = begins[rng.random(400) < share]
    lost = rng.random(len(times)) < 0.001
    for there in (times, times + 0.025):
        at = np.searchsorted(begins, there, side="right") - 1
        lost |= (at >= 0) & (there < begins[at] + length_s)
    return pinged(times, lost)


@pytest.mark.parametrize(("length_s", "share"), [(0.02, 1.0), (0.04, 0.5)])
def test_interruptions_shorter_than_the_spacing_of_probes(length_s: float, share: float) -> None:
    found = losses.losses(interrupted(length_s, share))
    short = found.interruptions
    assert short is not None
    assert short.window.after_s <= 3.05
    assert short.window.after_s + short.window.within_s >= 3.45
    covered = length_s + min(length_s, 0.025)
    probability, low, high = short.probability
    assert low < share * covered / 0.2 < high
    assert probability == pytest.approx(share * covered / 0.2, rel=0.35)
    assert short.parameters["at_boundary"] == 1.0
    assert short.length_s[1] < short.length_s[0] < short.length_s[2]
    if share == 1.0:
        assert short.length_s[0] == pytest.approx(length_s, rel=0.35)
    assert "every slot has an interruption" in short.not_measured["interruptions.at_boundary"]
    # They are no loss of the slots.
    assert found.chain.parameters is not None
    assert losses.mean(found.chain.parameters) == pytest.approx(0.001, rel=0.5)


def test_uniform_losses_do_not_gather_at_a_time_of_the_slot() -> None:
    found = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        observed = START + 0.25 * np.arange(6_000.0)
        found += phases.gathering(rng.choice(observed, 60, replace=False), observed) is not None
    # By Bonferroni, at most one of a thousand is found.
    assert found <= 1


def test_a_loss_that_changes_once_tells_no_rate_of_change() -> None:
    rng = np.random.default_rng(2)
    times = START + 0.1 * np.arange(60_000, dtype=np.float64)
    lost = rng.random(60_000) < np.where(np.arange(60_000) < 20_000, 0.001, 0.02)
    chain = losses.losses(pinged(times, lost)).chain
    assert chain.parameters == pytest.approx(losses.constant(float(lost.mean())), rel=0.02)
    assert "too rarely to tell how often" in chain.not_measured["loss.lossy"]


def test_independent_and_gathered_losses_are_not_limited_ones() -> None:
    times = START + 0.15 * np.arange(30_000, dtype=np.float64)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        assert losses.limited_echoes(pinged(times, rng.random(30_000) < 0.03)) is None
        lossy = np.repeat(rng.random(300) < 0.3, 100)
        gathered = rng.random(30_000) < np.where(lossy, 0.1, 0.002)
        assert losses.limited_echoes(pinged(times, gathered)) is None


def limited(count: int = 4_000) -> Series:
    """Echoes of a path without loss, one of 30 to 36 of which a router does not answer."""
    rng = np.random.default_rng(3)
    times = START + np.arange(float(count))
    lost = np.zeros(count, dtype=np.bool_)
    lost[np.cumsum(rng.integers(30, 37, count // 37))] = True
    values = Process(json.dumps(DELAY)).sample(times, 1)
    return series.make("pings", times, np.where(lost, np.nan, values), "rtt", "idle")


def test_echoes_that_a_router_limits_are_no_loss_of_the_link() -> None:
    found = fit.fit([limited()], "roof")
    assert "uplink" not in found.document
    assert "downlink" not in found.document
    (warning,) = found.warnings
    assert "one in 33 so regularly that a router must limit them" in warning
    upload = transfers.Transfer("upload", "uplink", 100.0, 60_000.0, 180.0, 0.05)
    bounded = fit.fit([limited()], "roof", transfers=[upload])
    loss = bounded.document["uplink"]["loss"]
    assert loss == pytest.approx(losses.constant(upload.most_lost(None)), rel=1e-4)
    assert "downlink" not in bounded.document
    assert "a TCP transfer would bound it" in bounded.not_measured["downlink.loss"]


def test_holes_of_one_length_are_named_and_hide_no_limit() -> None:
    one = limited(12_000)
    values = one.values.copy()
    for begin in range(500, 12_000, 1_500):
        values[begin : begin + 600] = np.nan
    holed = series.make("pings", one.times, values, "rtt", "idle")
    holes, limit = fit.fit([holed], "roof").warnings
    assert holes == (
        "the round trips have 8 holes of about 600 s, taken for outages: was the recorder off? "
        "then give the parts between them as files"
    )
    assert "one in 33 so regularly that a router must limit them" in limit
    # As files, they are no holes.
    parts = [holed.between(START + at - 900, START + at) for at in range(500, 12_000, 1_500)]
    (limit,) = fit.fit(parts, "roof").warnings
    assert "one in 33" in limit


def test_long_outages_of_different_lengths_are_outages() -> None:
    rng = np.random.default_rng(5)
    alike = 0
    for _ in range(200):
        lengths = np.exp(np.log(90.0) + 0.7 * rng.normal(size=20))
        count = np.ones(20, dtype=np.int64)
        found = losses.Runs(count, count, START + 1e3 * np.arange(20.0), lengths, 3)
        alike += losses.holes(found) is not None
    # By chance: most of the long ones of 20 within a tenth of each other.
    assert alike <= 2
    few = losses.Runs(count[:2], count[:2], START + np.arange(2.0), np.array([600.0, 600.0]), 3)
    assert losses.holes(few) is None


def test_a_transfer_overrules_echoes_that_lose_several_times_more() -> None:
    rng = np.random.default_rng(4)
    times = START + np.arange(4_000.0)
    values = Process(json.dumps(DELAY)).sample(times, 1)
    one = series.make("pings", times, np.where(rng.random(4_000) < 0.03, np.nan, values), "rtt", "idle")
    alone = fit.fit([one], "roof")
    assert not alone.warnings
    assert alone.document["uplink"]["loss"]["clean"] == pytest.approx(0.015, rel=0.3)
    lossless = transfers.Transfer("download", "downlink", 100.0, 1_000_000.0, 50.0, 0.05)
    (warning,) = fit.fit([one], "roof", transfers=[lossless]).warnings
    assert "TCP shows that at most" in warning
    lossy = transfers.Transfer("download", "downlink", 100.0, 10_000.0, 500.0, 0.05)
    assert fit.fit([one], "roof", transfers=[lossy]).document["uplink"] == alone.document["uplink"]


def test_the_bound_of_a_transfer_is_the_loss_at_which_its_window_is_kept() -> None:
    # Reno: a sawtooth between W/2 and W, with mean 3W/4, loses one of 3W^2/8 segments.
    top = 40.0
    reno = transfers.Transfer("log", "uplink", 100.0, 100.0 * 0.75 * top / 0.05, None, 0.05)
    assert reno.most_lost(None) == pytest.approx(8 / (3 * top**2), rel=0.02)
    # RFC 9438, table 2 (round trips of 0.1 s, C = 0.4): mean windows by the probability of loss.
    for window, loss in ((187, 1e-4), (1_054, 1e-5), (5_926, 1e-6)):
        cubic = transfers.Transfer("log", "uplink", 100.0, 100.0 * window / 0.1, None, 0.1)
        assert cubic.most_lost(None) == pytest.approx(loss, rel=0.01)
    few = transfers.Transfer("log", "uplink", 100.0, reno.segments, 3.0, 0.05)
    assert few.most_lost(None) == 3.0 / reno.segments
    with pytest.raises(InputError, match="has no round trips; allowed: with pings of the same path"):
        transfers.Transfer("log", "uplink", 1.0, 1.0, None, None).most_lost(None)


def test_logs_of_transfers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        "start_s,end_s,bytes,retransmits,snd_cwnd_bytes,rtt_us",
        "0,0.1,13880,1,27760,50000",
        "0.1,0.2,13880,0,29148,70000",
    ]
    file = tmp_path / "log.csv"
    file.write_text("\n".join(rows), encoding="utf-8")
    found = transfers.read(file, "uplink")
    assert found == transfers.Transfer(str(file), "uplink", 0.2, 20.0, 1.0, 0.06)
    assert cli.main(["fit", str(file), "--out", str(tmp_path / "fit")]) == 2
    assert "does not tell its direction" in capsys.readouterr().err
    start = {"tcp_mss_default": 1448, "test_start": {"protocol": "TCP", "reverse": 1}}
    stream = {"seconds": 1.0, "bytes": 144_800, "retransmits": 2, "rtt": 40_000}
    whole = {
        "start": start,
        "intervals": [{"streams": [stream]}] * 2,
        "end": {"sender_tcp_congestion": "cubic"},
    }
    file.write_text(json.dumps(whole), encoding="utf-8")
    assert transfers.read(file, None) == transfers.Transfer(str(file), "downlink", 2.0, 200.0, 4.0, 0.04)
    whole["end"] = {"sender_tcp_congestion": "bbr"}
    file.write_text(json.dumps(whole), encoding="utf-8")
    with pytest.raises(
        InputError, match="bbr, whose window tells nothing about loss; allowed: cubic and reno"
    ):
        transfers.read(file, None)


def test_a_program_that_awaits_a_lost_answer_sent_it_before_the_pause(tmp_path: Path) -> None:
    # An answer each 0.2 s; after 100 and 101, which are lost, one 10.4 s after that of 99.
    times = [START + 0.2 * at for at in range(100)] + [START + 19.8 + 10.4 + 0.2 * at for at in range(100)]
    numbers = [*range(100), *range(102, 202)]
    rows = [f"{time:.3f},{number},50" for time, number in zip(times, numbers, strict=True)]
    file = tmp_path / "pings.csv"
    file.write_text("\n".join(["unix_s,sequence,rtt_ms", *rows]), encoding="utf-8")
    (found,) = readers.read(file)
    np.testing.assert_allclose(found.times[100:102] + 0.05 - START, [20.0, 25.1], atol=0.01)
    assert np.isnan(found.values[100:102]).all()
