"""The runs of a campaign as figures and claims name them: short names, further metrics, a note."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import polars as pl

    from leobench.campaign import Campaign


@dataclass(frozen=True)
class Word:
    """A short name for a place, and for its values.

    Attributes:
        place: The place in the scenario, such as `flows.main.transport.scheduler`.
        name: Its name.
        values: Names of values by their TOML in campaigns; other values keep their own.
    """

    place: str
    name: str
    values: Mapping[str, str] = field(default_factory=dict)


def rename(runs: pl.DataFrame, words: Iterable[Word]) -> pl.DataFrame:
    """Runs with columns and values renamed by `words`."""
    import polars as pl

    for word in words:
        if word.place not in runs.columns:
            continue
        named = pl.col(word.place).replace(dict(word.values)) if word.values else pl.col(word.place)
        runs = runs.with_columns(named).rename({word.place: word.name})
    return runs


def with_measures(runs: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """Runs with further metrics of them: a frame of `variant`, `replicate`, `metric` and `value`."""
    import polars as pl

    keys = runs.drop("metric", "value").unique(maintain_order=True)
    added = keys.join(measured, on=["variant", "replicate"]).select(runs.columns)
    return pl.concat([runs, added])


def means_of(campaign: Campaign) -> str:
    """The note below means of a campaign's runs with their intervals."""
    return f"means of {campaign.replicates} runs with 95 % confidence intervals"
