"""The page on foreign QUIC stacks: its rows, and the one that repeats to the digit."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "reports" / "foreign-stacks.md").read_text(encoding="utf-8")
CAMPAIGN = ROOT / "examples" / "foreign-stacks.toml"


def rows(text: str) -> dict[str, list[str]]:
    """The cells of the measured table by program."""
    (table,) = re.findall(r"^\| program \|.*\n((?:\|.*\n)+)", text, re.MULTILINE)
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return {row[0]: row[1:] for row in cells[1:]}


def test_the_command_names_the_programs_of_the_table() -> None:
    (named,) = re.findall(r"--programs ((?:[a-z\d]\S* )+)", PAGE)
    assert named.split() == list(rows(PAGE))


def test_every_run_counts() -> None:
    """The number of runs in the note is that of the campaign."""
    replicates = tomllib.loads(CAMPAIGN.read_text(encoding="utf-8"))["replicates"]
    assert f"{replicates} runs of each variant" in PAGE


def test_the_row_in_virtual_time_is_what_the_command_gives(tmp_path: Path) -> None:
    """Eight runs, give or take what a change of the transport may move them."""
    words = ["--size", "20000000", "--programs", "leobench-virtual", "--out", "out", "--table", "table.md"]
    ended = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "foreign.py"), str(CAMPAIGN), *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert ended.returncode == 0, ended.stderr
    measured = rows((tmp_path / "table.md").read_text(encoding="utf-8"))["leobench-virtual"]
    shown = rows(PAGE)["leobench-virtual"]
    assert shown[:2] == measured[:2]
    for cell, wanted in zip(shown[2:], measured[2:], strict=True):
        found, expected = (float(text.split(" ")[0].replace(",", "")) for text in (cell, wanted))
        assert abs(found - expected) <= 0.05 * abs(expected), (cell, wanted)
