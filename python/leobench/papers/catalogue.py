"""The papers and figures that can be reproduced."""

from __future__ import annotations

import dataclasses
import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leobench.errors import InputError, allowed, cut

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import polars as pl
    from matplotlib.figure import Figure as Drawing

    from leobench.campaign import Campaign, CampaignResult
    from leobench.papers.words import Word

    Measure = Callable[[CampaignResult], pl.DataFrame]
    Draw = Callable[[Campaign, CampaignResult, Path], Drawing]

_PAPERS = (
    "khan2023",
    "khan2023es",
    "khan2023delay",
    "bujari2023",
    "yang2024",
    "mazilu2025",
    "hypatia2020",
    "zhao2024",
)


@dataclass(frozen=True)
class Quick:
    """The reduced size of a campaign for `--quick`.

    Attributes:
        replicates: Runs of each variant.
        overrides: Values replaced in every run, by place.
    """

    replicates: int
    overrides: Mapping[str, object]

    @classmethod
    def of(cls, replicates: int, duration: str) -> Quick:
        """Some runs of each variant, of a duration."""
        return cls(replicates, {"duration": duration})


@dataclass(frozen=True)
class Figure:
    """A figure of a paper.

    Attributes:
        name: Its name on the command line, such as `fig4`.
        title: Its title.
        campaign: The campaign file.
        quick: The size of the campaign for a quick look.
        claims: The values of `figure` of the claims to judge.
        draw: Draws it from the campaign and its result; may write files to the folder it is given.
        measure: Computes further metrics of each run from the kept tables: a frame with the columns
            `variant`, `replicate`, `metric`, `value`.
        measures: The names of those metrics.
        words: Short names of places and values, used by its claims.
        extra: Whether it is ours rather than the paper's; such figures are reproduced only on request.
        readings: Whether its claims are also judged under their other readings.
    """

    name: str
    title: str
    campaign: Path
    quick: Quick
    claims: tuple[str, ...]
    draw: Draw
    measure: Measure | None = None
    words: tuple[Word, ...] = ()
    extra: bool = False
    measures: tuple[str, ...] = ()
    readings: bool = True

    @classmethod
    def of(  # noqa: PLR0913 (the fields, of which most figures leave some out)
        cls,
        folder: Path,
        name: str,
        title: str,
        draw: Draw,
        *,
        quick: Quick | None = None,
        claims: tuple[str, ...] = (),
        measure: Measure | None = None,
        measures: tuple[str, ...] = (),
        words: tuple[Word, ...] = (),
        extra: bool = False,
    ) -> Figure:
        """A figure of the paper in `folder`.

        Its campaign is `<name>.toml` there. Unless given, its claims are those about `name`, and a quick look
        is five runs of 10 s.
        """
        quick = quick or Quick.of(5, "10 s")
        return cls(
            name,
            title,
            folder / f"{name}.toml",
            quick,
            claims or (name,),
            draw,
            measure,
            words,
            extra,
            measures,
        )

    def again(self, name: str, title: str) -> Figure:
        """The figure drawn and judged from another campaign of its folder, `<name>.toml`: an extra one.

        Its claims are judged as written.
        """
        campaign = self.campaign.with_name(f"{name}.toml")
        return dataclasses.replace(
            self, name=name, title=title, campaign=campaign, extra=True, readings=False
        )


@dataclass(frozen=True)
class Remark:
    """A departure from a paper, or a choice where the paper gives no value.

    Attributes:
        says: One or two sentences.
        claims: The values of `figure` of the claims it concerns; empty if it concerns all.
    """

    says: str
    claims: tuple[str, ...] = ()

    def concerns(self, figure: Figure) -> bool:
        """Whether it belongs to a figure's page."""
        return not self.claims or not set(self.claims).isdisjoint(figure.claims)


@dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes:
        name: Its name on the command line, such as `khan2023`.
        citation: Authors, title, venue and year.
        claims: The file with its claims.
        figures: Its figures that can be reproduced, and ours.
        remarks: Departures from the paper, and choices where the paper gives no value.
    """

    name: str
    citation: str
    claims: Path
    figures: tuple[Figure, ...]
    remarks: tuple[Remark, ...] = ()


def papers() -> tuple[Paper, ...]:
    """All papers."""
    return tuple(map(paper, _PAPERS))


def paper(name: str) -> Paper:
    """The paper of this name.

    Raises:
        InputError: If there is no such paper.
    """
    if name not in _PAPERS:
        raise InputError(f"{name}: no such paper; {allowed(name, _PAPERS)}")
    found: Paper = importlib.import_module(f"leobench.papers.{name}").PAPER
    return found


def find(target: object) -> tuple[Paper, tuple[Figure, ...]]:
    """The paper and the figures meant by `khan2023` (all of its own figures) or `khan2023/fig4`.

    Raises:
        InputError: If there is no such paper or figure.
    """
    if not isinstance(target, str):
        raise InputError(
            f"target = {cut(repr(target))}: is not text; allowed: a paper or a figure, such as khan2023/fig4"
        )
    name, _, wanted = target.partition("/")
    found = paper(name)
    if not wanted:
        return found, tuple(figure for figure in found.figures if not figure.extra)
    figures = {figure.name: figure for figure in found.figures}
    if wanted not in figures:
        raise InputError(f"{target}: no such figure of {name}; {allowed(wanted, figures)}")
    return found, (figures[wanted],)
