"""The numbers on downloads in the guide to constellations match the output of its commands."""

from __future__ import annotations

import re
from typing import Any

import pytest

import leobench
from tools import sites

PAGE = (sites.ROOT / "docs" / "reports" / "starlink.md").read_text(encoding="utf-8")
HOUR = sites.ROOT / "scenarios" / "starlink-hour.toml"

DROPS = {"constellation.old_packets": "drop", "duration": "5 min"}
HOLD = {"flows.download.transport.on_forecast": {"hold": "120 ms"}}
FORECASTS: list[tuple[str, dict[str, Any]]] = [
    ("told nothing", {}),
    ("told, and holds its data back for 120 ms and the outage", {"flows.download.forecast": {}} | HOLD),
    ("told with an error of 100 ms", {"flows.download.forecast": {"time_error": "100 ms"}} | HOLD),
]


def row(start: str) -> list[str]:
    """The cells behind the first of a row of the page."""
    (found,) = re.findall(rf"^\| {re.escape(start)} \|(.*)\|$", PAGE, re.MULTILINE)
    return [cell.strip() for cell in found.split("|")]


@pytest.mark.parametrize(
    ("told", "overrides"),
    [
        # One of the rows: each takes a run of five minutes.
        pytest.param(told, overrides, id=told.split(",")[0], marks=[pytest.mark.slow] if slow else [])
        for slow, (told, overrides) in zip([True, False, True], FORECASTS, strict=True)
    ],
)
def test_the_table_of_forecasts_is_what_runs_show(told: str, overrides: dict[str, Any]) -> None:
    run = leobench.run(HOUR, overrides=DROPS | overrides)
    (flow,) = run.summary["flows"]
    assert flow["handovers"]["count"] == 17
    lost = flow["dropped_packets"]["handover"]
    gap, goodput = flow["handovers"]["outage_ms"]["mean"], flow["goodput_bps"] / 1e6
    assert row(told) == [f"{lost:,}", f"{gap:.0f}", f"{goodput:.2f}"]


def test_the_table_of_policies_is_what_runs_show() -> None:
    """Its other rows take the same campaign, `starlink` five seeds of it."""
    overrides = {"duration": "10 min", "constellation.policy": "highest", "record.series": False}
    flows = {
        flow["name"]: flow for flow in leobench.run(sites.SCENARIO, overrides=overrides).summary["flows"]
    }
    rtt = ", ".join(f"{flows[site]['rtt_ms']['mean']:.1f}" for site in sites.NAMES)
    goodput = ", ".join(f"{flows[site]['goodput_bps'] / 1e6:.2f}" for site in sites.NAMES)
    assert [rtt, goodput] in (
        [cells.split(" | ") for cells in re.findall(r"^\| `highest` \| (.*) \|$", PAGE, re.MULTILINE)]
    )
