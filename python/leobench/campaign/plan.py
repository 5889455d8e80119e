"""The plan of a campaign: its variants, and for each of them the runs with their seeds."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from leobench.campaign import places, provenance, spreads
from leobench.campaign.definition import Definition
from leobench.campaign.file import read
from leobench.errors import InputError, ScenarioError, allowed, near, positive
from leobench.files import as_path
from leobench.folder import OCCASIONAL_TABLES
from leobench.scenario import load as load_scenario

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from os import PathLike
    from pathlib import Path

    from leobench.campaign.definition import Variant

MOST_RUNS = 1_000_000  # of a campaign: each has its own file

# Tables that `record.series` fills.
SERIES = (
    "transport", "streams", "queues", "channel", "paths", "opportunities", "routes", "losses",
    *OCCASIONAL_TABLES,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run of a campaign; `leobench.run(run.scenario, run.seed, run.overrides)` repeats it by hand.

    Attributes:
        variant: Name of the variant.
        replicate: Number of the run among those of its variant, from 1.
        seed: Seed of all its randomness.
        scenario: The file of the base scenario.
        overrides: Everything the run replaces in it.
        fingerprint: Digest of the scenario and the files it names at the time of planning.
        spreads: Whether quartiles and standard deviations of delays are added to its summary.
    """

    variant: str
    replicate: int
    seed: int
    scenario: Path
    overrides: Mapping[str, object]
    fingerprint: str
    spreads: bool = False

    @property
    def stem(self) -> str:
        """The name of the run's files, without suffix."""
        return f"{self.variant}-{self.replicate:04}"


