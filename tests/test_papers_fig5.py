from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl
from matplotlib.text import Annotation

from leobench.papers.khan2023 import figures

if TYPE_CHECKING:
    from pathlib import Path

METRICS = (
    "links.uplink/client->server.queue_delay_ms.mean",
    "flows.main.delay_ms.mean",
    "flows.main.goodput_bps",
)
QUEUES = {"7 packets": 0.3, "15 packets": 1.0, "unlimited": 5_000.0}


def runs(spread: float) -> pl.DataFrame:
    """Two runs of every variant, so much of their mean apart."""
    rows = [
        {
            "links.uplink.channel.preset": band, "links.uplink.queue.limit": queue,
            "flows.main.streams": streams, "metric": metric, "value": mean * (1 + sign * spread / 2),
        }
        for band, (queue, mean), streams, metric, sign in itertools.product(
            ("ka", "s"), QUEUES.items(), (1, 2), METRICS, (-1, 1)
        )
    ]  # fmt: skip
    return pl.DataFrame(rows)


def test_intervals_that_reach_below_zero_end_in_arrows_and_not_in_caps(tmp_path: Path) -> None:
    drawn: dict[float, Any] = {
        spread: figures.fig5(
            cast("Any", SimpleNamespace(replicates=2)),
            cast("Any", SimpleNamespace(runs=runs(spread))),
            tmp_path,
        )
        for spread in (0.01, 0.5)
    }
    for spread, figure in drawn.items():
        for axes in figure.axes:
            assert axes.get_yscale() == "log"
            assert axes.get_xlabel() == "queue limit"
            arrows = [each for each in axes.texts if isinstance(each, Annotation) and each.arrow_patch]
            caps = [line for line in axes.get_lines() if line.get_marker() == "_"]
            # With one degree of freedom, t reaches 12.7 standard errors: 6.35 times the spread.
            below = 6.35 * spread > 1
            assert len(arrows) == (6 if below else 0)
            assert np.isfinite(np.concatenate([line.get_ydata() for line in caps])).sum() == (
                6 if below else 12
            )
        said = figure.get_supxlabel()
        assert said.startswith("means of 2 runs with 95 % confidence intervals")
        assert ("arrow" in said) == below
