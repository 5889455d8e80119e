"""The page of all metrics of a summary, from the schema of the core."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from leobench import _core
from tools.reference.markdown import joined, prose, slug, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Schema = Mapping[str, Any]


def summary_page() -> str:
    """The page of all keys of `summary.json`."""
    schema = json.loads(_core.summary_schema())
    return joined(
        [
            "# Metrics",
            "Every key of `summary.json` with its unit; `result.summary` has the same. A metric without a "
            "measurement is `null`. Campaigns name metrics by the names of flows, streams and links: "
            "`flows.main.delay_ms.p95`. [Reading results](results.md) says how they are counted.",
            *sections(schema["$defs"]),
        ]
    )


def sections(structs: Mapping[str, Schema]) -> Iterator[str]:
    """A section for each struct of the summary."""
    for name, struct in structs.items():
        yield f"## {heading(name)}"
        yield prose(struct.get("description", ""))
        required = set(struct.get("required", ()))
        rows = [
            (
                f"`{key}`" if key in required else f"`{key}`, not always",
                kind(value),
                value.get("unit", ""),
                value.get("description", ""),
            )
            for key, value in struct.get("properties", {}).items()
        ]
        if rows:
            yield table(["key", "value", "unit", "meaning"], rows)


def heading(struct: str) -> str:
    """The heading of a struct: `LossesSummary` is `Losses`."""
    return struct.removesuffix("Summary") or "Run"


def kind(schema: Schema) -> str:
    """A value in words, with a link to its section if it is a struct."""
    if "anyOf" in schema:
        some = [each for each in schema["anyOf"] if each.get("type") != "null"]
        return " or ".join(map(kind, some)) + ", or null"
    if "$ref" in schema:
        name = heading(schema["$ref"].rpartition("/")[2])
        return f"[{name}](#{slug(name)})"
    words = {
        "string": "text",
        "integer": "integer",
        "number": "number",
        "boolean": "true or false",
    }
    if schema["type"] == "array":
        return f"list of {kind(schema['items'])}"
    if schema["type"] == "object":
        return f"{kind(schema['additionalProperties'])} by name"
    return words[schema["type"]]
