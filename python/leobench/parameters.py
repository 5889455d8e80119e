"""The parameters of what a scenario is made of, as the JSON Schemas of its kinds have them."""

from __future__ import annotations

import re
import textwrap
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from leobench.errors import InputError, allowed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Schema = Mapping[str, Any]

_WIDTH = 100


def describe(
    schema: Schema,
    key: str,
    kind: str,
    name: str,
    summaries: Mapping[str, str],
    states: Sequence[Mapping[str, Any]] = (),
    refused: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Describes one name of a kind; `leobench.describe` documents the form.

    Args:
        schema: The JSON Schema of the kind.
        key: The key under which the kind stands in a scenario.
        kind: The kind, such as `channels`.
        name: Its name.
        summaries: All names of the kind, with their summaries.
        states: The states of a preset's channel.
        refused: Names of the kind that are refused, with the reasons.

    Raises:
        InputError: If the name is unknown or refused.
    """
    if name in refused:
        raise InputError(f"{kind} {name}: {refused[name]}")
    if name not in summaries:
        raise InputError(f"{kind} {name}: no such name; {allowed(name, summaries)}")
    option = _option(schema, name)
    described: dict[str, Any] = {
        "kind": kind,
        "name": name,
        "description": option.get("description") or summaries[name],
        "example": _example(option, key) if option.get("examples") else None,
        "parameters": [
            {
                "name": key,
                "type": type_text(value),
                "required": key in option["required"],
                "default": value.get("default"),
                "description": value.get("description", ""),
            }
            for key, value in option.get("properties", {}).items()
            if key != "kind"
        ],
    }
    if states:
        described["states"] = states
    return described


def render(described: Mapping[str, Any]) -> str:
    """Formats the result of `describe` as text for a terminal."""
    lines = [*_paragraphs(f"{described['name']}: {described['description']}", "")]
    for parameter in described["parameters"]:
        default = parameter["default"]
        if parameter["required"]:
            note = "required"
        else:
            note = "optional" if default is None else f"default: {value_text(default)}"
        lines += ["", f"{parameter['name']} ({note})"]
        lines += _paragraphs(parameter["description"], "    ")
        lines += _paragraphs(f"Allowed: {parameter['type']}.", "    ")
    lines += _states(described.get("states", ()))
    if not described["parameters"] and "states" not in described:
        lines += ["", "It has no parameters."]
    if described["example"]:
        lines += ["", f"Example: {described['example']}"]
    return "\n".join(lines)


def _states(states: Sequence[Mapping[str, Any]]) -> list[str]:
    """The states of a preset, in numbers."""
    lines = []
    for state in states:
        following = ", ".join(f"{name} {share:.4g}" for name, share in state["next"].items() if share)
        lines += [
            "",
            f"{state['name']}: {state['rate_bps'] / 1e6:g} Mbit/s",
            f"    {state['time_share']:.2%} of the time, {state['dwell_s']:.4g} s at a time on average",
            f"    then {following}",
        ]
    if states:
        mean = sum(state["rate_bps"] * state["time_share"] for state in states)
        lines += ["", f"mean rate: {mean / 1e6:.4g} Mbit/s"]
    return lines


def type_text(schema: Schema) -> str:
    """The values that a schema allows, in words."""
    if "enum" in schema:
        return _words(schema["enum"], " or ")
    if "title" in schema:
        return str(schema["title"])
    if "oneOf" in schema:
        kinds = [
            option["properties"]["kind"]["const"] for option in schema["oneOf"] if "properties" in option
        ]
        return f"{_words(kinds, ' or ')}, or a table of such a kind"
    if schema["type"] == "array":
        count = f" of {schema['minItems']}" if "minItems" in schema else ""
        return f"an array{count}, each {type_text(schema['items'])}"
    if schema["type"] == "object":
        return f"a table of {_words(schema['properties'])}" if schema.get("properties") else "a table"
    words = {
        "boolean": "true or false",
        "string": "a text",
        "integer": "a whole number",
        "number": "a number",
    }
    return words[schema["type"]] + limits(schema)


def value_text(value: object) -> str:
    """A default as it would be written in a scenario."""
    from leobench.overrides import as_text

    # The rest of such a table are that kind's own defaults.
    return as_text(value["kind"] if isinstance(value, dict) and "kind" in value else value)


def _example(option: Schema, key: str) -> str:
    """The line of a scenario that asks for the option, as short as can be."""
    from leobench.overrides import as_text

    table = option["examples"][0]
    text = as_text(table if len(table) > 1 else table["kind"])
    return f"{key} = " + re.sub(r'"([A-Za-z0-9_-]+)" = ', r"\1 = ", text)


def limits(schema: Schema) -> str:
    """The range of a number, such as " from 0 to 1" or " above 1 and below 2"; empty without one."""
    low, above = schema.get("minimum"), schema.get("exclusiveMinimum")
    high, below = schema.get("maximum"), schema.get("exclusiveMaximum")
    text = f" above {_number(above)}" if above is not None else "" if low is None else f" from {_number(low)}"
    if below is not None:
        return f"{text} and below {_number(below)}" if text else f" below {_number(below)}"
    if high is None or high > 2**53:  # what no number in a file can reach
        return text
    return f"{text} {'up ' * (low is None)}to {_number(high)}"


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:g}"


def _option(schema: Schema, name: str) -> Schema:
    """The schema of a name's table; empty if the name has none."""
    tables = (option for option in schema.get("oneOf", ()) if "properties" in option)
    return next((table for table in tables if table["properties"]["kind"]["const"] == name), {})


def _words(words: Iterable[str], between: str = ", ") -> str:
    return between.join(f"`{word}`" for word in words)


def _paragraphs(text: str, indent: str) -> list[str]:
    return [
        line
        for number, paragraph in enumerate(text.split("\n\n"))
        for line in [
            *([""] if number else []),
            *textwrap.wrap(
                paragraph, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
            ),
        ]
    ]
