"""The content of a report from the folders that it is about."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from leobench import folder as folders_of_runs
from leobench import unfinished
from leobench.campaign.result import CampaignResult, read_manifest, resuming
from leobench.errors import InputError
from leobench.plots import names
from leobench.report import campaigns, globe, passports, reproductions, runs
from leobench.report.content import Content

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from leobench.report.content import Kind

_WHOLE = "allowed: one campaign, reproduction or passport, or folders of runs only"


def gather(folders: Sequence[Path], without: Sequence[str] = ()) -> Content:
    """The content of a report on some folders.

    Raises:
        InputError: If a folder is not a result, is still being written, or does not belong to the others.
    """
    runs.check_without(without)
    if not folders:
        raise InputError("no folder is named; allowed: a result folder, several, or one of a campaign")
    for folder in folders:
        folders_of_runs.refuse_damaged_manifest(folder)
        refuse_unfinished(folder)
    whole = [(folder, kind) for folder in folders if (kind := _whole(folder)) is not None]
    if not whole:
        return of_runs(folders, without)
    folder, kind = whole[0]
    if len(folders) > 1:
        raise InputError(f"{folder}: is a {kind}, and cannot be reported beside others; {_WHOLE}")
    if kind == "passport":
        return passports.content(folder)
    return of_campaign(folder, without) if kind == "campaign" else reproductions.content(folder, without)


def _whole(folder: Path) -> Kind | None:
    """The kind of a folder that is reported alone; none of a run's."""
    if passports.is_passport(folder):
        return "passport"
    if is_campaign(folder):
        return "campaign"
    return "reproduction" if reproductions.figures(folder) else None


def refuse_missing(folder: Path) -> None:
    """Refuses a folder that is not there, nor being written.

    Raises:
        InputError: If it is not.
    """
    if not os.path.lexists(folder) and not unfinished.partials(folder):
        raise InputError(
            f"{folder}: there is no such result folder; allowed: one that `leobench run`, `sweep` or "
            "`reproduce` wrote"
        )


def is_campaign(folder: Path) -> bool:
    """Whether it is the folder of a campaign, finished or not."""
    return read_manifest(folder) is not None


def refuse_unfinished(folder: Path) -> None:
    """Refuses a folder that is still being written.

    Raises:
        InputError: If it is one.
    """
    manifest = read_manifest(folder)
    if manifest is not None and not manifest["complete"]:
        raise InputError(
            f"{folder}: is a campaign that has not finished; watch it with `leobench view {folder}`, "
            f"or continue it with `{resuming(manifest)}`"
        )
    refuse_interrupted(folder)
    if not folder.exists() and unfinished.partials(folder):
        raise InputError(
            f"{folder}: is still being written; watch it with `leobench view {folder}`, "
            "or wait until it is done"
        )


def refuse_interrupted(folder: Path) -> None:
    """Refuses a folder that is not there because its run ended without a result.

    Raises:
        InputError: If it is one.
    """
    partials = [] if folder.exists() else unfinished.partials(folder)
    if partials and not any(map(unfinished.is_live, partials)):
        raise InputError(f"{folder}: was interrupted before it had a result; run the scenario again")


def of_runs(folders: Sequence[Path], without: Sequence[str]) -> Content:
    """The content of a report on finished runs."""
    results = [folders_of_runs.read(folder) for folder in folders]
    runs.check_together(results)
    labels = names.of_runs(results) if len(results) > 1 else [str(results[0].summary["scenario"])]
    shown = [runs.described(result, label, without) for result, label in zip(results, labels, strict=True)]
    notes: list[str] = []
    scene = None if runs.GLOBE in without else globe.describe(shown[0], notes)
    first = results[0]
    if len(results) == 1:
        title, description = (
            f"{first.summary['scenario']}, seed {first.summary['seed']}",
            text_of(first.scenario),
        )
    else:
        title = " and ".join(dict.fromkeys(str(result.summary["scenario"]) for result in results))
        title, description = f"{title}: {len(results)} runs compared", ""
    kind = "run" if len(results) == 1 else "runs"
    return Content(kind, title, description, runs=shown, globe=scene, notes=notes)  # type: ignore[arg-type]


def text_of(scenario: dict[str, Any]) -> str:
    """The description of a scenario."""
    return str(scenario.get("description") or "")


def of_campaign(folder: Path, without: Sequence[str]) -> Content:
    """The content of a report on a finished campaign."""
    result = CampaignResult.open(folder)
    notes: list[str] = []
    described = campaigns.describe(
        result.folder, result.manifest, result.runs, result.failures, result.warnings
    )
    shown = campaigns.kept_runs(result, without, notes)
    scene = globe.describe(shown[0], notes) if shown and runs.GLOBE not in without else None
    return Content(
        "campaign",
        described["name"],
        described["description"],
        runs=shown,
        campaigns=[described],
        globe=scene,
        notes=notes,
    )
