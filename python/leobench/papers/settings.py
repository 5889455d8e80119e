"""The runs that the readings of a figure's claims need beyond those of its campaign."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leobench.errors import InputError, allowed
from leobench.papers import readings, words
from leobench.papers.claims import METRIC

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import polars as pl

    from leobench.campaign import Campaign
    from leobench.papers.catalogue import Figure
    from leobench.papers.claims import Claim
    from leobench.papers.readings import Reading

    Pair = tuple[Claim, Reading]


@dataclass(frozen=True)
class Setting:
    """Claims under readings that are judged by the same runs.

    Attributes:
        name: The id of the first of its readings; empty for the campaign of the figure.
        campaign: The campaign, of the variants that its claims need.
        pairs: The claims, each with its reading.
    """

    name: str
    campaign: Campaign
    pairs: tuple[Pair, ...]


def settings(figure: Figure, campaign: Campaign, claims: Sequence[Claim]) -> list[Setting]:
    """The settings of a figure, that of its own campaign first.

    Args:
        figure: The figure.
        campaign: Its campaign, in full or cut down.
        claims: Its claims.

    Raises:
        InputError: If a claim does not fit the campaign, or a reading its claim or its campaign.
    """
    grouped: dict[str, list[Pair]] = {"": []}
    for claim in claims:
        for reading in claim.readings:
            given = [reading.campaign, dict(reading.overrides)]
            key = json.dumps(given, sort_keys=True) if reading.needs_runs else ""
            grouped.setdefault(key, []).append((claim, reading))
    own = Setting("", campaign, tuple(grouped.pop("")))
    described = described_variants(figure, campaign)
    for claim in claims:
        if not claim.needs:
            _check_claim(figure, campaign, described, claim, f"claim {claim.id}")
    _check(figure, own, described)
    others = [_setting(figure, campaign, pairs) for pairs in grouped.values()]
    return [own, *others]


def _setting(figure: Figure, campaign: Campaign, pairs: Sequence[Pair]) -> Setting:
    first = pairs[0][1]
    whole = _other(figure, campaign, first)
    try:
        changed = whole.scaled(overrides=first.overrides)
    except InputError as error:
        raise InputError(f"{first.at}.overrides: {error}") from None
    described = described_variants(figure, changed)
    _check(figure, Setting(first.id, changed, tuple(pairs)), described)
    needed = set().union(*(_selected(described, readings.under(*pair)) for pair in pairs))
    names = [variant.name for variant in changed.variants if variant.name in needed]
    try:
        # Only these run, so only these are resolved: that takes most of the time of planning.
        part = changed.restricted(names, first.id)
        resolved = part.scenarios
    except InputError as error:
        raise InputError(f"{first.at}.overrides: {error}") from None
    # One by one: already the first variant usually differs.
    if first.overrides and all(resolved[name] == whole.restricted([name]).scenarios[name] for name in names):
        raise InputError(f"{first.at}.overrides: changes nothing; allowed: values that the campaign lacks")
    return Setting(first.id, part, tuple(pairs))


def _other(figure: Figure, campaign: Campaign, reading: Reading) -> Campaign:
    """The campaign that a reading starts from, cut down as that of the figure is."""
    from leobench.campaign import Campaign

    if not reading.campaign:
        return campaign
    full = Campaign.load(figure.campaign)
    cut = {place: value for place, value in campaign.set.items() if full.set.get(place) != value}
    try:
        other = Campaign.load(figure.campaign.with_name(f"{reading.campaign}.toml"))
        return dataclasses.replace(other.scaled(campaign.replicates, cut), command=campaign.command)
    except InputError as error:
        raise InputError(f"{reading.at}.campaign: {error}") from None


def described_variants(figure: Figure, campaign: Campaign) -> pl.DataFrame:
    """A row per variant of a campaign, in the words of the figure's claims."""
    from leobench.campaign import dataset

    return words.rename(dataset.variants(campaign), figure.words)


def _check(figure: Figure, setting: Setting, described: pl.DataFrame) -> None:
    """Checks that the campaign has the metrics and variants that the claims name under their readings."""
    for claim, reading in setting.pairs:
        at = f"{reading.at}.instead: claim {claim.id}"
        _check_claim(figure, setting.campaign, described, readings.under(claim, reading), at)


def _check_claim(figure: Figure, campaign: Campaign, described: pl.DataFrame, claim: Claim, at: str) -> None:
    """Checks that a campaign of the described variants has the metrics and values that a claim names."""
    known = [*campaign.metrics, *figure.measures]
    for metric in map(str, claim.values) if claim.along == METRIC else [claim.metric]:
        if metric not in known:
            raise InputError(f"{at}: {metric}: no such metric; {allowed(metric, known)}")
    for place, values in _asked(claim).items():
        if place not in described.columns:
            raise InputError(f"{at}: {place}: no such place; {allowed(place, described.columns)}")
        _known(at, place, values, described[place].unique(maintain_order=True).to_list())


def _known(at: str, place: str, values: Sequence[object], known: Collection[object]) -> None:
    for value in values:
        if value not in known:
            raise InputError(f"{at}: {place} = {value}: no variant has it; {allowed(value, known)}")


def _asked(claim: Claim) -> dict[str, list[object]]:
    """The values that a claim selects variants by, by place."""
    asked = {
        place: list(value) if isinstance(value, list) else [value] for place, value in claim.where.items()
    }
    if claim.along not in ("", METRIC) and claim.values:
        asked[claim.along] = list(claim.values)
    return asked


def _selected(described: pl.DataFrame, claim: Claim) -> set[str]:
    """The names of the variants that a claim is judged by."""
    import polars as pl

    rows = described
    for place, values in _asked(claim).items():
        rows = rows.filter(pl.any_horizontal(pl.col(place).eq_missing(pl.lit(each)) for each in values))
    return set(rows["variant"])
