"""Scores as tables of text: for a terminal, and for a page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from leobench.fitting.score import LEVELS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leobench.fitting.score import Row, Score
    from leobench.fitting.score_flows import Compared
    from leobench.fitting.statistics import Dependence

HEAD = (
    ("quantity", ""),
    ("statistic", ""),
    ("forecast", ""),
    ("count", ""),
    ("CRPS", ""),
    ("model less it", "95 % interval"),
    *(("within", f"{level:.0%}".replace("%", " %")) for level in LEVELS),
)
WORDS = 3
_NONE = "-"
# Autocorrelations nearer to zero have no ratio: chance makes most of it.
_LEAST_CORRELATION = 0.05


def cells(rows: Sequence[Row]) -> list[list[str]]:
    """The rows of a table with the columns of `HEAD`."""
    return [
        [
            row.quantity,
            row.statistic,
            row.forecast,
            f"{row.count:,}",
            f"{row.crps:.4g} {row.unit}",
            _NONE if row.difference is None else _interval(row.difference),
            *(_NONE if row.coverage is None else f"{100 * row.coverage[level]:.0f} %" for level in LEVELS),
        ]
        for row in rows
    ]


def _interval(difference: tuple[float, float, float]) -> str:
    mean, low, high = difference
    return f"{mean:+.3g} [{low:+.3g}, {high:+.3g}]"


def dependence(score: Score) -> list[list[str]]:
    """Measured and modelled dependence: name, both, and their ratio unless the first is about zero."""
    found = []
    for quantity, (measured, modelled) in score.dependence.items():
        for name, pair in _pairs(measured, modelled).items():
            least = _LEAST_CORRELATION if "autocorrelation" in name else 0.0
            ratio = pair[1] / pair[0] if abs(pair[0]) > least else math.nan
            found.append([f"{quantity}: {name}", *(_number(value) for value in (*pair, ratio))])
    return found


def _pairs(measured: Dependence, modelled: Dependence) -> dict[str, tuple[float, float]]:
    return {
        "variance between slots": (measured.between_slots, modelled.between_slots),
        "step of slot medians": (measured.step, modelled.step),
        **{
            f"autocorrelation at {lag} s": (value, modelled.autocorrelation[lag])
            for lag, value in measured.autocorrelation.items()
        },
    }


def _number(value: float) -> str:
    return _NONE if math.isnan(value) else f"{value:.3g}"


FLOWS_HEAD = (
    ("flow", ""),
    ("", ""),
    ("over", ""),
    ("slots", ""),
    ("recorded:", "median"),
    ("", "spread"),
    ("over it:", "median"),
    ("", "spread"),
    ("ratio of medians", "95 % interval"),
    ("ratio of spreads", "95 % interval"),
)
FLOWS_WORDS = 3


def flows(rows: Sequence[Compared]) -> list[list[str]]:
    """The rows of a table with the columns of `FLOWS_HEAD`."""
    return [
        [
            f"{row.quantity}, {row.controller}",
            f"{row.measure} ({row.unit})",
            row.capacity,
            str(row.slots),
            *(f"{value:.3g}" for value in (*row.recorded, *row.found)),
            ratio(row.median),
            ratio(row.spread),
        ]
        for row in rows
    ]


def ratio(estimate: tuple[float, float, float]) -> str:
    """A ratio with its interval."""
    middle, low, high = estimate
    return f"{middle:.2f} [{low:.2f}, {high:.2f}]"


def page(title: str, score: Score, figures: Mapping[str, str]) -> str:
    """A page in Markdown, with the files of figures by their titles."""
    head = [" ".join(words).strip() for words in HEAD]
    logs = [f"{quantity}: {value:.3f}" for quantity, value in score.log_score.items()]
    parts = [
        f"# {title}",
        f"Scored on {score.data}. CRPS: smaller is better; `model less it` below zero: the model is better. "
        "`count`: slots of 15 s, seconds of a `1 s mean`, or outages.",
        _markdown(head, cells(score.rows)),
        "Mean logarithm of the density of a sample, given those before it: " + ", ".join(logs)
        if logs
        else "",
        _markdown(["dependence", "measured", "modelled", "ratio"], dependence(score)),
        *_flows_part(score),
        "Histograms of the probability integral transform: flat if the forecast is calibrated, high at the "
        "ends if its intervals are too narrow.",
        *(f"![{name}]({file})" for name, file in figures.items()),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _flows_part(score: Score) -> list[str]:
    if not score.flows:
        return []
    head = [" ".join(words).strip() for words in FLOWS_HEAD]
    return [
        "## Flows over the model and over the recorded capacity",
        "Goodput and median round trip of TCP in slots of 15 s; the spread is the interquartile range. "
        "Delay (25 ms each way), queue (100 ms at the mean recorded capacity) and acknowledgements are the "
        "same, and nothing is lost but in the queue and in outages: only the capacity differs.",
        _markdown(head, flows(score.flows)),
    ]


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
