"""The licences of crates, as `deny.toml` allows them: what `cargo deny check licenses` judges too."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Collection

DENY = tomllib.loads((ROOT / "deny.toml").read_text())
WORDS = re.compile(r"\(|\)|\bAND\b|\bOR\b|[\w.+-]+(?: WITH [\w.+-]+)?")


def permits(expression: str, allowed: Collection[str]) -> bool:
    """Whether an SPDX expression can be met by licences that are allowed. `/` is the old form of OR."""
    words = WORDS.findall(expression.replace("/", " OR "))

    def either() -> bool:
        result = both()
        while words and words[0] == "OR":
            words.pop(0)
            result = both() or result
        return result

    def both() -> bool:
        result = one()
        while words and words[0] == "AND":
            words.pop(0)
            result = one() and result
        return result

    def one() -> bool:
        word = words.pop(0)
        if word != "(":
            return word in allowed
        inner = either()
        assert words.pop(0) == ")"
        return inner

    result = either()
    assert not words, expression
    return result


@pytest.fixture(scope="module")
def crates() -> list[dict[str, Any]]:
    """Every crate that a build for a supported system uses."""
    found: dict[str, dict[str, Any]] = {}
    for target in DENY["graph"]["targets"]:
        command = ["cargo", "metadata", "--format-version=1", "--locked", f"--filter-platform={target}"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        found |= {package["id"]: package for package in json.loads(done.stdout)["packages"]}
    return [package for package in found.values() if package["source"] is not None]


def test_expressions_are_read_as_spdx_says() -> None:
    assert permits("MIT OR Apache-2.0", {"MIT"})
    assert permits("MIT/Apache-2.0", {"Apache-2.0"})
    assert not permits("Apache-2.0 AND ISC", {"Apache-2.0"})
    assert permits("(MIT OR GPL-3.0) AND Unicode-3.0", {"MIT", "Unicode-3.0"})
    assert not permits("GPL-3.0 OR MIT AND ISC", {"MIT"}), "AND binds tighter"
    assert not permits("Apache-2.0 WITH LLVM-exception", {"Apache-2.0"})


def test_every_crate_has_a_licence_that_is_allowed(crates: list[dict[str, Any]]) -> None:
    assert len(crates) > 100
    allowed = DENY["licenses"]["allow"]
    refused = [
        f"{each['name']}: {each['license']}"
        for each in crates
        if not permits(each["license"] or "?", allowed)
    ]
    assert not refused


def test_every_licence_that_is_allowed_is_used(crates: list[dict[str, Any]]) -> None:
    for licence in DENY["licenses"]["allow"]:
        others = set(DENY["licenses"]["allow"]) - {licence}
        assert any(not permits(each["license"], others) for each in crates), licence


def test_every_crate_comes_from_the_registry(crates: list[dict[str, Any]]) -> None:
    assert DENY["sources"] == {"unknown-registry": "deny", "unknown-git": "deny"}
    assert {each["source"].partition("+")[0] for each in crates} == {"registry"}
