"""What the verdicts on the figures of a paper add up to: a page, and a few lines for a terminal."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from leobench.errors import InputError
from leobench.papers.conclusions import Outcome
from leobench.papers.reproduction import CLAIMS, VERDICTS, write_text

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

# As the claims are told, each with the words before it; those that hold are only counted.
_TOLD = {
    Outcome.UNDER_NONE: "Hold under no reading tried",
    Outcome.DOES_NOT_HOLD: "Do not hold as written; no other reading was tried",
    Outcome.UNDER_READING: "Hold under a reading only",
    Outcome.CANNOT_TELL: "The runs cannot tell",
    Outcome.NOT_EVALUATED: "Not evaluated",
}


def read(paper: Paper, folder: Path) -> list[Verdicts]:
    """The verdicts on the figures of a paper that lie in a folder, in the order of the paper.

    Raises:
        InputError: If a file of verdicts cannot be read.
    """
    found = []
    for figure in paper.figures:
        file = folder / figure.name / VERDICTS
        if not file.is_file():
            continue
        try:
            found.append(json.loads(file.read_text(encoding="utf-8")))
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
    head = ["figure", *map(str, _COLUMNS), "of ours", "table"]
    lines = [head, ["---"] * len(head), *map(_row, verdicts)]
    parts = [
        f"# {paper.name}",
        f"{paper.citation}.",
        "Claims of the paper by outcome, a claim about several cases counted for each of them.",
        "\n".join(f"| {' | '.join(line)} |" for line in lines),
        f"In total: {total(verdicts)}.",
    ]
    for title, claims in told(verdicts):
        parts += [f"## {title}", "\n".join(f"- {claim}" for claim in claims)]
    return "\n\n".join(parts) + "\n"


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
    """The claims of a paper that do not simply hold, in words, the most telling first: titles with claims.

    A claim appears once, under the most telling of the outcomes of its cases.
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
    under = f" Reading: {', '.join(readings)}." if readings else ""
    return f"{figure}: {cases[0]['says']}{share}{under}"
