from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import leobench
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PAGE = (ROOT / "docs" / "howto" / "plotting.md").read_text(encoding="utf-8")


def snippets(section: str) -> list[str]:
    text = PAGE.split(f"\n## {section}")[1].split("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_the_examples_of_campaign_figures_run(
    buffers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "results").symlink_to(buffers / "results")
    monkeypatch.chdir(tmp_path)
    first, second = snippets("Bars, distributions")
    names: dict[str, Any] = {}
    exec(first, names)  # noqa: S102
    assert (tmp_path / "delay.pdf").read_bytes().startswith(b"%PDF")
    (axes,) = names["figure"].axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["7 packets", "15 packets", "unlimited"]
    runs = names["runs"].filter(
        metric="flows.main.delay_ms.mean", variant="limit=15-packets,streams=1"
    )["value"]  # fmt: skip
    # The first series, in the unit of the axis.
    assert axes.get_ylabel() == "mean delay (ms)"
    assert axes.patches[1].get_height() == runs.mean()
    exec(second, names)  # noqa: S102
    left, right = names["figure"].axes
    assert (left.get_yscale(), right.get_ylabel()) == ("log", "goodput (Mbit/s)")


def test_the_line_of_the_example_of_a_run_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scenario = ROOT / "scenarios" / "ka.toml"
    leobench.run(scenario, 1, {"duration": "20 s"}, out="results/ka-1")
    (code,) = snippets("Your own")
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102
    assert (tmp_path / "mine.png").read_bytes().startswith(b"\x89PNG")
    axes = names["figure"].axes[-1]
    low, high = axes.get_ylim()
    at = axes.get_lines()[-1].get_ydata()[0]
    assert low + 0.1 * (high - low) < at < high - 0.1 * (high - low)
    assert axes.get_ylabel() == "delay (ms)"
