"""Writes python/leobench/summary.py, the classes of summaries, from the schema of the core.

Run it after the structs of `crates/sim/src/summary` have changed and the core is built; a test compares.
"""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

from leobench import _core

MODULE = Path(__file__).parent.parent / "python/leobench/summary.py"
_WIDTH = 110

_HEAD = '''"""The summary of a run: what `summary.json` holds, as classes.

Every class is a dictionary with the keys of the file; the documented ones are attributes, too. What was not
measured is `None`.
"""

# Written by tools/summary_types.py from the structs of crates/sim/src/summary; change those instead.

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import ClassVar

from leobench.records import Named, Record

Parts = Mapping[str, type[Record]]
Absent = Mapping[str, Callable[[], object]]
'''


def text() -> str:
    """The text of the module."""
    schema = json.loads(_core.summary_schema())
    definitions: dict[str, Any] = schema["$defs"]
    ordered = _in_order(definitions, schema["$ref"])
    classes = [_class(name, definitions) for name in ordered]
    names = "".join(f'    "{name}",\n' for name in sorted(ordered))
    return "\n\n".join([_HEAD + f"\n__all__ = [\n{names}]\n", *classes])


def _in_order(definitions: dict[str, Any], root: str) -> list[str]:
    """The names of the structs, each after those that it consists of."""
    ordered: list[str] = []

    def visit(name: str) -> None:
        for member in definitions[name]["properties"].values():
            part = _part(member)
            if part is not None and part not in ordered:
                visit(part)
        if name not in ordered:
            ordered.append(name)

    visit(_name(root))
    return ordered


def _class(name: str, definitions: dict[str, Any]) -> str:
    """The class of a struct."""
    definition = definitions[name]
    required = set(definition["required"])
    taken = [key for key in definition["properties"] if hasattr(dict, key)]
    if taken:
        raise SystemExit(f"{name}.{taken[0]}: is a method of dictionaries, so it cannot be an attribute")
    attributes, fields, parts, absent = [], [], [], []
    for key, member in definition["properties"].items():
        kind = _kind(member, definitions)
        if key not in required:
            empty = kind.partition("[")[0]
            if empty not in ("Named", "list", "dict"):
                kind, empty = f"{kind} | None", "NoneType"
            absent.append(f'"{key}": {empty}')
        attributes.append(_attribute(key, member, left_out=key not in required))
        fields.append(f"    {key}: {kind}")
        part = _part(member)
        if part is not None:
            parts.append(f'"{key}": {part}')
    lines = ["@dataclass(frozen=True, init=False, eq=False, repr=False)", f"class {name}(Record):"]
    first, _, rest = definition["description"].replace("`null`", "`None`").partition(". ")
    lines.append(f'    """{first.rstrip(".")}.')
    lines += ["", *_wrapped(rest, "    ", "    ")] if rest else []
    lines += ["", "    Attributes:", *(line for each in attributes for line in each), '    """', ""]
    lines += ["    __slots__ = ()", ""]
    lines += _table("_parts: ClassVar[Parts]", parts) + _table("_absent: ClassVar[Absent]", absent)
    return "\n".join([*lines, *fields]) + "\n"


def _attribute(key: str, member: dict[str, Any], *, left_out: bool) -> list[str]:
    """The lines that document a key: its meaning and its unit."""
    told = member["description"].replace("`null`", "`None`")
    unit = f" [{member['unit']}]" if "unit" in member else ""
    empty = " Left out of the file where it does not apply." if left_out else ""
    return _wrapped(f"{key}: {told}{unit}{empty}", " " * 8, " " * 12)


def _kind(member: dict[str, Any], definitions: dict[str, Any]) -> str:
    """The type of a key in Python."""
    if "anyOf" in member:
        return f"{_kind(member['anyOf'][0], definitions)} | None"
    if "$ref" in member:
        return _name(member["$ref"])
    match member["type"]:
        case "array":
            items = _kind(member["items"], definitions)
            named = "name" in definitions.get(items, {}).get("properties", {})
            return f"{'Named' if named else 'list'}[{items}]"
        case "object":
            return f"dict[str, {_kind(member['additionalProperties'], definitions)}]"
        case plain:
            return {"number": "float", "integer": "int", "string": "str"}[plain]


def _part(member: dict[str, Any]) -> str | None:
    """The struct that a key holds, or holds a list of."""
    inner = member.get("anyOf", [member])[0]
    reference = inner.get("items", inner).get("$ref")
    return None if reference is None else _name(reference)


def _name(reference: str) -> str:
    return reference.rpartition("/")[2]


def _table(head: str, entries: list[str]) -> list[str]:
    """A class attribute that is a dictionary, on one line if it fits."""
    if not entries:
        return []
    line = f"    {head} = {{{', '.join(entries)}}}"
    if len(line) <= _WIDTH:
        return [line]
    return [f"    {head} = {{", *(f"        {entry}," for entry in entries), "    }"]


def _wrapped(told: str, first: str, then: str) -> list[str]:
    return textwrap.wrap(told, _WIDTH, initial_indent=first, subsequent_indent=then, break_long_words=False)


if __name__ == "__main__":
    MODULE.write_text(text(), encoding="utf-8")
