"""The fits that ship: `python -m tools.starlink_fits DATA CHECKS` (`make fits DATA=...`).

DATA is the folder with the published recordings, each in a folder of its own. The fits are written to
`crates/link/src/channel/starlink/fits`, the pages of their checks to the folder CHECKS.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from leobench import plots
from leobench.fitting import checks, fit, readers
from leobench.fitting.losses import dark
from leobench.plots import fit as figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leobench.fitting.fit import Fit
    from leobench.fitting.series import Series

FITS = Path(__file__).parents[1] / "crates" / "link" / "src" / "channel" / "starlink" / "fits"
# Kilometres per hour below which a terminal is parked.
_PARKED_KMH = 1.0
_LICENCE = "CC BY-SA 4.0 (the recordings)"
# Echoes do not tell it.
_DIRECTION = "the direction in which packets are lost: half of the loss is put into each"
_MMSYS = "github.com/clarkzjw/mmsys24-starlink-livestreaming-data"


@dataclass(frozen=True)
class Recipe:
    """A fit that ships: its recordings, and what they do not tell of themselves."""

    name: str
    file: str
    about: dict[str, Any]


RECIPES = (
    Recipe(
        "seattle-2023",
        "starlink-seattle-2023/ping.csv.gz",
        {
            "place": "gateway in Seattle, without inter-satellite links",
            "hardware": "user terminal, model not stated",
            "motion": "not stated",
            "source": _MMSYS,
            "licence": _LICENCE,
            "not_for": [
                "capacity",
                "other hours of the day",
                "paths over inter-satellite links",
                "load",
                _DIRECTION,
            ],
        },
    ),
    Recipe(
        "lagos-lasers-2023",
        "starlink-isl-2023/ping.csv.gz",
        {
            "place": "gateway in Lagos, reached over inter-satellite links",
            "hardware": "user terminal, model not stated",
            "motion": "not stated",
            "source": _MMSYS,
            "licence": _LICENCE,
            "not_for": [
                "capacity",
                "other hours of the day",
                "paths without inter-satellite links",
                "load",
                _DIRECTION,
            ],
        },
    ),
    Recipe(
        "osnabrueck-2024",
        "starlink-road-2024/udp_throughput.csv.gz",
        {
            "place": "around Osnabrueck, Germany",
            "hardware": "dish for use in motion, on a car",
            "motion": "both",
            "source": "github.com/sys-uos/Starlink-on-the-Road",
            "licence": _LICENCE,
            "not_for": ["delay", "loss of single packets", "changes within a second"],
        },
    ),
    Recipe(
        "autobahn-2024",
        "starlink-autobahn-2024/throughput.csv.gz",
        {
            "place": "motorway between Osnabrueck and Bunde, Germany",
            "hardware": "dish on a vehicle, model not stated",
            "motion": "driving",
            "source": "github.com/sys-uos/Starlink-on-the-Autobahn",
            "licence": _LICENCE,
            "not_for": ["delay", "loss of single packets", "changes within a second", "parked terminals"],
        },
    ),
)
# The delay and the loss of one, and the rest of the other, as the fit that ships without a site.
COMBINED, DELAY_OF, CAPACITY_OF = "starlink", "seattle-2023", "osnabrueck-2024"


def made(recipe: Recipe, data: Path) -> Fit:
    """The fit of a recipe."""
    measured = readers.read(data / recipe.file)
    about = {**recipe.about, "not_for": [*recipe.about["not_for"], *_motions(measured)]}
    return fit.fit(measured, recipe.name, about, lambda step: print(f"{recipe.name}: {step}", flush=True))


def _motions(measured: Sequence[Series]) -> list[str]:
    """How the capacity of parked and driving terminals differs, where both were measured."""
    found = []
    for one in measured:
        if one.speed_kmh is None or one.quantity != "downlink":
            continue
        known = ~np.isnan(one.speed_kmh)
        parked = known & (one.speed_kmh < _PARKED_KMH)
        driving = known & ~parked
        if parked.mean() > 0.05 and driving.mean() > 0.05:
            each = [
                f"{name} in {chosen.mean():.0%} of the seconds, "
                f"median {np.median(one.values[chosen]):.0f} Mbit/s, "
                f"{dark(one)[chosen].mean():.2%} in outages"
                for name, chosen in (("parked", parked), ("driving", driving))
            ]
            found.append(f"one motion only: {'; '.join(each)}")
    return found


def combined(delay: dict[str, Any], capacity: dict[str, Any]) -> dict[str, Any]:
    """The delay and the loss of one fit with the capacity and the outages of another."""
    about: dict[str, Any] = {
        key: f"delay and loss: {delay['about'][key]}; capacity and outages: {capacity['about'][key]}"
        for key in ("place", "hours", "hardware", "load", "source")
    }
    about |= {
        "dates": [*delay["about"]["dates"], *capacity["about"]["dates"]],
        "motion": "both",
        "licence": _LICENCE,
        "not_for": [
            "dependence of delay and capacity, which were measured at different sites",
            "one site: prefer a fit of its own",
            "inter-satellite links",
        ],
    }
    both = {**delay, **capacity, "name": COMBINED, "about": about}
    both |= {direction: {**delay[direction], **capacity[direction]} for direction in ("downlink", "uplink")}
    both["uncertainty"] = {**delay["uncertainty"], **capacity["uncertainty"]}
    order = (
        "format",
        "version",
        "name",
        "about",
        "slots",
        "delay",
        "downlink",
        "uplink",
        "outages",
        "uncertainty",
    )
    return {key: both[key] for key in order if key in both}


def write(document: dict[str, Any]) -> None:
    """Writes a fit where those that ship are."""
    FITS.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    (FITS / f"{document['name']}.json").write_text(text, encoding="utf-8")


def main() -> None:
    """Makes, checks and writes all fits."""
    data, pages = Path(sys.argv[1]), Path(sys.argv[2])
    documents = {}
    for recipe in RECIPES:
        found = made(recipe, data)
        documents[recipe.name] = found.document
        write(found.document)
        checked = checks.check(found)
        folder = pages / recipe.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "checks.md").write_text(checks.page(found, checked, "checks.png"), encoding="utf-8")
        plots.save(figure.draw(checked), folder / "checks.png")
        print(f"{recipe.name}: failed checks: {', '.join(checks.failed(checked)) or 'none'}", flush=True)
    write(combined(documents[DELAY_OF], documents[CAPACITY_OF]))


if __name__ == "__main__":
    main()
