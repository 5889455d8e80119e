"""A fit of drawn series finds their parameters, writes its file and checks, or refuses a recording."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from leobench import cli
from leobench._core import Process
from leobench.errors import InputError
from leobench.fitting import checks, fit, likelihoods, losses, parameters, process, series
from leobench.fitting.parameters import Form
from leobench.plots import fit as figures

if TYPE_CHECKING:
    from pathlib import Path

    from leobench.fitting.series import Series

START = 1_700_000_000.0 - 1_700_000_000.0 % 60 + series.PHASE_S
CAPACITY: dict[str, Any] = {
    "location": 5.0,
    "scale": 0.3,
    "skewness": -0.3,
    "shares": {"slot": 0.5, "slow": 0.3, "fast": 0.2},
    "slot_correlation": 0.3,
    "slow_s": 3.0,
}


def drawn(seconds: int = 2_400, seed: int = 1, truth: dict[str, Any] = CAPACITY) -> Series:
    """A downlink drawn from a process, one value a second."""
    times = START + np.arange(float(seconds))
    values = Process(json.dumps(truth)).sample(times, seed)
    return series.make("drawn", times, values, "downlink", "saturated")


def written(file: Path, downlink: Series) -> Path:
    """The CSV of a downlink."""
    rows = zip(downlink.times.tolist(), downlink.values.tolist(), strict=True)
    text = "\n".join(["unix_time_s,downlink_mbps", *(f"{at},{value:.3f}" for at, value in rows)])
    file.write_text(text + "\n", encoding="utf-8")
    return file


def test_the_parameters_of_a_drawn_series_are_found() -> None:
    found = process.estimate(drawn(6_000))
    estimates = process.flattened(found.parameters)
    assert estimates["location"] == pytest.approx(5.0, abs=0.1)
    assert estimates["scale"] == pytest.approx(0.3, rel=0.2)
    assert estimates["shares.slot"] + estimates["shares.drift"] == pytest.approx(0.5, abs=0.12)
    assert estimates["slow_s"] == pytest.approx(3.0, rel=0.4)
    assert estimates["resolution_s"] == 1.0
    assert sum(found.parameters["shares"].values()) == pytest.approx(1)
    assert "fast_s" in found.not_measured
    for name, (value, low, high) in found.intervals.items():
        assert low < value < high, name


def test_a_short_recording_tells_no_drift() -> None:
    one = drawn(330)
    found = process.estimate(one)
    assert "drift" not in found.parameters["shares"]
    assert found.not_measured["drift"] == "the recording lasts 329 s"


def test_an_uplink_goes_on_over_the_bounds_of_slots() -> None:
    shares = {"drift": 0.6, "slot": 0.2, "slow": 0.1, "fast": 0.1}
    down = drawn(4_000, 2, CAPACITY | {"shares": shares, "drift_s": 12.0, "slot_correlation": 0.0})
    up = series.make("drawn", down.times, down.values, "uplink", "saturated")
    estimates = process.flattened(process.estimate(up).parameters)
    assert estimates["drift_s"] == pytest.approx(12.0, rel=0.5)
    assert estimates["shares.drift"] == pytest.approx(0.6, abs=0.2)
    assert estimates["slot_correlation"] >= 0


def test_a_correlation_of_slots_that_is_not_seen_is_none() -> None:
    found = process.estimate(drawn(6_000, 4, CAPACITY | {"slot_correlation": -0.2}))
    assert found.parameters["slot_correlation"] == 0
    assert "slot_correlation" in found.not_measured


def test_a_thinned_series_has_short_and_long_steps() -> None:
    kept = np.flatnonzero(likelihoods.thinned(100_000, 1_000))
    assert 900 <= len(kept) <= 1_100
    steps = np.diff(kept)
    assert {1, 2, 5} < set(steps.tolist())
    assert 300 < steps.max() < 1_600
    assert likelihoods.thinned(1_000, 1_000).all()


def test_grouped_values_have_the_likelihood_of_all() -> None:
    one = drawn(6_000)
    form = Form({"location": parameters.FREE, "scale": parameters.POSITIVE}, {"floor": 0.0}, ("fast",))
    point = np.array([4.9, np.log(0.35)])
    grouped = likelihoods.Independent.of(form, one.values, 0.0)
    assert len(grouped.values) < len(one.values) / 2
    assert grouped.total(point) == pytest.approx(form.process(point).log_likelihood(one.times, one.values))
    slope, products = grouped.scored(point)
    np.testing.assert_allclose(
        slope, likelihoods.Dependent(form, one.times, one.values).slope(point), rtol=1e-4
    )
    assert products.shape == (2, 2)


def test_a_fit_has_only_the_parts_that_were_measured() -> None:
    found = fit.fit([drawn()], "roof", {"place": "Kiruna"})
    assert set(found.document) == {"format", "version", "name", "about", "slots", "downlink", "uncertainty"}
    assert found.document["about"]["place"] == "Kiruna"
    assert found.document["about"]["dates"] == ["2023-11-14"]
    assert set(found.document["downlink"]) == {"capacity"}
    Process(json.dumps(found.document["downlink"]["capacity"]))
    assert json.loads(found.text()) == found.document


def test_checks_pass_for_the_model_and_fail_for_others() -> None:
    found = fit.fit([drawn(4_000)], "roof")
    assert checks.failed(checks.check(found)) == []
    found.document["downlink"]["capacity"]["shares"] = {"fast": 1.0}
    wrong = checks.failed(checks.check(found))
    assert "downlink: share of variance between slots" in wrong
    assert "downlink: correlation of errors in a row" in wrong
    assert "downlink: 50 % quantile" not in wrong


def test_the_figure_marks_the_panels_whose_checks_fail() -> None:
    found = fit.fit([drawn(4_000)], "roof")

    def titles() -> list[str]:
        figure = figures.draw(checks.check(found))
        return [axes.get_title("left").replace("\n", " ") for axes in figure.axes]

    passed = [
        "Quantiles, downlink",
        "Medians of slots",
        "Autocorrelation of 1-s means",
        "Transform: uniform if the model fits",
    ]
    assert titles() == passed
    found.document["downlink"]["capacity"]["shares"] = {"fast": 1.0}
    assert titles() == [passed[0], f"{passed[1]} (fails)", f"{passed[2]} (fails)", passed[3]]
    found.document["downlink"]["capacity"] |= {"scale": 0.15, "shares": CAPACITY["shares"]}
    assert titles()[0] == f"{passed[0]} (fails)"
    assert titles()[3] == f"{passed[3]} (fails)"


def test_the_command_writes_the_fit_and_its_checks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = written(tmp_path / "down.csv", drawn(4_000))
    out = tmp_path / "roof"
    assert cli.main(["fit", str(data), "--out", str(out), "--place", "Kiruna"]) == 0
    assert {entry.name for entry in out.iterdir()} == {"roof.fit.json", "checks.md", "checks.png"}
    document = json.loads((out / "roof.fit.json").read_text(encoding="utf-8"))
    assert (document["name"], document["about"]["place"]) == ("roof", "Kiruna")
    assert "checks passed" in (out / "checks.md").read_text(encoding="utf-8")
    printed = capsys.readouterr().out
    assert "downlink.capacity.location" in printed
    assert "not measured: downlink.capacity.fast_s" in printed


def test_a_failed_check_is_told_and_exits_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Half of the slots are at one of two levels: no Gaussian process is.
    times = START + np.arange(4_000.0)
    levels = np.where(series.slots_of(times) % 2 == 0, 50.0, 150.0)
    noise = np.random.default_rng(1).uniform(-1, 1, len(times))
    data = written(tmp_path / "down.csv", series.make("two", times, levels + noise, "downlink", "saturated"))
    assert cli.main(["fit", str(data), "--out", str(tmp_path / "fit"), "--quiet"]) == 1
    assert "the fit fails a check: downlink: " in capsys.readouterr().err
    page = (tmp_path / "fit" / "checks.md").read_text(encoding="utf-8")
    assert "checks failed" in page
    rows, listed = page.count("**failed**"), page.count("; no conclusions on ")
    assert listed == rows > 0


def test_a_folder_that_cannot_be_written_to_is_refused_before_the_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The recording is missing, too: the folder is tried first."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    out = tmp_path / "file" / "fit"
    assert cli.main(["fit", str(tmp_path / "missing"), "--out", str(out)]) == 2
    assert f"{out}: cannot be written to: " in capsys.readouterr().err


def test_recordings_that_cannot_be_fitted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="too few for a fit; allowed: from 100 values in 20 slots"):
        process.estimate(drawn(120))
    gappy = drawn(6_000)
    with pytest.raises(InputError, match="the gaps are too long"):
        process.estimate(gappy.where(np.arange(6_000) % 12 == 0))
    with pytest.raises(InputError, match="some variation"):
        process.estimate(series.make("flat", gappy.times, np.ones(6_000), "downlink", "saturated"))
    data = written(tmp_path / "down.csv", drawn(120))
    assert cli.main(["fit", str(data), "--out", str(tmp_path / "fit")]) == 2
    assert not (tmp_path / "fit").exists()
    assert cli.main(["fit", str(data), "--out", str(tmp_path / "fit"), "--name", "a/b"]) == 2
    assert "--name: 'a/b' is no name" in capsys.readouterr().err


def test_losses_of_lossy_slots_and_outages_are_told_apart() -> None:
    rng = np.random.default_rng(3)
    times = START + 0.1 * np.arange(60_000, dtype=np.float64)
    lossy = np.repeat(rng.random(400) < 0.25, 150)
    lost = rng.random(60_000) < np.where(lossy, 0.05, 0.002)
    for begin in range(500, 60_000, 1_500):  # 40 outages of 1 s, 5 s after a slot's begin
        lost[begin : begin + 10] = True
    one = series.make("drawn", times, np.where(lost, np.nan, 40.0), "rtt", "idle")
    shown = losses.losses(one)
    assert shown.interruptions is None
    assert shown.chain.parameters is not None
    assert shown.chain.parameters["clean"] == pytest.approx(0.002, rel=0.4)
    assert shown.chain.parameters["lossy"] == pytest.approx(0.05, rel=0.15)
    found = losses.outages(one, shown.outages).parameters
    assert found is not None
    # Chance makes a few runs of three besides.
    assert found["rate_per_s"] < 1e-3
    assert found["at_boundary"] == pytest.approx(40 / 400, rel=0.1)
    assert found["after_s"] <= 5 < found["after_s"] + found["within_s"]
    assert found["length"]["median_s"] == pytest.approx(1.0, rel=0.1)


def test_the_loss_of_two_directions_is_that_of_the_round_trip() -> None:
    both = {"clean": 0.01, "lossy": 0.1, "to_lossy": 0.1, "to_clean": 0.4}
    one = losses.one_way(both)
    share = one["to_lossy"] / (one["to_lossy"] + one["to_clean"])
    assert 1 - (1 - share) ** 2 == pytest.approx(0.2)
    assert 1 - (1 - one["clean"]) ** 2 == pytest.approx(0.01)
    assert 1 - (1 - one["lossy"]) * (1 - one["clean"]) == pytest.approx(0.1)


def test_a_recording_without_a_date_is_put_on_the_grid_of_slots() -> None:
    one = drawn(2_400)
    shifted = series.make("relative", one.times - START + 4.0, one.values, "downlink", "saturated")
    found = fit.fit([shifted], "relative").series["downlink"]
    # A slot began 0 s into the recording: modulo 15 s, this is second 12.
    assert found.times[0] % 15 == pytest.approx(12.0, abs=0.5)
