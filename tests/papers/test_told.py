"""Messages of `leobench reproduce` about doubtful runs and about misspelt names."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

import pytest

from leobench import InputError, cli, papers
from leobench.campaign import Campaign
from leobench.papers import Quick, khan2023

if TYPE_CHECKING:
    from pathlib import Path


def test_runs_not_to_be_taken_at_face_value_are_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Runs of a third of a second that do not wait for what is under way."""
    _, (fig4,) = papers.find("khan2023/fig4")
    cut = dataclasses.replace(fig4, quick=Quick(1, {"duration": "300 ms", "until": "time"}))
    monkeypatch.setattr(khan2023, "PAPER", dataclasses.replace(khan2023.PAPER, figures=(cut,)))
    command = [
        "reproduce",
        "khan2023/fig4",
        "--quick",
        "--workers",
        "1",
        "--no-readings",
        "--out",
        str(tmp_path / "out"),
    ]
    assert cli.main(command) == 0
    size, warning = capsys.readouterr().err.splitlines()
    assert size == "khan2023/fig4: 1 variant of 1 run, duration = 300 ms, until = time"
    told = "base: 1 of 1 runs, first replicate 1: flow main: "
    assert warning.startswith(f"leobench: warning: khan2023/fig4: {told}")
    text = (tmp_path / "out/fig4/claims.md").read_text(encoding="utf-8")
    assert f"\n\n## Warnings\n\n- {warning[warning.index(told) :]}\n\n## Claims\n\n" in text
    assert "1 variant of 1 run, with `duration` = 300 ms" in text


@pytest.mark.parametrize("paper", papers.papers(), ids=lambda paper: paper.name)
def test_no_title_names_a_value_that_a_quick_look_replaces(paper: papers.Paper) -> None:
    for figure in paper.figures:
        campaign = Campaign.load(figure.campaign)
        (scenario,) = campaign.restricted([campaign.variants[0].name]).scenarios.values()
        for place in figure.quick.overrides:
            full: Any = scenario
            for step in place.split("."):
                full = full[step] if isinstance(full, dict) else None
            assert full is None or not re.search(rf"\b{re.escape(str(full))}\b", figure.title), place


def test_a_name_that_is_nearly_right() -> None:
    assert papers.find("khan2023/") == papers.find("khan2023")
    with pytest.raises(InputError, match=r"FIG5: no such figure of khan2023; .*; did you mean `fig5`\?"):
        papers.find("khan2023/FIG5")
