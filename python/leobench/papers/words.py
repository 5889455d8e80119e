"""Short names for places in a scenario and their values, for figures and claims."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import polars as pl


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
