"""What there is to reproduce."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leobench.errors import InputError, allowed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import polars as pl
    from matplotlib.figure import Figure as Drawing

    from leobench.campaign import Campaign, CampaignResult
    from leobench.papers.words import Word

    Measure = Callable[[CampaignResult], pl.DataFrame]
    Draw = Callable[[Campaign, CampaignResult, Path], Drawing]

_PAPERS = ("khan2023", "khan2023es", "khan2023delay", "bujari2023")


@dataclass(frozen=True)
class Quick:
    """How a campaign is cut down for a quick look.

    Attributes:
        replicates: Runs of each variant.
        overrides: Values replaced in every run, by place.
    """

    replicates: int
    overrides: Mapping[str, object]


@dataclass(frozen=True)
class Figure:
    """A figure of a paper.

    Attributes:
        name: What it is asked for by, such as `fig4`.
        title: What it shows.
        campaign: The campaign file.
        quick: The campaign's size for a quick look.
        claims: The figures whose claims it is judged by.
        draw: Draws it from the campaign and its result; may leave files in the folder it is given.
        measure: More numbers of each run, from the tables that the campaign keeps: a frame with the columns
            `variant`, `replicate`, `metric`, `value`.
        words: What its claims call places and values.
        extra: Whether it is not in the paper, and made only if asked for by name.
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


@dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes:
        name: What it is asked for by, such as `khan2023`.
        citation: Authors, title, where and when.
        claims: The file of its claims.
        figures: Those that can be reproduced.
        remarks: Where the set-up departs from the paper, or the paper leaves it open; a sentence or two each.
    """

    name: str
    citation: str
    claims: Path
    figures: tuple[Figure, ...]
    remarks: tuple[str, ...] = ()


def papers() -> tuple[Paper, ...]:
    """All papers."""
    return tuple(map(paper, _PAPERS))


def paper(name: str) -> Paper:
    """The paper of this name.

    Raises:
        InputError: If there is none.
    """
    if name not in _PAPERS:
        raise InputError(f"{name}: no such paper; {allowed(name, _PAPERS)}")
    found: Paper = importlib.import_module(f"leobench.papers.{name}").PAPER
    return found


def find(target: str) -> tuple[Paper, tuple[Figure, ...]]:
    """What is meant by `khan2023` (the paper's own figures) or `khan2023/fig4`.

    Raises:
        InputError: If there is no such paper or figure.
    """
    name, _, wanted = target.partition("/")
    found = paper(name)
    if not wanted:
        return found, tuple(figure for figure in found.figures if not figure.extra)
    figures = {figure.name: figure for figure in found.figures}
    if wanted not in figures:
        raise InputError(f"{target}: no such figure of {name}; {allowed(wanted, figures)}")
    return found, (figures[wanted],)
