"""Reports doc comments that open with a relative clause instead of a noun phrase or a verb.

"What a packet is for" is no sentence: "Purpose of a packet" and "Returns the purpose of a packet" are how an
engineer writes. Run by `make lint`: `python tools/doc_comments.py FOLDER ...` prints `file:line: text` for
each and fails if there is any.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

BANNED = re.compile(r"(What|Who|Whoever|Where|Such|Likewise)\b")
RUST = re.compile(r"\s*//[/!] ?")


def rust_openings(text: str) -> Iterator[tuple[int, str]]:
    """Line number and text of the first line of every paragraph in a doc comment."""
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = RUST.match(line)
        content = line[mark.end() :] if mark else ""
        if content and not before:
            yield number, content
        before = "" if content.startswith("# ") else content


def python_openings(text: str) -> Iterator[tuple[int, str]]:
    """Line number and text of the first line of every docstring."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, documented) and (docstring := ast.get_docstring(node)):
            yield node.body[0].lineno, docstring.partition("\n")[0]


OPENINGS = {".rs": rust_openings, ".py": python_openings}


def banned(folder: Path) -> Iterator[str]:
    """The doc comments of a folder that open with a banned word."""
    for file in sorted(folder.rglob("*")):
        if file.suffix in OPENINGS and file.is_file():
            for number, opening in OPENINGS[file.suffix](file.read_text(encoding="utf-8")):
                if BANNED.match(opening):
                    yield f"{file}:{number}: {opening}"


def main(folders: list[str]) -> int:
    """Prints what is found in the folders, and returns 1 if anything is."""
    found = [line for folder in folders for line in banned(Path(folder))]
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
