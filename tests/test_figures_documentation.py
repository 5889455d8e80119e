from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path


def test_the_examples_of_campaign_figures_run(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "plotting.md").read_text(encoding="utf-8")
    campaigns = page.split("## Campaigns")[1].split("## Your own")[0]
    first, second = re.findall(r"```python\n(.*?)```", campaigns, re.DOTALL)
    rng = np.random.default_rng(1)
    cells = [(buffer, streams) for buffer in ("7", "15", "unlimited") for streams in (1, 2, 4, 8)] * 30
    names = {
        "runs": pl.DataFrame(cells, schema=["buffer", "streams"], orient="row").with_columns(
            delay_ms=pl.Series(rng.lognormal(4.0, 0.3, len(cells))),
            goodput_bps=pl.Series(rng.normal(30e6, 1e6, len(cells))),
        ),
        "folder": tmp_path,
    }
    exec(first, names)  # noqa: S102
    assert (tmp_path / "delay.pdf").read_bytes().startswith(b"%PDF")
    exec(second, names)  # noqa: S102
    left, right = names["figure"].axes  # type: ignore[attr-defined]
    assert (left.get_yscale(), right.get_ylabel()) == ("log", "goodput (Mbit/s)")
