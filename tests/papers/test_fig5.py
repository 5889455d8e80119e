from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import polars as pl
from matplotlib.text import Annotation

import leobench
from leobench.campaign import Campaign, dataset
from leobench.overrides import as_text
from leobench.papers.khan2023 import figures
from leobench.papers.words import rename
from leobench.plots import style

METRICS = (
    "links.uplink/client->server.queue_delay_ms.mean",
    "flows.main.delay_ms.mean",
    "flows.main.goodput_bps",
)
TCP = as_text({"kind": "tcp", "tls": True, "receive_buffer": "unlimited", "send_buffer": "unlimited"})
FLOWS = ((TCP, 1), ("quic", 1), ("quic", 2))
QUEUES = {"7 packets": 0.3, "15 packets": 1.0, "unlimited": 5_000.0}


def runs(spread: float) -> pl.DataFrame:
    """Two runs of every variant, so much of their mean apart: TCP, and QUIC with one stream and with two."""
    rows = [
        {
            "links.uplink.channel.preset": band, "links.uplink.queue.limit": queue,
            "flows.main.transport": transport, "flows.main.streams": streams, "metric": metric,
            "value": mean * (1 + sign * spread / 2),
        }
        for band, (queue, mean), (transport, streams), metric, sign in itertools.product(
            ("ka", "s"), QUEUES.items(), FLOWS, METRICS, (-1, 1)
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
            assert len(arrows) == (9 if below else 0)
            assert np.isfinite(np.concatenate([line.get_ydata() for line in caps])).sum() == (
                9 if below else 18
            )
        said = figure.get_supxlabel()
        assert said.startswith("means of 2 runs with 95 % confidence intervals")
        assert ("arrow" in said) == below


def test_tcp_is_told_from_quic_and_its_streams(tmp_path: Path) -> None:
    figure = figures.fig5(
        cast("Any", SimpleNamespace(replicates=2)), cast("Any", SimpleNamespace(runs=runs(0.01))), tmp_path
    )
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["TCP", "QUIC 1", "QUIC 2"]
    for axes in figure.axes:
        shown = dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True))
        assert cast("Any", shown["TCP"]).get_color() == style.VERMILION


def test_fq_codel_stands_above_a_device_queue_of_the_same_limits() -> None:
    """The reading compares the same flows and limits, and a ring without limit is a queue without limit."""
    folder = Path(figures.__file__).parent
    places = ("links.uplink.channel.preset", "links.uplink.queue.limit", "protocol", "flows.main.streams")
    stated, read = (
        rename(dataset.variants(Campaign.load(folder / f"{name}.toml")), figures.WORDS).select(places)
        for name in ("fig5", "fig5-fq-codel")
    )
    assert stated.equals(read)
    unmanaged = {"kind": "device", "ring": "unlimited", "queue": {"kind": "fq_codel", "ecn": False}}
    delays = [
        leobench.run(folder / "lms.toml", 1, {"duration": "2 s", **queue}).summary["links"][0][
            "queue_delay_ms"
        ]
        for queue in ({}, {"links.uplink.queue": unmanaged})
    ]
    assert delays[0] == delays[1]
