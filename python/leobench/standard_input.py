"""A scenario on the standard input."""

from __future__ import annotations

import sys
from functools import cache

from leobench.errors import ScenarioError
from leobench.files import LARGEST_FILE

# Its sign in place of a file.
NAME = "-"
# Its name in messages.
SHOWN = "stdin"


@cache
def text() -> str:
    """The text there, which can be read once.

    Raises:
        ScenarioError: If it is too long, or not text.
    """
    source = getattr(sys.stdin, "buffer", None)
    data = b"" if source is None else source.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise ScenarioError(f"{SHOWN}: is too large; allowed: at most {LARGEST_FILE // 1_000_000} MB")
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError as error:
        raise ScenarioError(
            f"{SHOWN}: is not text, at byte {error.start}; allowed: TOML or JSON in UTF-8"
        ) from None
