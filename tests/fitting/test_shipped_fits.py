"""The fits that ship have the format of a fit, and the combined one has the parts of its two sources."""

from __future__ import annotations

import json

import pytest

from leobench._core import Process
from tools import starlink_fits

NAMES = [*(recipe.name for recipe in starlink_fits.RECIPES), starlink_fits.COMBINED]


def shipped(name: str) -> dict[str, object]:
    """The content of a fit that ships."""
    found: dict[str, object] = json.loads((starlink_fits.FITS / f"{name}.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_fit_tells_its_origin_and_has_valid_processes(name: str) -> None:
    fit = shipped(name)
    assert (fit["format"], fit["version"], fit["name"]) == ("leobench-fit", 1, name)
    about = fit["about"]
    assert isinstance(about, dict)
    told = ("place", "dates", "hours", "hardware", "motion", "load", "source", "licence", "not_for")
    assert all(about[key] for key in told)
    processes = [fit.get("delay", {}), fit.get("downlink", {}), fit.get("uplink", {})]
    found = [part.get("process") or part.get("capacity") for part in processes if isinstance(part, dict)]
    assert any(found)
    for each in found:
        if each:
            Process(json.dumps(each))


def test_the_combined_fit_has_the_parts_of_its_sources() -> None:
    names = (starlink_fits.DELAY_OF, starlink_fits.DOWNLINK_LOSS_OF, starlink_fits.CAPACITY_OF)
    delay, lossy, capacity = (shipped(name) for name in names)
    assert starlink_fits.combined(delay, lossy, capacity) == shipped(starlink_fits.COMBINED)
    both = shipped(starlink_fits.COMBINED)
    assert both["delay"] == delay["delay"]
    assert both["outages"] == capacity["outages"]
    assert isinstance(both["downlink"], dict)
    assert set(both["downlink"]) == {"capacity", "loss", "motion"}
