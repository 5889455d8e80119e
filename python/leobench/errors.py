"""The exceptions leobench raises, all under `LeobenchError`, and how they say what is allowed."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


# The exit code of a run in real time whose clock cannot be trusted: `timeout`, shells and signals use codes
# from 124 on, curl those up to 101, and few programs the ones between.
INVALID_RUN = 119

# Characters of the longest word that is compared with others.
_LONGEST_WORD = 80
# Words that a message lists.
_MOST_WORDS = 40


class LeobenchError(Exception):
    """Whatever leobench raises on purpose; its text is meant for the user."""


class InputError(LeobenchError):
    """Unusable input: a scenario, an option or a folder. Exit code 2."""


class ScenarioError(InputError):
    """A scenario is wrong; the text names the file, the place in it, the value and what is allowed."""


class UnknownNameError(InputError, KeyError):
    """A name that nothing has, such as that of a flow of a result."""

    def __str__(self) -> str:
        return str(self.args[0])  # A `KeyError` shows its text in quotes.


class RunError(LeobenchError):
    """A run failed although its input was fine. Exit code 1."""


def cut(text: str, longest: int = 80) -> str:
    """A text as a message shows it: on one line, cut where it is longer, and then with its length."""
    start = text[:longest]
    if not start.isprintable():
        start = "".join(
            char if char.isprintable() else char.encode("unicode_escape").decode() for char in start
        )
    return start if len(text) <= longest else f"{start}… ({len(text)} characters)"


def allowed(given: object, known: Iterable[object]) -> str:
    """The allowed values and the nearest match: "allowed: `fifo`, `red`; did you mean `red`?"."""
    words = [cut(str(each)) for each in known]
    listed = ", ".join(f"`{word}`" for word in words[:_MOST_WORDS])
    more = f", and {len(words) - _MOST_WORDS} more" if len(words) > _MOST_WORDS else ""
    return f"allowed: {listed}{more}{near(given, words)}"


def near(given: object, known: Iterable[str]) -> str:
    """The nearest match, ignoring case: "; did you mean `red`?"; empty if nothing is near."""
    found = nearest(given, known)
    return "" if found is None else f"; did you mean `{found}`?"


def nearest(given: object, known: Iterable[str], similarity: float = 0.6) -> str | None:
    """The word that was perhaps meant, in whatever case, if any is near.

    Args:
        given: What was given.
        known: The words that could be meant.
        similarity: Similarity from which a word is near, from 0 to 1 (`difflib.SequenceMatcher.ratio`).
    """
    import difflib

    if len(str(given)) > _LONGEST_WORD:
        return None
    folded = {word.casefold(): word for word in known}
    found = difflib.get_close_matches(str(given).casefold(), folded, 1, similarity)
    return folded[found[0]] if found else None


def positive(name: str, value: object) -> int:
    """A number of things, which is called `name`.

    Raises:
        InputError: If it is not a whole number from 1.
    """
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise InputError(
            f"{name} = {cut(repr(value))}: is not a whole number; allowed: a whole number from 1"
        )
    if int(value) < 1:
        raise InputError(f"{name} = {cut(str(value))}: is not positive; allowed: a whole number from 1")
    return int(value)


def counted(count: int, noun: str) -> str:
    """A number of things."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
