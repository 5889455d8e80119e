"""The verdicts on all figures of a paper: a page, and a few lines for a terminal."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from leobench.errors import InputError
from leobench.files import read_text, write_text
from leobench.papers.conclusions import Outcome
from leobench.papers.reproduction import CLAIMS, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from leobench.papers.catalogue import Paper

    Verdicts = dict[str, Any]

SUMMARY = "summary.md"

# As the columns of the page.
_COLUMNS = (
    Outcome.HOLDS, Outcome.UNDER_READING, Outcome.UNDER_NONE, Outcome.DOES_NOT_HOLD, Outcome.CANNOT_TELL,
    Outcome.NOT_EVALUATED,
)  # fmt: skip

# Titles of the listed claims, in the order listed; claims that hold are only counted.
_TOLD = {
    Outcome.UNDER_NONE: "Claims that hold under no reading tried",
    Outcome.DOES_NOT_HOLD: "Claims that do not hold; no other reading was tried",
    Outcome.UNDER_READING: "Claims that hold only under another reading",
    Outcome.CANNOT_TELL: "Claims that the runs cannot decide",
    Outcome.NOT_EVALUATED: "Claims not evaluated",
}


def read(paper: Paper, folder: Path) -> list[Verdicts]:
    """The verdicts in a folder on the figures of a paper, in the order of the paper.

    Raises:
        InputError: If a file of verdicts cannot be read.
    """
    found = []
    for figure in paper.figures:
        file = folder / figure.name / VERDICTS
        if not file.is_file():
            continue
        try:
            found.append(json.loads(read_text(file)))
        except (OSError, ValueError) as error:
            raise InputError(
                f"{file}: cannot be read ({error}); delete it and reproduce the figure"
            ) from error
    return found


def write(paper: Paper, verdicts: Sequence[Verdicts], folder: Path) -> Path:
    """Writes `summary.md` to a folder, and returns its path.

    Raises:
        InputError: If it cannot be written.
    """
    file = folder / SUMMARY
    write_text(file, markdown(paper, verdicts))
    return file


def markdown(paper: Paper, verdicts: Sequence[Verdicts]) -> str:
    """The content of `summary.md`: a row per figure, and the claims that do not simply hold."""
    head = ["figure", *map(str, _COLUMNS), "our claims", "verdicts"]
    lines = [head, ["---"] * len(head), *map(_row, verdicts)]
    parts = [
        f"# {paper.name}",
        f"{paper.citation}.",
        "Claims of the paper by outcome. A claim about several cases counts once for each case.",
        "\n".join(f"| {' | '.join(line)} |" for line in lines),
        *_quick_note(verdicts),
        f"In total: {total(verdicts)}.",
    ]
    for title, claims in told(verdicts):
        parts += [f"## {title}", "\n".join(f"- {claim}" for claim in claims)]
    return "\n\n".join(parts) + "\n"


def _quick_note(verdicts: Sequence[Verdicts]) -> list[str]:
    quick = [figure["figure"] for figure in verdicts if figure["quick"]]
    if not quick:
        return []
    return [
        f"A quick look, with fewer or shorter runs than the paper's: {', '.join(quick)}. "
        "Its verdicts are preliminary."
    ]


def _row(figure: Verdicts) -> list[str]:
    conclusions = figure["conclusions"]
    counts = Counter(each["outcome"] for each in conclusions if not each["ours"])
    ours = sum(each["ours"] for each in conclusions)
    name = figure["figure"]
    return [name, *(str(counts[str(each)]) for each in _COLUMNS), str(ours), f"[{CLAIMS}]({name}/{CLAIMS})"]


def total(verdicts: Iterable[Verdicts]) -> str:
    """The number of conclusions about claims of the paper per outcome."""
    counts = Counter(
        each["outcome"] for figure in verdicts for each in figure["conclusions"] if not each["ours"]
    )
    found = ", ".join(f"{outcome}: {counts[str(outcome)]}" for outcome in _COLUMNS if counts[str(outcome)])
    return found or "no claims of the paper"


def told(verdicts: Sequence[Verdicts]) -> list[tuple[str, list[str]]]:
    """The claims of a paper that do not simply hold, in words, the most important first: titles with claims.

    A claim appears once, under the most important outcome of its cases.
    """
    grouped: dict[Outcome, list[str]] = {outcome: [] for outcome in _TOLD}
    for figure in verdicts:
        claims: dict[str, list[Verdicts]] = {}
        for each in figure["conclusions"]:
            if not each["ours"]:
                claims.setdefault(each["claim"], []).append(each)
        for cases in claims.values():
            outcomes = [each["outcome"] for each in cases]
            worst = next((outcome for outcome in _TOLD if str(outcome) in outcomes), None)
            if worst is not None:
                grouped[worst].append(_told(figure["figure"], cases, worst))
    return [(_TOLD[outcome], claims) for outcome, claims in grouped.items() if claims]


def _told(figure: str, cases: Sequence[Verdicts], outcome: Outcome) -> str:
    counted = [each for each in cases if each["outcome"] == str(outcome)]
    share = f" ({len(counted)} of {len(cases)} cases)" if len(cases) > 1 else ""
    readings = sorted({reading for each in counted for reading in each["holds_under"]})
    under = f" Reading{'s' * (len(readings) > 1)}: {', '.join(readings)}." if readings else ""
    return f"{figure}: {cases[0]['says']}{share}{under}"
