"""Reproduces a figure: runs its campaigns, draws it and judges its claims."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from leobench.campaign.runner import Status
from leobench.errors import RunError, counted, cut
from leobench.files import write_text
from leobench.papers import claims, findings_text, verdicts_file, words
from leobench.papers import conclusions as concluding

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    import polars as pl

    from leobench.campaign import Campaign, CampaignResult
    from leobench.papers.catalogue import Figure, Paper
    from leobench.papers.claims import Claim
    from leobench.papers.conclusions import Conclusion
    from leobench.papers.settings import Setting
    from leobench.papers.verdicts import Finding

CAMPAIGN, CLAIMS, READINGS, VERDICTS = "campaign", "claims.md", "readings", "verdicts.json"
_FORMATS = ("png", "svg", "pdf")

# Of the claim as written; its other readings share the rest.
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Reproduction:
    """A reproduced figure.

    Attributes:
        figure: The figure.
        folder: The folder of its drawings, `claims.md`, `verdicts.json` and campaigns.
        result: The result of its campaign.
        findings: The verdicts on its claims as written.
        conclusions: The outcome of each claim under all its readings.
        readings: The results of the campaigns that readings need, by the name of the setting.
        quick: Whether the campaign was cut down for a quick look.
    """

    figure: Figure
    folder: Path
    result: CampaignResult
    findings: list[Finding]
    conclusions: list[Conclusion]
    readings: Mapping[str, CampaignResult]
    quick: bool = False

    @property
    def results(self) -> list[CampaignResult]:
        """The results of all its campaigns."""
        return [self.result, *self.readings.values()]

    def __repr__(self) -> str:
        outcomes = concluding.tally(self.conclusions) or "no claims"
        quick = ", quick" if self.quick else ""
        return f"Reproduction({self.figure.name}{quick}, {outcomes}, {self.folder})"

    def __str__(self) -> str:
        """The number of claims per outcome, and the outcome of each: a line per claim and case."""
        lines = [f"{self.figure.name}: {findings_text.tally(self.conclusions)}"]
        for each in self.conclusions:
            case = f" ({each.case})" if each.case else ""
            lines.append(f"- {cut(f'{each.claim.id}{case}', 60)}: {cut(str(each), 60)}")
        return "\n".join(lines)


def folder(paper: Paper, *, quick: bool = False) -> Path:
    """The folder of a paper's results, unless another is chosen."""
    return Path("results/reproduce") / (f"{paper.name}-quick" if quick else paper.name)


def planned(figure: Figure, *, quick: bool = False) -> Campaign:
    """The campaign of a figure, in full or cut down for a quick look."""
    from leobench.campaign import Campaign

    campaign = Campaign.load(figure.campaign)
    return campaign.scaled(figure.quick.replicates, figure.quick.overrides) if quick else campaign


def stated_claims(paper: Paper, figure: Figure, *, readings: bool = True) -> list[Claim]:
    """The claims of a paper about a figure, with their other readings if these are to be tried."""
    found = [claim for claim in claims.read(paper.claims) if claim.figure in figure.claims]
    if readings and figure.readings:
        return found
    return [dataclasses.replace(claim, readings=()) for claim in found]


