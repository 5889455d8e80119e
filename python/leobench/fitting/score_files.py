"""Files of scores: a folder with tables and figures, and the fit that a score is written into."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from leobench.errors import InputError, cut
from leobench.files import read_text, write_text
from leobench.fitting.fit import FORMAT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from leobench.fitting.score import Score

# The keys of a fit, as `crates/link/src/channel/starlink/fit.rs` reads them.
_KEYS = (
    "format", "version", "name", "about", "slots", "delay", "downlink", "uplink", "outages", "interruptions",
    "uncertainty", "score",
)  # fmt: skip
_JSON, _PAGE = "score.json", "score.md"


def read_fit(file: Path) -> dict[str, Any] | None:
    """The content of a fit; None if the file is not one.

    Raises:
        InputError: If the file cannot be read, or is a fit with an unknown key.
    """
    if file.suffix != ".json":
        return None
    try:
        content = json.loads(read_text(file))
    except ValueError:
        return None
    if not isinstance(content, dict) or "format" not in content:
        return None
    if content["format"] != FORMAT:
        raise InputError(f"{file}: format = {cut(str(content['format']))}: is no fit; allowed: {FORMAT}")
    unknown = next((key for key in content if key not in _KEYS), None)
    if unknown is not None:
        raise InputError(f"{file}: {cut(unknown)}: unknown key; allowed: {', '.join(_KEYS)}")
    return content


def write_into(file: Path, fit: Mapping[str, Any], score: Score) -> None:
    """Writes a score into the file of its fit.

    Raises:
        InputError: If the file cannot be written.
    """
    write_text(file, json.dumps({**fit, "score": score.as_json()}, indent=2) + "\n")


def write(out: Path, name: str, score: Score, *, force: bool) -> None:
    """Writes a folder: the numbers, a page, and a figure of each statistic.

    Raises:
        InputError: If the folder exists and may not be replaced, or cannot be written.
    """
    from leobench import folder, plots
    from leobench.fitting import score_page
    from leobench.plots import score as figure

    with folder.writing(out, force=force, ours=is_ours) as partial:
        (partial / _JSON).write_text(json.dumps(score.as_json(), indent=2) + "\n", "utf-8")
        figures: dict[str, str] = {}
        for quantity, statistic in dict.fromkeys((row.quantity, row.statistic) for row in score.rows):
            rows = [row for row in score.rows if (row.quantity, row.statistic) == (quantity, statistic)]
            drawn = f"{quantity}-{statistic.replace(' %', '').replace(' ', '-')}.png"
            plots.save(figure.draw(rows), partial / drawn)
            figures[f"{quantity}, {statistic}"] = drawn
        page = score_page.page(f"The score of {name}", score, figures)
        (partial / _PAGE).write_text(page, "utf-8")


def is_ours(entry: Path) -> bool:
    """Whether a file in such a folder is one that `write` makes."""
    return entry.suffix == ".png" or entry.name in {_JSON, _PAGE}
