"""The inferred path is the true one where the transfer shows it, and bounded where it does not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from leobench.fitting.replay import posterior, results
from tests.replay import paths

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from leobench.fitting.replay.posterior import Posterior

    Array = NDArray[np.float64]

DRAWS = 12


def infer(recording: Path, queue_limit: float | None = None) -> Posterior:
    return posterior.infer(results.read(recording, None), None, None, DRAWS, 1, queue_limit)


def between(values: Array, start_s: float, end_s: float) -> list[float]:
    """The 5, 50 and 95 % quantiles over draws and a part of the time."""
    part = values[:, round(10 * start_s) : round(10 * end_s)]
    return [float(each) for each in np.quantile(part, (0.05, 0.5, 0.95))]


def test_a_step_of_a_saturated_link_is_found(tmp_path: Path) -> None:
    found = infer(paths.record(tmp_path, [(0, 20.0), (6, 8.0)]))
    assert between(found.paths.capacity, 2, 5.5)[1] == pytest.approx(20.0, rel=0.03)
    assert between(found.paths.capacity, 7, 11)[1] == pytest.approx(8.0, rel=0.03)
    assert between(found.paths.base_ms, 0, 11)[1] == pytest.approx(40.0, abs=4.0)
    assert found.queue_limit == 150_000
    assert found.queue_known
    assert found.loss.max() == 0.0


def test_a_sender_without_data_only_bounds_the_capacity(tmp_path: Path) -> None:
    source = {"kind": "cbr", "rate": "2 Mbps", "size": "5 kB"}
    recording = paths.record(tmp_path, flow={**paths.BULK, "source": source})
    transfer = results.read(recording, None)
    found = posterior.infer(transfer, None, None, DRAWS, 1)
    assert found.paths.bound[:, 10:].mean() > 0.9
    assert (found.paths.capacity >= 0.95 * found.observed_mbps).mean() > 0.95
    low, _, high = between(found.paths.capacity, 1, 11)
    assert high > 2 * low, "nothing says how much more there was"


def test_losses_of_the_channel_are_not_those_of_the_queue(tmp_path: Path) -> None:
    recording = paths.record(tmp_path, queue="2 MB", loss=2e-3)
    found = infer(recording, queue_limit=2e6)
    assert found.loss.mean() == pytest.approx(2e-3, rel=0.5)


def test_an_unknown_limit_of_the_queue_is_inferred_where_it_drops(tmp_path: Path) -> None:
    transfer = results.read(paths.record(tmp_path, [(0, 20.0)], seconds=20.0, queue="120 kB"), None)
    found = posterior.infer(replace(transfer, queue_limit=None), None, None, DRAWS, 1)
    assert not found.queue_known
    assert found.queue_limit == pytest.approx(120_000, rel=0.15)
    assert found.loss.max() == 0.0


def test_round_trips_of_a_light_flow_settle_the_base_delay(tmp_path: Path) -> None:
    """A path whose heavy flow always queues leaves it open; a light one beside it does not."""
    transfer = results.read(paths.record(tmp_path, base_ms=40.0, queue="1 MB"), None)
    kept = transfer.times > 2.0
    late = replace(
        transfer,
        **{
            name: getattr(transfer, name)[kept]
            for name in ("times", "sent", "in_flight", "lost", "rtt_s", "queue")
        },
    )
    late = replace(late, times=late.times - late.times[0], queue_limit=None)
    light = np.arange(0.0, 9.0, 0.05), np.full(180, 0.040)
    alone = posterior.infer(late, None, None, DRAWS, 1)
    beside = posterior.infer(late, None, light, DRAWS, 1)
    assert between(alone.paths.base_ms, 1, 8)[1] > 60.0
    assert between(beside.paths.base_ms, 1, 8)[1] == pytest.approx(40.0, abs=1.0)


def test_the_seed_decides_everything(tmp_path: Path) -> None:
    transfer = results.read(paths.record(tmp_path, seconds=6.0), None)
    one, same, other = (posterior.infer(transfer, None, None, DRAWS, seed) for seed in (1, 1, 2))
    assert np.array_equal(one.paths.capacity, same.paths.capacity)
    assert np.array_equal(one.loss, same.loss)
    assert not np.array_equal(one.paths.capacity, other.paths.capacity)
