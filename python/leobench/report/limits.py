"""The largest report: what a browser opens within seconds and a mail program sends."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from leobench.errors import InputError

if TYPE_CHECKING:
    from leobench.report.content import Content, Run

# Bytes of all tables of a page as Parquet files. In the page they take a third more.
LARGEST = 48_000_000
# Rows of all tables of a page. Chromium reads some ten million values a second, a chart a few columns.
MOST_ROWS = 8_000_000


def trimmed(content: Content) -> Content:
    """The content without its largest tables, if they are too large together, and a note for each."""
    while True:
        sizes = {name: len(table.data) for run in content.runs for name, table in run.tables.items()}
        total = sum(len(table.data) for _, table in content.tables())
        count = sum(table.rows for _, table in content.tables())
        if total <= LARGEST and count <= MOST_ROWS:
            return content
        largest = max(sizes, key=lambda name: sizes[name])
        content = replace(
            content,
            runs=[without(run, largest) for run in content.runs],
            notes=[*content.notes, f"The table {largest} is too large for this page."],
        )


def without(run: Run, name: str) -> Run:
    """A run without one of its tables."""
    rows = {name: run.tables[name].rows} if name in run.tables else {}
    kept = {each: table for each, table in run.tables.items() if each != name}
    return replace(run, tables=kept, omitted={**run.omitted, **rows})


def check(content: Content) -> None:
    """Refuses tables that are too large together.

    Raises:
        InputError: Naming the size, the limit and which table to leave out.
    """
    sizes: dict[str, int] = defaultdict(int)
    rows: dict[str, int] = defaultdict(int)
    for run in content.runs:
        for name, table in run.tables.items():
            sizes[name] += len(table.data)
            rows[name] += table.rows
    total, count = sum(sizes.values()), sum(rows.values())
    if total <= LARGEST and count <= MOST_ROWS:
        return
    what, share = (
        (sizes, total / LARGEST) if total / LARGEST > count / MOST_ROWS else (rows, count / MOST_ROWS)
    )
    without, left = [], share
    for name in sorted(what, key=lambda name: -what[name]):
        without.append(name)
        left -= what[name] / sum(what.values()) * share
        if left <= 1:
            break
    advice = " ".join(f"--without {name}" for name in without)
    largest = without[0]
    raise InputError(
        f"the tables have {total / 1e6:,.1f} MB and {count:,} rows "
        f"(`{largest}` {sizes[largest] / 1e6:,.1f} MB and {rows[largest]:,} rows); "
        f"allowed in a report: {LARGEST / 1e6:.0f} MB and {MOST_ROWS:,} rows; "
        f"leave out what you need least: {advice}"
        + (", or report fewer runs" if len(content.runs) > 1 else "")
    )
