"""The folder of an explanation: its numbers, and a figure of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from leobench import folder, plots
from leobench.files import write_text
from leobench.plots import waterfall

if TYPE_CHECKING:
    from pathlib import Path

    from leobench.attribution.explanation import Explanation

NUMBERS, FIGURE = "why.json", "why.png"
NAMES = (NUMBERS, FIGURE)


def refuse_existing(target: Path, *, force: bool) -> None:
    """Checks that an explanation may be written to a folder.

    Raises:
        InputError: If something is there that may not be replaced.
    """
    folder.refuse_existing(target, force=force, ours=_is_ours)


def write(explanation: Explanation, target: Path, *, force: bool) -> None:
    """Writes an explanation.

    Raises:
        InputError: If it cannot be written there.
    """
    with folder.writing(target, force=force, ours=_is_ours) as partial:
        text = json.dumps(explanation.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
        write_text(partial / NUMBERS, text + "\n")
        plots.save(waterfall.draw(explanation), partial / FIGURE)


def _is_ours(entry: Path) -> bool:
    """Whether it is something that `write` writes."""
    return entry.is_file() and entry.name in NAMES
