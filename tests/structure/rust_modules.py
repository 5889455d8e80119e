"""The imports between the modules of a crate, read off its source."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# An import, or a path within an expression, that begins at the crate or above the present module.
PATH = re.compile(r"\b((?:crate|super(?:::super)*|self)::)((?:\w+::)*)(\w+|\{)")
TESTS = re.compile(
    r"#\[cfg\((?:any\()?test\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))? )?mod \w+ \{.*?^\}",
    re.MULTILINE | re.DOTALL,
)
COMMENT = re.compile(r"//.*")


def module(file: Path, source: Path) -> tuple[str, ...]:
    """The path of a file's module within its crate."""
    steps = file.relative_to(source).with_suffix("").parts
    return steps[:-1] if steps[-1] in {"mod", "lib", "main"} else steps


def is_test(file: Path, source: Path) -> bool:
    """Whether a file belongs to the tests of a crate."""
    return any(step in {"tests", "testing", "suite"} for step in module(file, source))


def closing(text: str, start: int) -> int:
    """The place behind the brace that closes the one at `start`."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at + 1
    raise ValueError("braces do not match")


def leaves(group: str) -> Iterator[tuple[str, ...]]:
    """The paths in a group of imports, such as `{a, b::{c, d}}`."""
    inner, at, depth = group[1:-1], 0, 0
    for end, letter in enumerate(inner + ","):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            item = inner[at:end].strip()
            at = end + 1
            if "{" in item:
                head = tuple(step for step in item[: item.index("{")].split("::") if step)
                yield from (head + leaf for leaf in leaves(item[item.index("{") :]))
            elif item:
                yield tuple(item.partition(" as ")[0].split("::"))


def imports(file: Path, source: Path) -> Iterator[tuple[str, ...]]:
    """The paths within the crate that a file names, each from the root of the crate."""
    here = module(file, source)
    text = COMMENT.sub("", TESTS.sub("", file.read_text(encoding="utf-8")))
    for match in PATH.finditer(text):
        root, middle, last = match.groups()
        ups = root.count("super")
        base = () if root == "crate::" else here[: len(here) - ups]
        path = (*base, *(step for step in middle.split("::") if step))
        if last == "{":
            start = match.end() - 1
            yield from (path + leaf for leaf in leaves(text[start : closing(text, start)]))
        else:
            yield (*path, last)


def sources(source: Path) -> Iterator[Path]:
    """The files of a crate without its tests."""
    return (file for file in sorted(source.rglob("*.rs")) if not is_test(file, source))


def rooms(source: Path) -> dict[str, set[str]]:
    """By top-level module of a crate, those that it imports."""
    tops = {module(file, source)[0] for file in source.rglob("*.rs") if module(file, source)}
    graph: dict[str, set[str]] = {top: set() for top in tops}
    for file in sources(source):
        here = module(file, source)
        if here:
            targets = {path[0] for path in imports(file, source)}
            graph[here[0]] |= (targets & tops) - {here[0]}
    return graph
