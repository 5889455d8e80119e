"""Reproduces a figure: runs its campaign, draws it and judges its claims."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from leobench.errors import InputError, RunError
from leobench.papers import claims, findings_text, words

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    import polars as pl

    from leobench.campaign import Campaign, CampaignResult, Status
    from leobench.papers.catalogue import Figure, Paper
    from leobench.papers.verdicts import Finding

CAMPAIGN, CLAIMS = "campaign", "claims.md"
_FORMATS = ("png", "svg", "pdf")


@dataclass(frozen=True)
class Reproduction:
    """A reproduced figure.

    Attributes:
        figure: The figure.
        folder: The folder of its drawings, `claims.md` and campaign.
        result: The result of its campaign.
        findings: The verdicts on its claims.
    """

    figure: Figure
    folder: Path
    result: CampaignResult
    findings: list[Finding]


def planned(figure: Figure, *, quick: bool = False) -> Campaign:
    """The campaign of a figure, in full or cut down for a quick look."""
    from leobench.campaign import Campaign

    campaign = Campaign.load(figure.campaign)
    return campaign.scaled(figure.quick.replicates, figure.quick.overrides) if quick else campaign


def reproduce(
    paper: Paper,
    figure: Figure,
    out: str | PathLike[str],
    campaign: Campaign | None = None,
    *,
    workers: int | None = None,
    resume: bool = False,
    force: bool = False,
    progress: Callable[[Status], object] | None = None,
) -> Reproduction:
    """Runs the campaign of a figure, draws it, and judges its claims.

    Args:
        paper: The paper.
        figure: One of its figures.
        out: Folder to write to.
        campaign: The campaign to run, by default that of the figure in full; `planned(figure, quick=True)` is
            smaller.
        workers: As for `leobench.sweep`, and so `resume`, `force` and `progress`.
        resume: Whether to continue the campaign in `out`.
        force: Whether to replace the campaign in `out`.
        progress: Called at the start and after every run.

    Raises:
        InputError: If the results cannot go to `out`.
        RunError: If the campaign gives up, or no run of it succeeds.
    """
    from leobench import plots
    from leobench.campaign import run_campaign
    from leobench.papers.verdicts import judge

    folder = Path(out)
    campaign = campaign or planned(figure)
    stated = [claim for claim in claims.read(paper.claims) if claim.figure in figure.claims]
    result = run_campaign(
        campaign, folder / CAMPAIGN, workers=workers, resume=resume, force=force, progress=progress
    )
    if result.runs.is_empty():
        raise RunError(f"{folder}: every run failed; the first: {result.failures['error'][0]}")
    findings = judge(stated, _measured(figure, result))
    drawing = figure.draw(campaign, result, folder)
    for name in _FORMATS:
        plots.save(drawing, folder / f"{figure.name}.{name}")
    _write(folder / CLAIMS, findings_text.markdown(paper, figure, campaign, result, findings))
    return Reproduction(figure, folder, result, findings)


def _measured(figure: Figure, result: CampaignResult) -> pl.DataFrame:
    """The runs of a campaign with the metrics that the figure adds, renamed for its claims."""
    import polars as pl

    if figure.measure is None:
        return words.rename(result.runs, figure.words)
    added = figure.measure(result)
    keys = result.runs.drop("metric", "value").unique(maintain_order=True)
    rows = keys.join(added, on=["variant", "replicate"]).select(result.runs.columns)
    return words.rename(pl.concat([result.runs, rows]), figure.words)


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{file}: cannot be written: {error.strerror}") from error
