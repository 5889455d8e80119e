"""Folders whose names hold what other programs take for patterns."""

from __future__ import annotations

from pathlib import Path

import pytest

import leobench
from leobench import plots
from tests.support import campaigns
from tests.support.paths import ROOT

NAMES = ["paper [draft]", "run?", "all*", "~nobody", "{a,b}", "100%20", "s3:"]


@pytest.mark.parametrize("name", NAMES)
def test_a_run_is_written_and_read_whatever_its_folder_is_called(
    name: str, quick: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    result = leobench.run(quick, out=Path(name) / "out")
    assert result.tables.messages.height == result.summary["flows"][0]["messages"]
    assert result.tables == leobench.run(quick).tables


def test_a_folder_is_not_a_pattern_of_others(quick: Path, tmp_path: Path) -> None:
    for name in ("run?", "run1", "run2"):
        leobench.run(quick, out=tmp_path / name)
    odd, plain = (leobench.open(tmp_path / name) for name in ("run?", "run1"))
    assert plain.tables.messages.height > 0
    assert odd.tables == plain.tables


@pytest.mark.parametrize("name", NAMES)
def test_a_campaign_is_run_whatever_its_folder_is_called(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / name
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    odd = leobench.sweep(campaigns.write(folder), Path(name) / "out", workers=1)
    plain = leobench.sweep(campaigns.write(tmp_path), "plain", workers=1)
    assert odd.tables.messages.height > 0
    assert odd.tables == plain.tables
    assert odd.runs.equals(plain.runs)


def test_what_reads_a_path_reads_no_pattern() -> None:
    """Of the readers of Polars, those that take paths are told not to glob, or are given open files."""
    for file in (ROOT / "python").rglob("*.py"):
        for line in file.read_text(encoding="utf-8").splitlines():
            if any(f"pl.{reader}(" in line for reader in ("scan_parquet", "scan_ipc", "read_parquet")):
                assert "glob=False" in line or "(opened)" in line, f"{file}: {line}"


def test_a_figure_is_saved_under_a_text_or_a_path(quick: Path, tmp_path: Path) -> None:
    figure = plots.kind("timeline")(leobench.run(quick))
    plots.save(figure, str(tmp_path / "text.png"))
    plots.save(figure, tmp_path / "path.png")
    assert all((tmp_path / name).read_bytes().startswith(b"\x89PNG") for name in ("text.png", "path.png"))
