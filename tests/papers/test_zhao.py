"""The measures of a session on a table made by hand, and the means of the published sessions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import polars as pl
import pytest

from leobench.papers.zhao2024 import figures, measures

if TYPE_CHECKING:
    from leobench.campaign import CampaignResult

S = 1_000_000_000


def test_the_first_fifth_of_a_session_does_not_count() -> None:
    """Of ten, the last eight count: three at 6 and five at 1.5 Mbit/s, two changes, stalled 0.7 of 14 s."""
    mbps = [0.3, 0.3, 6, 6, 1.5, 1.5, 1.5, 1.5, 1.5, 6]
    segments = pl.DataFrame(
        {
            "variant": ["a"] * 10,
            "replicate": [1] * 10,
            "segment": list(range(10)),
            "t_ns": [2 * S * number for number in range(10)],
            "bitrate_bps": [int(rate * 1e6) for rate in mbps],
            "stalled_ns": [S, 0, 0, 0, 0, 0, S // 2, S // 5, 0, 0],
        }
    )
    runs = pl.DataFrame(
        {
            "variant": ["a"],
            "replicate": [1],
            "metric": ["flows.stream.video.latency_s"],
            "value": [3.25],
            "flows.stream.video.live.latency": ["3 s"],
        }
    )
    result = SimpleNamespace(tables=SimpleNamespace(segments=segments), runs=runs)
    found = measures.of_sessions(cast("CampaignResult", result))
    assert found.columns == ["variant", "replicate", "metric", "value"]
    assert set(found["metric"]) == set(measures.NAMES)
    values = dict(zip(found["metric"], found["value"], strict=True))
    assert values["bitrate_mbps"] == pytest.approx((3 * 6 + 5 * 1.5) / 8)
    assert (values["switches"], values["behind_s"]) == (2, 0.25)
    assert values["stalled_percent"] == pytest.approx(100 * 0.7 / 14)


def test_the_published_means_are_those_of_the_sessions() -> None:
    """Counted once more from the authors' files: the mean bitrate of Dynamic with 3 s over Starlink."""
    rows = figures.sessions()
    assert rows.height == 48
    assert rows["sessions"].sum() == 400
    (row,) = rows.filter(network="starlink", target="3s", algorithm="dynamic").iter_rows(named=True)
    assert (row["bitrate_mbps_mean"], row["behind_s_mean"]) == (pytest.approx(2.439), pytest.approx(0.333))
