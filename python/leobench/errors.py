"""The exceptions leobench raises, all under `LeobenchError`, and how they say what is allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class LeobenchError(Exception):
    """Whatever leobench raises on purpose; its text is meant for the user."""


class InputError(LeobenchError):
    """What the user gave cannot be used: a scenario, an option, a folder. Exit code 2."""


class ScenarioError(InputError):
    """A scenario is wrong; the text names the file, the place in it, the value and what is allowed."""


class RunError(LeobenchError):
    """A run failed although its input was fine. Exit code 1."""


def allowed(given: object, known: Iterable[object]) -> str:
    """What may be given, and what perhaps was meant: "allowed: `fifo`, `red`; did you mean `red`?"."""
    import difflib

    words = [str(each) for each in known]
    near = difflib.get_close_matches(str(given), words, 1)
    hint = f"; did you mean `{near[0]}`?" if near else ""
    return f"allowed: {', '.join(f'`{word}`' for word in words)}{hint}"
