"""Several runs in one figure, and what they are called."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from matplotlib.patches import StepPatch

import leobench
from leobench import InputError, cli, plots
from leobench.plots import delays, names, several, shares, throughput, timeline
from leobench.result import Result
from tests.support import made_up

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


def run(seed: int = 1, place: dict[str, Any] | None = None, **tables: pl.DataFrame) -> Result:
    """A made-up run with a seed, and some values of its scenario."""
    frames = made_up.tables(seed=seed) | tables
    result = made_up.result(frames, seed=seed)
    manifest = copy.deepcopy(result.manifest)
    manifest["scenario"] |= {"seed": seed, **(place or {})}
    return Result(manifest, result.summary, result.tables, None)


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_runs_are_named_by_what_differs() -> None:
    assert names.of_runs([run(1), run(2)]) == ["seed 1", "seed 2"]
    assert names.of_runs([run(), run()]) == ["run 1", "run 2"]
    queues = [{"queue": {"kind": "fifo", "limit": limit}} for limit in ("7 packets", "15 packets")]
    assert names.of_runs([run(place=each) for each in queues]) == ["limit 7 packets", "limit 15 packets"]
    controllers: list[dict[str, Any]] = [
        {"flow": {"congestion": {"kind": "cubic", "beta": 0.7, "c": 0.4}}},
        {"flow": {"congestion": {"kind": "newreno", "beta": 0.5}}},
    ]
    assert names.of_runs([run(1, controllers[0]), run(2, controllers[1])]) == [
        "congestion cubic, seed 1",
        "congestion newreno, seed 2",
    ]
    other = [
        {"transport": {"kind": "quic", "scheduler": "rr"}, "resume": "2 s"},
        {"transport": {"kind": "tcp", "tls": True}, "after": "3 s"},
    ]
    assert names.of_runs([run(place=each) for each in other]) == [
        "transport quic, resume 2 s",
        "transport tcp, after 3 s",
    ]
    assert names.of_runs([run(place={"after": "2 s"}), run()]) == ["after 2 s", "without after"]
    times = [{"handovers": {"move": {"at": [at]}}} for at in ("10 s", "11 s")]
    assert names.of_runs([run(place=each) for each in times]) == ["at.0 10 s", "at.0 11 s"]
    both = [{"a": {"limit": 1}, "b": {"limit": 2}}, {"a": {"limit": 3}, "b": {"limit": 4}}]
    assert names.of_runs([run(place=each) for each in both]) == [
        "a.limit 1, b.limit 2",
        "a.limit 3, b.limit 4",
    ]
    many = [{f"k{at}": value for at in range(9)} for value in (1, 2)]
    assert names.of_runs([run(place=each) for each in many]) == ["run 1", "run 2"]


def test_limits_are_no_difference_between_runs() -> None:
    limited = run(1, {"limits": {"memory": "4 GB", "tables": "50 GB"}})
    assert names.of_runs([limited, run(2)]) == ["seed 1", "seed 2"]


def test_folders_of_older_versions_are_shown_without_what_they_lack(
    scenarios: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, seed in (("new", 1), ("old", 2)):
        leobench.run(scenarios / "trace.toml", seed, {"duration": "5 s"}, out=name)
    Path("old/opportunities.parquet").unlink()
    manifest = json.loads(Path("old/manifest.json").read_text())
    del manifest["scenario"]["limits"]
    Path("old/manifest.json").write_text(json.dumps(manifest))
    for kind in ("timeline", "throughput"):
        for folders in (["old"], ["old", "new"], ["new", "old"]):
            assert cli.main(["plot", *folders, "--kind", kind]) == 0, capsys.readouterr().err
    figure = throughput.overlay([leobench.open(name) for name in ("old", "new")])
    assert legend(figure) == ["seed 2", "seed 1"]
    assert not figure.axes[0].patches, "the capacity of one is unknown"


def test_a_timeline_of_two_runs_has_a_line_and_a_colour_of_each_in_every_panel() -> None:
    one, two = run(1), run(2)
    figure = plots.overlay("timeline")([one, two])
    rate, queue, window, delay = figure.axes
    assert legend(figure) == ["seed 1", "seed 2"]
    for axes in figure.axes:
        assert [line.get_color() for line in axes.get_lines()] == ["#0072b2", "#e69f00"], axes.get_title()
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "rate (Mbit/s)", "backlog (MB)", "window (MB)", "delay (s)",
    ]  # fmt: skip
    assert delay.get_xlabel() == "time (s)"
    # Medians of slices of 20 samples.
    for line, each in zip(window.get_lines(), (one, two), strict=True):
        values = each.tables.transport["cwnd_bytes"].to_numpy()[:20] / 1e6
        assert np.asarray(line.get_ydata(), float)[0] == pytest.approx(np.median(values))
    assert queue.get_title(loc="left") == "Queue of lms/sat->ground"
    # Two seeds, two channels: no capacity is that of both.
    assert not rate.patches
    (same, *_) = timeline.overlay([one, run(1, {"x": 1})]).axes
    assert sum(isinstance(patch, StepPatch) for patch in same.patches) == 2


def test_files_are_laid_over_each_other_by_their_round_trips() -> None:
    file = made_up.tables()["messages"].head(1)
    *_, trips = timeline.overlay([run(1, messages=file), run(2, messages=file)]).axes
    assert (trips.get_ylabel(), len(trips.get_lines())) == ("RTT (s)", 2)


def test_the_throughput_of_two_runs() -> None:
    figure = throughput.overlay([run(1), run(2)])
    (axes,) = figure.axes
    for line in axes.get_lines():
        assert np.asarray(line.get_ydata(), float)[:-1] == pytest.approx(40.0)
    assert legend(figure) == ["seed 1", "seed 2"]


def test_delays_are_distributions() -> None:
    one, two = run(1), run(2)
    figure = delays.overlay([one, two])
    (axes,) = figure.axes
    assert axes.get_xlabel() == "delay (s)"
    assert axes.get_ylabel() == "share of messages below"
    assert legend(figure) == ["seed 1", "seed 2"]
    for line, each in zip(axes.get_lines(), (one, two), strict=False):
        messages = each.tables.messages
        taken = (messages["delivered_ns"] - messages["created_ns"]).to_numpy() / 1e9
        x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
        assert x[np.searchsorted(y, 0.5)] == pytest.approx(np.median(taken), rel=0.01)
    (single,) = delays.draw(one).axes
    assert single.get_title(loc="left") == "Messages of main"
    early = made_up.tables()["messages"]["created_ns"].to_numpy() < 30e9
    (part,) = delays.draw(one, end_s=30).axes
    assert np.asarray(part.get_lines()[0].get_xdata()).max() == pytest.approx(
        (one.tables.messages["delivered_ns"] - one.tables.messages["created_ns"]).to_numpy()[early].max()
        / 1e9
    )


def test_delays_of_the_warm_up_are_left_out_unless_asked_for() -> None:
    warm = run(1, {"warm_up": "20 s"})
    created = warm.tables.messages["created_ns"].to_numpy() / 1e9
    taken = (warm.tables.messages["delivered_ns"] - warm.tables.messages["created_ns"]).to_numpy() / 1e9
    shortest = [
        float(np.asarray(delays.draw(warm, start_s=start_s).axes[0].get_lines()[0].get_xdata())[0])
        for start_s in (None, 0.0)
    ]
    assert shortest == pytest.approx([taken[created >= 20].min(), taken.min()])


def test_shares_of_several_runs_are_panels_of_one_scale(scenarios: Path) -> None:
    runs = [
        leobench.run(
            scenarios / "competition.toml",
            overrides={"flows.newcomer.transport.congestion": congestion, "duration": "30 s"},
        )
        for congestion in ("cubic", "bbr")
    ]
    figure = shares.overlay(runs)
    one, two = figure.axes
    assert one.get_ylim() == two.get_ylim()
    assert one.get_title(loc="left").startswith("congestion cubic: ")
    assert two.get_title(loc="left").startswith("congestion bbr: ")
    with pytest.raises(InputError, match="5 runs; allowed: 4"):
        shares.overlay([runs[0]] * 5)


def test_what_cannot_be_shown_together_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="timeline: 8 runs; allowed: 7, more cannot be told apart"):
        timeline.overlay([run(seed) for seed in range(1, 9)])
    paged = run()
    paged.summary["flows"][0]["page"] = {"completion_s": 1.0, "objects": []}
    with pytest.raises(InputError, match=r"main is a page, whose objects .*; allowed: --kind throughput"):
        timeline.overlay([paged, run(2)])
    with pytest.raises(InputError, match=r"seed 1: --flow = man: no such flow.*did you mean `main`"):
        several.runs("timeline", [run(1), run(2)], "man", None, None, None)
    with pytest.raises(InputError, match="delays: --link = lms: delays belong to flows"):
        delays.overlay([run(1), run(2)], link="lms")
    few = made_up.tables()["messages"].head(1)
    with pytest.raises(InputError, match="delays: fewer than 10 messages of main were delivered"):
        delays.draw(run(messages=few))
    monkeypatch.delattr(shares, "overlay")
    with pytest.raises(
        InputError,
        match="--kind = shares: shows one run; allowed for several: delays, stalls, throughput, timeline",
    ):
        plots.overlay("shares")


def test_the_command_line_lays_runs_over_each_other(
    quick: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, seed in (("one", 1), ("two", 2)):
        leobench.run(quick, seed, out=name)
    for kind in ("timeline", "throughput", "delays"):
        assert cli.main(["plot", "one", "two", "--kind", kind]) == 0
        assert Path(f"{kind}.png").is_file()
    capsys.readouterr()
    for words, said in (
        (["one", "absent"], "absent: is not a folder"),
        (["one", "two", "--kind", "shares"], "one: shares: the run has fewer than two flows"),
        (["one", "two", "--kind", "pie"], "--kind = pie: unknown kind of figure; allowed: `call`"),
        (["one", "--metric", "x"], "--metric: one is a run; --metric is for figures of campaigns"),
    ):
        assert cli.main(["plot", *words]) == 2
        error = capsys.readouterr().err
        assert said in error
        assert error.count("\n") == 1


def test_a_folder_is_shown_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    again = str(tmp_path / "a" / ".." / "a")
    assert cli.main(["plot", str(folder), again]) == 2
    assert capsys.readouterr().err == f"leobench: {again}: is named twice; allowed: each run once\n"
