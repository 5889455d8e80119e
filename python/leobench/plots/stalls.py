"""The distributions of stalls: the time without pictures of each viewer, and the length of each stall."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from leobench.errors import InputError
from leobench.plots import ecdf, names, style, videos
from leobench.plots.frames import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from leobench.result import Result

_SCHEMA = {"run": pl.String, "s": pl.Float64}


def draw(
    result: Result,
    *,
    flow: str | None = None,
    link: str | None = None,
    start_s: float | None = None,
    end_s: float | None = None,
) -> Figure:
    """Draws how long each viewer of a run saw no pictures, and how long each stall was.

    Args:
        result: The run, with flows that are videos.
        flow: Name of one of them; all unless given.
        link: Not allowed for this kind of figure, which shows viewers.
        start_s: Not allowed: it shows whole sessions.
        end_s: Not allowed: it shows whole sessions.

    Raises:
        InputError: If no flow is a video, or that one is none, or an argument is not allowed.
    """
    return overlay([result], flow=flow, link=link, start_s=start_s, end_s=end_s)


def overlay(
    results: Sequence[Result],
    *,
    flow: str | None = None,
    link: str | None = None,
    start_s: float | None = None,
    end_s: float | None = None,
) -> Figure:
    """Draws the distributions of each of several runs; the arguments are those of `draw`.

    Raises:
        InputError: As `draw`, or if there are more runs than colours.
    """
    for option, given in {"--link": link, "--from": start_s, "--to": end_s}.items():
        if given is not None:
            raise InputError(f"stalls: {option} = {given}: whole sessions of viewers are shown; leave it out")
    labels = names.of_runs(results) if len(results) > 1 else [""]
    viewers, lengths = [], []
    for result, label in zip(results, labels, strict=True):
        of_viewers, of_stalls = _of_run(result, flow)
        entry = f"{label}: {_counts(of_viewers)}".removeprefix(": ")
        viewers += [(entry, stalled) for stalled in of_viewers]
        lengths += [(entry, length) for length in of_stalls]
    by = Column("run", "run") if len(results) > 1 else None
    figure, axes = style.panels(2 if lengths else 1)
    title = f"Viewers{'' if by else f', {viewers[0][0]}'}"
    value = Column("s", "time without pictures", "s")
    ecdf.draw(_frame(viewers), value=value, series=by, of="viewers", title=title, axes=axes[0])
    if not any(stalled for _, stalled in viewers):
        axes[0].set_xlim(0, 1)
        axes[0].set_xlabel("time without pictures (s)")
    if lengths:
        value = Column("s", "length of a stall", "s")
        ecdf.draw(_frame(lengths), value=value, series=by, of="stalls", title="Stalls", axes=axes[1])
    if by is not None:
        style.key(figure, axes[0], by.label)
    if not lengths and any(stalled for _, stalled in viewers):
        style.note(figure, "Lengths of stalls are recorded with record.series = true.")
    return figure


def _counts(of_viewers: Sequence[float | None]) -> str:
    """How many viewers had no stall, and how many no picture at all, if any."""
    undisturbed, unseen = (sum(stalled == found for stalled in of_viewers) for found in (0, None))
    blank = f", {unseen} without a picture" if unseen else ""
    return f"{undisturbed} of {len(of_viewers)} without a stall{blank}"


def _frame(rows: Sequence[tuple[str, float | None]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _of_run(result: Result, flow: str | None) -> tuple[list[float | None], list[float]]:
    """The stalled time of each viewer and, where segments were recorded, each stall's length, in seconds.

    A viewer who saw no picture has no time without: it is `None`.
    """
    chosen = set(videos.names("stalls", result, flow))
    viewers = [each for each in result.summary["flows"] if each["name"] in chosen]
    videos_of = [each["video"] for each in viewers]
    stalled = [None if video["startup_s"] is None else video["stalled_s"] for video in videos_of]
    if "segments" not in result.tables:
        return stalled, []
    end_s = result.summary["virtual_s"]
    of_each = (
        videos.stalls(videos.segments(result, each), each["video"]["stalled_s"], end_s) for each in viewers
    )
    return stalled, [end - begin for stalls in of_each for begin, end in stalls]
