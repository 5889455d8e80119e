"""A passport with values that no run has made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leobench import passport
from leobench.candidate import Candidate
from leobench.passport import document, judge

if TYPE_CHECKING:
    from pathlib import Path

    Values = tuple[list[float | None], ...]

SUITE = passport.load_suite(1).restricted(only=["fat-goodput", "fat-loss", "deep-queue", "outage-recovery"])
# By check in the order of the suite: fat-goodput, fat-loss, deep-queue, outage-recovery.
OWN: Values = ([0.5, 0.5], [0.01, 0.01], [4.1, 4.1], [None, None])
OTHER: Values = ([0.9, 0.9], [0.0, 0.0], [1.0, 1.0], [3.0, 3.0])


def examination(name: str, values: Values) -> passport.Examination:
    """The examination of a built-in controller with these values."""
    findings = tuple(judge.judge(check, each) for check, each in zip(SUITE.checks, values, strict=True))
    return passport.Examination(Candidate.parse(name), SUITE, 2, findings, {})


def described() -> dict[str, Any]:
    """A passport: one check fails, two warn or pass, one is not measured."""
    return document.as_json(examination("cubic", OWN), examination("vegas", OTHER))


def write(folder: Path) -> dict[str, Any]:
    """Writes the files of `described` into a folder."""
    folder.mkdir()
    made = described()
    document.write(made, folder)
    return made
