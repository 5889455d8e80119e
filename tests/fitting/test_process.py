"""Processes of the compiled core, as Python sees them. Their mathematics is tested in Rust."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from leobench._core import Process
from leobench.errors import InputError

PARAMETERS = {
    "floor": 18.0,
    "location": 3.0,
    "scale": 0.5,
    "shares": {"slot": 0.5, "slow": 0.2, "fast": 0.3},
    "slow_s": 2.0,
}
TIMES = np.arange(0.0, 3_000.0, 0.25)


@pytest.fixture
def process() -> Process:
    return Process(json.dumps(PARAMETERS))


def test_samples_have_the_marginal_distribution(process: Process) -> None:
    drawn = np.concatenate([process.sample(TIMES, seed) for seed in range(20)])
    at = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
    numbers = np.asarray(stats.norm.ppf(at))
    expected = 18 + np.exp(3 + 0.5 * numbers)
    np.testing.assert_allclose(np.quantile(drawn, at), expected, rtol=0.02)
    np.testing.assert_allclose(process.quantile(numbers), expected)


def test_innovations_are_standard_normal_and_add_up_to_the_likelihood(process: Process) -> None:
    values = process.sample(TIMES, 1)
    values[100:200] = np.nan
    mean, deviation, number = process.innovations(TIMES, values)
    assert np.isnan(mean[100:200]).all()
    error = (number - mean) / deviation
    error = error[~np.isnan(error)]
    assert len(error) == len(TIMES) - 100
    assert stats.kstest(error, "norm").pvalue > 0.001
    above = values[~np.isnan(values)] - 18
    # Log-normal: dz / dy = 1 / (scale (y - floor)).
    expected = np.asarray(stats.norm.logpdf(number, mean, deviation))
    expected = expected[~np.isnan(expected)].sum() - np.log(0.5 * above).sum()
    assert process.log_likelihood(TIMES, values) == pytest.approx(expected)


def test_predictions_begin_where_the_series_ends(process: Process) -> None:
    values = process.sample(TIMES, 3)
    at = TIMES[-1] + np.array([0.0, 60.0])
    drawn = process.predict(TIMES, values, at, seed=1, draws=2_000)
    assert drawn.shape == (2_000, 2)
    # Without a slot in between the level is known; after four of them only the marginal distribution is.
    assert np.median(drawn[:, 1]) == pytest.approx(18 + np.exp(3), rel=0.05)
    assert np.std(np.log(drawn[:, 1] - 18)) == pytest.approx(0.5, rel=0.05)
    assert np.array_equal(drawn, process.predict(TIMES, values, at, seed=1, draws=2_000))


def test_a_value_at_the_floor_has_no_likelihood(process: Process) -> None:
    assert process.log_likelihood(np.array([0.0, 1.0]), np.array([30.0, 18.0])) == -np.inf


@pytest.mark.parametrize(
    ("times", "values", "message"),
    [
        ([0.0, 1.0], [20.0], "2 times have 1 values"),
        ([1.0, 0.0], [20.0, 20.0], "time 1 is 0 s, after 1 s"),
    ],
)
def test_series_that_cannot_be(
    process: Process, times: list[float], values: list[float], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        process.log_likelihood(np.array(times), np.array(values))


def test_parameters_that_cannot_be() -> None:
    with pytest.raises(InputError, match=r"shares.* add up to 0\.5"):
        Process(json.dumps(PARAMETERS | {"shares": {"slot": 0.5}}))
    with pytest.raises(InputError, match="scale"):
        Process(json.dumps(PARAMETERS | {"scale": -1}))
