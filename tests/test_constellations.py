"""The guide to constellations says what its commands show."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl
import pytest
from conftest import ROOT

import leobench

if TYPE_CHECKING:
    from leobench.orbit import Survey

PAGE = (ROOT / "docs" / "constellations.md").read_text(encoding="utf-8")
SITES = ROOT / "scenarios" / "starlink-sites.toml"


def rows() -> dict[tuple[str, str], list[float]]:
    """The rows of the table of policies."""
    found = re.findall(r"^\| `(\w+)`, (\w+) \|(.*)\|$", PAGE, re.MULTILINE)
    return {(policy, site): [float(cell) for cell in cells.split("|")] for policy, site, cells in found}


def survey(policy: str, seed: int = 1) -> Survey:
    return leobench.survey(SITES, seed, {"constellation.policy": policy})


@pytest.mark.parametrize("policy", ["starlink", "highest", "longest"])
def test_the_table_of_policies_is_what_orbit_shows(policy: str) -> None:
    links = survey(policy).links()
    assert len(links) == 3
    for link in links:
        shown = [
            round(link["candidates"], 1),
            round(100 * link["highest"], 1),
            round(100 * link["kept"], 1),
            round(link["separation_p5_deg"], 1),
            round(link["handovers_per_hour"], 1),
            round(link["delay_p50_ms"], 2),
        ]
        assert rows()[policy, link["link"]] == pytest.approx(shown, abs=1e-9)


def test_pooled_the_choice_is_as_measured() -> None:
    """The bounds are those of the measurements, widened by what sites and samples differ by."""
    slots = pl.concat([survey("starlink", seed).slots for seed in (1, 2, 3)])
    assert 0.05 <= slots["highest"].mean() <= 0.20  # type: ignore[operator]
    assert 0.10 <= slots["kept"].mean() <= 0.45  # type: ignore[operator]
    assert 19 <= slots["separation_deg"].quantile(0.05) <= 30  # type: ignore[operator]
