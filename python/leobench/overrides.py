"""Values that replace a scenario's own, written as they would stand in a TOML file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from numbers import Integral, Real

from leobench.errors import InputError, cut

# Lists and tables within one another, as in a file.
_DEEPEST = 40


def as_text(value: object, depth: int = 0) -> str:
    """A value in TOML, on one line (TOML 1.0, https://toml.io/en/v1.0.0).

    Args:
        value: The value.
        depth: The number of lists and tables that it is in.

    Raises:
        InputError: If no scenario could hold such a value.
    """
    if depth > _DEEPEST:
        raise InputError(f"is nested too deeply; allowed: at most {_DEEPEST} tables or lists")
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    if isinstance(value, Mapping):
        pairs = (
            f"{json.dumps(str(key), ensure_ascii=False)} = {as_text(held, depth + 1)}"
            for key, held in value.items()
        )
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return f"[{', '.join(as_text(held, depth + 1) for held in value)}]"
    right = "a string, a number, a boolean, a list or a table"
    raise InputError(f"{cut(str(value))}: is a {type(value).__name__}; allowed: {right}")
