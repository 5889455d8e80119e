"""Every module of leobench can be the first to be imported, and none imports itself through others."""

from __future__ import annotations

import ast
import graphlib
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import leobench

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

PACKAGE = Path(leobench.__file__).parent

# Imports each module named on standard input as if no other of leobench had been: the interpreter keeps
# only the libraries and the core, which can be loaded once.
ALONE = """
import importlib, sys, traceback

def forget():
    for name in [*sys.modules]:
        if name.partition(".")[0] == "leobench" and name != "leobench._core":
            del sys.modules[name]

for name in sys.stdin.read().split():
    forget()
    try:
        importlib.import_module(name)
    except Exception:
        print(f"{name}: {traceback.format_exc(limit=-1)}")
"""


def sources() -> dict[str, Path]:
    """The file of every module by the module's name."""
    found = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        steps = file.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(steps[:-1] if steps[-1] == "__init__" else steps)] = file
    return found


def imported(tree: ast.AST, modules: Collection[str]) -> Iterator[str]:
    """The modules that a module imports, in its functions too, but not for type checking alone.

    `from package import module` needs the module: the package is imported before any module in it anyway.
    """
    if isinstance(tree, ast.If) and ast.unparse(tree.test) == "TYPE_CHECKING":
        return
    if isinstance(tree, ast.Import):
        yield from (alias.name for alias in tree.names)
    if isinstance(tree, ast.ImportFrom):
        assert tree.level == 0, "imports are absolute"
        for alias in tree.names:
            submodule = f"{tree.module}.{alias.name}"
            yield submodule if submodule in modules else str(tree.module)
    for child in ast.iter_child_nodes(tree):
        yield from imported(child, modules)


def cycle(texts: Mapping[str, str]) -> list[str]:
    """Modules each of which imports the next, the last being the first; none if there is no cycle."""
    graph = {name: set(imported(ast.parse(text), [*texts, "leobench._core"])) for name, text in texts.items()}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        found: list[str] = error.args[1]
        return found[::-1]
    return []


def test_no_module_imports_itself_through_others() -> None:
    assert cycle({name: file.read_text(encoding="utf-8") for name, file in sources().items()}) == []


def test_a_cycle_is_found_in_functions_but_not_in_types() -> None:
    late = "def f():\n    from p import b"
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.b import T"
    assert sorted(cycle({"p": "", "p.a": late, "p.b": "from p.a import f"})[1:]) == ["p.a", "p.b"]
    assert cycle({"p": "from p import a", "p.a": typed, "p.b": "import p.a"}) == []


def test_every_module_can_be_imported_first() -> None:
    names = list(sources())
    assert len(names) > 50
    given = "\n".join(names)
    done = subprocess.run(
        [sys.executable, "-c", ALONE], input=given, capture_output=True, text=True, check=True
    )
    assert done.stdout == ""
