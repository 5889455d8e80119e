"""Flows with a `count`, and other short ways to say things, from the command line to the summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import leobench
from leobench import cli
from leobench.campaign import Campaign, run_campaign

if TYPE_CHECKING:
    from pathlib import Path

POISSON = {"kind": "poisson", "rate": "1 Mbps", "size": "1000 B"}


def test_a_count_makes_equal_flows_with_random_numbers_of_their_own(quick: Path) -> None:
    result = leobench.run(quick, overrides={"flows.main.count": 3, "flows.main.source": POISSON})
    flows = result.summary["flows"]
    assert [flow["name"] for flow in flows] == ["main-1", "main-2", "main-3"]
    assert list(result.scenario["flows"]) == ["main-1", "main-2", "main-3"]
    created = [result.tables.messages.filter(flow=flow["name"])["created_ns"].to_list() for flow in flows]
    assert len({tuple(times) for times in created}) == 3
    # Arrivals of the name, not of the number of flows: one more changes none of the others.
    two = leobench.run(quick, overrides={"flows.main.count": 2, "flows.main.source": POISSON})
    assert two.tables.messages.filter(flow="main-2")["created_ns"].to_list() == created[1]


def test_metrics_of_campaigns_address_the_flows_of_a_count(quick: Path, tmp_path: Path) -> None:
    file = tmp_path / "counts.toml"
    file.write_text(
        f"""
        name = "counts"
        scenario = "{quick.name}"
        replicates = 1
        metrics = ["flows.main-1.goodput_bps", "fairness_jain"]
        [[grid]]
        "flows.main.count" = [1, 2, 4]
        """
    )
    result = run_campaign(Campaign.load(file), tmp_path / "out", workers=1)
    goodputs = result.runs.filter(metric="flows.main-1.goodput_bps")["value"].to_list()
    assert goodputs[0] == pytest.approx(5e6, rel=0.02)
    assert goodputs[2] < 0.6 * goodputs[0], "four flows of 5 Mbit/s share 10 Mbit/s"


def test_one_direction_may_lose_nothing(quick: Path) -> None:
    loss = {"links.uplink.loss": {"kind": "bernoulli", "probability": 0.2}}
    both = leobench.run(quick, overrides=loss).summary["links"]
    assert all(link["dropped_packets"]["channel"] > 0 for link in both)
    one = leobench.run(quick, overrides={**loss, "links.uplink.backward.loss": "none"}).summary["links"]
    assert [link["dropped_packets"]["channel"] > 0 for link in one] == [True, False]


def test_small_samples_have_the_quantiles_of_their_values(quick: Path) -> None:
    """By the nearest rank, as the summary defines them, and to the nanosecond."""
    result = leobench.run(quick, overrides={"flows.main.source": {**POISSON, "rate": "3 Mbps"}})
    messages = result.tables.messages
    delays = np.sort((messages["delivered_ns"] - messages["created_ns"]).to_numpy())
    assert 500 < len(delays) < 1_000
    found = result.summary["flows"][0]["delay_ms"]
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        exact = np.quantile(delays, share, method="inverted_cdf")
        assert found[name] == exact / 1e6, name


@pytest.mark.parametrize(
    ("word", "meant"), [("controllers", "congestion"), ("cubic", "congestion cubic"), ("loss", "losses")]
)
def test_a_kind_that_there_is_not_is_told_the_nearest(
    word: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["list", word]) == 2
    assert capsys.readouterr().err.endswith(f"; did you mean `{meant}`?\n")
