"""Scores against closed forms, and a fit on data drawn from it against forecasts without a model."""

from __future__ import annotations

import json
import re
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from leobench import cli
from leobench._core import Process
from leobench.fitting import losses, score, score_files
from leobench.fitting.baselines import BASELINES, Known
from leobench.fitting.series import PHASE_S, SLOT_S, Series
from leobench.fitting.statistics import Dependence, Slots, autocorrelations

PROCESS = {
    "floor": 20.0,
    "location": 3.0,
    "scale": 0.5,
    "shares": {"slot": 0.5, "fast": 0.5},
    "slot_correlation": 0.8,
}
LOSS = {"clean": 0.001, "lossy": 0.3, "to_lossy": 0.1, "to_clean": 0.2}
FIT: dict[str, Any] = {
    "format": "leobench-fit",
    "version": 1,
    "name": "drawn",
    "delay": {"process": PROCESS},
    "uplink": {"loss": losses.one_way(LOSS)},
    "downlink": {"loss": losses.one_way(LOSS)},
}
# The beginning of a slot, years after 1970.
BEGIN = SLOT_S * 1e8 + PHASE_S


def drawn(seed: int, slots: int = 200, every_s: float = 0.5) -> Series:
    """Round trips of the process, without losses."""
    times = BEGIN + np.arange(0, slots * SLOT_S, every_s)
    return Series(
        f"drawn-{seed}", "ms", times, Process(json.dumps(PROCESS)).sample(times, seed), "rtt", "idle"
    )


def losing(series: Series, seed: int) -> Series:
    """A series that loses as the chain does."""
    rng = np.random.default_rng(seed)
    lossy, values = False, series.values.copy()
    for slot in np.unique(series.slots):
        lossy = rng.random() < LOSS["to_lossy"] if not lossy else rng.random() >= LOSS["to_clean"]
        here = np.flatnonzero(series.slots == slot)
        values[here[rng.random(len(here)) < LOSS["lossy" if lossy else "clean"]]] = np.nan
    return Series(series.name, "ms", series.times, values, "rtt", "idle")


def test_the_crps_of_a_normal_forecast_has_a_closed_form() -> None:
    """Gneiting and Raftery 2007, equation 21."""
    rng = np.random.default_rng(2)
    values = np.array([-1.0, 0.0, 2.0])
    found = score.crps(values, rng.normal(size=(3, 20_000)))
    expected = values * (2 * stats.norm.cdf(values) - 1) + 2 * stats.norm.pdf(values) - 1 / np.sqrt(np.pi)
    np.testing.assert_allclose(found, expected, atol=0.03)
    assert score.crps(np.array([3.0]), np.array([[1.0]])) == [2.0]


def test_intervals_and_transforms_of_the_right_forecast_are_calibrated() -> None:
    rng = np.random.default_rng(3)
    values, draws = rng.normal(size=4_000), rng.normal(size=(4_000, 400))
    for level in score.LEVELS:
        assert score.covered(values, draws, level) == pytest.approx(level, abs=0.02)
    assert stats.kstest(score.transformed(values, draws), "uniform").pvalue > 0.01
    # Ties are spread: of a forecast that is always right, all shares are as likely.
    same = score.transformed(np.zeros(4_000), np.zeros((4_000, 10)))
    assert stats.kstest(same, "uniform").pvalue > 0.01


def test_the_interval_of_a_difference_grows_with_dependence() -> None:
    rng = np.random.default_rng(4)
    free = rng.normal(size=400)
    blocks = np.repeat(rng.normal(size=50), 8)
    found = [score.difference(each) for each in (free, blocks)]
    widths = [each[2] - each[1] for each in found if each is not None]
    assert widths[0] == pytest.approx(2 * 1.96 / 20, rel=0.2)
    assert widths[1] > 1.8 * widths[0]
    # Few values have an interval, too: it needs more than one block.
    few = score.difference(np.arange(8.0))
    assert few is not None
    assert few[1] < 3.5 < few[2]
    assert score.difference(np.array([1.0])) is None


