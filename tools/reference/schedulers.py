"""The page of classes in Python that a run calls, from their base classes and the stub of the core."""

from __future__ import annotations

import ast
import inspect
import re
from typing import TYPE_CHECKING

import leobench
from tools.reference.columns import ROOT
from tools.reference.markdown import joined, prose, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

INTRODUCTION = (
    "Methods and inputs of Python classes that a run calls. "
    "[Stream schedulers](../howto/python-schedulers.md) and "
    "[path schedulers](../howto/python-path-schedulers.md) show how to write one; "
    "`examples/reno.py` is a congestion controller, `examples/adaptation.py` an adaptation. "
    "A call that goes on for 10 s of real time ends the run."
)
# A name with its description in a section of a docstring, which goes on in lines that are indented further.
ENTRY = re.compile(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)


def schedulers_page() -> str:
    """The page of schedulers, congestion controllers and adaptations, and of what they are given."""
    blocks = ["# Schedulers, controllers and adaptations in Python", INTRODUCTION]
    blocks += [
        "## Stream schedulers",
        *interface(leobench.StreamScheduler, leobench.StreamScheduler.schedule),
    ]
    blocks += given("Stream")
    blocks += ["## Path schedulers", *interface(leobench.PathScheduler, leobench.PathScheduler.choose)]
    for name in ("PathView", "Backlog", "Forecast", "InterfaceForecast"):
        blocks += given(name)
    controller = leobench.CongestionController
    blocks += ["## Congestion controllers", *interface(controller, controller.on_ack, controller.on_loss)]
    for name in ("Acknowledgement", "CongestionEvent"):
        blocks += given(name)
    blocks += ["## Adaptations", *interface(leobench.Adaptation, leobench.Adaptation.choose)]
    for name in ("PlayerView", "Download"):
        blocks += given(name)
    return joined(blocks)


def interface(base: type, *methods: Callable[..., object]) -> Iterator[str]:
    """A base class, its attributes, and the methods that a class has to have."""
    text, sections = parts(base)
    yield prose(text)
    yield table([f"attribute of `leobench.{base.__name__}`", "meaning"], entries(sections["Attributes"]))
    for method in methods:
        text, sections = parts(method)
        arguments = entries(sections["Args"])
        yield f"### {method.__name__}"
        yield f"`{method.__name__}({', '.join(name.strip('`') for name, _ in arguments)})`: {prose(text)}"
        yield table(["argument", "meaning"], arguments)
        if "Returns" in sections:
            yield f"Returns {prose(sections['Returns'])}"


def parts(documented: object) -> tuple[str, dict[str, str]]:
    """The paragraphs of a docstring, and its sections by their names."""
    text, *rest = re.split(
        r"^(Attributes|Args|Returns):\n", inspect.getdoc(documented) or "", flags=re.MULTILINE
    )
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    if "Returns" in sections:
        sections["Returns"] = decapitalised(sections["Returns"].strip())
    return text.strip(), sections


def decapitalised(text: str) -> str:
    """The text as the continuation of a sentence."""
    return text[:1].lower() + text[1:]


def entries(section: str) -> list[tuple[str, str]]:
    """The names of a section with their descriptions."""
    return [(f"`{name}`", " ".join(text.split())) for name, text in ENTRY.findall(section)]


def given(name: str) -> list[str]:
    """A class that the core hands to schedulers: what it is, and its properties with their types."""
    stub = ast.parse((ROOT / "python/leobench/_core.pyi").read_text(encoding="utf-8"))
    (found,) = (each for each in stub.body if isinstance(each, ast.ClassDef) and each.name == name)
    properties = (
        each for each in found.body if isinstance(each, ast.FunctionDef) and ast.get_docstring(each)
    )
    rows = [
        (f"`{each.name}`", f"`{ast.unparse(each.returns)}`", ast.get_docstring(each) or "")
        for each in properties
        if each.returns is not None
    ]
    return [
        f"### {name}",
        prose(ast.get_docstring(found) or ""),
        table([f"attribute of `leobench.{name}`", "type", "meaning"], rows),
    ]
