"""The losses of several links, step by step: from the links one by one down to all of them together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leobench.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.attribution.explanation import Explanation
    from leobench.stats.estimate import Estimate

# Inches of a row, of what is above and below all rows, and letters of a line of the name of a row.
_ROW, _FRAME, _NAME = 0.36, 1.25, 30

# The share of a row that its bar takes, and the room for numbers beside the bars.
_THICK, _ROOM = 0.62, 0.13

_WHOLE, _LOST, _GAINED, _REST = style.BLUE, style.VERMILION, style.GREEN, "#9a9a9a"
_HATCH, _MINUS = "////", "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Step:
    """A bar between two values.

    Attributes:
        name: Its name.
        start: Where it begins, in the unit shown.
        end: Where it ends.
        estimate: What it shows, in the unit of the summary.
        colour: Its colour.
        alone: The part of it, from its start, that the links lose one by one, too.
    """

    name: str
    start: float
    end: float
    estimate: Estimate
    colour: str
    alone: float = 0.0

    @property
    def is_whole(self) -> bool:
        """Whether it is no part, but the whole of something."""
        return self.colour == _WHOLE


def draw(explanation: Explanation) -> Figure:
    """Draws an explanation of `leobench why`: the yardstick, the parts, and what was measured."""
    steps = _steps(explanation)
    figure = style.figure(style.PAGE, _FRAME + _ROW * len(steps))
    axes = figure.subplots()
    for row, step in enumerate(steps):
        _bar(axes, row, step, explanation)
    for row, step in enumerate(steps[:-1]):
        rows = [row + _THICK / 2, row + 1 - _THICK / 2]
        axes.plot([step.end, step.end], rows, color=style.FAINT, linewidth=0.7)
    axes.set_yticks(range(len(steps)), [style.fill(step.name, _NAME * style.LETTER) for step in steps])
    axes.set_ylim(len(steps) - 0.4, -0.6)
    _scale(axes, steps)
    style.dress(axes, _title(explanation), "", zero=False)
    axes.tick_params(axis="y", length=0)
    axes.axvline(0.0, color=style.INK, linewidth=0.6)
    axes.spines["left"].set_visible(False)
    style.label_x(axes, f"{explanation.measure.label} ({explanation.measure.unit})")
    _key(figure, explanation, steps)
    return figure


def _steps(explanation: Explanation) -> list[Step]:
    """The bars from top to bottom."""
    measure = explanation.measure
    sign = -measure.sign
    at = explanation.ideal.value / measure.scale
    every = len(explanation.links)
    yardstick = "links one by one" if measure.sign > 0 else "best link alone"
    steps = [Step(f"{yardstick}, without any cause", 0.0, at, explanation.ideal, _WHOLE)]
    for part in explanation.parts:
        lost = part.lost.value / measure.scale
        alone = min(max(part.alone.value / measure.scale, 0.0), max(lost, 0.0))
        colour = _LOST if lost > 0 else _GAINED
        steps.append(Step(part.label, at, at + sign * lost, part.lost, colour, sign * alone))
        at += sign * lost
    rest = explanation.unexplained.value / measure.scale
    name = "unexplained" if rest >= 0 or explanation.is_slight else "gained by several links"
    steps.append(Step(name, at, at + sign * rest, explanation.unexplained, _REST if rest >= 0 else _GAINED))
    measured = explanation.measured.value / measure.scale
    steps.append(Step(f"{every} links together", 0.0, measured, explanation.measured, _WHOLE))
    return steps


def _bar(axes: Axes, row: int, step: Step, explanation: Explanation) -> None:
    axes.barh(row, step.end - step.start, _THICK, left=step.start, color=step.colour, zorder=2)
    if step.alone:
        axes.barh(
            row, step.alone, _THICK, left=step.start, facecolor="none", edgecolor=(1, 1, 1, 0.75),
            hatch=_HATCH, linewidth=0, zorder=2.1,
        )  # fmt: skip
    measure = explanation.measure
    text = measure.number(step.estimate.value)
    if not step.is_whole:
        shown = -measure.sign * step.estimate.value
        text = f"{'+' if shown > 0 else _MINUS}{measure.number(abs(shown))}"
    low, high = step.estimate.low, step.estimate.high
    right = max(step.start, step.end)
    if low is not None and high is not None and high > low:
        half = (high - low) / 2 / measure.scale
        axes.plot([step.end - half, step.end + half], [row, row], color=style.INK, linewidth=1.1, zorder=3)
        right = max(right, step.end + half)
    axes.annotate(
        text,
        (right, row),
        (4, 0),
        textcoords="offset points",
        va="center",
        fontsize=style.FONT,
        color=style.INK,
    )


def _scale(axes: Axes, steps: list[Step]) -> None:
    """The horizontal axis, with room for the numbers."""
    ends = [0.0, *(end for step in steps for end in (step.start, step.end))]
    low, high = min(ends), max(ends)
    axes.set_xlim(low, high + _ROOM * (high - low))


def _title(explanation: Explanation) -> str:
    seeds = explanation.seeds
    which = f"seed {seeds[0]}" if len(seeds) == 1 else f"means of {len(seeds)} seeds"
    subject = f"{explanation.flow} over {', '.join(explanation.links)} ({explanation.scenario}, {which})"
    return f"{explanation.loss[0]}\n{subject}"


def _key(figure: Figure, explanation: Explanation, steps: list[Step]) -> None:
    entries = []
    if any(step.colour == _LOST for step in steps):
        entries.append(style.patch_entry("lost by several links", _LOST))
    if any(step.alone for step in steps):
        look = {"hatch": _HATCH, "edgecolor": "white", "linewidth": 0}
        entries.append(style.patch_entry("of that, lost by the links one by one, too", _LOST, **look))
    if any(step.colour == _GAINED for step in steps):
        entries.append(style.patch_entry("gained", _GAINED))
    style.key_of(figure, entries)
    notes = ["whiskers: 95 % intervals"] if len(explanation.seeds) > 1 else []
    missing = [explanation.labels[cause] for cause in explanation.unmeasured]
    if missing:
        notes.append(f"not measured, or not in full: {', '.join(missing)}")
    style.note(figure, "; ".join(notes))
