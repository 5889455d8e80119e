"""Figures: one file per kind.

Kinds that show a run are registered here, one line each, for `leobench plot`. Kinds that show a frame,
such as the runs of a campaign, are functions: `bars.draw`, `box.draw`, `ecdf.draw`, `lines.draw`.

What they share has one place each: `save` and its formats here; `style` makes figures, axes, legends and
notes; `units` has prefixes and numbers as text; `bands` thins long series; `frames` checks frames; `view`
chooses the part of a run to show.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from leobench.errors import InputError, allowed
from leobench.files import writing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from matplotlib.figure import Figure

    from leobench.result import Result

_Shown_contra = TypeVar("_Shown_contra", contravariant=True)

KINDS = {
    "call": "leobench.plots.call",
    "delays": "leobench.plots.delays",
    "lasers": "leobench.plots.lasers",
    "player": "leobench.plots.player",
    "shares": "leobench.plots.shares",
    "stalls": "leobench.plots.stalls",
    "throughput": "leobench.plots.throughput",
    "timeline": "leobench.plots.timeline",
}

# Kinds of figures of a campaign (`leobench.plots.campaigns`).
CAMPAIGN_KINDS = ("bars", "box", "ecdf", "lines")

FORMATS = (".png", ".svg", ".pdf")

# Dots per inch of PNGs: sharp on screens and at the width of a printed page.
_DPI = 200


class Draw(Protocol[_Shown_contra]):
    """Draws a figure of a result, or of several results."""

    def __call__(
        self,
        shown: _Shown_contra,
        /,
        *,
        flow: str | None = None,
        link: str | None = None,
        start_s: float | None = None,
        end_s: float | None = None,
    ) -> Figure:
        """Draws it."""


def kind(name: str) -> Draw[Result]:
    """The function that draws figures of this kind.

    Raises:
        InputError: If there is no such kind.
    """
    if name not in KINDS:
        raise InputError(f"--kind = {name}: unknown kind of figure; {allowed(name, KINDS)}")
    draw: Draw[Result] = importlib.import_module(KINDS[name]).draw
    return draw


def overlay(name: str) -> Draw[Sequence[Result]]:
    """The function that draws figures of this kind of several results.

    Raises:
        InputError: If there is no such kind, or it shows one run only.
    """
    kind(name)
    module = importlib.import_module(KINDS[name])
    if not hasattr(module, "overlay"):
        able = [each for each in KINDS if hasattr(importlib.import_module(KINDS[each]), "overlay")]
        raise InputError(f"--kind = {name}: shows one run; allowed for several: {', '.join(able)}")
    draw: Draw[Sequence[Result]] = module.overlay
    return draw


def check_format(file: Path) -> None:
    """Checks that a figure can be saved under this name.

    Raises:
        InputError: If the name does not end in a known format, or its folder does not exist.
    """
    if file.suffix.lower() not in FORMATS:
        raise InputError(f"{file}: unknown format of figure; allowed: {', '.join(FORMATS)}")
    if not file.absolute().parent.is_dir():
        raise InputError(f"{file}: there is no folder {file.parent}")


def save(figure: Figure, file: str | PathLike[str]) -> None:
    """Saves a figure in the format its name ends in; the same figure gives the same bytes.

    Raises:
        InputError: If the file cannot be written.
    """
    from matplotlib import rc_context

    file = Path(file)
    check_format(file)
    _start_layout_afresh(figure)
    undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    with writing(file), rc_context({"svg.hashsalt": "leobench", "svg.fonttype": "none"}):
        figure.savefig(file, dpi=_DPI, metadata=undated.get(file.suffix.lower()))


def _start_layout_afresh(figure: Figure) -> None:
    """Moves panels back to their positions in the grid.

    A layout starts from the panels' positions, so one that follows an earlier layout differs in the last
    digits. An SVG file derives identifiers from these.
    """
    if figure.get_layout_engine() is None:
        return
    for axes in figure.axes:
        place = axes.get_subplotspec()
        if place is not None and axes.get_in_layout():
            axes.set_position(place.get_position(figure))
            axes.set_in_layout(True)  # `set_position` takes it out of the layout
