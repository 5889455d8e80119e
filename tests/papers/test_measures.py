"""The metrics that figures add are those that they declare, because readings are checked against these."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import polars as pl
import pytest

from leobench import papers
from leobench.campaign import Campaign, run_campaign
from leobench.papers import reproduction, settings, two_streams
from leobench.papers.khan2023 import published

if TYPE_CHECKING:
    from pathlib import Path

    from leobench.campaign import CampaignResult

MEASURED = [
    pytest.param(figure, id=f"{paper.name}/{figure.name}")
    for paper in papers.papers()
    for figure in paper.figures
    if figure.measure is not None and figure.readings
]


@pytest.mark.parametrize("figure", MEASURED)
def test_figures_declare_what_they_measure(figure: papers.Figure, tmp_path: Path) -> None:
    campaign = Campaign.load(figure.campaign)
    short: dict[str, object] = {"duration": "300 ms"}
    if campaign.name == "bujari2023-fig3":
        short = {"flows.upload.source.size": "15 MB"}
    elif campaign.name.startswith("bujari2023"):
        short = {"duration": "135 s"}
    elif campaign.name.startswith("yang2024-fig1"):
        short = {"duration": "6 s", "flows.upload.source.size": "50 kB"}
    one = campaign.restricted([campaign.variants[0].name]).scaled(1, short)
    result = run_campaign(one, tmp_path / "out", workers=1)
    assert figure.measure is not None
    assert set(figure.measures) <= set(figure.measure(result)["metric"])


@pytest.mark.parametrize(
    ("paper", "figure"),
    [
        pytest.param(paper, figure, id=f"{paper.name}/{figure.name}")
        for paper in papers.papers()
        for figure in paper.figures
    ],
)
def test_the_readings_of_every_figure_fit(paper: papers.Paper, figure: papers.Figure) -> None:
    campaign = reproduction.planned(figure, quick=True)
    stated = reproduction.stated_claims(paper, figure)
    own, *others = settings.settings(figure, campaign, stated)
    assert own.campaign is campaign
    for each in others:
        assert each.campaign.replicates == campaign.replicates
        assert each.campaign.seed == campaign.seed
        assert each.campaign.name.endswith(f"+{each.name}")


def batches(*rows: tuple[str, int, int, int]) -> CampaignResult:
    """A run of the given messages: stream, created, first sent (ms), sampled at 100, 200 and 300 ms."""
    messages = pl.DataFrame(
        {
            "variant": "v",
            "replicate": 1,
            "stream": stream,
            "created_ns": created * 10**6,
            "first_sent_ns": sent * 10**6,
            "message": number,
        }
        for number, (stream, created, sent, _) in enumerate(rows)
    )
    samples = pl.DataFrame(
        {
            "variant": "v",
            "replicate": 1,
            "t_ns": time * 10**6,
            "stream": stream,
            "backlog_bytes": 1,
            "sojourn_sum_ns": 1,
            "head_age_ns": 1,
        }
        for time in (100, 200, 300)
        for stream in two_streams.STREAMS
    )
    tables = SimpleNamespace(streams=samples)
    return cast("CampaignResult", SimpleNamespace(tables=tables, scan=lambda _: messages.lazy()))


def test_sojourn_times_over_batches_count_a_batch_once() -> None:
    # Fast: two messages of one slot, from 10 ms until 250 ms; slow: one message from 60 ms until 220 ms.
    measured = two_streams.sojourn_measures(
        batches(("fast", 10, 150, 0), ("fast", 40, 250, 0), ("slow", 60, 220, 0))
    )
    (value,) = measured.filter(metric="batch_sojourn_imbalance")["value"]
    fast, slow = (90, 190, 0), (40, 140, 0)
    assert value == pytest.approx((50 + 50) / (sum(fast) + sum(slow)))


def test_published_means_are_compared_with_ours() -> None:
    runs = pl.DataFrame(
        {
            "variant": f"{off}",
            "links.isl.channel.off": off,
            "flows.main.transport.receive_buffer": "131072 B",
            "replicate": replicate,
            "seed": replicate,
            "metric": metric,
            "value": value * (1 + 0.01 * replicate),
        }
        for off, rate, delay in published.PUBLISHED
        for replicate in (-1, 1)
        for metric, value in (("flows.main.goodput_bps", 2e6 * rate), ("flows.main.delay_ms.mean", delay / 2))
    )
    result = cast("CampaignResult", SimpleNamespace(runs=runs))
    ratios = published.measures(result)
    assert ratios.filter(metric="throughput_ratio", replicate=1)["value"].to_list() == pytest.approx(
        [2.02] * 6
    )
    assert ratios.filter(metric="delay_ratio", replicate=-1)["value"].to_list() == pytest.approx([0.495] * 6)
    rows = published.compared(result)
    assert rows["ratio"].to_list() == pytest.approx([2.0] * 6 + [0.5] * 6)
    page = published.table(rows)
    assert "| 131072 B | 0 s | 26.3 | 52.6 | " in page
    assert page.count("| 131072 B |") == 12
