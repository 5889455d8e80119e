"""The guide to `leobench why` holds to what its commands print."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest

from leobench import cli
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "howto" / "why.md").read_text(encoding="utf-8")


def command(number: int) -> tuple[list[str], str]:
    """The arguments of a command of the page, and the output below it."""
    blocks = re.findall(r"```console\n\$ leobench (.*?)\n(.*?)```", PAGE, re.DOTALL)
    line, output = blocks[number]
    return shlex.split(line), output


def printed(args: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.main([*args, "--workers", "2"]) == 0
    return capsys.readouterr().out


def timeless(text: str) -> str:
    """An output without the time that the runs took."""
    return re.sub(r" in [\d.]+ s\n", "\n", text).strip()


@pytest.fixture(autouse=True)
def checkout(monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(ROOT)
    return ROOT


def test_the_example_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    args, output = command(0)
    found = timeless(printed(args, capsys))
    assert found == timeless(output)
    losses = re.search(r"random losses +-[\d.]+ +([\d.]+)", found)
    window = re.search(r"flow-control windows +-([\d.]+) +([\d.]+)", found)
    assert losses is not None
    assert window is not None
    assert f"`leo` alone loses {losses[1]} Mbit/s" in PAGE
    assert f"both paths together {window[1]} Mbit/s" in " ".join(PAGE.split())
    assert float(window[2]) < 0.1, "a single path loses nothing to the window"


def test_repairs_alone_regain_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    args, _ = command(1)
    found = printed(args, capsys)
    regained = {
        cause: re.search(rf"{cause} .* ([\d.]+)\n", found)
        for cause in ("flow-control windows", "path scheduler", "head-of-line blocking")
    }
    assert all(regained.values())
    window, scheduler, order = (match[1] for match in regained.values() if match)
    said = f"the repair of the window regains {window} Mbit/s, that of the scheduler {scheduler} and "
    assert f"{said}that of blocking {order}" in " ".join(PAGE.split())


def test_an_unlimited_window_leaves_no_blocking_to_speak_of(capsys: pytest.CaptureFixture[str]) -> None:
    args, _ = command(2)
    found = re.search(r"head-of-line blocking +-([\d.]+) ", printed(args, capsys))
    assert found is not None
    assert float(found[1]) < 0.1
