"""The tutorial on schedulers written in Python: its files, programs and commands, and what they print."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import leobench
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "howto" / "python-schedulers.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
FILES = {
    block.partition("\n")[0].removeprefix("# "): block
    for language, block in BLOCKS
    if language in {"toml", "python"}
}
# A command, and what it prints.
COMMANDS = re.findall(
    r"^\$ (.*\n(?:> .*\n)*)((?:[^$].*\n)*)",
    "".join(block for language, block in BLOCKS if language == "console"),
    re.MULTILINE,
)
NUMBER = r" *\d+(?:\.\d+)?"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with all files of the page, and `leobench` on the way to it."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    program = tmp_path / "bin" / "leobench"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m leobench "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return tmp_path


def shell(folder: Path, command: str) -> str:
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["/bin/bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    return ran.stdout


def test_the_page_has_what_is_tested() -> None:
    assert {language for language, _ in BLOCKS} == {"toml", "python", "console", "text"}
    modules = {"first", "shortest", "due", "in_time", "compare", "greedy", "rounds"}
    assert set(FILES) == {"call.toml", *(f"{module}.py" for module in modules)}
    assert len(COMMANDS) == 3


def agree(printed: str, promised: str) -> bool:
    """Whether texts are the same but for numbers, and those within 10 %: changes of QUIC move them."""
    numbers = [[float(number) for number in re.findall(NUMBER, text)] for text in (printed, promised)]
    same = re.sub(NUMBER, "0", printed) == re.sub(NUMBER, "0", promised)
    return same and numbers[0] == pytest.approx(numbers[1], rel=0.1)


@pytest.mark.parametrize(("command", "printed"), COMMANDS)
def test_a_command_prints_what_the_page_says(command: str, printed: str, folder: Path) -> None:
    shown = shell(folder, command)
    # How many bytes were waiting when it went wrong is anybody's guess.
    waiting = re.compile(r"but only \d+ are waiting")
    assert agree(waiting.sub("", shown), waiting.sub("", printed)), shown
    assert len(waiting.findall(shown)) == len(waiting.findall(printed))


def test_the_comparison_prints_the_table_of_the_page(folder: Path) -> None:
    (table,) = (block for language, block in BLOCKS if language == "text")
    printed = shell(folder, f"{shlex.quote(sys.executable)} compare.py")
    assert printed == table


def test_the_rounds_are_fair(folder: Path) -> None:
    streams = [{"name": f"s{number}", "source": {"kind": "bulk", "size": "1 MB"}} for number in range(10)]
    overrides: dict[str, object] = {
        "flows.call.streams": streams,
        "flows.call.transport.scheduler": {"python": "rounds:Rounds"},
    }
    result = leobench.run(folder / "call.toml", overrides=overrides)
    (flow,) = result.summary["flows"]
    assert flow["undelivered_messages"] == 0
    # Equal files that are served in turn end within a round of each other: ten packets, at 2 Mbit/s some
    # 50 ms, and what was lost takes a few round trips more.
    delivered = sorted(result.tables.messages["delivered_ns"].to_list())
    assert len(delivered) == 10
    assert delivered[-1] - delivered[0] < 300_000_000 < delivered[0] / 10


def test_the_costs_can_be_measured_as_the_page_says() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "schedulers.py")]
    environment = {**os.environ, "LEOBENCH_SECONDS": "2"}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True)
    printed = re.findall(r"^(\w+) +[\d.]+ us$", ran.stdout, re.MULTILINE)
    assert printed == ["rr", "First", "Shortest", "InTime", "Rounds"]
