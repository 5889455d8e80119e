"""The report of the comparison with Linux's TCP, without Linux."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.kernel.compare import main

if TYPE_CHECKING:
    import pytest


def test_leobench_runs_alone_without_root(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--alone", "--scenario", "queue", "--congestion", "reno", "--seeds", "2", "--markdown"]) == 0
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert lines[0] == "| setup | figure | Linux | leobench | leobench / Linux |"
    assert "| queue reno | recoveries | - | 11 | - |" in lines
    assert said.err == "", "nothing is left out for lack of a right"
