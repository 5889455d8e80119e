"""Keys of a table in words: values, defaults and meanings, with links to the models that they choose."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from leobench import _core, parameters
from tools.reference.markdown import slug, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Schema = Mapping[str, Any]

# The kinds of models by page, each with its heading.
MODELS: dict[str, dict[str, str]] = {
    "link-models.md": {
        "channels": "Channels",
        "presets": "Presets of the channel `lms`",
        "losses": "Loss processes",
        "access": "Medium access",
        "queues": "Queue disciplines",
    },
    "flow-models.md": {
        "transports": "Transports",
        "sources": "Traffic sources",
        "adaptations": "Adaptation of videos",
        "rate_controls": "Rate control of calls",
        "jitter_buffers": "Jitter buffers of calls",
        "matrices": "Traffic matrices",
        "arrivals": "Arrivals of transfers",
        "sizes": "Sizes of transfers",
        "schedulers": "Stream schedulers",
        "path_schedulers": "Path schedulers",
        "path_managers": "Path managers",
    },
    "congestion-controllers.md": {"congestion": "Congestion controllers"},
    "satellite-models.md": {
        "satellites": "Satellites",
        "policies": "Serving policies",
        "layouts": "Layouts of links between satellites",
        "routing": "Routing models",
        "transmitters": "Transmitters",
        "receivers": "Receivers",
        "antennas": "Antennas",
        "noise": "Noise",
        "rates": "Rates",
        "fading": "Fading",
    },
}

NAME = "NAME"


def nested(schema: Schema, key: str) -> tuple[Schema | None, str]:
    """The table that a key leads to, and its name; `None` if it leads to a value or a model."""
    if model_of(schema):
        return None, ""
    for option in schema.get("oneOf", ()):
        if option.get("type") == "array" and "properties" in option["items"]:
            return option["items"], f"{key}[]"
    if schema.get("properties"):
        return schema, key
    if isinstance(schema.get("items"), dict) and schema["items"].get("properties"):
        return schema["items"], f"{key}[]"
    more = schema.get("additionalProperties")
    if isinstance(more, dict) and more.get("properties"):
        return more, f"{key}.{NAME}"
    return None, ""


def keys_table(schema: Schema, path: str | None) -> str:
    """The table of the keys of a table at a place of the scenario, or of a model."""
    required = set(schema.get("required", ()))
    rows = [
        (
            f"`{key}`",
            allowed(value, key, path),
            "required" if key in required else default(value),
            value.get("description", ""),
        )
        for key, value in schema["properties"].items()
        if key != "kind"
    ]
    return table(["key", "value", "default", "meaning"], rows) if rows else ""


def allowed(schema: Schema, key: str, path: str | None) -> str:
    """The values of a key in words, with a link to the tables or models that they are."""
    if kind := model_of(schema):
        page, heading = place(kind)
        return f"one of the [{heading[0].lower()}{heading[1:]}]({page}#{slug(heading)})"
    below, name = nested(schema, key)
    if below is not None:
        words = "a number, or " if "oneOf" in schema else ""
        words += "an array of tables" if name.endswith("[]") else "a table"
        words += " for each name" if name.endswith(NAME) else ""
        if path is None:
            return f"{words}, see below"
        target = f"{path}.{name}" if path else name
        return f"{words}: [`{target}`](#{slug(target)})"
    return short(parameters.type_text(schema))


def short(text: str) -> str:
    """A description of values without the lists of units, which the page has once."""
    text = re.sub(r" with its unit( \([^)]*\))?", "", text)
    return re.sub(r"; or a table whose `kind` is .*", ", or a [distribution](scenario.md#quantities)", text)


def default(schema: Schema) -> str:
    """The default of a key."""
    value = schema.get("default")
    if value is None:
        return ""
    return "" if isinstance(value, dict) and "kind" not in value else code(value)


def code(value: object) -> str:
    """A default as it stands in a scenario."""
    return f"`{parameters.value_text(value)}`"


def model_of(schema: Schema) -> str | None:
    """The kind of models that a schema chooses from."""
    options = schema.get("oneOf")
    return next((kind for kind in _core.KINDS if options and options == choices(kind)), None)


def choices(kind: str) -> Sequence[Schema] | None:
    """The options of a kind's schema."""
    options: Sequence[Schema] | None = json.loads(_core.kind_schema(kind)[1]).get("oneOf")
    return options


def place(kind: str) -> tuple[str, str]:
    """The page and the heading of a kind."""
    return next((page, kinds[kind]) for page, kinds in MODELS.items() if kind in kinds)