def test_a_model_beats_what_takes_no_model_on_data_drawn_from_it() -> None:
    found = score.score_fit(FIT, [losing(drawn(1), 1)], [losing(drawn(2), 2)])
    for statistic in ("median", "5 % quantile", "95 % quantile", "lost"):
        rows = [row for row in found.rows if row.statistic == statistic]
        assert rows[0].forecast == score.AHEAD
        assert rows[0].difference is None
        assert rows[0].coverage is not None
        if statistic != "lost":
            assert 0.8 < rows[0].coverage[0.9] < 0.97
        others = {row.forecast for row in rows[1:]}
        assert others == set(BASELINES) | (set() if statistic == "lost" else {score.ALONE})
        for row in rows[1:]:
            assert row.difference is not None
            assert row.difference[2] < 0, (statistic, row.forecast, row.difference)
    measured, modelled = found.dependence["rtt"]
    assert modelled.between_slots == pytest.approx(measured.between_slots, rel=0.15)
    assert modelled.autocorrelation[15] == pytest.approx(measured.autocorrelation[15], abs=0.1)


def test_a_wrong_model_is_found_out() -> None:
    wrong = {"delay": {"process": PROCESS | {"scale": 0.15}}}
    found = score.score_fit(wrong, [drawn(1)], [drawn(2)])
    ahead = next(row for row in found.rows if row.statistic == "median")
    assert ahead.coverage is not None
    assert ahead.coverage[0.9] < 0.7
    right = score.score_fit(FIT, [drawn(1)], [drawn(2)])
    assert right.log_score["rtt"] > found.log_score["rtt"] + 0.1


def test_round_trips_lose_as_both_directions_do() -> None:
    both = losses.round_trip(losses.one_way(LOSS))
    assert both == pytest.approx(LOSS)
    never = {"clean": 0.01, "lossy": 0.01, "to_lossy": 0.0, "to_clean": 1.0}
    assert losses.round_trip(losses.one_way(never)) == pytest.approx(never)


def test_dependence_is_what_the_process_has() -> None:
    """Two parts in the logarithm, one per slot: their shares are 1/2 before the exponential."""
    found = Dependence.of(
        drawn(5, slots=400),
    )
    variance = 0.25
    between = (np.exp(variance / 2) - 1) / (np.exp(variance) - 1)
    assert found.between_slots == pytest.approx(between, abs=0.06)
    assert found.autocorrelation[15] < found.autocorrelation[1]


def test_baselines_use_the_past_only() -> None:
    train = Known(np.arange(8.0), np.array([1.0, 2, 3, 4, 5, 6, 7, 8]))
    held = Known(np.arange(20.0, 24), np.array([10.0, 20, 30, 40]))
    changed = Known(held.numbers, np.array([10.0, 20, 30, 99]))
    for name, forecast in BASELINES.items():
        rows = forecast(train, held)
        assert rows.shape[0] == 4, name
        np.testing.assert_array_equal(rows, forecast(train, changed))
    assert BASELINES["last slot"](train, held).ravel().tolist() == [4.5, 10, 20, 30]
    assert BASELINES["constant"](train, held).ravel().tolist() == [4.5] * 4
    assert BASELINES["another hour"](train, held).ravel().tolist() == [1, 2, 3, 4]
    assert set(BASELINES["shuffled slots"](train, held)[0]) == set(range(1, 9))
    blocks = BASELINES["block bootstrap"](train, held)
    assert (np.diff(blocks, axis=0) == 1).all()


def test_means_by_hour_of_the_day() -> None:
    slots = 3_600 / SLOT_S
    train = Known(np.arange(0, 2 * slots), np.repeat([10.0, 20.0], int(slots)))
    held = Known(np.array([24 * slots, 25 * slots, 26 * slots]) + 1, np.zeros(3))
    assert BASELINES["hour of day"](train, held).ravel().tolist() == [10, 20, 15]


def test_baselines_of_seconds_look_back_to_the_slot_before() -> None:
    train = Known(np.repeat(np.arange(8.0), 3), np.arange(24.0))
    held = Known(np.repeat([4.0, 5], 3), np.array([1.0, 2, 3, 10, 20, 30]))
    assert BASELINES["last slot"](train, held).ravel().tolist() == [11.5] * 3 + [2.0] * 3
    assert BASELINES["another hour"](train, held).ravel().tolist() == [0, 1, 2, 3, 4, 5]
    # A block is four slots of three seconds.
    assert (np.diff(BASELINES["block bootstrap"](train, held), axis=0) == 1).all()
    # Of many training values, the quantiles do: their distribution is the same.
    many = np.random.default_rng(6).normal(size=50_000)
    found = BASELINES["shuffled slots"](Known(np.arange(50_000.0), many), held)
    assert found.shape == (6, 1_000)
    assert stats.kstest(found[0], many).statistic < 0.002


