"""Videos: what a viewer notices, in the summary, in tables and in figures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import leobench
from leobench import InputError, cli, plots
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    Capture = pytest.CaptureFixture[str]

SCENARIO = """\
name = "video"
duration = "60 s"

[nodes.server]
[nodes.viewer]

[links.path]
between = ["server", "viewer"]
rate = "3 Mbps"
delay = "20 ms"

[flows.film]
transport = "quic"
from = "server"
to = "viewer"
opened_by = "to"
video = { ladder = ["1 Mbps", "4 Mbps"], length = "40 s", adaptation = { kind = "fixed", rung = 1 } }
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("video") / "video.toml"
    file.write_text(SCENARIO)
    return file


@pytest.fixture(scope="module")
def result(file: Path) -> leobench.Result:
    return leobench.run(file)


def test_segments_that_are_asked_for_again_have_several_rows(file: Path) -> None:
    """At 3 Mbit/s, 4 s of 4 Mbit/s take 5.6 s, at 2 Mbit/s 8.4 s: more than 1.8 segments."""
    keys = {"flows.film.video.abandons": True, "flows.film.video.replaces_beyond": "0 s"}
    for rate, abandoned in (("3 Mbps", False), ("2 Mbps", True)):
        result = leobench.run(file, overrides={"links.path.rate": rate, **keys})
        video, segments = result.summary["flows"][0]["video"], result.tables.segments
        given_up = segments.filter(pl.col("arrived_ns").is_null())
        again = segments.height - segments["segment"].n_unique()
        assert video["abandoned"] == given_up.height
        assert video["replaced"] == again - given_up.height
        assert (given_up.height > 0) == abandoned
        assert video["segments"] == segments["segment"].n_unique() == 10
        assert not result.warnings, "what was given up is not missing"
        assert set(given_up["bitrate_bps"]) == ({4_000_000} if abandoned else set())


def test_the_summary_is_what_the_segments_say(result: leobench.Result) -> None:
    video = result.summary["flows"][0]["video"]
    segments = result.tables.segments
    stalled = [each / 1e9 for each in segments["stalled_ns"]]
    assert video["segments"] == segments.height == 10
    assert video["startup_s"] == segments["arrived_ns"][0] / 1e9
    assert video["stalled_s"] == pytest.approx(sum(stalled))
    assert video["stalls"] == segments.filter(pl.col("stalled_ns") > 0).height == 9
    waited = video["startup_s"] + video["stalled_s"]
    assert video["quality_bps"] == pytest.approx(4e6 - 4e6 * waited / 10)
    # 16 Mbit for each 4 s take 5.3 s, and headers some more.
    assert 1.33 < video["stalled_s"] / 9 < 1.8


def test_a_player_that_adapts_stalls_less(file: Path, result: leobench.Result) -> None:
    stalled = result.summary["flows"][0]["video"]["stalled_s"]
    for adaptation in ("throughput", "buffer", "bola", "l2a"):
        adapted = leobench.run(file, overrides={"flows.film.video.adaptation": adaptation})
        assert adapted.summary["flows"][0]["video"]["stalled_s"] < stalled / 2, adaptation


def test_the_audience_is_what_its_viewers_say(file: Path, tmp_path: Path, capsys: Capture) -> None:
    """Three viewers over 3 Mbit/s, who begin at times of their own."""
    several = {"flows.film.count": 3, "flows.film.video.begins_within": "20 s", "until": "drained"}
    summary = leobench.run(file, overrides=several).summary
    videos = [flow["video"] for flow in summary["flows"]]
    audience = summary["audience"]
    assert (audience["viewers"], audience["started"]) == (3, 3)
    assert audience["undisturbed"] == sum(video["stalls"] == 0 for video in videos) == 0
    assert audience["stalled_s"] == pytest.approx(np.mean([video["stalled_s"] for video in videos]))
    assert audience["longest_stall_s"] == max(video["longest_stall_s"] for video in videos)
    assert audience["least_bitrate_bps"] == min(video["bitrate_bps"] for video in videos)
    assert audience["quality_bps"] == pytest.approx(np.mean([video["quality_bps"] for video in videos]))
    segments = leobench.run(file, overrides=several).tables.segments
    first = segments.group_by("flow").agg(pl.col("t_ns").min())["t_ns"]
    assert first.n_unique() == 3
    assert first.is_between(0, 20_000_000_000).all()
    sets = [f"--set={key}={value}" for key, value in several.items()]
    assert cli.main(["run", str(file), "--out", str(tmp_path / "out"), *sets]) == 0
    assert "All 3 viewers: 3 saw pictures, 0 of them without a stall; start " in capsys.readouterr().out


