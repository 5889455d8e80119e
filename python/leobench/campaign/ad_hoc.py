"""Campaigns without a file: variants of a scenario by values given on a command line.

`axis` reads a `--vary PLACE=VALUE,VALUE`; `campaign` makes the product of several, as a grid in a file would,
with the text of that file, so that everything downstream treats both alike. `default_metrics` chooses what
to measure of flows that nobody asked a metric of.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench.campaign import metrics, names, places, sharing, spreads
from leobench.campaign.definition import MOST_VARIANTS, Variant
from leobench.campaign.plan import Campaign
from leobench.errors import InputError, allowed, cut, positive
from leobench.files import read_toml, write_text
from leobench.overrides import as_text
from leobench.plots.names import find_metrics, short
from leobench.scenario import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# Flows beyond which only goodputs are measured, and beyond which nothing is measured of each.
_FEW_FLOWS, _MANY_FLOWS = 3, 8
_PAIRS = {"}": "{", "]": "["}


# Stands for every name at its position of a place.
_EVERY = "*"


@dataclass(frozen=True)
class Axis:
    """A place of a scenario and the values that it takes in turn.

    In `flows.*.delay` the `*` stands for every flow: all of these places take one value at a time.
    """

    place: str
    values: Sequence[object]

    def places(self, resolved: Mapping[str, Any]) -> list[str]:
        """The places in a resolved scenario that take the values.

        Raises:
            InputError: If it has none that a `*` could stand for.
        """
        if _EVERY not in self.place.split("."):
            return [self.place]
        words = self.place.split(".")
        found = [] if words[0] == _EVERY else _matching(resolved, words)
        for place in found:
            why = places.refusal(place)
            if why is not None:
                raise InputError(f"--vary {cut(self.place)}: {place}: {why}")
        if not found:
            raise InputError(
                f"--vary {cut(self.place)}: no place of the scenario is like this; "
                "allowed: a place where `*` stands for a name, such as flows.*.transport.congestion"
            )
        return found


def axis(place: str, text: str) -> Axis:
    """A place with values separated by commas, each written as after `--set`.

    Raises:
        InputError: If campaigns may not replace the place, or there are no such values.
    """
    why = places.refusal(place)
    if why is not None:
        raise InputError(f"--vary {cut(place)}: {why}")
    parts = split(text, f"--vary {cut(place)}")
    if not all(parts):
        problem = "has an empty value" if any(parts) else "has no value"
        raise InputError(
            f"--vary {cut(place)} = {cut(text)}: {problem}; allowed: values separated by commas, "
            "such as `cubic,bbr3`"
        )
    return Axis(place, [value(part) for part in parts])


def _matching(tree: object, words: Sequence[str]) -> list[str]:
    """The places of these words in a tree of tables, in its order; `*` stands for every key."""
    if not isinstance(tree, dict):
        return []
    first, *rest = words
    keys = list(tree) if first == _EVERY else [first] if first in tree else []
    if not rest:
        return keys
    return [f"{key}.{place}" for key in keys for place in _matching(tree[key], rest)]


def split(text: str, what: str) -> list[str]:
    """The parts of a text between its commas, but for those within quotes, brackets and braces.

    Raises:
        InputError: If one of these is not closed; `what` names the text.
    """
    parts, opened, start = [], list[str](), 0
    for at, char in _outside_strings(text, what):
        if char in _PAIRS.values():
            opened.append(char)
        elif char in _PAIRS and (not opened or opened.pop() != _PAIRS[char]):
            raise InputError(f"{what} = {cut(text)}: has a `{char}` that closes nothing; allowed: pairs")
        elif char == "," and not opened:
            parts.append(text[start:at].strip())
            start = at + 1
    if opened:
        raise InputError(f"{what} = {cut(text)}: has a `{opened[-1]}` that is not closed; allowed: pairs")
    return [*parts, text[start:].strip()]


def _outside_strings(text: str, what: str) -> Iterator[tuple[int, str]]:
    """The characters of a text that no quoted string of TOML contains, with their positions."""
    quote, escaped = "", False
    for at, char in enumerate(text):
        if quote:
            ends = char == quote and not escaped
            escaped = quote == '"' and char == "\\" and not escaped
            quote = "" if ends else quote
        elif char in "\"'":
            quote = char
        else:
            yield at, char
    if quote:
        raise InputError(f"{what} = {cut(text)}: has a `{quote}` that is not closed; allowed: pairs")


def value(text: str) -> object:
    """A value of TOML, or else the text itself, because shells remove quotes."""
    try:
        table = read_toml(Path("value"), f"value = {text}")
    except InputError:
        return text
    return table["value"] if list(table) == ["value"] else text


def campaign(
    scenario: Path,
    axes: Sequence[Axis],
    replicates: int,
    *,
    seed: int = 1,
    asked: Sequence[str] = (),
    overrides: Mapping[str, object] | None = None,
) -> Campaign:
    """The product of the axes as a campaign, the first of them changing last.

    Args:
        scenario: The base scenario's file.
        axes: Places with their values; those of one axis with a `*` take one value at a time.
        replicates: Runs of each variant.
        seed: Root of all seeds.
        asked: Metrics, by their paths or their last words; `default_metrics` unless given.
        overrides: Values that replace the base scenario's in every run, by place.

    Raises:
        ScenarioError: If the scenario or a variant of it is wrong.
        InputError: If axes contradict each other, there are too many variants, or a metric does not exist.
    """
    _check(axes)
    if seed < 0:
        raise InputError(f"--seed = {seed}: is negative; allowed: a whole number from 0")
    resolved = json.loads(load(scenario).to_json())
    together = [axis.places(resolved) for axis in axes]
    each_place = [place for found in together for place in found]
    _check_places(each_place, overrides or {})
    for option, given in (("--vary", each_place), ("--set", overrides or {})):
        for place in given:
            _refuse_short(option, place, resolved)
    combinations = [
        {place: value for found, value in zip(together, values, strict=True) for place in found}
        for values in itertools.product(*(axis.values for axis in axes))
    ]
    named = names.derive(combinations)
    variants = tuple(
        Variant(name, values, dict.fromkeys(values, "--vary"))
        for name, values in zip(named, combinations, strict=True)
    )

    def made(chosen: Sequence[str], name: str) -> Campaign:
        bare = Campaign(
            name=name,
            description="",
            file=scenario,
            text="",
            scenario=scenario,
            replicates=positive("-n", replicates),
            seed=seed,
            seeds="common",
            metrics=tuple(chosen),
            tables=(),
            set=dict(overrides or {}),
            variants=variants,
            origin_of_set="--set",
            command="compare",
        )
        return dataclasses.replace(bare, text=_as_file(bare, together))

    first = made(["packets"], "compare")
    resolved = first.scenarios[named[0]]
    labels = [short(axis.place, [other.place for other in axes]).replace("*", "each") for axis in axes]
    name = f"{resolved['name']}-by-{'-'.join(labels)}"
    chosen = _metrics(asked, first) if asked else default_metrics(resolved)
    return made(chosen, name if names.is_sound(name) else "compare")


def _check(axes: Sequence[Axis]) -> None:
    if not axes:
        raise InputError(
            "--vary: is required; allowed: a place and values, such as "
            "flows.main.transport.congestion=cubic,bbr3"
        )
    for axis in axes:
        texts = [as_text(value) for value in axis.values]
        twice = next((text for text in texts if texts.count(text) > 1), None)
        if twice is not None:
            raise InputError(f"--vary {axis.place}: `{twice}` appears twice; allowed: each value once")
    count = math.prod(len(axis.values) for axis in axes)
    if count > MOST_VARIANTS:
        raise InputError(f"--vary: makes {count:,} variants; allowed: at most {MOST_VARIANTS:,}")


def _check_places(varied: Sequence[str], overrides: Mapping[str, object]) -> None:
    for one, other in itertools.combinations(varied, 2):
        if places.overlap(one, other):
            problem = "is given twice" if one == other else f"overlaps --vary {one}"
            raise InputError(f"--vary {other}: {problem}; allowed: places that do not contain one another")
    for place in overrides:
        why = places.refusal(place)
        if why is not None:
            raise InputError(f"--set {cut(place)}: {why}")
        for axis in varied:
            if f"{place}.".startswith(f"{axis}."):
                raise InputError(
                    f"--set {cut(place)}: --vary {cut(axis)} replaces it; allowed: any other place"
                )


def _refuse_short(option: str, place: str, resolved: Mapping[str, Any]) -> None:
    """Refuses the last words of places of the scenario, and names these places.

    Raises:
        InputError: If the place is none, but ends some.
    """
    if re.split(r"[.\[]", place)[0] in resolved:
        return
    meant = [each for each in _places(resolved) if each.endswith(f".{place}")]
    if meant:
        raise InputError(f"{option} {cut(place)}: is not a whole place; {allowed('', meant)}")


def _places(tree: Mapping[str, Any], at: str = "") -> Iterator[str]:
    """The places of a resolved scenario, without those within lists."""
    for key, held in tree.items():
        yield f"{at}{key}"
        if isinstance(held, dict):
            yield from _places(held, f"{at}{key}.")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _scenario_line(scenario: Path) -> str:
    return f"scenario = {_quoted(scenario.as_posix())}"


def _as_file(campaign: Campaign, together: Sequence[Sequence[str]]) -> str:
    """The campaign file that asks for the same.

    `together` has the places that take one value at a time.
    """
    lines = [
        f"name = {_quoted(campaign.name)}",
        _scenario_line(campaign.scenario),
        f"replicates = {campaign.replicates}",
        f"seed = {campaign.seed}",
        f"metrics = {as_text(list(campaign.metrics))}",
    ]
    if campaign.set:
        lines += [
            "",
            "[set]",
            *(f"{_quoted(place)} = {as_text(held)}" for place, held in campaign.set.items()),
        ]
    for found in together:
        values = {as_text(variant.overrides[found[0]]): None for variant in campaign.variants}
        lines += ["", "[[grid]]", *(f"{_quoted(place)} = [{', '.join(values)}]" for place in found)]
    return "\n".join(lines) + "\n"


def write(campaign: Campaign, file: Path) -> None:
    """Writes the file of a campaign without one, with the path of its scenario from there.

    Raises:
        InputError: If the file is there already, or cannot be written.
    """
    if os.path.lexists(file):
        raise InputError(f"{file}: exists already; choose another name with --write, or remove it")
    here = Path(os.path.relpath(campaign.scenario, file.parent))
    named, renamed = _scenario_line(campaign.scenario), _scenario_line(here)
    write_text(file, campaign.text.replace(f"\n{named}\n", f"\n{renamed}\n", 1))


def default_metrics(resolved: Mapping[str, Any]) -> list[str]:
    """The metrics of a resolved scenario that nobody chose.

    Of each flow that is not background: its goodput, and the delay of its messages, or the time that a page
    or a transfer takes. With two or more such flows, also their fairness if all of them send over one
    direction of a link: others do not compete for its rate.
    """
    flows = {name: flow for name, flow in resolved["flows"].items() if not flow.get("background")}
    flows = flows or resolved["flows"]
    found = [] if len(flows) > _MANY_FLOWS else [f"flows.{name}.goodput_bps" for name in flows]
    if len(flows) <= _FEW_FLOWS:
        for name, flow in flows.items():
            found += [f"flows.{name}.{tail}" for tail in _times(flow)]
    compete = len(flows) > 1 and sharing.share_a_direction(resolved, flows)
    return [*found, *(["fairness_jain"] if compete else [])]


def _times(flow: Mapping[str, Any]) -> list[str]:
    """The metrics of how long a flow's data take."""
    if flow.get("objects") is not None:
        return ["page.completion_s"]
    if flow.get("video") is not None:
        return ["video.startup_s", "video.stalled_s", "video.bitrate_bps", "video.quality_bps"]
    streams = flow.get("streams")
    given = streams if isinstance(streams, list) else []
    sources = [flow.get("source"), *(stream.get("source") for stream in given)]
    tables = [source for source in sources if isinstance(source, dict)]
    if any(source["kind"] != "bulk" for source in tables):
        return ["delay_ms.mean", "delay_ms.p95"]
    ends = tables and all(source.get("size") is not None for source in tables)
    round_trips = [] if flow["transport"]["kind"] == "udp" else ["rtt_ms.mean"]
    return ["completion_s", *round_trips] if ends else round_trips


def _metrics(asked: Sequence[str], any_metrics: Campaign) -> list[str]:
    """The paths of the metrics asked for, where the runs of the first variant have them."""
    known = metrics.produced(any_metrics.restricted([any_metrics.variants[0].name]))
    if known is None:
        return list(asked)
    flat = sorted(metric for metric in known if ".streams." not in metric and ".paths." not in metric)
    found = ([word] if word in known or spreads.among([word]) else find_metrics(word, flat) for word in asked)
    return list(dict.fromkeys(path for paths in found for path in paths))
