"""Figures of campaign folders."""

from __future__ import annotations

import re
import shutil
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from matplotlib.patches import Rectangle

from leobench import InputError, cli
from leobench.campaign import CampaignResult
from leobench.plots import campaigns

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure


def made(runs: pl.DataFrame) -> Any:
    replicates = runs["replicate"].n_unique()
    return SimpleNamespace(runs=runs, manifest={"identity": {"replicates": replicates}})


def grid(**places: list[Any]) -> pl.DataFrame:
    """Three runs of every combination of values; their value tells variants and replicates apart."""
    cases = pl.DataFrame({"variant": [0]})
    for name, values in places.items():
        cases = cases.join(pl.DataFrame({name.replace("_", "."): values}), how="cross")
    cases = cases.with_columns(variant=pl.int_range(pl.len()))
    runs = cases.join(pl.DataFrame({"replicate": [1, 2, 3]}), how="cross").with_columns(
        seed=pl.col("replicate"), metric=pl.lit("flows.main.delay_ms.mean"),
        value=10.0 + pl.col("variant") + pl.col("replicate") / 10,
    )  # fmt: skip
    return runs.with_columns(pl.col("variant").cast(pl.String))


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for each in figure.legends for text in each.get_texts()]


def test_the_default_is_bars_of_the_first_metric(buffers: Path) -> None:
    result = CampaignResult.open(buffers / "results" / "buffers")
    kind, figure = campaigns.draw(result)
    (axes,) = figure.axes
    assert kind == "bars"
    assert axes.get_ylabel() == "goodput of main (Mbit/s)"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["7 packets", "15 packets", "unlimited"]
    assert legend(figure) == ["1", "4", "8"]
    assert figure.get_supxlabel() == "whiskers: 95 % confidence interval of the mean, 4 runs"
    runs = result.runs.filter(metric="flows.main.goodput_bps")
    means = runs.group_by("variant", maintain_order=True).agg(pl.col("value").mean())["value"] / 1e6
    heights = [bar.get_height() for bar in axes.patches if isinstance(bar, Rectangle)]
    assert sorted(heights) == pytest.approx(sorted(means))


def test_numbers_along_the_axis_make_lines_with_whiskers() -> None:
    kind, figure = campaigns.draw(made(grid(off=["0 s", "100 ms", "200 ms"], scheduler=["rr", "bp"])))
    (axes,) = figure.axes
    assert kind == "lines"
    assert axes.get_xlabel() == "off (ms)"
    assert axes.get_ylabel() == "mean delay of main (ms)"
    drawn = {str(line.get_label()): line for line in axes.get_lines() if line.get_label() in ("rr", "bp")}
    assert np.asarray(drawn["rr"].get_ydata()) == pytest.approx([10.2, 12.2, 14.2])
    assert np.asarray(drawn["bp"].get_xdata()) == pytest.approx([0, 100, 200], abs=3)
    # The mean of three, give or take 4.3 standard errors of 0.1 / sqrt(3).
    ends = np.array(
        [np.asarray(path.vertices)[:, 1] for each in axes.collections for path in each.get_paths()]
    )
    assert (ends[:, 1] - ends[:, 0]) / 2 == pytest.approx(4.3027 * 0.1 / np.sqrt(3), rel=1e-3)


@pytest.mark.parametrize("kind", ["box", "ecdf"])
def test_runs_can_be_shown_instead_of_means(kind: str) -> None:
    _, figure = campaigns.draw(made(grid(limit=["a", "b"], scheduler=["rr", "bp"])), kind=kind)
    label = figure.axes[0].get_xlabel() if kind == "ecdf" else figure.axes[0].get_ylabel()
    assert label == "mean delay of main (ms)"
    assert figure.get_supxlabel().startswith("3 runs of each")
    assert legend(figure) == (["a", "b"] if kind == "ecdf" else ["rr", "bp"])
    assert len(figure.axes) == (2 if kind == "ecdf" else 1)


