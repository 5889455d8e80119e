"""Which metrics a campaign may ask for."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import cast

import pytest

import leobench
from leobench.campaign import Campaign, metrics
from leobench.errors import InputError
from tests.support.paths import ROOT

KNOWN = ("flows.main.handovers.each.move-0.outage_ms", "flows.main.goodput_bps")


def asked(metric: str) -> Campaign:
    return cast("Campaign", SimpleNamespace(metrics=[metric], source=lambda key: f"c.toml: {key}"))


@pytest.mark.parametrize("number", [0, 1, 27])
def test_a_metric_of_a_later_handover_is_known(number: int) -> None:
    """The runs of a millisecond that tell the metrics have one handover."""
    metrics.refuse_unknown(asked(f"flows.main.handovers.each.move-{number}.outage_ms"), KNOWN)


@pytest.mark.parametrize(
    "metric",
    [
        "flows.main.handovers.each.other-1.outage_ms",
        "flows.main.handovers.each.move-1.outage",
        "flows.main.handovers.each.move-x.outage_ms",
        "flows.main-1.goodput_bps",
    ],
)
def test_others_are_refused_by_name(metric: str) -> None:
    with pytest.raises(InputError, match=r"no run produces it"):
        metrics.refuse_unknown(asked(metric), KNOWN)


def test_metrics_of_several_paths_are_those_of_a_run() -> None:
    """Paths open later than the short run ends; what a campaign may ask for is what a longer run has."""
    summary = leobench.run(ROOT / "scenarios" / "multipath.toml", overrides={"duration": "2 s"}).summary
    known = set(metrics.flatten(summary))
    campaign = Campaign.load(ROOT / "campaigns" / "paths-file.toml")
    foreseen = metrics.produced(campaign)
    assert foreseen is not None
    of_paths = {name.split(".", 2)[2] for name in known if name.startswith("flows.upload.paths.")}
    assert of_paths == {
        name.split(".", 2)[2] for name in foreseen if re.match(r"flows\.main\.paths\.[01]\.", name)
    }
    assert {"flows.main.reinjected_bytes", "flows.main.reordering_delay_ms.p95"} <= foreseen


def test_counts_that_a_stack_does_not_report_are_not_measured() -> None:
    flow = {"name": "main", "goodput_bps": 1e6, "timeouts": 0, "undos": 3, "unreported": ["timeouts"]}
    found = metrics.flatten({"flows": [flow], "links": [{"name": "a", "dropped": 2}]})
    assert found == {
        "flows.main.goodput_bps": 1e6,
        "flows.main.timeouts": None,
        "flows.main.undos": 3,
        "links.a.dropped": 2,
    }
