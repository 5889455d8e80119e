"""The guide's pages on results match the code, and their commands can be run one after the other."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

import leobench
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"])
PAGE = (ROOT / "docs" / "reference" / "results.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_command_of_a_page_finds_its_folder_taken(page: Path) -> None:
    taken = set[str]()
    for words in commands(page):
        given = dict(pairwise(words))
        folder = given.get("--out") or f"{words[2]}, seed {given.get('--seed', 1)}"
        assert folder not in taken or {"--force", "--resume"} & set(words), shlex.join(words)
        taken.add(folder)


def commands(page: Path) -> list[list[str]]:
    """The words of the commands on a page that write a folder."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = re.findall(r"^[$>] +(leobench (?:run|sweep) .*)$", "".join(blocks), re.MULTILINE)
    return [shlex.split(line, comments=True) for line in lines]


def test_the_commands_are_found() -> None:
    assert sum(len(commands(page)) for page in PAGES) > 10


def keys(paragraph: str) -> set[str]:
    """The keys that a paragraph of the page on results lists."""
    (text,) = re.findall(rf"^{paragraph}(?:[^\n]|\n(?!\n))*", PAGE, re.MULTILINE)
    return set(re.findall(r"`(\w+)`", text))


def test_the_page_on_results_lists_what_the_summary_has() -> None:
    scenario = ROOT / "scenarios" / "web.toml"
    (flow,) = leobench.run(scenario, overrides={"flows.web.objects[0].deadline": "1 ms"}).summary["flows"]
    late, punctual = flow["streams"][:2]
    assert set(punctual) == keys("Per stream: ")
    assert set(late) - set(punctual) == {"late_messages"}
    assert late["late_messages"] == 1
    assert set(flow["paths"][0]) == keys("Per path: ")
    assert set(flow) - {"name", "transport", "congestion", "page"} == keys("Per flow: ")
    (first, *_) = flow["page"]["objects"]
    assert {"page", "objects", "completion_s", *first} <= keys("A flow that is a ")


def test_the_page_on_results_lists_what_a_flow_notices_of_handovers() -> None:
    (flow,) = leobench.run(ROOT / "scenarios" / "emergency.toml", overrides={"duration": "12 s"}).summary[
        "flows"
    ]
    section = PAGE.partition("### Handovers")[2].partition("## Tables")[0]
    listed = set(re.findall(r"`(\w+)`", section))
    (each,) = flow["handovers"]["each"]
    assert {*flow["handovers"], *each, *flow["handovers"]["outage_ms"]} <= listed
    spreads = {key for key, value in flow["handovers"].items() if isinstance(value, dict)}
    assert set(re.findall(r"^\| `(\w+)`", section, re.MULTILINE)) == spreads
    section = PAGE.partition("### Losses")[2].partition("### Handovers")[0]
    assert set(flow["losses"]) <= set(re.findall(r"`(\w+)`", section))


def test_the_program_at_the_end_of_the_page_on_campaigns_runs_as_printed(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "howto" / "campaigns.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^## Building on it\n+```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    for folder in ("campaigns", "scenarios"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    ran = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "")
    runs = leobench.CampaignResult.open(tmp_path / "results" / "quick").runs
    assert len(ran.stdout.splitlines()) == len(runs.unique(["variant", "replicate"]))
    one = leobench.open(tmp_path / "results" / "one")
    (goodput,) = runs.filter(
        metric="flows.main.goodput_bps", variant=runs["variant"].unique(maintain_order=True)[1], replicate=2
    )["value"]
    assert one.summary["flows"][0]["goodput_bps"] == goodput
