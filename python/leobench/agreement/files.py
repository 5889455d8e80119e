"""The files of a report: `agreement.json`, `agreement.csv`, `agreement.md` and `agreement.png`."""

from __future__ import annotations

import csv
import io
import json
import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from leobench.agreement import judge, rows
from leobench.errors import InputError, RunError
from leobench.files import write_text

if TYPE_CHECKING:
    from pathlib import Path

    from leobench.agreement.judge import Finding
    from leobench.agreement.runner import Cell, Report
    from leobench.stats import Estimate

JSON, CSV, MARKDOWN, FIGURE = (f"agreement.{suffix}" for suffix in ("json", "csv", "md", "png"))
NAMES = (JSON, CSV, MARKDOWN, FIGURE)


def refuse_existing(folder: Path) -> None:
    """Checks that no report is in a folder.

    Raises:
        InputError: If one is.
    """
    for name in NAMES:
        if os.path.lexists(folder / name):
            raise InputError(
                f"{folder / name}: exists already; continue it with --resume, replace it with --force, "
                "or choose another folder with --out"
            )


def write(report: Report, folder: Path) -> None:
    """Writes all files.

    Raises:
        RunError: If one cannot be written.
    """
    from leobench import plots
    from leobench.plots import agreement

    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / JSON, json.dumps(as_json(report), indent=1, ensure_ascii=False) + "\n")
        write_text(folder / CSV, as_csv(report))
        write_text(folder / MARKDOWN, rows.markdown(report))
    except OSError as error:
        raise RunError(f"{folder}: cannot be written: {error.strerror or error}") from error
    except InputError as error:  # the runs are done, so the input was fine
        raise RunError(str(error)) from error
    plots.save(agreement.draw(report), folder / FIGURE)


def as_json(report: Report) -> dict[str, Any]:
    """The report as a tree of plain values."""
    return {
        "axis": report.axis,
        "sides": list(report.sides),
        "verdicts": {verdict: report.count(verdict) for verdict in judge.VERDICTS},
        "cells": [_cell(cell, report.sides) for cell in report.cells],
        "warnings": list(report.warnings),
    }


def _cell(cell: Cell, sides: tuple[str, str]) -> dict[str, Any]:
    return {
        "target": cell.target,
        "cell": cell.name,
        "verdict": cell.verdict,
        "seeds": list(cell.seeds),
        "failures": list(cell.failures),
        "measures": [_finding(finding, sides) for finding in cell.findings],
    }


def _finding(finding: Finding, sides: tuple[str, str]) -> dict[str, Any]:
    return {
        "flow": finding.flow,
        "metric": finding.measure.path,
        "mean": dict(zip(sides, finding.means, strict=True)),
        "ratio": _estimate(finding.ratio),
        "difference": _estimate(finding.difference),
        "judged_by": finding.by,
        "bound": finding.bound,
        "verdict": finding.verdict,
        "pairs": finding.pairs,
        "note": finding.note,
    }


def _estimate(estimate: Estimate | None) -> dict[str, Any] | None:
    return None if estimate is None else asdict(estimate)


_COLUMNS = (
    "target", "cell", "flow", "metric", "first", "second", "ratio", "ratio_low", "ratio_high", "difference",
    "difference_low", "difference_high", "pairs", "judged_by", "bound", "verdict",
)  # fmt: skip


def as_csv(report: Report) -> str:
    """A row per cell, flow and metric; numbers in the units of the summary."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    first, second = (f"{report.axis}_{side}" for side in report.sides)
    lines.writerow([{"first": first, "second": second}.get(name, name) for name in _COLUMNS])
    for cell in report.cells:
        for finding in cell.findings:
            lines.writerow([cell.target, cell.name, *_row(finding)])
    return text.getvalue()


def _row(finding: Finding) -> list[object]:
    estimates = [
        value
        for estimate in (finding.ratio, finding.difference)
        for value in ((None,) * 3 if estimate is None else (estimate.value, estimate.low, estimate.high))
    ]
    row = [
        finding.flow,
        finding.measure.path,
        *finding.means,
        *estimates,
        finding.pairs,
        finding.by,
        finding.bound,
        finding.verdict,
    ]
    return ["" if value is None else f"{value:.8g}" if isinstance(value, float) else value for value in row]
