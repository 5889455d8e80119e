"""The files of a passport: `passport.json`, a table in Markdown, a badge and a figure."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from leobench.errors import InputError, RunError
from leobench.files import read_text, write_text
from leobench.passport import judge, measures
from leobench.passport.badge import badge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from leobench.passport.judge import Finding
    from leobench.passport.runner import Examination

    Described = dict[str, Any]

JSON, MARKDOWN, BADGE, FIGURE = "passport.json", "passport.md", "badge.svg", "passport.png"
NAMES = (JSON, MARKDOWN, BADGE, FIGURE)

# The form of `passport.json`. It grows when a key is removed or means something else.
SCHEMA = 1
# Digits of a value in JSON: more would be those of the machine.
_DIGITS = 6


def as_json(own: Examination, against: Examination | None = None) -> Described:
    """A passport as a tree of plain values; nothing in it depends on the clock or the machine."""
    from leobench import _core

    described: Described = {
        "schema": SCHEMA,
        "leobench": _core.__version__,
        "suite": {
            "version": own.suite.version,
            "quick": own.suite.quick,
            "thresholds": dict(own.suite.changed),
        },
        **_examination(own),
        "against": None if against is None else _examination(against),
    }
    if against is not None:
        _add_ranks(described, own, against)
    return described


def _examination(made: Examination) -> Described:
    return {
        "controller": {
            "text": made.candidate.text,
            "name": made.candidate.name,
            "transport": made.candidate.transport["kind"],
            "engine": made.candidate.engine,
            "files": dict(made.files),
        },
        "runs": made.replicates,
        "counts": {verdict: made.count(verdict) for verdict in judge.VERDICTS},
        "checks": [_finding(finding) for finding in made.findings],
    }


def _finding(finding: Finding) -> Described:
    check, estimate = finding.check, finding.estimate
    return {
        **{key: value for key, value in asdict(check).items() if key != "measure"},
        "measure": measures.meaning(check.measure),
        "verdict": finding.verdict,
        "value": None if estimate is None else _rounded(estimate.value),
        "low": None if estimate is None else _rounded(estimate.low),
        "high": None if estimate is None else _rounded(estimate.high),
        "values": [_rounded(value) for value in finding.values],
        "note": finding.note,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{_DIGITS}g}")


def _add_ranks(described: Described, own: Examination, against: Examination) -> None:
    for number, pair in enumerate(zip(own.findings, against.findings, strict=True)):
        places = judge.ranks(pair[0].check, pair)
        for side, place in zip((described, described["against"]), places, strict=True):
            side["checks"][number]["rank"] = place


def write(described: Mapping[str, Any], folder: Path) -> None:
    """Writes all files.

    Raises:
        RunError: If one cannot be written.
    """
    from leobench import plots
    from leobench.passport import tables
    from leobench.plots import passport

    try:
        write_text(folder / JSON, json.dumps(described, indent=1, ensure_ascii=False) + "\n")
        write_text(folder / MARKDOWN, tables.markdown([described]))
        write_text(folder / BADGE, badge(described))
        plots.save(passport.draw(described), folder / FIGURE)
    except InputError as error:  # the runs are done, so the input was fine
        raise RunError(str(error)) from error


def is_passport(folder: Path) -> bool:
    """Whether it is the folder of a passport."""
    return (folder / JSON).is_file()


def read(folder: Path) -> Described:
    """The passport in a folder.

    Raises:
        InputError: If there is none, it is damaged, or a later leobench wrote it.
    """
    file = folder / JSON
    try:
        described: Described = json.loads(read_text(file))
        schema = described["schema"]
        _touch(described)
    except FileNotFoundError:
        raise InputError(
            f"{folder}: holds no passport; allowed: a folder that `leobench passport` wrote"
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{file}: is damaged ({error!r}); make the passport again") from error
    if schema != SCHEMA:
        raise InputError(f"{file}: has schema {schema}; allowed: {SCHEMA}, which this leobench reads")
    return described


def _touch(described: Mapping[str, Any]) -> None:
    """Reads what tables and pages need."""
    _ = described["suite"]["version"], described["suite"]["quick"], described["controller"]["name"]
    _ = described["against"]
    for check in described["checks"]:
        _ = [
            check[key] for key in ("id", "group", "verdict", "value", "low", "high", "warn", "fail", "better")
        ]


def worst_first(checks: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Checks by verdict, the worst first; otherwise in the order of the suite."""
    return sorted(checks, key=lambda check: judge.VERDICTS.index(check["verdict"]))
