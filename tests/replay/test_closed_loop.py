"""The closed loop on ten truths of the model: predictions are near the truth, and nearer than naive ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tools import replay_closed_loop

if TYPE_CHECKING:
    import pytest


def test_predictions_are_nearer_to_the_truth_than_naive_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_closed_loop, "DURATION_S", 10.0)
    truth = replay_closed_loop.KINDS[0]
    rows = [row for seed in range(1, 11) for row in replay_closed_loop.judge(truth, seed, 8)]
    assert len(rows) == 60
    delays = [row for row in rows if row["target"] == "call"]
    error, naive = (
        np.mean([abs(row[which] / row["truth"] - 1) for row in delays]) for which in ("median", "naive")
    )
    assert error < 0.5 * naive
    goodputs = [row for row in rows if row["metric"] == "goodput_mbps"]
    assert np.mean([abs(row["median"] / row["truth"] - 1) for row in goodputs]) < 0.08
    # Eight draws span 7/9 of the truths on average where they are right.
    assert np.mean([row["low"] <= row["truth"] <= row["high"] for row in rows]) > 0.55
