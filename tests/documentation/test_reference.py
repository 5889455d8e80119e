"""The generated pages of the reference are those of the code, and leave nothing out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import leobench
from leobench import _core
from leobench.folder import OCCASIONAL_TABLES
from tools import reference
from tools.reference.keys import MODELS
from tools.reference.markdown import slug

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.mark.parametrize("name", reference.PAGES)
def test_a_page_is_what_the_generator_writes(name: str) -> None:
    written = (reference.FOLDER / name).read_text(encoding="utf-8")
    assert written == reference.PAGES[name](), "run `make reference`"


def page(name: str) -> str:
    return (reference.FOLDER / name).read_text(encoding="utf-8")


def keys(schema: object) -> Iterator[str]:
    """All names of keys in a schema, however deep."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for value in schema.values():
            yield from keys(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from keys(value)


def test_every_key_of_the_schema_is_on_a_page() -> None:
    text = "".join(map(page, ["scenario.md", *MODELS]))
    listed = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    # Those of distributions are in a table of their own; `kind` chooses a model.
    elsewhere = {"kind", "value", "from", "to", "mean", "deviation", "values", "bdp", "time", "link"}
    assert set(keys(leobench.schema())) - elsewhere - listed == set()


def test_every_model_has_a_section() -> None:
    text = "".join(map(page, MODELS))
    headings = re.findall(r"^#{2,3} ([\w+-]+)", text, re.MULTILINE)
    for kind in _core.KINDS:
        assert set(leobench.kinds(kind)) <= set(headings), kind


def test_the_tables_of_a_run_have_the_columns_of_the_page(tmp_path: Path, quick: Path) -> None:
    leobench.run(quick, out=tmp_path / "run", overrides={"record.packets": True})
    written = {file.stem: list(pl.read_parquet_schema(file)) for file in (tmp_path / "run").glob("*.parquet")}
    sections = re.split(r"^## (\w+)$", page("tables.md"), flags=re.MULTILINE)[1:]
    listed: dict[str, Any] = {
        name: re.findall(r"^\| `(\w+)`", text, re.MULTILINE)
        for name, text in zip(sections[::2], sections[1::2], strict=True)
    }
    assert written
    assert {name: listed[name] for name in written} == written
    assert set(listed) - set(written) == {"spin", "sockets", *OCCASIONAL_TABLES}


def names(value: object) -> Iterator[str]:
    """All keys of a summary, but those that are names of the scenario or causes."""
    if isinstance(value, Mapping):
        for key, below in value.items():
            yield key
            if key not in {"dropped_packets", "marked_packets"}:
                yield from names(below)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for below in value:
            yield from names(below)


@pytest.mark.parametrize("scenario", ["web", "emergency", "multipath"])
def test_the_page_of_metrics_has_every_key_of_a_summary(scenario: str, scenarios: Path) -> None:
    result = leobench.run(scenarios / f"{scenario}.toml", overrides={"duration": "12 s"})
    listed = set(re.findall(r"^\| `(\w+)`", page("summary.md"), re.MULTILINE))
    assert set(names(result.summary)) - listed == set()


def test_every_public_name_is_on_the_page_of_the_api() -> None:
    named = set(re.findall(r"^::: leobench\.(?:\w+\.)*(\w+)$", page("python.md"), re.MULTILINE))
    assert named == {*leobench.__all__, "CongestionEnv"} - {"__version__"}


def test_no_link_of_a_generated_page_is_without_a_heading() -> None:
    for name in reference.PAGES:
        for file, anchor in re.findall(r"\]\(([\w-]+\.md)?#([\w-]+)\)", page(name)):
            headings = re.findall(r"^#+ (.*)$", page(file or name), re.MULTILINE)
            assert anchor in map(slug, headings), (name, file, anchor)
