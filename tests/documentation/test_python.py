"""The programs of the pages on Python and on clusters run as printed, as far as this machine can."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path


def programs(page: str) -> list[str]:
    text = (ROOT / "docs" / "howto" / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_the_first_program_runs_as_printed(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(programs("python.md")[0], encoding="utf-8")
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    ran = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    assert re.fullmatch(r"\d+\.\d\d Mbit/s", lines[0])
    assert len(lines) >= 4
    assert all(re.fullmatch(r"[\w-]+ [\d.]+ ms (\d+|None)", line) for line in lines[1:-2])


@pytest.mark.parametrize("page", ["python.md", "cluster.md"])
def test_programs_call_what_there_is(page: str) -> None:
    import leobench

    found = programs(page)
    assert found
    for program in found:
        for node in ast.walk(ast.parse(program)):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "leobench":
                assert hasattr(leobench, node.attr), node.attr
