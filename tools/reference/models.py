"""The pages of models and their parameters, from the schemas of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING

import leobench
from leobench import _core
from tools.reference.keys import MODELS, choices, keys_table, nested, place
from tools.reference.markdown import joined, prose, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.reference.keys import Schema

INTRODUCTIONS = {
    "link-models.md": "Models of a link: [`links.NAME`](scenario.md#linksname) chooses them by `kind`.",
    "flow-models.md": "Models of a flow: [`flows.NAME`](scenario.md#flowsname) chooses them by `kind`.",
    "congestion-controllers.md": (
        "The controllers that `congestion` of a [transport](flow-models.md#transports) chooses by `kind`. "
        "[Choosing a controller](../howto/congestion-control.md) compares them."
    ),
    "satellite-models.md": (
        "Models of a [`constellation`](scenario.md#constellation) and of the budgets of "
        "[its links](scenario.md#linksnameconstellation)."
    ),
}


def models_page(page: str) -> str:
    """A page of models."""
    kinds = MODELS[page]
    title = page.removesuffix(".md").replace("-", " ").capitalize()
    blocks = [f"# {title}", INTRODUCTIONS[page]]
    for kind, heading in kinds.items():
        if len(kinds) > 1:
            blocks.append(f"## {heading}")
        blocks.append(f"`leobench list {kind}` prints them.")
        for name in leobench.kinds(kind):
            blocks += model(kind, name)
        blocks += [f"`{name}` {reason}." for name, reason in _core.refused(kind)]
    return joined(blocks)


def model(kind: str, name: str) -> Iterator[str]:
    """The section of a model: description, example, parameters."""
    described = leobench.describe(kind, name)
    page, heading = place(kind)
    alone = sum(name in leobench.kinds(each) for each in MODELS[page]) == 1
    level = "###" if len(MODELS[page]) > 1 else "##"
    yield f"{level} {name}" if alone else f"{level} {name} ({heading.lower()})"
    yield prose(described["description"])
    if described["example"]:
        yield f"```toml\n{described['example']}\n```"
    if described.get("states"):
        yield table(
            ["state", "rate", "share of time", "mean duration"],
            [
                (
                    state["name"],
                    f"{state['rate_bps'] / 1e6:g} Mbit/s",
                    f"{state['time_share']:.1%}",
                    f"{state['dwell_s'] * 1e3:.4g} ms",
                )
                for state in described["states"]
            ],
        )
    option = next(
        (each for each in choices(kind) or () if each.get("properties", {}).get("kind") == {"const": name}),
        None,
    )
    if option is not None:
        yield from parameter_tables(option, "")


def parameter_tables(schema: Schema, path: str) -> Iterator[str]:
    """The parameters of a model, and of the tables among them."""
    text = keys_table(schema, None)
    if text:
        yield f"Keys of `{path}`:" if path else ""
        yield text
    for key, value in schema["properties"].items():
        below, name = nested(value, key)
        if below is not None:
            yield from parameter_tables(below, f"{path}.{name}" if path else name)
