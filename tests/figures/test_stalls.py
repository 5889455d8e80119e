"""The figure of stalls: what it shows, and what it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import leobench
from leobench import InputError, cli, plots

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes


@pytest.fixture(scope="module")
def crowd(scenarios: Path) -> leobench.Result:
    """Twelve viewers of 20 s behind a link for four."""
    overrides = {
        "flows.film.count": 12,
        "flows.film.video.length": "20 s",
        "links.beam.rate": "6 Mbps",
        "record.series": True,
    }
    return leobench.run(scenarios / "viewers.toml", overrides=overrides)


def values(axes: Axes) -> list[np.ndarray]:
    """The horizontal places of the steps of each curve."""
    return [np.asarray(line.get_xdata()) for line in axes.lines if len(np.atleast_1d(line.get_xdata())) > 2]


def test_each_viewer_and_each_stall_is_in_it(crowd: leobench.Result) -> None:
    figure = plots.kind("stalls")(crowd)
    viewers, stalls = figure.axes
    videos = [each["video"] for each in crowd.summary["flows"]]
    stalled = np.sort([video["stalled_s"] for video in videos])
    assert stalled[-1] > 1, "the link is too wide for a test"
    (drawn,) = values(viewers)
    # The first step has a corner at its foot as well.
    assert drawn[1:] == pytest.approx(stalled)
    (lengths,) = values(stalls)
    assert len(lengths) - 1 == sum(video["stalls"] for video in videos)
    assert lengths[1:].sum() == pytest.approx(stalled.sum())
    undisturbed = (stalled == 0).sum()
    assert viewers.get_title(loc="left") == f"Viewers, {undisturbed} of 12 without a stall"


def test_viewers_without_a_picture_are_apart(scenarios: Path) -> None:
    """Those who begin after the end have no stall, and saw no picture: the curve ends below 1."""
    overrides = {
        "flows.film.count": 8,
        "flows.film.video.begins_within": "40 s",
        "duration": "20 s",
        "until": "time",
    }
    result = leobench.run(scenarios / "viewers.toml", overrides=overrides)
    seen = [each["video"]["startup_s"] is not None for each in result.summary["flows"]]
    assert 0 < sum(seen) < 8
    (viewers,) = plots.kind("stalls")(result).axes
    undisturbed = result.summary["audience"]["undisturbed"]
    blank = f"{undisturbed} of 8 without a stall, {8 - sum(seen)} without a picture"
    assert viewers.get_title(loc="left") == f"Viewers, {blank}"
    curves = [np.asarray(line.get_ydata()) for line in viewers.lines]
    (heights,) = [curve for curve in curves if curve.size > 2]
    assert heights[-1] == pytest.approx(sum(seen) / 8)


def test_several_runs_have_a_curve_each(scenarios: Path, crowd: leobench.Result, tmp_path: Path) -> None:
    """One of them without lengths of stalls, which only series have."""
    wide = leobench.run(
        scenarios / "viewers.toml",
        overrides={"flows.film.count": 2, "flows.film.video.length": "20 s"},
        out=tmp_path / "wide",
    )
    figure = plots.overlay("stalls")([crowd, wide])
    viewers, stalls = figure.axes
    assert [len(drawn) - 1 for drawn in values(viewers)] == [12, 2]
    assert len(values(stalls)) == 1
    out = tmp_path / "stalls.svg"
    assert cli.main(["plot", str(tmp_path / "wide"), "--kind", "stalls", "--out", str(out)]) == 0
    assert "2 of 2 without a stall" in out.read_text("utf-8")


def test_a_part_of_sessions_is_refused(crowd: leobench.Result, quick: Path) -> None:
    with pytest.raises(InputError, match=r"stalls: --from = 3\.0: whole sessions of viewers are shown"):
        plots.kind("stalls")(crowd, start_s=3.0)
    with pytest.raises(InputError, match="--flow = flim: is no video"):
        plots.kind("stalls")(crowd, flow="flim")
    with pytest.raises(InputError, match="--kind = stalls: no flow of the run is a video"):
        plots.kind("stalls")(leobench.run(quick))
