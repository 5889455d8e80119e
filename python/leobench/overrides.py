"""Values that replace a scenario's own, written as they would stand in a TOML file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from numbers import Integral, Real

from leobench.errors import InputError


def as_text(value: object) -> str:
    """A value in TOML, on one line (TOML 1.0, https://toml.io/en/v1.0.0).

    Raises:
        InputError: If no scenario could hold such a value.
    """
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
            f"{json.dumps(str(key), ensure_ascii=False)} = {as_text(held)}" for key, held in value.items()
        )
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return f"[{', '.join(map(as_text, value))}]"
    raise InputError(
        f"{value}: is a {type(value).__name__}; allowed: a string, a number, a boolean, a list or a table"
    )
