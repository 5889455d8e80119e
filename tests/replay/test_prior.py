"""The prior is the process of the core, and a fit that cannot be one is refused."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leobench import InputError, _core
from leobench.fitting import fit_files
from leobench.fitting.replay.filter import _NUGGET, _Future, _Gaussian
from leobench.fitting.replay.prior import Process, of_fit

PROCESS = Process(
    5.0,
    math.log(30.0),
    0.5,
    (0.2, 0.3, 0.4, 0.1),
    0.2,
    0.8,
    200.0,
    slot_correlation=0.5,
    slow_s=2.0,
    fast_s=0.05,
)


def test_values_are_those_of_the_core() -> None:
    z = np.linspace(-3.0, 3.0, 25)
    core = _core.Process(json.dumps(PROCESS.to_dict()))
    assert PROCESS.value(z) == pytest.approx(core.quantile(z), rel=1e-9)
    assert PROCESS.z(PROCESS.value(z)) == pytest.approx(z, abs=1e-6)


def test_the_slope_is_the_derivative() -> None:
    z = np.linspace(-2.0, 2.0, 9)
    numeric = (PROCESS.value(z + 1e-5) - PROCESS.value(z - 1e-5)) / 2e-5
    assert PROCESS.slope(z) == pytest.approx(numeric, rel=1e-5)


def autocovariance(process: Process, times: list[float]) -> Any:
    """The covariance of z at times, from the definition of its parts."""

    def between(one: float, other: float) -> float:
        gap, slots = abs(one - other), abs(process.slot(one) - process.slot(other))
        drift, slot, slow, fast = process.shares
        assert process.fast_s is not None
        within = slow * math.exp(-gap / process.slow_s) if slots == 0 else 0.0
        return (
            drift * math.exp(-gap / process.drift_s)
            + slot * process.slot_correlation**slots
            + within
            + fast * math.exp(-gap / process.fast_s)
        )

    return np.array([[between(one, other) for other in times] for one in times])


def test_the_core_has_the_same_likelihood_as_the_covariance_of_the_parts() -> None:
    times = [26.7, 26.8, 26.95, 27.1, 27.2, 42.3]
    z = np.array([0.3, 0.5, -0.2, 1.1, 0.7, -0.4])
    covariance = autocovariance(PROCESS, times)
    log = -0.5 * (z @ np.linalg.solve(covariance, z) + np.linalg.slogdet(2 * np.pi * covariance)[1])
    log -= np.log(PROCESS.slope(z)).sum()
    core = _core.Process(json.dumps(PROCESS.to_dict()))
    assert core.log_likelihood(np.array(times), PROCESS.value(z)) == pytest.approx(log, abs=1e-6)


def test_backward_weights_are_the_density_of_the_rest_of_a_path() -> None:
    """Two particles differ in the likelihood of the rest, which the joint normal distribution gives, too."""
    times = [26.8, 26.9, 27.1, 27.2]
    rest = np.array([[0.4, -0.3, 0.9]])
    past = np.array([[0.8], [-0.6]])
    gaussian = _Gaussian(PROCESS, 2)
    gaussian.advance(times[0], times[0])
    gaussian.learn(past[:, 0])
    future = _Future(1)
    for at in (3, 2, 1):
        future.add(rest[:, at - 1], *PROCESS.transition(times[at - 1], times[at]))
    found = future.weight(gaussian.mean, gaussian.covariance)[0]

    covariance = autocovariance(PROCESS, times) + _NUGGET * np.eye(4)
    gain = covariance[1:, 0] / covariance[0, 0]
    conditional = covariance[1:, 1:] - np.outer(gain, covariance[0, 1:])
    off = rest - past * gain
    exact = [-0.5 * each @ np.linalg.solve(conditional, each) for each in off]
    assert found[0] - found[1] == pytest.approx(exact[0] - exact[1], abs=1e-6)


def test_a_sampled_path_has_the_variances_of_its_parts() -> None:
    process = replace(PROCESS, fast_s=None, slot_correlation=0.0, drift_s=1.0, slow_s=0.1)
    times = np.arange(0.0, 9000.0, 1.5)
    z = process.z(process.sample(times, np.random.default_rng(3)))
    assert z.std() == pytest.approx(1.0, abs=0.05)
    # Between two samples of a slot: drift by exp(-1.5), slot by 1, others not at all.
    slots = np.array([process.slot(float(time)) for time in times])
    same = slots[1:] == slots[:-1]
    found = float(np.mean(z[1:][same] * z[:-1][same]))
    assert found == pytest.approx(0.2 * math.exp(-1.5) + 0.3, abs=0.06)


FIT: dict[str, Any] = {
    "format": "leobench-fit",
    "version": 1,
    "name": "some",
    "delay": {"process": PROCESS.to_dict()},
    "downlink": {"capacity": PROCESS.to_dict()},
}


def read(folder: Path, fit: object) -> dict[str, Any]:
    file = folder / "some.fit.json"
    file.write_text(json.dumps(fit), encoding="utf-8")
    return fit_files.read(file)


def test_a_fit_is_a_prior(tmp_path: Path) -> None:
    found = of_fit(read(tmp_path, FIT))
    assert found.capacity == found.delay == PROCESS
    without = {key: part for key, part in FIT.items() if key != "delay"}
    assert of_fit(read(tmp_path, without)).delay is None
    with pytest.raises(InputError, match="the fit some has no capacity of the uplink"):
        of_fit(read(tmp_path, FIT), "uplink")


def test_absent_keys_have_the_defaults_of_the_core(tmp_path: Path) -> None:
    short = {"location": 3, "scale": 0.5, "shares": {"slot": 0.5, "fast": 0.5}}
    found = of_fit(read(tmp_path, {**FIT, "downlink": {"capacity": short}})).capacity
    assert (found.drift_s, found.slow_s, found.slot_correlation, found.phase_s) == (1_800, 3, 0, 12)


def test_fits_that_ship_have_names() -> None:
    assert of_fit(fit_files.read(Path("osnabrueck-2024"))).delay is None


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        ([], "a table"),
        ({"format": "other"}, "leobench-fit"),
        ({**FIT, "version": 9}, "version"),
        ({**FIT, "colour": 1}, "colour"),
        ({**FIT, "outages": {"rate_per_s": -1, "length": {"median_s": 1}}}, "outages.rate_per_s"),
        ({**FIT, "downlink": {"capacity": {"floor": 0}}}, "downlink.capacity.location"),
        (
            {**FIT, "downlink": {"capacity": {**PROCESS.to_dict(), "shares": {"drift": 0.5}}}},
            "downlink.capacity.shares",
        ),
        ({**FIT, "downlink": {"capacity": {**PROCESS.to_dict(), "scale": "wide"}}}, "capacity.scale"),
        ({**FIT, "delay": {"process": {**PROCESS.to_dict(), "slow_s": 0}}}, "delay.process.slow_s"),
    ],
)
def test_a_fit_that_is_not_sound_is_refused(tmp_path: Path, fit: object, message: str) -> None:
    with pytest.raises(InputError, match=rf"some\.fit\.json.*{message}"):
        read(tmp_path, fit)


def test_an_absent_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"nothing: is neither a file nor a fit that ships; allowed: a file, .*starlink"
    ):
        fit_files.read(tmp_path / "nothing")