@dataclass(frozen=True)
class Campaign(Definition):
    """A campaign: the content of its file, and the runs that follow from it."""

    def __post_init__(self) -> None:
        most = MOST_RUNS // len(self.variants)
        if self.replicates > most:
            of_each = (
                f" ({MOST_RUNS:,} runs of {len(self.variants):,} variants)" if len(self.variants) > 1 else ""
            )
            raise InputError(
                f"{self.file}: replicates = {self.replicates}: is too many; "
                f"allowed: a whole number from 1 to {most:,}{of_each}"
            )
        for variant in self.variants:
            pair = places.shadowed(self.overrides(variant))
            if pair is not None:
                lost, winner = (f'{self._origins(variant)[place]}."{place}"' for place in pair)
                loser, other = (self._file_of(variant, place) for place in pair)
                raise InputError(
                    f"{loser}: {lost}: is overwritten by {winner}{'' if other == loser else f' of {other}'}, "
                    "which replaces the whole table; remove one of them, or put the larger table first"
                )

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Campaign:
        """Reads a campaign file (TOML; `docs/howto/campaigns.md` describes it). `plan` checks the scenario.

        Raises:
            InputError: If the file is wrong; the message names the place, the value and what is allowed.
        """
        return cls(**vars(read(as_path("campaign", path, "the path of a campaign file"))))

    def scaled(
        self, replicates: int | None = None, overrides: Mapping[str, object] | None = None
    ) -> Campaign:
        """The same campaign with another number of replicates, or with values replaced in every run.

        Replicate k has the same seed in both.

        Raises:
            InputError: If an override replaces a place that the variants vary, or one that campaigns control.
        """
        overrides = overrides or {}
        for place in overrides:
            why = places.refusal(place)
            if why is not None:
                raise InputError(f"{place}: {why}")
            for variant in self.variants:
                if any(places.overlap(place, varied) for varied in variant.overrides):
                    raise InputError(f"{place}: variant `{variant.name}` varies it; allowed: any other place")
        return dataclasses.replace(
            self,
            replicates=self.replicates if replicates is None else positive("replicates", replicates),
            set=places.merge(self.set, overrides),
            inherited={
                key: file
                for key, file in self.inherited.items()
                if key not in {f'set."{place}"' for place in overrides}
            },
        )

    def restricted(self, names: Collection[str], suffix: str = "") -> Campaign:
        """The same campaign with some of its variants only; `+suffix` is added to its name.

        Its runs have the seeds that they have in the whole campaign.

        Raises:
            InputError: If there is no such variant, or none is left.
        """
        known = [variant.name for variant in self.variants]
        for name in names:
            if name not in known:
                raise InputError(f"{name}: no such variant of campaign {self.name}; {allowed(name, known)}")
        if not names:
            raise InputError(f"campaign {self.name}: no variant is left; {allowed('', known)}")
        return dataclasses.replace(
            self,
            name=f"{self.name}+{suffix}" if suffix else self.name,
            variants=tuple(variant for variant in self.variants if variant.name in names),
        )

    def plan(self) -> list[PlannedRun]:
        """Every run: all replicates of the first variant, then of the next.

        Raises:
            ScenarioError: If the base scenario or a variant is wrong.
            InputError: If two variants resolve to the same scenario, or one has a warm-up and the metrics are
                quartiles or standard deviations of delays.
        """
        base = self.scenario.absolute()
        if self.spreads:
            self._refuse_warm_up()
        prints = {
            name: provenance.fingerprint(resolved, base.parent) for name, resolved in self.scenarios.items()
        }
        planned = []
        for variant in self.variants:
            name, overrides = variant.name, self.overrides(variant)
            own = None if self.seeds == "common" else name
            planned += [
                PlannedRun(
                    name,
                    replicate,
                    derive_seed(self.seed, replicate, own),
                    base,
                    overrides,
                    prints[name],
                    self.spreads,
                )
                for replicate in range(1, self.replicates + 1)
            ]
        return planned

    def overrides(self, variant: Variant) -> dict[str, object]:
        """Everything that the runs of a variant replace in the base scenario.

        Runs record the kept tables only: recording costs time and memory.
        """
        return {
            "record.messages": "messages" in self.tables or self.spreads,
            "record.series": any(table in SERIES for table in self.tables),
            "record.packets": "packets" in self.tables,
            **places.merge(self.set, variant.overrides),
        }

    @property
    def spreads(self) -> bool:
        """Whether its metrics include quartiles or standard deviations of delays."""
        return spreads.among(self.metrics)

    def _refuse_warm_up(self) -> None:
        for name, scenario in self.scenarios.items():
            if scenario["warm_up"].split()[0] != "0":
                raise InputError(
                    f'{self.file}: variant `{name}`: warm_up = "{scenario["warm_up"]}": metrics such as '
                    "`flows.main.delay_ms.p25` cover all messages; allowed: no warm-up, or other metrics"
                )

    @cached_property
    def scenarios(self) -> dict[str, dict[str, Any]]:
        """The scenario of every variant by its name, every default spelled out, without a seed."""
        try:
            load_scenario(self.scenario)
        except ScenarioError as error:
            raise ScenarioError(f"{self.source('scenario')}: scenario: {error}{self._suggestion()}") from None
        resolved = {variant.name: self._resolve(variant) for variant in self.variants}
        self._refuse_twins(resolved)
        return resolved

    @property
    def varied(self) -> tuple[str, ...]:
        """The places that any variant replaces, in the order of the file."""
        return tuple(dict.fromkeys(place for variant in self.variants for place in variant.overrides))

    def _suggestion(self) -> str:
        """Suggests a scenario file of a similar name if the given one does not exist."""
        if self.scenario.exists():
            return ""
        return near(self.scenario.name, (file.name for file in sorted(self.scenario.parent.glob("*.toml"))))

    def _refuse_twins(self, resolved: Mapping[str, Mapping[str, Any]]) -> None:
        """Refuses two variants that resolve to the same scenario."""
        seen: dict[str, str] = {}
        for name, described in resolved.items():
            content = {key: value for key, value in described.items() if key not in ("name", "description")}
            twin = seen.setdefault(json.dumps(content), name)
            if twin != name:
                raise InputError(
                    f"{self.file}: variants `{twin}` and `{name}` resolve to the same scenario; "
                    "allowed: variants that differ"
                )

    def _origins(self, variant: Variant) -> dict[str, str]:
        """The part of the campaign file that gives each value of a variant's runs, by place."""
        return {**dict.fromkeys(self.set, self.origin_of_set), **variant.origins}

    def _resolve(self, variant: Variant) -> dict[str, Any]:
        try:
            loaded = load_scenario(self.scenario, None, self.overrides(variant))
        except ScenarioError as error:
            text = str(error).removeprefix(f"{self.scenario}: ")
            raise ScenarioError(f"{self._origin(variant, text)}: {text}") from None
        return provenance.without_seed(json.loads(loaded.to_json()))

    def _file_of(self, variant: Variant, place: str) -> Path:
        """The file that gives the value of a variant's runs at a place."""
        origin = self._origins(variant)[place]
        return self.source(f'set."{place}"' if origin == self.origin_of_set else re.split(r"\W", origin)[0])

    def _origin(self, variant: Variant, message: str) -> str:
        """The file and the place in it that a message about a variant's scenario refers to."""
        origins = self._origins(variant)
        named = [place for place in origins if message.startswith(place)]
        if not named:
            return f"{self.file}: variant `{variant.name}`"
        place = max(named, key=len)
        return f"{self._file_of(variant, place)}: {origins[place]}"


def derive_seed(root: int, replicate: int, variant: str | None = None) -> int:
    """The seed of a run: the first 63 bits, most significant first, of a SHA-256 (FIPS 180-4).

    The digested text is `leobench/<root>/<replicate>`, followed by `/<variant>` where every variant has
    its own seeds. 63 bits fit the signed integers of TOML and Parquet.
    """
    text = f"leobench/{root}/{replicate}" + ("" if variant is None else f"/{variant}")
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
