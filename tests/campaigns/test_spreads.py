"""Quartiles and standard deviations of delays as metrics of a campaign."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from leobench import InputError
from leobench.campaign import Campaign, run_campaign
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

TEXT = f"""
name = "spreads"
scenario = "{ROOT}/python/leobench/papers/khan2023/two-streams.toml"
replicates = 2
metrics = METRICS
tables = TABLES
[set]
duration = "400 ms"
[[grid]]
"flows.main.transport.scheduler" = ["rr"]
"""

METRICS = [f"flows.main{of}.delay_ms.{name}" for of in ("", ".streams.slow") for name in ("p25", "p75", "sd")]


def campaign(tmp_path: Path, metrics: list[str], tables: list[str], more: str = "") -> Campaign:
    file = tmp_path / "spreads.toml"
    text = TEXT.replace("METRICS", json.dumps(metrics)).replace("TABLES", json.dumps(tables))
    file.write_text(text.replace('duration = "400 ms"', f'duration = "400 ms"\n{more}'), encoding="utf-8")
    return Campaign.load(file)


def test_they_are_those_of_the_messages(tmp_path: Path) -> None:
    result = run_campaign(campaign(tmp_path, METRICS, ["messages"]), tmp_path / "out", workers=1)
    found = {(row["replicate"], row["metric"]): row["value"] for row in result.runs.iter_rows(named=True)}
    for replicate in (1, 2):
        messages = result.tables.messages.filter(replicate=replicate)
        for of, chosen in (("", messages), (".streams.slow", messages.filter(stream="slow"))):
            delays = (chosen["delivered_ns"] - chosen["created_ns"]).to_numpy() / 1e6
            at = f"flows.main{of}.delay_ms"
            expected = [*np.percentile(delays, [25, 75]), np.std(delays)]
            assert [found[replicate, f"{at}.{name}"] for name in ("p25", "p75", "sd")] == pytest.approx(
                expected
            )


def test_other_campaigns_neither_record_messages_nor_have_them(tmp_path: Path) -> None:
    plain = campaign(tmp_path, ["flows.main.delay_ms.p95"], [])
    assert not any(run.spreads for run in plain.plan())
    assert plain.overrides(plain.variants[0])["record.messages"] is False
    asked = campaign(tmp_path, METRICS, [])
    assert asked.overrides(asked.variants[0])["record.messages"] is True


def test_a_warm_up_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'warm_up = "100 ms": metrics such as .*; allowed: no warm-up'):
        campaign(tmp_path, METRICS, [], 'warm_up = "100 ms"').plan()
