"""Targets of a comparison: a scenario, or every variant of a campaign, each run with both sides."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from leobench.agreement import measures
from leobench.campaign import Campaign, Variant, names, places
from leobench.errors import InputError
from leobench.files import is_campaign, read_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from leobench.agreement.axes import Side

# The most seeds of a cell. Results are stored under it, so that more seeds can be added later.
MOST_SEEDS = 1_000

# Letters of the name of a scenario's folder.
_LONGEST = 80

# The table that runs record, for the mean window.
_TABLES = (measures.WINDOWS,)


@dataclass(frozen=True)
class Target:
    """A scenario or a campaign, with the runs that compare two sides in each of its cells.

    Attributes:
        name: Of the scenario or campaign.
        sides: What is compared.
        campaign: A variant per cell and side; each has `MOST_SEEDS` replicates, of which some are run.
        cells: The names of both variants of a cell, by the cell's name.
        flows: The flows that are compared, by the cell's name.
    """

    name: str
    sides: tuple[Side, Side]
    campaign: Campaign
    cells: Mapping[str, tuple[str, str]]
    flows: Mapping[str, tuple[str, ...]]

    @classmethod
    def load(
        cls,
        file: str | PathLike[str],
        sides: tuple[Side, Side],
        overrides: Mapping[str, object] | None = None,
        seed: int | None = None,
    ) -> Target:
        """Reads a scenario or campaign file.

        Args:
            file: The file. Of a campaign, the scenario, `set` and the variants count.
            sides: What is compared.
            overrides: Values to replace in every run, by place.
            seed: Root of the seeds of all runs, as campaigns derive them; the campaign's, or 1, unless given.

        Raises:
            InputError: If the file is wrong, or a cell has no flow that the sides differ in.
        """
        base = _base(Path(file), overrides or {})
        resolved = base.scenarios
        flows: dict[str, tuple[str, ...]] = {}
        cells: dict[str, tuple[str, str]] = {}
        variants: list[Variant] = []
        alone = len(base.variants) == 1
        for cell in base.variants:
            flows[cell.name] = tuple(sides[0].flows(resolved[cell.name]))
            if not flows[cell.name]:
                which = "" if alone else f"variant `{cell.name}`: "
                raise InputError(f"{base.file}: {which}{sides[0].without}")
            pair = [_sided(cell, side, side.overrides(resolved[cell.name]), alone=alone) for side in sides]
            _refuse_varied(base, cell, pair)
            variants += pair
            cells[cell.name] = (pair[0].name, pair[1].name)
        compared = dict.fromkeys(flow for each in flows.values() for flow in each)
        campaign = dataclasses.replace(
            base,
            replicates=min(MOST_SEEDS, 1_000_000 // len(variants)),
            seed=base.seed if seed is None else seed,
            seeds="common",
            metrics=measures.paths(compared),
            tables=_TABLES,
            variants=tuple(variants),
        )
        return cls(base.name, sides, campaign, cells, flows)


def _base(file: Path, overrides: Mapping[str, object]) -> Campaign:
    if is_campaign(file):
        return Campaign.load(file).scaled(overrides=overrides)
    for place in overrides:
        why = places.refusal(place)
        if why is not None:
            raise InputError(f"{place}: {why}")
    from leobench.scenario import load as load_scenario

    name = load_scenario(file, None, overrides).name
    return Campaign(
        name=re.sub(r"[^A-Za-z0-9._+-]+", "-", name).strip("-.")[:_LONGEST] or "scenario",
        description="",
        file=file,
        text=read_text(file),
        scenario=file,
        replicates=1,
        seed=1,
        seeds="common",
        metrics=(),
        tables=_TABLES,
        set=overrides,
        variants=(Variant("base", {}, {}),),
    )


def _sided(cell: Variant, side: Side, overrides: Mapping[str, object], *, alone: bool) -> Variant:
    """The variant of a cell that runs one side."""
    own = f"{side.axis}={side.name}"
    name = own if alone else f"{cell.name},{own}"
    if not names.is_sound(name):
        name = f"{cell.name[:70]}-{hashlib.sha256(cell.name.encode()).hexdigest()[:8]},{own}"
    origins = {**cell.origins, **dict.fromkeys(overrides, f"--{side.axis}s {side.name}")}
    return Variant(name, {**cell.overrides, **overrides}, origins)


def _refuse_varied(base: Campaign, cell: Variant, pair: list[Variant]) -> None:
    """Refuses a campaign that sets what the sides differ in."""
    for place in pair[0].overrides:
        given = place in base.set or place in cell.overrides
        if given and pair[0].overrides[place] != pair[1].overrides[place]:
            which = f"variant `{cell.name}`: " if len(base.variants) > 1 else ""
            raise InputError(f"{base.file}: {which}sets {place}, which is compared; leave it out")
