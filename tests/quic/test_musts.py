"""The table of what RFC 9000 and RFC 9002 demand: it is complete, and its tests exist."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.support.paths import ROOT

TABLE = tomllib.loads((ROOT / "docs" / "reference" / "quic-musts.toml").read_text(encoding="utf-8"))

# How often the texts of the RFCs say MUST or MUST NOT, in how many sections.
WHOLE = {"rfc9000": (304, 115), "rfc9002": (35, 19)}
OUTCOMES = {"by", "not_modelled", "not_done", "not_ours"}


def known_tests() -> set[str]:
    """Every test as `file::name`; a `mod.rs` or `tests.rs` goes by its folder."""
    names = set[str]()
    for path in (ROOT / "crates").glob("*/src/**/*.rs"):
        stem = path.parent.name if path.stem in {"mod", "tests"} else path.stem
        text = path.read_text(encoding="utf-8")
        names |= {f"{stem}::{name}" for name in re.findall(r"#\[test\]\n(?:\s*#.*\n)*\s*fn (\w+)\(", text)}
    return names


@pytest.mark.parametrize("rfc", WHOLE)
def test_every_must_of_the_rfc_is_in_the_table(rfc: str) -> None:
    musts = [section["musts"] for section in TABLE[rfc]]
    assert (sum(musts), len(musts)) == WHOLE[rfc]
    names = [section["section"] for section in TABLE[rfc]]
    assert names == sorted(set(names), key=lambda name: [int(part) for part in name.split(".")])


@pytest.mark.parametrize("rfc", WHOLE)
def test_the_rows_of_every_section_are_complete(rfc: str) -> None:
    for section in TABLE[rfc]:
        assert sum(row.get("musts", 1) for row in section["rows"]) == section["musts"], section
        for row in section["rows"]:
            (outcome,) = row.keys() - {"what", "musts"}
            assert outcome in OUTCOMES, row
            assert row["what"], row
            assert row[outcome], row


def test_every_test_exists() -> None:
    rows = [row for rfc in WHOLE for section in TABLE[rfc] for row in section["rows"]]
    named = {test for row in rows for test in row.get("by", [])}
    assert len(named) > 100
    assert named - known_tests() == set()
