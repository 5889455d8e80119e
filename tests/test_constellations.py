"""The guide to constellations says what its commands show."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from conftest import ROOT

import leobench

if TYPE_CHECKING:
    import polars as pl

    from leobench.orbit import Survey

PAGE = (ROOT / "docs" / "constellations.md").read_text(encoding="utf-8")
SITES = ROOT / "scenarios" / "starlink-sites.toml"


POLICIES = ("highest", "longest")
SEEDS = (1, 2, 3, 4, 5)
NAMES = ("louvain", "kanazawa", "brisbane")
ARC = {f"constellation.terminals.{site}.arc": "18 deg" for site in NAMES}

# The factor on a standard error for a 95 % interval of five values (Student's t, four degrees of freedom).
STUDENT = 2.776


def rows() -> dict[tuple[str, str], list[str]]:
    """The rows of the table of policies."""
    found = re.findall(r"^\| `(\w+)`, (\w+) \|(.*)\|$", PAGE, re.MULTILINE)
    return {(policy, site): [cell.strip() for cell in cells.split("|")] for policy, site, cells in found}


def survey(policy: str, seed: int = 1, overrides: dict[str, str] | None = None) -> Survey:
    return leobench.survey(SITES, seed, {"constellation.policy": policy} | (overrides or {}))


@pytest.fixture(scope="module")
def seeds() -> list[Survey]:
    """The sites under `starlink`, seed by seed."""
    return [survey("starlink", seed) for seed in SEEDS]


def shares(slots: pl.DataFrame) -> list[float]:
    """How often the highest satellite serves, how often the same one, and how close to the arc."""
    separation = slots["separation_deg"].quantile(0.05, "linear")
    return [100 * float(slots[name].mean()) for name in ("highest", "kept")] + [float(separation)]  # type: ignore[arg-type]


def interval(values: list[float]) -> tuple[float, float]:
    return float(np.mean(values)), float(STUDENT * np.std(values, ddof=1) / len(values) ** 0.5)


@pytest.mark.parametrize("policy", POLICIES)
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
        cells = [float(cell) for cell in rows()[policy, link["link"]]]
        assert cells == pytest.approx(shown, abs=1e-9)


@pytest.mark.parametrize("site", [*NAMES, "pooled"])
def test_the_rows_of_starlink_are_means_over_seeds(site: str, seeds: list[Survey]) -> None:
    slots = [seen.slots if site == "pooled" else seen.slots.filter(link=site) for seen in seeds]
    cells = rows()["starlink", site]
    assert float(cells[0]) == round(float(np.mean([part["candidates"].mean() for part in slots])), 1)
    values = list(zip(*[shares(part) for part in slots], strict=True))
    assert cells[1:4] == ["{:.1f} ± {:.1f}".format(*interval(list(each))) for each in values]
    if site != "pooled":
        links = [next(link for link in seen.links() if link["link"] == site) for seen in seeds]
        handovers = interval([link["handovers_per_hour"] for link in links])
        assert cells[4] == "{:.0f} ± {:.0f}".format(*handovers)
        assert float(cells[5]) == round(float(np.mean([link["delay_p50_ms"] for link in links])), 2)


def test_pooled_the_choice_is_as_measured(seeds: list[Survey]) -> None:
    """The bounds are those of the measurements, widened by what sites and samples differ by."""
    highest, kept, separation = np.mean([shares(seen.slots) for seen in seeds], axis=0)
    assert 5 <= highest <= 20
    assert 10 <= kept <= 45
    assert 19 <= separation <= 30


def test_sites_differ_by_their_candidates(seeds: list[Survey]) -> None:
    """What the guide says of them."""
    beyond = {link["link"]: link["candidates"] for link in survey("starlink", 1, ARC).links()}
    factors = []
    for site in NAMES:
        highest = np.mean([shares(seen.slots.filter(link=site))[0] for seen in seeds])
        factors.append(float(highest) / 100 * beyond[site])
    counts = ", ".join(f"{beyond[site]:.1f}" for site in NAMES[:2]) + f" and {beyond['brisbane']:.1f}"
    assert f"the terminals see {counts} satellites" in PAGE
    assert "serves {:.1f}, {:.1f} and {:.1f} times".format(*factors) in PAGE
    slots = survey("highest").slots
    near = [slots.filter(link=site)["separation_deg"].to_numpy() < 18 for site in NAMES]
    close = [100 * float(np.mean(each)) for each in near]
    assert "in {:.0f}, {:.0f} and {:.0f} % of the slots".format(*close) in PAGE
