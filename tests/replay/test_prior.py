"""The prior is the process of the core, and a fit that cannot be one is refused."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from leobench import InputError, _core
from leobench.fitting.replay.filter import _NUGGET, _Future, _Gaussian
from leobench.fitting.replay.prior import Process, read_fit

if TYPE_CHECKING:
    from pathlib import Path

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
    "slots": {"every_s": 15, "phase_s": 12},
    "delay": {"process": PROCESS.to_dict()},
    "downlink": {"capacity": PROCESS.to_dict(), "loss": None},
    "uplink": {"capacity": None},
}


def write(folder: Path, fit: object) -> Path:
    file = folder / "some.fit.json"
    file.write_text(json.dumps(fit), encoding="utf-8")
    return file


def test_a_fit_is_read(tmp_path: Path) -> None:
    found = read_fit(write(tmp_path, FIT))
    assert found.capacity == found.delay == PROCESS
    assert read_fit(write(tmp_path, {**FIT, "delay": None})).delay is None


@pytest.mark.parametrize(
    ("fit", "direction", "message"),
    [
        ([], "downlink", "is not a fit"),
        ({"format": "other"}, "downlink", "is not a fit"),
        (FIT, "uplink", "has no capacity of the uplink"),
        ({**FIT, "downlink": None}, "downlink", "has no capacity of the downlink"),
        ({**FIT, "downlink": {"capacity": {"floor": 0}}}, "downlink", "downlink.capacity.shares"),
        (
            {**FIT, "downlink": {"capacity": {**PROCESS.to_dict(), "shares": {"drift": 0.5}}}},
            "downlink",
            "with the sum 1",
        ),
        (
            {**FIT, "downlink": {"capacity": {**PROCESS.to_dict(), "scale": "wide"}}},
            "downlink",
            "capacity.scale",
        ),
        (
            {**FIT, "delay": {"process": {**PROCESS.to_dict(), "slow_s": 0}}},
            "downlink",
            "delay.process.slow_s",
        ),
    ],
)
def test_a_fit_that_is_no_prior_is_refused(tmp_path: Path, fit: object, direction: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_fit(write(tmp_path, fit), direction)
