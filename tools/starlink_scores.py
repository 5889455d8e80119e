"""Scores of fits of the published recordings, each on days or halves that it has not seen.

    python -m tools.starlink_scores DATA [FILE]

DATA is the folder with the recordings, each in a folder of its own; a table in Markdown goes to FILE, or is
printed. Each part of a recording is fitted and scored on the other.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from leobench.fitting import fit, readers, score

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leobench.fitting.score import Row, Score
    from leobench.fitting.series import Series

# By the name in the table: the recording, and how it is cut in two.
RECORDINGS = {
    "Seattle, halves": ("starlink-seattle-2023/ping.csv.gz", "halves"),
    "lasers, halves": ("starlink-isl-2023/ping.csv.gz", "halves"),
    "Osnabrueck, days": ("starlink-road-2024/udp_throughput.csv.gz", "days"),
    "motorway, halves": ("starlink-autobahn-2024/throughput.csv.gz", "halves"),
}
_DAY_S = 86_400
_HEAD = (
    "data", "fitted to", "statistic", "count", "model", "nothing given", "best without a model",
    "model less best", "within 50, 80, 90 %", "variance between slots", "autocorrelation at 1, 5 s",
)  # fmt: skip


def parts(series: Series, cut: str) -> tuple[Series, Series]:
    """Both parts of a series: its first three days and the others, or its halves in time."""
    if cut == "days":
        days = series.times // _DAY_S
        early = np.isin(days, np.unique(days)[:3])
    else:
        early = series.times < (series.times[0] + series.times[-1]) / 2
    return series.where(early), series.where(~early)


def scores(data: Path) -> Iterator[tuple[str, str, Score]]:
    """Each recording, which part of it was fitted, and the score on the other."""
    for name, (file, cut) in RECORDINGS.items():
        for series in readers.read(data / file):
            first, second = parts(series, cut)
            for fitted, train, held in (("first", first, second), ("second", second, first)):
                found = fit.fit([train], "part").document
                yield name, fitted, score.score_fit(found, [held], [train])


def rows(name: str, fitted: str, found: Score) -> Iterator[list[str]]:
    """Rows of the table: one per statistic."""
    for quantity, statistic in dict.fromkeys((row.quantity, row.statistic) for row in found.rows):
        of = {
            row.forecast: row for row in found.rows if (row.quantity, row.statistic) == (quantity, statistic)
        }
        own = of[score.AHEAD]
        best = min((row for key, row in of.items() if "model" not in key), key=lambda row: row.crps)
        measured, modelled = found.dependence[quantity]
        is_first = statistic == found.rows[0].statistic
        yield [
            f"{name}, {quantity}",
            fitted,
            f"{statistic} ({own.unit})",
            str(own.count),
            f"{own.crps:.3g}",
            f"{of[score.ALONE].crps:.3g}" if score.ALONE in of else "",
            f"{best.forecast}: {best.crps:.3g}",
            _difference(best),
            ", ".join(f"{100 * share:.0f}" for share in (own.coverage or {}).values()),
            f"{measured.between_slots:.2f}, {modelled.between_slots:.2f}" if is_first else "",
            _lags(found, quantity) if is_first else "",
        ]


def _difference(row: Row) -> str:
    if row.difference is None:
        return ""
    mean, low, high = row.difference
    return f"{mean:+.2g} [{low:+.2g}, {high:+.2g}]"


def _lags(found: Score, quantity: str) -> str:
    measured, modelled = (each.autocorrelation for each in found.dependence[quantity])
    return "; ".join(f"{measured[lag]:.2f}, {modelled[lag]:.2f}" for lag in (1, 5))


def main() -> int:
    """Writes the table."""
    lines = [_HEAD, ["---"] * len(_HEAD)]
    for name, fitted, found in scores(Path(sys.argv[1])):
        print(f"{name}: scored", file=sys.stderr)
        lines += rows(name, fitted, found)
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
