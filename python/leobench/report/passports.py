"""A passport on a page: its checks with verdicts, and its drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.passport import document, judge
from leobench.report.content import Content
from leobench.report.reproductions import drawing

if TYPE_CHECKING:
    from pathlib import Path


def is_passport(folder: Path) -> bool:
    """Whether it is the folder of a passport."""
    return document.is_passport(folder)


def content(folder: Path) -> Content:
    """The content of a report on a passport.

    Raises:
        InputError: If `passport.json` is damaged.
    """
    described = document.read(folder)
    controller, suite = described["controller"], described["suite"]
    shown = described | {
        "verdicts": list(judge.VERDICTS),
        "drawing": drawing(folder / document.FIGURE),
        "folder": str(folder),
    }
    quick = ", a quick look" if suite["quick"] else ""
    return Content(
        "passport",
        f"Passport of {controller['name']}",
        f"Suite {suite['version']}{quick}, over {controller['transport'].upper()}, "
        f"{described['runs']} runs of each case in {controller['engine']} time",
        passports=[shown],
    )
