"""What places of a scenario and their values are called where a paper's figures and claims tell of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import polars as pl


@dataclass(frozen=True)
class Word:
    """A shorter name for a place, and for values that stand there.

    Attributes:
        place: Where in the scenario, such as `flows.main.transport.scheduler`.
        name: Its name.
        values: Names of values, by what campaigns write for them; others keep their own.
    """

    place: str
    name: str
    values: Mapping[str, str] = field(default_factory=dict)


def say(runs: pl.DataFrame, words: Iterable[Word]) -> pl.DataFrame:
    """Runs with the columns of places, and the values in them, named by `words`."""
    import polars as pl

    for word in words:
        if word.place not in runs.columns:
            continue
        named = pl.col(word.place).replace(dict(word.values)) if word.values else pl.col(word.place)
        runs = runs.with_columns(named).rename({word.place: word.name})
    return runs
