"""Text tables for a terminal: aligned columns under a heading of two lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.cli import terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    Head = Sequence[tuple[str, str]]

NONE = "-"


def table(head: Head, rows: Sequence[Sequence[str]], words: int) -> str:
    """Aligned columns: the first `words` columns to the left, the others to the right."""
    cells = ([terminal.on_one_line(terminal.shown(cell)) for cell in row] for row in rows)
    lines = [[top for top, _ in head], [bottom for _, bottom in head], *cells]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    aligned = [
        "  ".join(
            cell.ljust(width) if column < words else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    rule = "  ".join("-" * width for width in widths)
    return "\n".join([*aligned[:2], rule, *aligned[2:]])