RATES: dict[str, Any] = {
    "format": "leobench-fit",
    "version": 1,
    "name": "rates",
    "downlink": {"capacity": PROCESS},
    "outages": {
        "rate_per_s": 0.02,
        "at_boundary": 0.0,
        "within_s": 1.0,
        "length": {"median_s": 3.0, "sigma": 0.7},
        "shortest_s": 0.5,
    },
}


def rates(seed: int, slots: int = 200, every_s: float = 0.5) -> Series:
    """Capacities of the process; where it is down, the length of an outage is a log-normal number."""
    times = BEGIN + np.arange(0, slots * SLOT_S, every_s)
    values = Process(json.dumps(PROCESS)).sample(times, seed)
    rng = np.random.default_rng(seed)
    at = 20.0
    while at < times[-1] - BEGIN - 30:
        length = float(np.exp(np.log(3.0) + 0.7 * rng.normal()))
        values[(times - BEGIN >= at) & (times - BEGIN < at + length)] = 0.0
        at += length + 20.0 + rng.exponential(30.0)
    return Series(f"rates-{seed}", "Mbit/s", times, values, "downlink", "saturated")


def test_ten_years_between_two_recordings_cost_nothing() -> None:
    """Memory grows with the samples: means of all seconds of ten years would be gigabytes."""
    one = drawn(1, slots=40)
    gap = 10 * 365 * 86_400 - 10 * 365 * 86_400 % SLOT_S
    late = np.where(np.arange(len(one.times)) < len(one.times) // 2, 0.0, gap)
    apart = replace(one, times=one.times + late)
    tracemalloc.start()
    found = autocorrelations(apart, (1, 15))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1e6
    halves = [one.values[late == at].reshape(-1, 2).mean(axis=1) for at in (0, gap)]
    for lag, value in found.items():
        pairs = np.concatenate([np.stack([half[:-lag], half[lag:]]) for half in halves], axis=1)
        assert value == pytest.approx(np.corrcoef(pairs)[0, 1])


def test_seconds_and_outages_of_a_capacity_are_scored() -> None:
    found = score.score_fit(RATES, [rates(1)], [rates(2)])
    rows = {(row.statistic, row.forecast): row for row in found.rows}
    counts = {statistic: rows[statistic, score.AHEAD].count for statistic, _ in rows}
    assert 190 <= counts["slot mean"] <= 200
    # Seconds without an outage throughout: 3 s of 53 are down.
    assert 0.9 * 3_000 < counts["1 s mean"] < 2_950
    assert 40 < counts["outage length"] < 80
    for statistic in counts:
        own = rows[statistic, score.AHEAD]
        assert own.coverage is not None
        assert own.pit is not None
        assert own.coverage[0.9] > 0.8, statistic
        # Slots in a row depend on one another: a distance of 0.1 is not significant for 200 of them.
        assert stats.kstest(own.pit, "uniform").statistic < 0.13, statistic
        assert {name for key, name in rows if key == statistic} >= set(BASELINES)
        constant = rows[statistic, "constant"].difference
        assert constant is not None
        assert constant[2] < 0
    # The level of a slot is half of the variance, and known in part: seconds are the harder to tell.
    assert rows["1 s mean", score.AHEAD].crps > rows["slot mean", score.AHEAD].crps
    wrong = {**RATES, "outages": RATES["outages"] | {"length": {"median_s": 12.0, "sigma": 0.7}}}
    longer = score.score_fit(wrong, [rates(1, slots=40)], [])
    row = next(row for row in longer.rows if row.statistic == "outage length")
    assert row.crps > 2 * rows["outage length", score.AHEAD].crps


def test_samples_further_apart_than_a_second_tell_no_seconds() -> None:
    found = score.score_fit(RATES, [rates(1, every_s=3.0)], [])
    assert "1 s mean" not in {row.statistic for row in found.rows}


def test_slots_that_were_cut_do_not_count() -> None:
    series = drawn(1, slots=8)
    cut = series.between(BEGIN + 12, BEGIN + 8 * SLOT_S - 12)
    assert len(Slots.of(series).numbers) == 8
    assert len(Slots.of(cut).numbers) == 6


def write(file: Path, series: Series) -> Path:
    """A recording as a CSV of probes."""
    rows = [
        f"{time:.3f},{number},{'' if np.isnan(value) else f'{value:.3f}'}"
        for number, (time, value) in enumerate(zip(series.times, series.values, strict=True))
    ]
    file.write_text("\n".join(["unix_time_s,seq,rtt_ms", *rows]) + "\n", encoding="utf-8")
    return file


def test_the_command_writes_what_it_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fit = tmp_path / "drawn.fit.json"
    fit.write_text(json.dumps(FIT), encoding="utf-8")
    held, train = (write(tmp_path / f"{seed}.csv", drawn(seed, slots=30)) for seed in (1, 2))
    words = ["score", str(fit), "--data", str(held), "--train", str(train), "--into"]
    assert cli.main([*words, "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    written = json.loads((tmp_path / "out" / "score.json").read_text("utf-8"))
    assert json.loads(fit.read_text("utf-8")) == FIT | {"score": written}
    row = next(row for row in written["scores"] if row["statistic"] == "median")
    assert f"{row['crps']:.4g} ms" in printed
    assert "variance between slots" in printed
    names = {file.name for file in (tmp_path / "out").iterdir()}
    assert names >= {"score.json", "score.md", "rtt-median.png", "rtt-95-quantile.png"}
    page = (tmp_path / "out" / "score.md").read_text("utf-8")
    assert set(re.findall(r"!\[.*\]\((.*)\)", page)) == {name for name in names if name.endswith(".png")}
    # A series, such as another emulator's, is scored without a fit.
    assert cli.main(["score", str(train), "--data", str(held), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {row["forecast"] for row in told["scores"]} == {"series"}


def test_a_folder_that_cannot_be_written_is_refused_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is read: the recording is missing, and goes unnoticed."""
    (tmp_path / "file").touch()
    out, missing = tmp_path / "file" / "out", str(tmp_path / "missing.csv")
    assert cli.main(["score", "starlink", "--data", missing, "--out", str(out)]) == 2
    assert f"{out}: cannot be written to" in capsys.readouterr().err
    assert cli.main(["score", "starlink", "--data", missing, "--out", str(tmp_path / "out")]) == 2
    assert "missing.csv" in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_few_outages_have_a_count_and_no_figure(tmp_path: Path) -> None:
    found = score.score_fit(RATES, [rates(1, slots=80)], [])
    for count, drawn in ((4, False), (5, True)):
        rows = [replace(row, count=count) if row.statistic == "outage length" else row for row in found.rows]
        (tmp_path / str(count)).mkdir()
        score_files.write(tmp_path / str(count), "rates", replace(found, rows=rows))
        page = (tmp_path / str(count) / "score.md").read_text("utf-8")
        assert f"| outage length | model | {count} |" in page
        assert (tmp_path / str(count) / "downlink-outage-length.png").exists() is drawn
        assert ("downlink-outage-length.png" in page) is drawn


@pytest.mark.parametrize(
    ("about", "warned"),
    [
        ({"dates": ["2017-07-14"], "hours": "01:00 to 04:00 UTC"}, "2017-07-14, 02:00 to 03:00 UTC"),
        ({"dates": ["2017-07-14"]}, "2017-07-14, 02:00 to 03:00 UTC"),
        ({"dates": ["2017-07-14"], "hours": "22:00 to 02:00, 05:00 to 07:00 UTC"}, None),
        ({"dates": ["2017-07-13"], "hours": "01:00 to 04:00 UTC"}, None),
        ({}, None),
    ],
)
def test_data_of_the_time_of_a_fit_are_warned_of(
    about: dict[str, Any],
    warned: str | None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fit = tmp_path / "drawn.fit.json"
    fit.write_text(json.dumps({**FIT, "about": about}), encoding="utf-8")
    # 2017-07-14, 02:40 UTC.
    data = drawn(1, slots=10)
    held = write(tmp_path / "held.csv", replace(data, times=data.times - BEGIN + 1.5e9))
    assert cli.main(["score", str(fit), "--data", str(held), "--json"]) == 0
    said = capsys.readouterr().err
    if warned is None:
        assert said == ""
    else:
        told = f"the fit may have seen these data: its recordings have {warned}, too"
        assert said == f"leobench: warning: {told}\n"


def test_data_that_are_training_are_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fit = tmp_path / "drawn.fit.json"
    fit.write_text(json.dumps(FIT), encoding="utf-8")
    one, other = (write(tmp_path / f"{seed}.csv", drawn(seed, slots=10)) for seed in (1, 2))
    same = tmp_path / "." / ".." / tmp_path.name / "1.csv"
    assert cli.main(["score", str(fit), "--data", str(one), "--train", str(same), "--json"]) == 0
    told = f"{one} is in --data and in --train: the fit may have seen these data"
    assert capsys.readouterr().err == f"leobench: warning: {told}\n"
    assert cli.main(["score", str(fit), "--data", str(one), "--train", str(other), "--json"]) == 0
    assert capsys.readouterr().err == ""


def test_the_rest_of_a_day_of_training_is_unseen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first half of an hour is training: the second half is not warned of, a copy of the first is."""
    fit = tmp_path / "drawn.fit.json"
    about = {"dates": ["2017-07-14"], "hours": "02:00 to 03:00 UTC"}
    fit.write_text(json.dumps({**FIT, "about": about}), encoding="utf-8")
    first, second = (drawn(seed, slots=10) for seed in (1, 2))
    train = write(tmp_path / "train.csv", replace(first, times=first.times - BEGIN + 1.5e9))
    held = write(tmp_path / "held.csv", replace(second, times=second.times - BEGIN + 1.5e9 + 300))
    copy = tmp_path / "copy.csv"
    copy.write_bytes(train.read_bytes())
    words = ["score", str(fit), "--json", "--train", str(train), "--data"]
    assert cli.main([*words, str(held)]) == 0
    assert capsys.readouterr().err == ""
    assert cli.main([*words, str(copy)]) == 0
    assert re.search("300 of 300 samples of rtt have the time of one in --train", capsys.readouterr().err)


def test_the_dependence_of_a_constant_is_zero() -> None:
    """The sums of 0.1 differ in their last digits by the number of samples in a second."""
    times = BEGIN + np.sort(np.random.default_rng(1).uniform(0, 600, 3_000))
    found = Dependence.of(Series("flat", "ms", times, np.full(3_000, 0.1), "rtt", "idle"))
    assert (found.between_slots, found.step) == (0.0, 0.0)
    assert set(found.autocorrelation.values()) == {0.0}


def test_the_trace_of_an_emulator_is_scored_with_its_direction(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "emu.mahi"
    trace.write_text("\n".join(map(str, range(1, 90_000, 3))), encoding="utf-8")
    named = f"uplink={trace}"
    assert cli.main(["score", named, "--data", named]) == 0
    assert "uplink" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["drawn.fit.json", "--data", "short.csv"],
            "short.csv: has 1 whole slots of 15 s; allowed: at least 4",
        ),
        (["rates.fit.json", "--data", "1.csv"], "the fit rates has no part for the data, which have rtt"),
        (["1.csv", "--data", "1.csv", "--into"], "--into: 1.csv is not a fit"),
        (["1.csv", "--data", "rates.csv"], "1.csv: has rtt, and the data have downlink"),
        (["drawn.fit.json", "--data", "sideways=1.csv"], "sideways=1.csv: `sideways` is no direction"),
        (["starlnk", "--data", "1.csv"], "`starlink`; did you mean `starlink`?"),
        (["uplink=drawn.fit.json", "--data", "1.csv"], "a fit has its directions"),
        (["emu.mahi", "--data", "rates.csv"], "emu.mahi: does not tell its direction; name it as `downlink="),
        (["uplink=emu.mahi", "--data", "rates.csv"], "emu.mahi: has uplink, and the data have downlink"),
    ],
)
def test_mistakes_are_told_in_one_line(
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("drawn.fit.json").write_text(json.dumps(FIT), encoding="utf-8")
    rates = {"format": "leobench-fit", "version": 1, "name": "rates", "downlink": {"capacity": PROCESS}}
    Path("rates.fit.json").write_text(json.dumps(rates), encoding="utf-8")
    write(Path("1.csv"), drawn(1, slots=10))
    write(Path("short.csv"), drawn(1, slots=1))
    rows = [f"{BEGIN + second:.0f},{100 + second % 7}" for second in range(150)]
    Path("rates.csv").write_text("\n".join(["unix_time_s,downlink_mbps", *rows]) + "\n", encoding="utf-8")
    Path("emu.mahi").write_text("\n".join(map(str, range(1, 90_000, 3))), encoding="utf-8")
    assert cli.main(["score", *words]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("\n") == 1
