"""The measures of Yang et al. 2024, by hand on made-up runs."""

from __future__ import annotations

import numpy as np
import pytest

from leobench import papers
from leobench.papers import claims
from leobench.papers.yang2024 import series


def path(
    window: list[float], *, product: float = 100.0, phase: str = "avoidance", mbps: float = 1.0
) -> series.Path:
    """A subflow with a sample per 100 ms."""
    t_s = np.arange(len(window)) / 10
    constant = np.ones(len(window))
    return series.Path(
        t_s, np.array(window), 50 * constant, 1e6 * mbps * t_s, product * constant, [phase] * len(window)
    )


def run(*paths: series.Path, satellites: list[list[tuple[float, str]]] | None = None) -> series.Run:
    length = max(float(each.t_s[-1]) for each in paths)
    tcp = [(np.array([0.0, length]), np.array([0.0, 1e6 * length]))] * 2
    return series.Run(("v", 1), list(paths), tcp, satellites or [[(0.0, "A")], [(0.0, "B")]], length)


# A handover of the second subflow to A at 3 s, of the first to C at 6 s, and of the second to C at 8 s.
TURNS = [[(0.0, "A"), (6.0, "C")], [(0.0, "B"), (3.0, "A"), (8.0, "C")]]


def test_periods_are_those_of_one_satellite_and_of_two() -> None:
    one = run(path([1.0] * 101), path([1.0] * 101), satellites=TURNS)
    assert one.shared() == [(3.0, 6.0), (8.0, 10.0)]
    assert one.disjoint() == [(0.0, 3.0), (6.0, 8.0)]
    assert series.chain_measures(one) == {"handover_interval_s": 2.5, "sharing_interval_s": 5.0}


def test_windows_are_those_of_a_subflow_and_of_both() -> None:
    measured = series.window_measures(run(path([10.0] * 60 + [30.0] * 41), path([20.0] * 101)))
    assert measured["peak_window"] == measured["late_peak_window"] == 30.0
    assert measured["peak_total"] == 50.0
    assert measured["window"] == pytest.approx((60 * 10 + 41 * 30 + 101 * 20) / 202)
    assert measured["window_total"] == pytest.approx(2 * measured["window"])
    assert np.isnan(measured["window_before_handover"])


def test_a_window_that_falls_before_a_handover_shows() -> None:
    # At 6 s: 50 packets for 200 ms, after 100 in the second before.
    first = path([100.0] * 58 + [50.0] * 43)
    measured = series.window_measures(run(first, path([7.0] * 101), satellites=[TURNS[0], [(0.0, "B")]]))
    assert measured["window_before_handover"] == pytest.approx(0.5)


def test_throughput_is_compared_with_tcp_by_period() -> None:
    measured = series.throughput_measures(
        run(path([1.0] * 101, mbps=2.0), path([1.0] * 101, mbps=1.0), satellites=TURNS)
    )
    assert measured["throughput_bps"] == measured["peak_bps"] == pytest.approx(3e6)
    assert measured["shared_over_tcp"] == measured["disjoint_over_tcp"] == pytest.approx(3.0)
    assert measured["shared_over_all_tcp"] == pytest.approx(1.5)


def test_a_recovery_ends_at_the_product() -> None:
    # Below it from the start: 100 ms a step, and 100 packets after four steps. Another phase begins above it.
    growing = path([60.0, 70.0, 80.0, 90.0, 100.0, 110.0])
    assert series.recovery_measures(run(growing))["avoidance_recovery_ms"] == pytest.approx(400.0)
    above = path([120.0] * 6)
    assert np.isnan(series.recovery_measures(run(above))["avoidance_recovery_ms"])
    assert np.isnan(series.recovery_measures(run(growing))["start_recovery_ms"])


def test_reductions_are_falls_by_more_than_a_fifth() -> None:
    assert series.reductions(run(path([100.0, 50.0, 60.0, 55.0, 30.0]), path([10.0] * 5))) == 2.0


def test_delays_weigh_by_what_is_delivered() -> None:
    short = path([1.0] * 101, mbps=9.0)
    long = path([1.0] * 101, mbps=1.0)
    long.delay_ms[:] = 200.0
    assert series.delay_measures(run(short, long))["delay_p95_ms"] == 200.0
    long.bits[:] *= 0.4
    assert series.delay_measures(run(short, long))["delay_p95_ms"] == 50.0


def test_three_axes_make_seventeen_readings() -> None:
    """Three chains, three bottlenecks and two kinds of acknowledgements, less the claim as written."""
    stated = claims.read(papers.paper("yang2024").claims)
    assert max(len(claim.readings) for claim in stated) == 3 * 3 * 2 - 1
