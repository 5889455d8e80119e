"""Tables of the guide beside what their campaigns measure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from leobench import stats, sweep
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Interval(NamedTuple):
    """A mean and half of its 95 % interval, if it has one."""

    mean: float
    half: float | None


# A number by variant and metric.
Means = dict[tuple[str, str], Interval]


def shown(interval: Interval, factor: float, digits: int) -> str:
    """A cell as the page has it."""
    mean = f"{factor * interval.mean:,.{digits}f}"
    half = factor * (interval.half or 0.0)
    return f"{mean} ± {half:,.{digits}f}" if half >= 0.5 * 10**-digits else mean


def measured(name: str, folder: Path) -> Means:
    """The means of a campaign."""
    runs = sweep(ROOT / "campaigns" / f"{name}.toml", folder / name, resume=True).runs
    rows = stats.mean_intervals(runs, ["variant", "metric"], method="t").iter_rows(named=True)
    return {
        (row["variant"], row["metric"]): Interval(
            row["mean"], None if row["low"] is None else (row["high"] - row["low"]) / 2
        )
        for row in rows
    }


def rows(page: Path, heading: str) -> dict[str, list[str]]:
    """The cells of the table in a section of a page by the words of its first column."""
    section = page.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if line.startswith("|")
    ]
    return {row[0]: row[1:] for row in cells[2:]}


def agree(cell: str, expected: str) -> bool:
    """Whether two cells agree, give or take what a change of the transport may move."""
    found, wanted = (
        [float(number) for number in re.findall(r"[\d.]+", text.replace(",", "").split(" ± ")[0])]
        for text in (cell, expected)
    )
    return len(found) == len(wanted) and all(
        abs(one - other) <= 0.1 * abs(other) + 1.0 for one, other in zip(found, wanted, strict=True)
    )


def check(
    page: Path, heading: str, campaign: str, make: Callable[[Means], dict[str, list[str]]], folder: Path
) -> None:
    """Checks that the table in a section of a page holds what a campaign measures, as `make` tells it."""
    expected = make(measured(campaign, folder))
    found = rows(page, heading)
    assert list(found) == list(expected)
    for row, cells in expected.items():
        for cell, wanted in zip(found[row], cells, strict=True):
            assert agree(cell, wanted), (heading, row, cell, wanted)
