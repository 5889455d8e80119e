"""Parts of Markdown pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NOTICE = "<!-- Written by `make reference`. Do not edit. -->"


def joined(blocks: Iterable[str]) -> str:
    """The text of a page: its blocks, separated by blank lines."""
    return "\n\n".join([NOTICE, *(block for block in blocks if block)]) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(map(cell, line)) + " |" for line in (head, *rows)]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])


def cell(text: str) -> str:
    """Text that fits into a cell of a table."""
    return " ".join(text.replace("|", "\\|").split())


def prose(text: str) -> str:
    """A description as Markdown: one paragraph per block, with the lines of the source joined."""
    return "\n\n".join(" ".join(block.split()) for block in text.split("\n\n"))


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub and Python-Markdown make it."""
    return re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())
