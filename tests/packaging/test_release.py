"""The steps of the release checklist."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest

from tests.support.paths import ROOT
from tools import release

if TYPE_CHECKING:
    from pathlib import Path

TODAY = date(2026, 12, 1)
CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-11-30\n\n### Added\n\n- Something.\n"
CITATION = "cff-version: 1.2.0\nversion: 1.2.3\ndate-released: 2026-11-30\n"
LOCK = (
    '[[package]]\nname = "leobench-base"\nversion = "1.2.3"\n[[package]]\nname = "libm"\nversion = "9.9.9"\n'
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout that is ready for version 1.2.3."""
    (tmp_path / "Cargo.toml").write_text('[workspace.package]\nversion = "1.2.3"\n')
    (tmp_path / "Cargo.lock").write_text(LOCK)
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    (tmp_path / "CITATION.cff").write_text(CITATION)
    return tmp_path


def test_a_ready_checkout_has_no_fault(checkout: Path) -> None:
    assert list(release.faults("v1.2.3", checkout, TODAY)) == []
    assert release.sections(CHANGELOG)["1.2.3"] == ("2026-11-30", "### Added\n\n- Something.")


@pytest.mark.parametrize(
    ("file", "old", "new", "fault"),
    [
        ("Cargo.toml", "1.2.3", "1.2.4", "Cargo.toml: has version 1.2.4, the tag 1.2.3"),
        ("Cargo.lock", "1.2.3", "1.2.2", "Cargo.lock: has versions 1.2.2"),
        ("CHANGELOG.md", "[1.2.3]", "[1.2.2]", "CHANGELOG.md: has no section"),
        ("CHANGELOG.md", "2026-11-30", "2026-12-02", "CHANGELOG.md: 2026-12-02 is no date up to today"),
        ("CHANGELOG.md", "2026-11-30", "soon", "CHANGELOG.md: soon is no date up to today"),
        ("CHANGELOG.md", "- Something.", "", "CHANGELOG.md: the section of 1.2.3 has no line"),
        ("CHANGELOG.md", "[Unreleased]\n", "[Unreleased]\n\n- Left.\n", "CHANGELOG.md: lines are still"),
        ("CITATION.cff", "version: 1.2.3", "version: 1.2.2", "CITATION.cff: version is 1.2.2"),
        ("CITATION.cff", "date-released: 2026-11-30\n", "", "CITATION.cff: date-released is None"),
    ],
)
def test_each_fault_is_found(file: str, old: str, new: str, fault: str, checkout: Path) -> None:
    text = (checkout / file).read_text()
    assert old in text
    (checkout / file).write_text(text.replace(old, new))
    found = list(release.faults("v1.2.3", checkout, TODAY))
    assert any(each.startswith(fault) for each in found), found


def test_a_tag_has_three_numbers(checkout: Path) -> None:
    assert list(release.faults("1.2.3", checkout, TODAY)) == ["1.2.3: is not of the form v0.1.0"]


def test_archives_are_complete_and_small(tmp_path: Path) -> None:
    tags = ["manylinux_2_28_x86_64", "manylinux_2_28_aarch64", "macosx_10_12_x86_64", "macosx_11_0_arm64"]
    for tag in tags:
        (tmp_path / f"leobench-1.2.3-cp311-abi3-{tag}.whl").write_text("wheel")
    (tmp_path / "leobench-1.2.3.tar.gz").write_text("archive")
    assert list(release.archive_faults(tmp_path, "1.2.3")) == []
    with (tmp_path / "leobench-1.2.3.tar.gz").open("wb") as file:
        file.truncate(release.LARGEST + 1)
    (tmp_path / f"leobench-1.2.3-cp311-abi3-{tags[0]}.whl").rename(tmp_path / "leobench-1.2.2-x.whl")
    found = list(release.archive_faults(tmp_path, "1.2.3"))
    assert len(found) == 3, found


def test_the_present_version_is_told_alike_everywhere() -> None:
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"version: {release.version()}\n" in citation
    assert "Unreleased" in release.sections((ROOT / "CHANGELOG.md").read_text())
