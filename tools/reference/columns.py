"""The page of tables and columns, from the sources of the recorder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from leobench.emulation import sockets
from tools.reference.markdown import joined, prose, table

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]


COLUMN = re.compile(
    r"Column::(?P<make>new|integer|text)\(\s*\"(?P<name>\w+)\",\s*(?:ColumnKind::(?P<kind>\w+),\s*)?"
    r"\"(?P<doc>(?:[^\"\\]|\\[\s\S])*)\",?\s*\)(?P<null>\s*\.or_null\(\))?|(?P<shared>[A-Z]+)(?P<maybe>\.or_null\(\))?,"
)
TYPES = {
    "integer": "integer",
    "text": "text",
    "Float": "number",
    "Flag": "true or false",
    "Integer": "integer",
    "Text": "text",
}


def tables_page() -> str:
    """The page of all tables and columns that a run records."""
    source = (ROOT / "crates/sim/src/record/schema.rs").read_text(encoding="utf-8")
    shared = {
        name: columns(text)[0]
        for name, text in re.findall(r"^const ([A-Z]+): Column = (.*);$", source, re.MULTILINE)
    }
    documented = re.findall(r"/// (.*)\n    ([A-Z]\w+),\n", source.partition("pub enum ColumnKind")[0])
    blocks = [
        "# Tables and columns",
        "A run writes one Parquet file per table into its folder; `result.tables.messages` reads one. All "
        "times are whole nanoseconds from the start of the run. Rates are bits per second, sizes bytes. "
        "[Reading results](results.md) says how the numbers are counted.",
    ]
    for doc, variant in documented:
        constant = re.search(rf"Self::{variant} => ([A-Z]+),", source)
        (name,) = re.findall(rf'Self::{variant} => "(\w+)",', source)
        assert constant, variant  # noqa: S101
        declared = rf"^const {constant[1]}: &\[Column\] = &\[\n(.*?)^\];"
        (body,) = re.findall(declared, source, re.MULTILINE | re.DOTALL)
        blocks += [
            f"## {name}",
            prose(doc),
            table(["column", "type", "meaning"], columns(body, shared)),
        ]
    rows = [(f"`{name}`", kind, doc) for name, kind, doc in sockets.COLUMNS]
    blocks += ["## sockets", sockets.DOC, table(["column", "type", "meaning"], rows)]
    return joined(blocks)


def columns(
    text: str, shared: Mapping[str, tuple[str, str, str]] | None = None
) -> list[tuple[str, str, str]]:
    """The columns that a part of the source declares: name, type, description."""
    found = []
    for match in COLUMN.finditer(text):
        if match["shared"]:
            name, kind, doc = (shared or {})[match["shared"]]
            found.append((name, kind + ", may be null" * bool(match["maybe"]), doc))
            continue
        doc = re.sub(r"\\\n\s*", "", match["doc"])
        kind = TYPES[match["kind"] or match["make"]] + ", may be null" * bool(match["null"])
        found.append((f"`{match['name']}`", kind, doc))
    return found
