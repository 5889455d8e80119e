"""The content of a campaign file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MOST_VARIANTS = 10_000  # of a campaign: each is resolved and tried before the first run


@dataclass(frozen=True)
class Variant:
    """One way of changing the base scenario.

    Attributes:
        name: Unique in its campaign, and fit to be the name of a file.
        overrides: Values by place in the scenario.
        origins: Where the campaign file gives them, by the same places; for messages.
    """

    name: str
    overrides: Mapping[str, object]
    origins: Mapping[str, str]


@dataclass(frozen=True)
class Definition:
    """A campaign as its file describes it.

    Attributes:
        name: The name that results are filed under.
        description: For a reader.
        file: The campaign file.
        text: Its text.
        scenario: The base scenario's file.
        replicates: Runs of each variant.
        seed: Root of all seeds.
        seeds: Whether replicate k has one seed in all variants (`common`) or one in each (`independent`).
        metrics: Paths into the summary of a run, such as `flows.main.goodput_bps`.
        tables: Tables of the runs that are kept.
        set: Values that replace the base scenario's in every run, by place.
        variants: The variants, in order.
        bases: The text of every file that the campaign file extends, by file, the nearest first.
        inherited: The file of every key that comes from one of them; a place of `set` is `set."<place>"`.
        origin_of_set: The origin of `set` in messages.
        command: The subcommand that runs the campaign, with its target if it has one; for messages.
    """

    name: str
    description: str
    file: Path
    text: str
    scenario: Path
    replicates: int
    seed: int
    seeds: Literal["common", "independent"]
    metrics: tuple[str, ...]
    tables: tuple[str, ...]
    set: Mapping[str, object]
    variants: tuple[Variant, ...]
    bases: Mapping[Path, str] = field(default_factory=dict)
    inherited: Mapping[str, Path] = field(default_factory=dict)
    origin_of_set: str = "set"
    command: str = "sweep"

    def source(self, key: str) -> Path:
        """The file that gives a key: the campaign file, or one that it extends."""
        return self.inherited.get(key, self.file)
