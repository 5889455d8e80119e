"""Scenarios on the standard input, and those without a name."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from leobench.scenario import as_name, load
from tests.support.paths import ROOT
from tests.support.programs import LEOBENCH, leobench
from tests.support.quick import QUICK

if TYPE_CHECKING:
    from pathlib import Path

# A scenario for programs: with neither a name, nor a duration, nor flows.
BARE = """
nodes = { here = {}, there = {} }
[links.path]
between = ["here", "there"]
rate = "10 Mbps"
delay = "5 ms"
"""


def given(text: str | bytes, *args: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command line with a text on its standard input."""
    data = text if isinstance(text, bytes) else text.encode()
    words = [*LEOBENCH, *map(str, args)]
    ended = subprocess.run(words, cwd=cwd, input=data, capture_output=True, check=False, timeout=120)
    return subprocess.CompletedProcess(words, ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def test_a_run_is_that_of_a_file(tmp_path: Path, quick: Path) -> None:
    ended = given(QUICK, "run", "-", "--out", "given", "--quiet", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert leobench("run", quick, "--out", "file", "--quiet", cwd=tmp_path).returncode == 0
    summaries = [(tmp_path / folder / "summary.json").read_bytes() for folder in ("given", "file")]
    assert summaries[0] == summaries[1]


def test_json_and_toml_are_told_apart(tmp_path: Path) -> None:
    shown = given(BARE, "check", "-", "--json", cwd=tmp_path)
    assert json.loads(shown.stdout)["name"] == "stdin"
    again = given(shown.stdout, "check", "-", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (0, "-: ok: stdin, 2 nodes, 1 link, 0 flows\n")


def test_files_start_from_the_current_folder(tmp_path: Path) -> None:
    text = (ROOT / "scenarios" / "trace.toml").read_text(encoding="utf-8")
    ended = given(text, "check", "-", cwd=ROOT / "scenarios")
    assert ended.returncode == 0, ended.stderr
    elsewhere = given(text, "check", "-", cwd=tmp_path)
    assert elsewhere.returncode == 2
    assert elsewhere.stderr.startswith("leobench: stdin: links.")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nodes = 3 x", "stdin:1:9: string values must be quoted"),
        ('{"nodes": 3,}', "stdin:1:13: trailing comma"),
        (BARE.replace('"5 ms"', '"5"'), 'stdin: links.path.delay = "5": has no unit; allowed: a time'),
        (b"\xff", "stdin: is not text, at byte 0; allowed: TOML or JSON in UTF-8"),
        ("", "stdin: nodes: is required but missing"),
    ],
)
def test_what_is_no_scenario_is_refused(text: str | bytes, message: str, tmp_path: Path) -> None:
    ended = given(text, "check", "-", cwd=tmp_path)
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert ended.stderr.startswith(f"leobench: {message}")


def test_several_seeds_need_a_file(tmp_path: Path) -> None:
    ended = given(QUICK, "run", "-", "--seeds", "1-2", cwd=tmp_path)
    assert ended.returncode == 2
    assert ended.stderr == (
        "leobench: --seeds: reads the scenario once for each seed; give it as a file, not as `-`\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_scenario_for_programs_has_the_name_of_its_file(tmp_path: Path) -> None:
    """`run` files results by name, so it wants one."""
    file = tmp_path / "my link.toml"
    file.write_text(BARE, encoding="utf-8")
    assert load(file, flows="unused").name == "my-link"
    assert load(file, overrides={"name": "other"}, flows="optional").name == "other"
    ended = leobench("run", file, cwd=tmp_path)
    assert ended.returncode == 2
    assert "name: is required but missing" in ended.stderr


@pytest.mark.parametrize(
    ("text", "name"), [("a b/c", "a-b-c"), ("..", "scenario"), ("Ω", "scenario"), ("x" * 300, "x" * 100)]
)
def test_a_name_is_made_of_any_text(text: str, name: str) -> None:
    assert as_name(text) == name
