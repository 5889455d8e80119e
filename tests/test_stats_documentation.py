from __future__ import annotations

import contextlib
import io
import re

import coverages
from conftest import ROOT

PAGE = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")


def test_the_example_prints_what_the_page_says() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    promised = re.findall(r"^print\(.*\)  # (.*)$", code, re.MULTILINE)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})  # noqa: S102
    assert len(promised) == 4
    assert printed.getvalue().splitlines() == promised


def test_the_table_of_coverage_is_the_measured_one() -> None:
    rows = re.findall(r"^\| (normal|exponential|log-normal).* \| (\d+) \| (.*) \|$", PAGE, re.MULTILINE)
    shown = {
        (method, int(n), law.replace("-", "")): cell
        for law, n, cells in rows
        for method, cell in zip(("t", "bootstrap", "studentised"), cells.split(" | "), strict=True)
    }
    assert shown == {where: f"{100 * share:.1f} %" for where, share in coverages.TABLE.items()}
