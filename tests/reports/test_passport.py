"""The page of a passport in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench import report
from tests.passport import made_up

if TYPE_CHECKING:
    from pathlib import Path

    from tests.reports.browser import Opened


def test_checks_are_shown_with_the_worst_first(tmp_path: Path, opened: Opened) -> None:
    made_up.write(tmp_path / "mine")
    page = opened.open(report.write([tmp_path / "mine"], tmp_path / "mine.html"))
    badges = page.locator("#table-of-checks tbody td:nth-child(2)").all_inner_texts()
    assert [text.split(maxsplit=1)[1] for text in badges] == ["fail", "warn", "not measured", "pass"]
    first = page.locator("#table-of-checks tbody tr").first
    assert "fat-goodput" in first.inner_text()
    assert page.locator("img.drawing").evaluate("image => image.naturalWidth") > 0
