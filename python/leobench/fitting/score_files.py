"""Files of scores: a folder with tables and figures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from leobench.fitting.score import Score

_JSON, _PAGE = "score.json", "score.md"
# Values that a histogram needs; the table has those of fewer.
_FEWEST = 5


def write(folder: Path, name: str, score: Score) -> None:
    """Writes into a folder: the numbers, a page, and a figure of each statistic that has enough values."""
    from leobench import plots
    from leobench.fitting import score_page
    from leobench.plots import score as figure

    (folder / _JSON).write_text(json.dumps(score.as_json(), indent=2) + "\n", "utf-8")
    figures: dict[str, str] = {}
    for quantity, statistic in dict.fromkeys((row.quantity, row.statistic) for row in score.rows):
        rows = [row for row in score.rows if (row.quantity, row.statistic) == (quantity, statistic)]
        if rows[0].count < _FEWEST:
            continue
        drawn = f"{quantity}-{statistic.replace(' %', '').replace(' ', '-')}.png"
        plots.save(figure.draw(rows), folder / drawn)
        figures[f"{quantity}, {statistic}"] = drawn
    page = score_page.page(f"The score of {name}", score, figures)
    (folder / _PAGE).write_text(page, "utf-8")


def is_ours(entry: Path) -> bool:
    """Whether a file in such a folder is one that `write` makes."""
    return entry.suffix == ".png" or entry.name in {_JSON, _PAGE}
