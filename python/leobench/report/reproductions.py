"""Reproduced figures on a page: their claims with verdicts, their drawings, and their campaigns."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from leobench.campaign.result import CampaignResult
from leobench.errors import InputError
from leobench.files import read_text
from leobench.papers.conclusions import Outcome
from leobench.papers.reproduction import CAMPAIGN, READINGS, VERDICTS
from leobench.report import campaigns
from leobench.report.content import Content

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

# Bytes of a drawing that is shown.
_LARGEST_DRAWING = 2_000_000


def figures(folder: Path) -> list[Path]:
    """The folders of reproduced figures: this one, or those in the folder of a paper."""
    if (folder / VERDICTS).is_file():
        return [folder]
    try:
        return sorted(entry for entry in folder.iterdir() if (entry / VERDICTS).is_file())
    except OSError:
        return []


def content(folder: Path, without: Sequence[str]) -> Content:
    """The content of a report on a reproduced figure, or on all of a paper that are there.

    Raises:
        InputError: If a file is damaged, or a campaign has not finished.
    """
    notes: list[str] = []
    found = figures(folder)
    described = [describe(each) for each in found]
    shown, runs = [], []
    for each in found:
        for at in campaign_folders(each):
            result = CampaignResult.open(at)
            shown.append(
                campaigns.describe(at, result.manifest, result.runs, result.failures, result.warnings)
            )
            if len(found) == 1 and at.name == CAMPAIGN:
                runs = campaigns.kept_runs(result, without, notes)
    paper = described[0]["paper"]
    titles = [each["title"] for each in described]
    title = f"{paper}: {titles[0]}" if len(titles) == 1 else f"{paper}: {len(titles)} figures"
    about = sorted({each["citation"] for each in described if each["citation"]})
    return Content(
        "reproduction", title, " ".join(about), runs=runs, campaigns=shown, figures=described, notes=notes
    )


def campaign_folders(folder: Path) -> list[Path]:
    """The folders of the campaigns of a figure: its own first, then those of readings."""
    readings = folder / READINGS
    others = sorted(entry for entry in readings.iterdir() if entry.is_dir()) if readings.is_dir() else []
    return [each for each in (folder / CAMPAIGN, *others) if (each / "manifest.json").is_file()]


def describe(folder: Path) -> dict[str, Any]:
    """A reproduced figure as JSON: `verdicts.json`, the order of outcomes, and the drawing.

    Raises:
        InputError: If `verdicts.json` is damaged.
    """
    file = folder / VERDICTS
    try:
        told: dict[str, Any] = json.loads(read_text(file))
        name = f"{told['paper']}/{told['figure']}"
        conclusions = [{**each, "findings": list(each["findings"])} for each in told["conclusions"]]
        described = {
            "paper": told["paper"],
            "figure": told["figure"],
            "title": told["title"],
            "quick": bool(told["quick"]),
            "replicates": told["replicates"],
            "variants": told["variants"],
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{file}: is damaged ({error!r}); reproduce the figure again") from error
    quick = " --quick" if described["quick"] else ""
    return described | {
        "citation": _citation(described["paper"]),
        "folder": str(folder),
        "command": f"leobench reproduce {name}{quick}",
        "conclusions": conclusions,
        "outcomes": [str(outcome) for outcome in Outcome],
        "drawing": drawing(folder / f"{described['figure']}.png"),
    }


def _citation(name: str) -> str:
    from leobench import papers

    return next((paper.citation for paper in papers.papers() if paper.name == name), "")


def drawing(file: Path) -> str | None:
    """The drawing as the address of an image that holds it; none if it is not there or too large."""
    try:
        data = file.read_bytes()
    except OSError:
        return None
    if len(data) > _LARGEST_DRAWING:
        return None
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"