def test_viewers_of_a_count_share_their_warnings(file: Path) -> None:
    """Twelve who begin within a minute of a run of 30 s, which some never see, and which cuts most films."""
    several = {
        "flows.film.count": 12,
        "flows.film.video.begins_within": "60 s",
        "duration": "30 s",
        "links.path.rate": "30 Mbps",
    }
    result = leobench.run(file, overrides=several)
    absent = [flow["name"] for flow in result.summary["flows"] if flow["messages"] == 0]
    cut = [flow["name"] for flow in result.summary["flows"] if flow["undelivered_messages"]]
    assert len(absent) > 1
    assert len(cut) > 1
    said = sorted(result.warnings)
    assert len(said) == 2
    starts = [
        rf"{len(absent)} of 12 flows film-N, such as {absent[0]}: its viewer begins at \d\d\.\d s, after ",
        rf"{len(cut)} of 12 flows film-N, such as {cut[0]}: 1 of ",
    ]
    assert all(any(re.match(start, each) for each in said) for start in starts), said


def test_a_live_viewer_is_behind_by_start_and_stalls(file: Path) -> None:
    live = {"flows.film.video.live": {"latency": "8 s"}}
    video = leobench.run(file, overrides=live).summary["flows"][0]["video"]
    assert video["most_latency_s"] == pytest.approx(8 + video["startup_s"] + video["stalled_s"], abs=0.01)
    assert 8 < video["latency_s"] < video["most_latency_s"]


def test_the_table_and_the_figure_show_it(file: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "run"
    assert cli.main(["run", str(file), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "video" in said
    assert "segments" in said.splitlines()[-1]
    assert cli.main(["plot", str(out), "--kind", "player", "--out", str(tmp_path / "player.png")]) == 0
    figure = plots.kind("player")(leobench.open(out))
    rates, buffer = figure.axes[:2]
    assert "9 stalls" in buffer.get_title(loc="left")
    longest = max((np.asarray(line.get_ydata(), float) for line in buffer.lines), key=len)
    assert longest.max() == pytest.approx(4.0)
    assert rates.get_ylabel() == "Mbit/s"


def test_only_videos_have_a_player(quick: Path, file: Path) -> None:
    with pytest.raises(InputError, match="no flow of the run is a video"):
        plots.kind("player")(leobench.run(quick))
    with pytest.raises(InputError, match="--flow = flim: is no video"):
        plots.kind("player")(leobench.run(file, overrides={"duration": "5 s"}), flow="flim")


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"flows.film.video.ladder": []}, "is empty; allowed: at least one bitrate"),
        ({"flows.film.transport": "udp"}, "has no connections, which a video needs"),
        ({"flows.film.video.adaptation": "bolla"}, "did you mean"),
        ({"flows.film.source": "bulk"}, "is given together with a `video`"),
    ],
)
def test_bad_videos_are_refused(file: Path, value: dict[str, object], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        leobench.run(file, overrides=value)


def test_the_shipped_film_plays() -> None:
    result = leobench.run(ROOT / "scenarios" / "film.toml", overrides={"flows.film.video.length": "40 s"})
    video = result.summary["flows"][0]["video"]
    assert video["startup_s"] < 3
    assert video["segments"] == 10


def test_a_stall_that_lasts_to_the_end_is_shown(file: Path) -> None:
    cut = leobench.run(file, overrides={"duration": "10 s", "until": "time"})
    video = cut.summary["flows"][0]["video"]
    figure = plots.kind("player")(cut)
    spans = [patch.get_extents().width for patch in figure.axes[1].patches]
    assert len(spans) == video["stalls"]
