"""The guide to constellations says what its commands show."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

import leobench
from tools import sites

if TYPE_CHECKING:
    from leobench.orbit import Survey

PAGE = (sites.ROOT / "docs" / "reports" / "starlink.md").read_text(encoding="utf-8")

POLICIES = ("highest", "longest")


def rows() -> dict[tuple[str, str], list[str]]:
    """The rows of the table of policies."""
    found = re.findall(r"^\| `(\w+)`, (\w+) \|(.*)\|$", PAGE, re.MULTILINE)
    return {(policy, site): [cell.strip() for cell in cells.split("|")] for policy, site, cells in found}


@pytest.fixture(scope="module")
def seeds() -> list[Survey]:
    """The sites under `starlink`, seed by seed."""
    return [leobench.survey(sites.SCENARIO, seed) for seed in sites.SEEDS]


@pytest.mark.parametrize("policy", POLICIES)
def test_the_table_of_policies_is_what_orbit_shows(policy: str) -> None:
    links = leobench.survey(sites.SCENARIO, 1, {"constellation.policy": policy}).links()
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


@pytest.mark.parametrize("site", [*sites.NAMES, "pooled"])
def test_the_rows_of_starlink_are_means_over_seeds(site: str, seeds: list[Survey]) -> None:
    slots = [seen.slots if site == "pooled" else seen.slots.filter(link=site) for seen in seeds]
    cells = rows()["starlink", site]
    values = list(zip(*[sites.shares(part) for part in slots], strict=True))
    assert cells[0] == f"{np.mean(values[0]):.1f}"
    assert cells[1:4] == ["{:.1f} ± {:.1f}".format(*sites.interval(each)) for each in values[1:]]
    if site != "pooled":
        links = [next(link for link in seen.links() if link["link"] == site) for seen in seeds]
        handovers = sites.interval([link["handovers_per_hour"] for link in links])
        assert cells[4] == "{:.0f} ± {:.0f}".format(*handovers)
        assert float(cells[5]) == round(float(np.mean([link["delay_p50_ms"] for link in links])), 2)


@pytest.mark.parametrize(
    "variant",
    [
        pytest.param("preset, whole sky", marks=pytest.mark.slow),
        pytest.param("July 2024, dishes", marks=pytest.mark.slow),
        # The last step, which has those before it.
        "and [kept] by site",
    ],
)
def test_the_steps_from_the_preset_to_the_sites_are_what_the_script_prints(variant: str) -> None:
    found = sites.modelled(sites.VARIANTS[variant])
    assert f"| {variant} | " + " | ".join(sites.cells(found)) + " |" in PAGE


def test_the_script_looks_at_the_same_choices_as_orbit(seeds: list[Survey]) -> None:
    """It steps by the second, not by 100 ms."""
    assert sites.survey(1, {}).equals(seeds[0].slots)


def test_the_choice_is_as_measured(seeds: list[Survey]) -> None:
    """Pooled, the bounds are those of the measurements, widened by what sites and samples differ by. The
    numbers of candidates are within 10 % of the measured ones."""
    for seen in seeds:
        _, highest, kept, separation = sites.shares(seen.slots)
        assert 5 <= highest <= 20
        assert 10 <= kept <= 45
        assert 19 <= separation <= 30
    numbers = [sites.shares(seeds[0].slots.filter(link=site))[0] for site in sites.NAMES]
    assert numbers == pytest.approx([25.6, 29.9, 17.5], rel=0.1)


def test_weights_are_found_again_in_made_up_choices() -> None:
    """4,000 slots of 20 candidates; each weight is within three standard errors, which state its spread."""
    rng = np.random.default_rng(1)
    weights = np.array([20.7, -13.4, 1.6])
    slots = []
    for _ in range(4000):
        elevation = rng.uniform(25, 90, 20)
        kept = np.arange(20) == rng.integers(20)
        utility = np.stack([elevation / 90, (elevation / 90) ** 2, kept], axis=1) @ weights
        chosen = int(np.argmax(utility + rng.gumbel(size=20)))
        slots.append(sites.Slot(elevation, np.full(20, 30.0), kept, chosen))
    found, errors = sites.fitted(slots)
    assert np.all(np.abs(found - weights) < 3 * errors)
    assert errors[2] < 0.1
    assert sites.misfit(found, slots) <= sites.misfit(weights, slots)
