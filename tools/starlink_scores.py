"""Scores of fits of the published recordings, each on days, halves or sites that it has not seen.

    python -m tools.starlink_scores DATA [FILE] [--no-flows] [--into]

DATA is the folder with the recordings, each in a folder of its own; tables in Markdown go to FILE, or are
printed: each part of a recording fitted and scored on the other, CUBIC and BBR over both, and the fits that
ship on the recordings of other sites. `--into` writes the scores of the parts into the fits that ship.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from leobench.fitting import fit, readers, score, score_flows
from leobench.fitting.score_page import ratio
from tools import starlink_fits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leobench.fitting.score import Row, Score
    from leobench.fitting.score_flows import Compared
    from leobench.fitting.series import Series

# By the name of the fit that ships: the name in the table, and how the recording is cut in two.
CUTS = {
    "seattle-2023": ("Seattle, halves", "halves"),
    "lagos-lasers-2023": ("lasers, halves", "halves"),
    "osnabrueck-2024": ("Osnabrueck, days", "days"),
    "autobahn-2024": ("motorway, halves", "halves"),
}
# Fits that ship, and the recording of another site each.
SITES = {
    "seattle-2023": "lagos-lasers-2023",
    "lagos-lasers-2023": "seattle-2023",
    "osnabrueck-2024": "autobahn-2024",
    "autobahn-2024": "osnabrueck-2024",
}
_FILES = {recipe.name: recipe.file for recipe in starlink_fits.RECIPES}
_DAY_S = 86_400
_HEAD = (
    "data", "fitted to", "statistic", "count", "model", "nothing given", "best without a model",
    "model less best", "within 50, 80, 90 %", "variance between slots", "autocorrelation at 1, 5 s",
)  # fmt: skip
_FLOWS_HEAD = (
    "data", "fitted to", "flow", "measure", "slots", "recorded: median, spread", "model: median, spread",
    "ratio of medians", "ratio of spreads", "of the part that was fitted",
)  # fmt: skip


def parts(series: Series, cut: str) -> tuple[Series, Series]:
    """Both parts of a series: its first three days and the others, or its halves in time."""
    if cut == "days":
        days = series.times // _DAY_S
        early = np.isin(days, np.unique(days)[:3])
    else:
        early = series.times < (series.times[0] + series.times[-1]) / 2
    return series.where(early), series.where(~early)


def scores(data: Path, *, flows: bool) -> Iterator[tuple[str, str, Score, Sequence[Compared]]]:
    """Of each fit that ships: which part of its recording was fitted, and the score on the other."""
    for name, (_, cut) in CUTS.items():
        for series in readers.read(data / _FILES[name]):
            first, second = parts(series, cut)
            for fitted, train, held in (("first", first, second), ("second", second, first)):
                found = fit.fit([train], "part").document
                scored = score.score_fit(found, [held], [train])
                with_flows = flows and series.quantity != "rtt"
                compared = score_flows.score(found, [held], [train], _quiet) if with_flows else []
                yield name, fitted, scored, compared


def _quiet(_done: int, _total: int) -> None:
    """Reports nothing."""


def sites(data: Path) -> Iterator[tuple[str, str, Score]]:
    """Each fit that ships, the site of the recording, and the score."""
    for name, other in SITES.items():
        shipped = json.loads((starlink_fits.FITS / f"{name}.json").read_text(encoding="utf-8"))
        held, train = (readers.read(data / _FILES[each]) for each in (other, name))
        yield name, other, score.score_fit(shipped, held, train)


def rows(name: str, fitted: str, found: Score) -> Iterator[list[str]]:
    """Rows of the table: one per statistic."""
    begun = set()
    for quantity, statistic in dict.fromkeys((row.quantity, row.statistic) for row in found.rows):
        own, nothing, best = _chosen(found, quantity, statistic)
        measured, modelled = found.dependence[quantity]
        is_first = quantity not in begun
        begun.add(quantity)
        yield [
            f"{name}, {quantity}",
            fitted,
            f"{statistic} ({own.unit})",
            str(own.count),
            f"{own.crps:.3g}",
            "" if nothing is None else f"{nothing.crps:.3g}",
            "" if best is None else f"{best.forecast}: {best.crps:.3g}",
            "" if best is None else _difference(best),
            ", ".join(f"{100 * share:.0f}" for share in (own.coverage or {}).values()),
            f"{measured.between_slots:.2f}, {modelled.between_slots:.2f}" if is_first else "",
            _lags(found, quantity) if is_first else "",
        ]


def _chosen(found: Score, quantity: str, statistic: str) -> tuple[Row, Row | None, Row | None]:
    """The rows of a statistic: given the slots before, given nothing, and the best without a model."""
    of = {row.forecast: row for row in found.rows if (row.quantity, row.statistic) == (quantity, statistic)}
    others = [row for key, row in of.items() if "model" not in key]
    return of[score.AHEAD], of.get(score.ALONE), min(others, key=lambda row: row.crps, default=None)


def _difference(row: Row) -> str:
    if row.difference is None:
        return ""
    mean, low, high = row.difference
    return f"{mean:+.2g} [{low:+.2g}, {high:+.2g}]"


def _lags(found: Score, quantity: str) -> str:
    measured, modelled = (each.autocorrelation for each in found.dependence[quantity])
    return "; ".join(f"{measured[lag]:.2f}, {modelled[lag]:.2f}" for lag in (1, 5))


def flow_rows(name: str, fitted: str, found: Sequence[Compared]) -> Iterator[list[str]]:
    """Rows of the table of flows: one per controller and measure."""
    training = {(row.controller, row.measure): row for row in found if row.capacity == score_flows.TRAINING}
    for row in found:
        if row.capacity != score_flows.MODEL:
            continue
        other = training[row.controller, row.measure]
        yield [
            f"{name}, {row.quantity}",
            fitted,
            row.controller,
            f"{row.measure} ({row.unit})",
            str(row.slots),
            *(f"{middle:.3g}, {spread:.3g}" for middle, spread in (row.recorded, row.found)),
            ratio(row.median),
            ratio(row.spread),
            f"{other.median[0]:.2f}, {other.spread[0]:.2f}",
        ]


def summary(fitted: str, found: Score) -> Iterator[dict[str, Any]]:
    """The score of a part as a fit that ships has it."""
    for quantity, statistic in dict.fromkeys((row.quantity, row.statistic) for row in found.rows):
        own, _, best = _chosen(found, quantity, statistic)
        yield {
            "fitted": f"{fitted} part",
            "quantity": quantity,
            "statistic": statistic,
            "unit": own.unit,
            "count": own.count,
            "crps": own.crps,
            "best_without_model": None if best is None else {"forecast": best.forecast, "crps": best.crps},
            "coverage": {f"{level:g}": share for level, share in (own.coverage or {}).items()},
        }


def write_into_fits(found: dict[str, list[dict[str, Any]]]) -> None:
    """Writes scores into the fits that ship, by their names, and into the one combined of three."""
    documents = {}
    for name, held_out in found.items():
        document = json.loads((starlink_fits.FITS / f"{name}.json").read_text(encoding="utf-8"))
        documents[name] = {**document, "score": fit.rounded({"about": _ABOUT, "held_out": held_out})}
        starlink_fits.write(documents[name])
    sources = (starlink_fits.DELAY_OF, starlink_fits.DOWNLINK_LOSS_OF, starlink_fits.CAPACITY_OF)
    starlink_fits.write(starlink_fits.combined(*(documents[name] for name in sources)))


_ABOUT = (
    "the same model fitted to one part of the recording and scored on the other, given the slots before; "
    "this fit is of the whole recording"
)


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *lines)) + "\n"


def main() -> int:
    """Writes the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--no-flows", action="store_true")
    parser.add_argument("--into", action="store_true")
    args = parser.parse_args()
    lines: list[list[str]] = []
    flow_lines: list[list[str]] = []
    summaries: dict[str, list[dict[str, Any]]] = {}
    for name, fitted, found, compared in scores(args.data, flows=not args.no_flows):
        print(f"{name}: scored", file=sys.stderr)
        lines += rows(CUTS[name][0], fitted, found)
        flow_lines += flow_rows(CUTS[name][0], fitted, compared)
        summaries.setdefault(name, []).extend(summary(fitted, found))
    site_lines = [
        line
        for name, other, found in sites(args.data)
        for line in rows(CUTS[other][0].split(",")[0], name, found)
    ]
    tables = [_table(_HEAD, lines), _table(_FLOWS_HEAD, flow_lines), _table(_HEAD, site_lines)]
    text = "\n".join(tables if flow_lines else [tables[0], tables[2]])
    if args.file is None:
        print(text, end="")
    else:
        args.file.write_text(text, encoding="utf-8")
    if args.into:
        write_into_fits(summaries)
    return 0


if __name__ == "__main__":
    sys.exit(main())
