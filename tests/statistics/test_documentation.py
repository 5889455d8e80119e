from __future__ import annotations

import contextlib
import io
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from leobench import CampaignResult
from tests.support.paths import ROOT
from tools import coverages

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "explanation" / "statistics.md").read_text(encoding="utf-8")
COVERAGE = (ROOT / "docs" / "reports" / "coverage.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_example_prints_what_the_page_says() -> None:
    code, _ = SNIPPETS
    promised = re.findall(r"^print\(.*\)  # (.*)$", code, re.MULTILINE)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})  # noqa: S102
    assert len(promised) == 4
    assert printed.getvalue().splitlines() == promised


def test_the_example_of_a_campaign_pairs_what_had_the_same_seed(
    buffers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = CampaignResult.open(buffers / "results" / "buffers")
    _, code = SNIPPETS
    monkeypatch.chdir(buffers)
    whole: dict[str, Any] = {}
    exec(code, whole)  # noqa: S102
    assert whole["means"].height == 9
    a, b = ({row["seed"]: row["value"] for row in whole["runs"].filter(variant=whole[name]).rows(named=True)}
            for name in "ab")  # fmt: skip
    assert whole["comparison"].difference.value == pytest.approx(np.mean([b[seed] - a[seed] for seed in a]))

    # One run of each is missing, of another seed: two pairs of four are left.
    lost = {(whole["a"], 2), (whole["b"], 3)}
    pair = pl.struct("variant", "replicate").map_elements(lambda row: tuple(row.values()) in lost, pl.Boolean)
    holes = result.runs.with_columns(value=pl.when(~pair).then("value"))
    monkeypatch.setattr(CampaignResult, "runs", holes)
    partly: dict[str, Any] = {}
    exec(code, partly)  # noqa: S102
    seeds = sorted(a, key=[*a].index)
    kept = [seeds[0], seeds[3]]
    assert partly["comparison"].difference.n == 2
    assert partly["comparison"].difference.value == pytest.approx(
        np.mean([b[seed] - a[seed] for seed in kept])
    )
    assert partly["means"]["missing"].sum() == 2


def test_the_table_of_coverage_is_the_measured_one() -> None:
    rows = re.findall(r"^\| (normal|exponential|log-normal).* \| (\d+) \| (.*) \|$", COVERAGE, re.MULTILINE)
    shown = {
        (method, int(n), law.replace("-", "")): cell
        for law, n, cells in rows
        for method, cell in zip(("t", "bootstrap", "studentised"), cells.split(" | "), strict=True)
    }
    assert shown == {where: f"{100 * share:.1f} %" for where, share in coverages.TABLE.items()}
