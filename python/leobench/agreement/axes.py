"""Axes of a comparison: the QUIC stack or the engine. An axis turns its words into two sides."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from leobench.agreement.measures import MEASURES, limited
from leobench.errors import InputError, allowed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from leobench.agreement.measures import Measure

# How much engines may differ. The kernel's TCP is another implementation, and a clock is never exact.
_ENGINE_LIMITS = {"goodput_bps": 0.02, "delay_ms.p50": 0.1}


@dataclass(frozen=True)
class Side:
    """One side of a comparison.

    Attributes:
        axis: The name of the axis, such as `stack`.
        name: Its own name, such as `own`.
        overrides: Overrides of a resolved scenario, by place.
        flows: The flows of a resolved scenario that it concerns. A scenario without any is refused.
        without: Why it is refused.
        measures: The measures compared, with their limits.
        alone: Whether its runs need the machine for themselves.
    """

    axis: str
    name: str
    overrides: Callable[[Mapping[str, Any]], Mapping[str, object]] = field(repr=False)
    flows: Callable[[Mapping[str, Any]], Sequence[str]] = field(repr=False)
    without: str
    measures: Sequence[Measure] = field(default=MEASURES, repr=False)
    alone: bool = False


def stacks(words: str) -> tuple[Side, Side]:
    """The sides of `--stacks own,noq`: every QUIC flow uses one stack, then the other.

    Raises:
        InputError: If these are not two stacks.
    """
    first, second = _two("--stacks", words, known_stacks())
    return _stack(first), _stack(second)


def engines(words: str) -> tuple[Side, Side]:
    """The sides of `--engines virtual,real`: the same flows in virtual time, and in real time on sockets.

    Raises:
        InputError: If these are not both engines.
    """
    first, second = _two("--engines", words, ("virtual", "real"))
    return _engine(first), _engine(second)


def known_stacks() -> list[str]:
    """The names of the QUIC stacks, as the schema of scenarios has them."""
    from leobench import api

    keys = (table["stack"] for table in _tables(api.schema()) if "stack" in table)
    listed = (words for key in keys for way in key.get("oneOf", ()) for words in way.get("enum", ()))
    return list(dict.fromkeys(listed))


def _tables(schema: object) -> list[Mapping[str, Any]]:
    """The properties of every table of a schema."""
    if isinstance(schema, list):
        return [found for held in schema for found in _tables(held)]
    if not isinstance(schema, dict):
        return []
    own = [schema["properties"]] if isinstance(schema.get("properties"), dict) else []
    return own + [found for held in schema.values() for found in _tables(held)]


def _two(option: str, words: str, known: Sequence[str]) -> tuple[str, str]:
    given = [word.strip() for word in words.split(",")]
    for word in given:
        if word not in known:
            raise InputError(f"{option} {words}: {word or 'an empty word'}: unknown; {allowed(word, known)}")
    if len(given) != 2 or given[0] == given[1]:
        both = ",".join(known[:2])
        raise InputError(f"{option} {words}: is not two different words; allowed: two, such as {both}")
    return given[0], given[1]


def _stack(name: str) -> Side:
    return Side(
        "stack",
        name,
        lambda scenario: {f"flows.{flow}.transport.stack": name for flow in quic_flows(scenario)},
        quic_flows,
        "has no QUIC flow, so no stack to compare; allowed: a scenario with one",
    )


def _engine(name: str) -> Side:
    return Side(
        "engine",
        name,
        lambda _: {"engine": name},
        lambda scenario: list(scenario["flows"]),
        "has no flow to compare; allowed: a scenario with one",
        limited(_ENGINE_LIMITS),
        alone=True,
    )


def quic_flows(scenario: Mapping[str, Any]) -> list[str]:
    """The names of a resolved scenario's QUIC flows."""
    return [name for name, flow in scenario["flows"].items() if _kind(flow["transport"]) == "quic"]


def _kind(transport: object) -> object:
    return transport.get("kind") if isinstance(transport, dict) else transport
