"""Which metrics a campaign may ask for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from leobench.campaign import metrics
from leobench.errors import InputError

if TYPE_CHECKING:
    from leobench.campaign.plan import Campaign

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