def reproduce(  # noqa: PLR0913 (those of a campaign, and what to reproduce)
    paper: Paper,
    figure: Figure,
    out: str | PathLike[str],
    campaign: Campaign | None = None,
    *,
    readings: bool = True,
    workers: int | None = None,
    resume: bool = False,
    force: bool = False,
    progress: Callable[[Status], object] | None = None,
) -> Reproduction:
    """Runs the campaigns of a figure and of its readings, draws it, and judges its claims.

    Args:
        paper: The paper.
        figure: One of its figures.
        out: Folder to write to.
        campaign: The campaign to run, by default that of the figure in full; `planned(figure, quick=True)` is
            smaller.
        readings: Whether to try the other readings of its claims, too.
        workers: As for `leobench.sweep`, and so `resume`, `force` and `progress`.
        resume: Whether to continue the campaigns in `out`.
        force: Whether to replace the campaigns in `out`.
        progress: Called at the start and after every run.

    Raises:
        InputError: If a reading is wrong, or the results cannot go to `out`.
        RunError: If a campaign gives up, or no run of it succeeds.
    """
    from leobench import plots
    from leobench.campaign import Campaign, run_campaign
    from leobench.papers.settings import settings

    target = Path(out)
    command = f"reproduce {paper.name}/{figure.name}"
    campaign = dataclasses.replace(campaign or planned(figure), command=command)
    stated = stated_claims(paper, figure, readings=readings)
    tried = settings(figure, campaign, stated)
    tally = _Counted(progress, sum(len(each.campaign.plan()) for each in tried))
    results = {}
    for setting in tried:
        at = target / READINGS / setting.name if setting.name else target / CAMPAIGN
        result = run_campaign(
            setting.campaign, at, workers=workers, resume=resume, force=force, progress=tally
        )
        tally.finish()
        if result.runs.is_empty():
            raise RunError(f"{at}: every run failed; the first: {result.failures['error'][0]}")
        results[setting.name] = result
    cut_down = shortened(Campaign.load(figure.campaign), campaign)
    findings, conclusions = _judge(figure, stated, tried, results, cut_down)
    result = results.pop("")
    drawing = figure.draw(campaign, result, target)
    for name in _FORMATS:
        plots.save(drawing, target / f"{figure.name}.{name}")
    quick = _sized(campaign) == _sized(planned(figure, quick=True))
    done = Reproduction(figure, target, result, findings, conclusions, results, quick)
    write_text(target / CLAIMS, findings_text.markdown(paper, campaign, done))
    write_text(target / VERDICTS, verdicts_file.text(paper, campaign, done))
    return done


def _sized(campaign: Campaign) -> tuple[int, dict[str, object]]:
    return campaign.replicates, dict(campaign.set)


def shortened(full: Campaign, campaign: Campaign) -> str:
    """How much smaller a campaign is than the full one: "5 of 30 runs, duration = 10 s", or empty."""
    fewer = campaign.replicates < full.replicates
    runs = f"{campaign.replicates} of {counted(full.replicates, 'run')}"
    places = [place for place, value in campaign.set.items() if full.set.get(place, "") != value]
    changed = [f"{place} = {campaign.set[place]}" for place in places]
    return ", ".join([*([runs] if fewer else []), *changed])


def _judge(
    figure: Figure,
    stated: Sequence[Claim],
    tried: Sequence[Setting],
    results: Mapping[str, CampaignResult],
    cut_down: str,
) -> tuple[list[Finding], list[Conclusion]]:
    """The findings on the claims as written, and the conclusions from those of all readings.

    `cut_down` says how the campaigns are smaller than the paper's; such runs refute no claim.
    """
    from leobench.papers.verdicts import judge, judge_reading, without_refutations

    measured = {name: _measured(figure, result) for name, result in results.items()}
    findings = judge(stated, measured[""], _CONFIDENCE)
    others = {
        (claim.id, reading.id): judge_reading(
            claim, reading, measured[setting.name], 1 - (1 - _CONFIDENCE) / len(claim.readings)
        )
        for setting in tried
        for claim, reading in setting.pairs
    }
    in_order = [
        finding for claim in stated for reading in claim.readings for finding in others[claim.id, reading.id]
    ]
    if cut_down:
        findings = without_refutations(findings, cut_down)
        in_order = without_refutations(in_order, cut_down)
    return findings, concluding.conclude([*findings, *in_order])


class _Counted:
    """Adds the runs of several campaigns up for one progress report."""

    def __init__(self, report: Callable[[Status], object] | None, total: int) -> None:
        self._report, self._total = report, total
        self._before = self._last = Status(0, 0, 0, 0)

    def __call__(self, status: Status) -> None:
        self._last = Status(
            self._before.done + status.done,
            self._before.failed + status.failed,
            self._total,
            self._before.kept + status.kept,
        )
        if self._report is not None:
            self._report(self._last)

    def finish(self) -> None:
        """Ends a campaign."""
        self._before = self._last


def _measured(figure: Figure, result: CampaignResult) -> pl.DataFrame:
    """The runs of a campaign with the metrics that the figure adds, renamed for its claims."""
    runs = result.runs
    if figure.measure is not None:
        runs = words.with_measures(runs, figure.measure(result))
    return words.rename(runs, figure.words)
