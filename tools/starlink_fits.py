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
from leobench.fitting import checks, fit, readers, transfers
from leobench.fitting.losses import dark
from leobench.fitting.motion import DRIVING_KMH
from leobench.plots import fit as figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leobench.fitting.fit import Fit
    from leobench.fitting.series import Quantity, Series

FITS = Path(__file__).parents[1] / "crates" / "link" / "src" / "channel" / "starlink" / "fits"
_LICENCE = "CC BY-SA 4.0 (the recordings)"
# Echoes lose more than the links do, so that logs of TCP bound the loss.
_UPLINK = "loss of the downlink, which was not measured; in the uplink it is the largest that TCP allows"
_DOWNLINK = "loss of the uplink, which was not measured; in the downlink it is the largest that TCP allows"
_MMSYS = "github.com/clarkzjw/mmsys24-starlink-livestreaming-data"


@dataclass(frozen=True)
class Recipe:
    """A fit that ships: its recordings, what they do not tell of themselves, and the log of a transfer."""

    name: str
    file: str
    about: dict[str, Any]
    transfer: tuple[Quantity, str] | None = None


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
                _UPLINK,
            ],
        },
        ("uplink", "starlink-seattle-2023/iperf3-uplink.csv.gz"),
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
                _DOWNLINK,
            ],
        },
        ("downlink", "starlink-isl-2023/tcp_downlink.csv.gz"),
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
# The fit that ships without a site: delay and loss of the uplink of one, loss of the downlink of the next,
# capacity and outages of the last.
COMBINED = "starlink"
DELAY_OF, DOWNLINK_LOSS_OF, CAPACITY_OF = "seattle-2023", "lagos-lasers-2023", "osnabrueck-2024"


def made(recipe: Recipe, data: Path) -> Fit:
    """The fit of a recipe."""
    measured = readers.read(data / recipe.file)
    about = {**recipe.about, "not_for": [*recipe.about["not_for"], *_motions(measured)]}
    logs = []
    if recipe.transfer is not None:
        direction, file = recipe.transfer
        logs = [log for log in [transfers.read(data / file, direction)] if log is not None]
    found = fit.fit(
        measured, recipe.name, about, lambda step: print(f"{recipe.name}: {step}", flush=True), logs
    )
    for warning in found.warnings:
        print(f"{recipe.name}: {warning}", flush=True)
    return found


def _motions(measured: Sequence[Series]) -> list[str]:
    """How the capacity of parked and driving terminals differs, where both were measured."""
    found = []
    for one in measured:
        if one.speed_kmh is None or one.quantity != "downlink":
            continue
        known = ~np.isnan(one.speed_kmh)
        parked = known & (one.speed_kmh < DRIVING_KMH)
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


def combined(delay: dict[str, Any], lossy: dict[str, Any], capacity: dict[str, Any]) -> dict[str, Any]:
    """The delay and the uplink's loss of one fit, the downlink's loss of another, the capacity of a third."""
    about: dict[str, Any] = {
        key: f"delay and loss of the uplink: {delay['about'][key]}; loss of the downlink: "
        f"{lossy['about'][key]}; capacity and outages: {capacity['about'][key]}"
        for key in ("place", "hours", "hardware", "load", "source")
    }
    about |= {
        "dates": sorted({date for each in (delay, lossy, capacity) for date in each["about"]["dates"]}),
        "motion": "both",
        "licence": _LICENCE,
        "not_for": [
            "dependence of delay and capacity, which were measured at different sites",
            "one site: prefer a fit of its own",
            "inter-satellite links",
        ],
    }
    both = {**delay, **capacity, "name": COMBINED, "about": about}
    loss = {"downlink": lossy, "uplink": delay}
    both |= {direction: {**each[direction], **capacity[direction]} for direction, each in loss.items()}
    of_downlink = {
        name: ends for name, ends in lossy["uncertainty"].items() if name.startswith("downlink.loss")
    }
    both["uncertainty"] = {**delay["uncertainty"], **of_downlink, **capacity["uncertainty"]}
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
        "score",
    )
    scores = [each["score"] for each in (delay, capacity) if "score" in each]
    if scores:
        both["score"] = {**scores[0], "held_out": [row for each in scores for row in each["held_out"]]}
    return {key: both[key] for key in order if key in both}


def write(document: dict[str, Any]) -> None:
    """Writes a fit where those that ship are; it keeps the score of the one there if it is the same fit."""
    FITS.mkdir(parents=True, exist_ok=True)
    file = FITS / f"{document['name']}.json"
    if file.exists() and "score" not in document:
        before = json.loads(file.read_text(encoding="utf-8"))
        score = before.pop("score", None)
        if score is not None and before == document:
            document = {**document, "score": score}
    file.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


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
    write(combined(*(documents[name] for name in (DELAY_OF, DOWNLINK_LOSS_OF, CAPACITY_OF))))


if __name__ == "__main__":
    main()
