"""The guide as a whole: its links lead somewhere, its snippets are read, and it stays short."""

from __future__ import annotations

import re
import shlex
import tomllib
from functools import cache
from typing import TYPE_CHECKING

import pytest

import leobench
from leobench import cli
from tests.support.paths import ROOT

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
OTHERS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
# Not the path of a user: measurements, facts to look up, figures, and the map for developers.
APART = ("reports", "reference", "gallery.md", "design.md")
LARGEST_GUIDE = 25_000
# Running text; tables are generated, and commands are no text.
LARGEST_REPORTS = 13_500


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@cache
def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^( *)```.*?^\1```", "", text(page), flags=re.DOTALL | re.MULTILINE)


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of the headings of a page, and those that mkdocstrings makes."""
    found: list[str] = []
    for heading in re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE):
        plain = re.sub(r"\]\([^)]*\)", "", heading)
        slug = re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())
        found.append(f"{slug}-{found.count(slug)}" if slug in found else slug)
    return frozenset([*found, *re.findall(r"^::: (\S+)$", prose(page), re.MULTILINE)])


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        path, _, anchor = link.partition("#")
        if "://" in path:
            continue
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), link
        # The site has the guide only.
        assert file.is_relative_to(DOCS if page.is_relative_to(DOCS) else ROOT), link
        assert not anchor or anchor in anchors(file), link


def test_every_image_is_shown() -> None:
    shown = {image for page in [*PAGES, *OTHERS] for image in re.findall(r"images/([\w.-]+)", text(page))}
    assert {file.name for file in (DOCS / "images").iterdir()} == shown


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_page_is_in_the_navigation(page: Path) -> None:
    configuration = text(ROOT / "zensical.toml")
    assert f'"{page.relative_to(DOCS)}"' in configuration


def test_the_guide_is_short() -> None:
    guide = [page for page in PAGES if page.relative_to(DOCS).parts[0] not in APART]
    words = {name(page): len(text(page).split()) for page in guide}
    assert sum(words.values()) <= LARGEST_GUIDE, words


def test_the_reports_are_short() -> None:
    words = {
        name(page): sum(
            len(line.split()) for line in prose(page).splitlines() if not line.lstrip().startswith("|")
        )
        for page in (DOCS / "reports").glob("*.md")
    }
    assert 5_000 < sum(words.values()) <= LARGEST_REPORTS, words


def test_the_readme_is_short() -> None:
    assert len(text(ROOT / "README.md").splitlines()) < 120


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of code of a page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text(page), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_snippets_of_toml_and_python_are_read(page: Path) -> None:
    for block in blocks(page, "python"):
        compile(block, name(page), "exec")
    for block in blocks(page, "toml"):
        try:
            tomllib.loads(block)
        except tomllib.TOMLDecodeError:
            # Alternatives below each other: each is read by itself.
            for alternative in re.split(r"\n(?=\S+ = )", block):
                tomllib.loads(alternative)


def commands(page: Path) -> list[list[str]]:
    """The words of all commands of leobench on a page."""
    joined = "".join(blocks(page, "console")).replace("\\\n", " ")
    lines = re.findall(r"^[$>] +(?:\w+=\S+ )*leobench (.*)$", joined, re.MULTILINE)
    return [shlex.split(re.sub(r" (\||&&|>|&)( .*)?$", "", line), comments=True) for line in lines]


@pytest.fixture(scope="module")
def parser() -> argparse.ArgumentParser:
    return cli.build_parser()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_are_understood(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Options exist, and so do the scenarios and their places that `--set` names."""
    monkeypatch.chdir(ROOT)
    for words in commands(page):
        if "*" in " ".join(words) or "$" in " ".join(words) or words == ["--version"]:
            continue
        arguments = cli.build_parser().parse_args(words)
        scenario = getattr(arguments, "scenario", None)
        if not isinstance(scenario, str) or not scenario.startswith(("scenarios/", "examples/")):
            continue
        if words[0] in {"run", "orbit", "why"}:
            leobench.check(scenario, dict(getattr(arguments, "overrides", None) or []))