def test_places_taken_in_step_count_once_and_others_have_panels_of_one_scale() -> None:
    runs = grid(links_up_limit=["a", "b", "c"], scheduler=["rr", "bp"], streams=[1, 2])
    runs = runs.with_columns(
        pl.col("links.up.limit").replace({"a": "x", "b": "y", "c": "z"}).alias("links.down.limit")
    )
    runs = runs.select(
        "variant",
        "links.up.limit",
        "links.down.limit",
        pl.exclude("variant", "links.up.limit", "links.down.limit"),
    )
    _, figure = campaigns.draw(made(runs))
    one, two = figure.axes
    assert [axes.get_title(loc="left") for axes in (one, two)] == ["streams 1", "streams 2"]
    assert one.get_xlabel() == "limit"
    assert one.get_ylim() == two.get_ylim()
    _, figure = campaigns.draw(made(runs), by=["scheduler", "streams"])
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == ["rr", "bp"]
    assert legend(figure) == ["1", "2"]
    assert len(figure.axes) == 4, "a grid of two columns, its last panel empty"
    assert not figure.axes[3].get_visible()


def test_a_wide_range_is_logarithmic_and_ends_on_ticks() -> None:
    runs = grid(limit=["a", "b"]).with_columns(value=pl.col("value") ** 6)
    runs = runs.with_columns(
        value=pl.when(pl.col("limit") == "b").then(pl.col("value") * 400).otherwise("value")
    )
    _, figure = campaigns.draw(made(runs))
    (axes,) = figure.axes
    assert axes.get_yscale() == "log"
    low, high = axes.get_ylim()
    middle = min(runs.filter(limit="a")["value"]) / 1e3
    assert low == pytest.approx(float(f"{low:.0e}"))
    assert middle / 20 < low < middle
    assert high > max(runs["value"]) / 1e3 * 0.9


@pytest.mark.parametrize(
    ("metric", "label", "unit"),
    [
        ("flows.main.goodput_bps", "goodput of main", "bit/s"),
        ("flows.main.delay_ms.p95", "95 % quantile of delay of main", "ms"),
        ("flows.main.streams.fast.delay_ms.mean", "mean delay of main, fast", "ms"),
        ("links.up/a->b.utilisation", "utilisation of up/a->b", ""),
        ("links.up/a->b.dropped_packets.queue", "dropped packets queue of up/a->b", ""),
        ("competition.convergence_s", "competition convergence", "s"),
        ("fairness_jain", "Jain's fairness", ""),
    ],
)
def test_metrics_have_names_and_units(metric: str, label: str, unit: str) -> None:
    column = campaigns.describe(metric)
    assert (column.label, column.unit) == (label, unit)


def test_values_are_written_for_readers() -> None:
    tables = ['{kind = "tcp", congestion = "bbr"}', '{"kind" = "quic"}', None]
    _, figure = campaigns.draw(made(grid(transport=tables)))
    names = [tick.get_text().replace("\n", " ") for tick in figure.axes[0].get_xticklabels()]
    assert names == ["tcp, congestion = bbr", "quic", "unchanged"]


@pytest.mark.parametrize("word", ["goodput", "goodput_bps", "main.goodput", "flows.main.goodput_bps"])
def test_a_metric_may_go_by_its_last_words(word: str) -> None:
    frame = grid(limit=["a", "b"])
    both = pl.concat([frame, frame.with_columns(metric=pl.lit("flows.main.goodput_bps"))])
    _, figure = campaigns.draw(made(both), metric=word)
    _, whole = campaigns.draw(made(both), metric="flows.main.goodput_bps")
    assert figure.axes[0].get_ylabel() == whole.axes[0].get_ylabel()
    assert "goodput" in figure.axes[0].get_ylabel()


def test_last_words_that_several_metrics_have_are_refused() -> None:
    frame = grid(limit=["a", "b"])
    paths = ("flows.main.goodput_bps", "flows.call.goodput_bps", "goodput_ratio")
    several = made(pl.concat([frame.with_columns(metric=pl.lit(path)) for path in paths]))
    said = (
        r"--metric = goodput: 2 metrics end so, and a figure shows one; allowed: "
        r"`flows.main.goodput_bps` \(goodput of main\), `flows.call.goodput_bps` \(goodput of call\)$"
    )
    with pytest.raises(InputError, match=said):
        campaigns.draw(several, metric="goodput")


def test_refusals() -> None:
    result = made(grid(links_up_limit=["a", "b"], streams=[1, 2]))
    for given, said in (
        ({"metric": "flows.main.delay_ms.men"}, "no such metric; .*did you mean `flows.main.delay_ms.mean`"),
        ({"by": ["limt"]}, "--by = limt: variants do not differ in such a place; .*did you mean `limit`"),
        ({"kind": "timeline"}, "--kind = timeline: no figure of a campaign; allowed: `bars`, `box`"),
        ({"kind": "lines", "by": ["limit"]}, "the values of links.up.limit are not numbers with one unit"),
    ):
        with pytest.raises(InputError, match=said):
            campaigns.draw(result, **given)
    many = made(grid(a=["x", "y", "z"], b=["x", "y", "z"], c=["s", "t", "u"], d=["k", "l", "m"]))
    with pytest.raises(InputError, match=r"panels, one for each value of .*; allowed: 6"):
        campaigns.draw(many)
    empty = made(grid(a=["x", "y"]).with_columns(value=pl.lit(None, pl.Float64)))
    with pytest.raises(InputError, match="no run has a value of mean delay of main"):
        campaigns.draw(empty)


def test_the_command_line_plots_a_campaign_and_replaces_its_figure_with_it(
    buffers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(buffers / "results" / "buffers", "out")
    assert cli.main(["plot", "out"]) == 0
    assert capsys.readouterr().out == "out/bars.png\n"
    assert cli.main(["plot", "out", "--metric", "flows.main.delay_ms.mean", "--by", "streams"]) == 0
    assert capsys.readouterr().out == "out/lines.png\n"
    for words, said in (
        (["out", "out"], "out: is a campaign; allowed: one campaign"),
        (["out", "--flow", "main"], "--flow: out is a campaign; --flow is for figures of runs"),
        (
            ["out", "--metric", "goodputs"],
            "--metric = goodputs: the campaign has no such metric; allowed: `flows",
        ),
    ):
        assert cli.main(["plot", *words]) == 2
        error = capsys.readouterr().err
        assert re.match(f"leobench: {re.escape(said)}", error)
        assert error.count("\n") == 1
    from leobench.campaign import store

    ours = {file.name for file in (tmp_path / "out").iterdir() if store._is_ours(file, tmp_path / "out")}
    assert {"bars.png", "lines.png"} <= ours


def test_many_long_names_are_upright_and_apart() -> None:
    windows = [
        f'{{kind = "quic", congestion = "cubic", connection_window = "{n} kB"}}' for n in range(100, 180)
    ]
    for kind in ("bars", "box"):
        _, figure = campaigns.draw(made(grid(transport=windows)), kind=kind)
        (axes,) = figure.axes
        names = axes.get_xticklabels()
        assert names[0].get_text() == "connection_window = 100 kB", "what all have is left out"
        figure.draw_without_rendering()
        places = [name.get_window_extent() for name in names]
        assert all(left.x1 <= right.x0 for left, right in pairwise(places))
        assert min(place.y0 for place in places) > 0
        assert axes.get_window_extent().height > 120


def test_what_tables_have_in_common_is_left_out_of_names() -> None:
    both = ["{kind = quic, a = 1, between = [x, y]}", "{kind = quic, a = 2, between = [x, z]}"]
    _, figure = campaigns.draw(made(grid(flow=both)))
    names = [name.get_text().replace("\n", " ") for name in figure.axes[0].get_xticklabels()]
    assert names == ["a = 1, between = [x, y]", "a = 2, between = [x, z]"]
    one_is_part = ["{kind = quic, a = 1}", "{kind = quic}"]
    _, figure = campaigns.draw(made(grid(flow=one_is_part)))
    assert [name.get_text() for name in figure.axes[0].get_xticklabels()] == ["quic, a = 1", "quic"]


def test_whiskers_of_many_series_stay_at_their_swept_value() -> None:
    offs = [f"{value} ms" for value in range(10)]
    limits = [f"{value} kB" for value in range(8)]
    _, figure = campaigns.draw(made(grid(off=offs, limit=limits)), kind="lines", by=["off", "limit"])
    drawn = [line for line in figure.axes[0].get_lines() if str(line.get_label()).endswith("kB")]
    places = np.array([np.asarray(line.get_xdata(), float) for line in drawn])
    assert len(drawn) == 8
    assert np.ptp(places, axis=0).max() <= 0.5 + 1e-9
