from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl
import pytest

from leobench import papers
from leobench.campaign import Campaign
from leobench.overrides import as_text
from leobench.papers import claims, khan2023, khan2023delay, khan2023es, two_streams, words
from leobench.papers import two_streams_figures as figures

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.campaign import CampaignResult

SCHEDULERS = ("rr", "fq", "fq, no surplus", "wfq", "wfq, no surplus", "bp")
BY_DELAY = ("stbp", "stbp, batches", "max_delay")
STEPS = ("0 s", "100 ms", "200 ms", "300 ms", "400 ms", "500 ms")
FIGURES = {
    f"{paper.name}/{figure.name}": (paper, figure)
    for paper in (khan2023.PAPER, khan2023es.PAPER, khan2023delay.PAPER)
    for figure in paper.figures
    if figure.words
}


def said(campaign: Campaign, named: tuple[words.Word, ...] = two_streams.WORDS) -> pl.DataFrame:
    """A row per variant with what it replaces, in the words of the claims."""
    rows = [
        {
            place: value if isinstance(value, str) else as_text(value)
            for place, value in each.overrides.items()
        }
        for each in campaign.variants
    ]
    return words.rename(pl.DataFrame(rows), named)


@pytest.mark.parametrize(
    ("name", "replicates", "seconds", "expected"),
    [
        ("khan2023/fig6", 10, 60, {"load": ("50 %", "80 %", "100 %"), "scheduler": SCHEDULERS}),
        ("khan2023/fig7", 30, 60, {"load": ("50 %", "80 %"), "scheduler": SCHEDULERS}),
        ("khan2023/fig8", 10, 120, {"interruption": STEPS, "scheduler": ("rr", "bp")}),
        ("khan2023es/fig7", 10, 120, {"interruption": STEPS, "scheduler": ("rr", "fq", "wfq", "bp")}),
        (
            "khan2023delay/fig4",
            10,
            60,
            {"load": ("80 %",), "scheduler": ("wfq", "wfq, no surplus", "bp", *BY_DELAY)},
        ),
        ("khan2023delay/fig5-6", 30, 60, {"load": ("50 %", "100 %"), "scheduler": (*SCHEDULERS, *BY_DELAY)}),
        ("khan2023delay/fig7", 5, 300, {"interruption": STEPS, "scheduler": ("rr", "wfq", "bp", *BY_DELAY)}),
    ],
)
def test_the_campaigns_are_the_papers(
    name: str, replicates: int, seconds: int, expected: dict[str, tuple[str, ...]]
) -> None:
    campaign = Campaign.load(FIGURES[name][1].campaign)
    assert campaign.replicates == replicates
    assert said(campaign).select(*expected).rows() == list(itertools.product(*expected.values()))
    for scenario in campaign.scenarios.values():
        assert (scenario["duration"], scenario["until"]) == (f"{seconds} s", "drained")
        streams = scenario["flows"]["main"]["streams"]
        assert [(each["name"], each["source"]["size"]) for each in streams] == [
            ("fast", "1 kB"),
            ("slow", "1 kB"),
        ]
        fast, slow = (float(each["source"]["rate"].split()[0]) for each in streams)
        assert fast == 2 * slow
    loads = {"50 %": 22.5, "80 %": 36.0, "100 %": 45.0}
    for row in said(campaign).rows(named=True):
        if "load" in row:
            rate = next(rate for rate, load in two_streams.LOAD.values.items() if load == row["load"])
            assert float(rate.split()[0]) * 1.5 == loads[row["load"]]


@pytest.mark.parametrize("name", FIGURES)
def test_what_claims_name_is_there(name: str) -> None:
    """Every place, value and metric of the claims of each figure, in full as in a quick look."""
    paper, figure = FIGURES[name]
    campaign = Campaign.load(figure.campaign)
    variants = said(campaign, figure.words)
    for claim in claims.read(paper.claims):
        if claim.figure not in figure.claims or claim.needs:
            continue
        asked = {claim.metric} if claim.metric else set(map(str, claim.values))
        assert asked <= {*figure.measures, *campaign.metrics}, claim.id
        wanted = dict(claim.where)
        if claim.along not in ("", "metric"):
            wanted[claim.along] = list(claim.values) or variants[claim.along].to_list()
        for place in claim.each:
            assert place in variants.columns, claim.id
        for place, values in wanted.items():
            assert set(values if isinstance(values, list) else [values]) <= set(variants[place]), claim.id


def test_extra_figures_differ_by_what_they_say_alone() -> None:
    for paper, name, plain, changed in (
        (khan2023.PAPER, "fig7-bdp", "fig7", {"links.uplink.queue.limit": "113 kB"}),
        (khan2023delay.PAPER, "fig5-6-bdp", "fig5-6", {"links.uplink.queue.limit": "113 kB"}),
        (khan2023.PAPER, "fig7-batches", "fig7", None),
        (khan2023delay.PAPER, "fig5-6-batches", "fig5-6", None),
    ):
        extra = Campaign.load(FIGURES[f"{paper.name}/{name}"][1].campaign)
        base = Campaign.load(FIGURES[f"{paper.name}/{plain}"][1].campaign)
        batches = {f"flows.main.streams.{index}.source.kind": "poisson_batch" for index in (0, 1)}
        assert extra.set == (changed or batches)
        assert [each.overrides for each in extra.variants] == [each.overrides for each in base.variants]
        assert (extra.replicates, extra.seed, extra.scenario) == (base.replicates, base.seed, base.scenario)
        for scenario in extra.scenarios.values() if changed is None else ():
            sources = [each["source"] for each in scenario["flows"]["main"]["streams"]]
            assert [(each["kind"], each["slot"]) for each in sources] == [("poisson_batch", "50 ms")] * 2


def made_up() -> CampaignResult:
    """Two runs: one whose fast stream holds twice the buffer of the slow one, and one with a closer race."""
    rows = [
        ("far", 200_000, 100_000, 4, 1),
        ("far", 400_000, 200_000, 8, 2),
        ("close", 30_000, 21_000, 3, 3),
        ("close", 10_000, 50_000, 5, 5),
    ]
    samples = [
        {
            "variant": variant, "replicate": 1, "t_ns": time, "flow": "main", "stream": stream,
            "backlog_bytes": backlog, "sojourn_sum_ns": 10 * age, "head_age_ns": age or None,
        }
        for time, (variant, *backlogs, fast_age, slow_age) in enumerate(rows)
        for stream, backlog, age in zip(two_streams.STREAMS, backlogs, (fast_age, slow_age), strict=True)
    ]  # fmt: skip
    delays = {"fast": (30.0, 10.0), "slow": (10.0, 11.0)}
    runs = [
        {"variant": variant, "replicate": 1, "seed": 1, "metric": metric, "value": value}
        for index, variant in enumerate(("far", "close"))
        for metric, value in {
            "flows.main.delay_ms.p50": 20.0,
            "flows.main.delay_ms.p95": 90.0 + index,
            **{f"flows.main.streams.{name}.delay_ms.mean": means[index] for name, means in delays.items()},
        }.items()
    ]
    tables = SimpleNamespace(streams=pl.DataFrame(samples))
    return cast("CampaignResult", SimpleNamespace(tables=tables, runs=pl.DataFrame(runs)))


def found(measured: pl.DataFrame) -> dict[tuple[str, str], Any]:
    assert measured.columns == ["variant", "replicate", "metric", "value"]
    return {(variant, metric): value for variant, _, metric, value in measured.iter_rows()}


def test_the_measures_of_buffers_are_what_was_made_up() -> None:
    values = found(two_streams.buffer_measures(made_up()))
    assert values["far", "buffer_imbalance"] == pytest.approx(1 / 3)
    assert values["far", "buffer_difference"] == pytest.approx(150_000)
    assert values["far", "buffers_close_share"] == 0.0
    assert values["far", "sojourn_imbalance"] == pytest.approx(9 / 15)
    assert values["far", "head_imbalance"] == pytest.approx(9 / 15)
    assert values["close", "buffer_imbalance"] == pytest.approx((9 + 40) / (51 + 60))
    assert values["close", "buffers_close_share"] == 0.5
    assert values["close", "sojourn_imbalance"] == 0.0


def test_the_measures_of_delays_are_what_was_made_up() -> None:
    values = found(two_streams.delay_measures(made_up()))
    assert values["far", "fast"] == 30.0
    assert values["far", "delay_imbalance"] == pytest.approx(2.0)
    assert values["close", "delay_imbalance"] == pytest.approx(0.1)
    assert values["close", "delay_spread_ms"] == pytest.approx(71.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_reproduced(name: str, tmp_path: Path) -> None:
    paper, figure = FIGURES[name]
    campaign = Campaign.load(figure.campaign).scaled(2, {"duration": "500 ms"})
    done = papers.reproduce(paper, figure, tmp_path / "out", campaign)
    assert done.result.failures.is_empty()
    assert {finding.claim.id for finding in done.findings} == {
        claim.id for claim in claims.read(paper.claims) if claim.figure in figure.claims
    }


def drawn(draw: Callable[..., Figure], result: object, tmp_path: Path) -> Figure:
    return draw(cast("Any", SimpleNamespace(replicates=2)), cast("Any", result), tmp_path)


def lines(axes: Axes) -> dict[str, list[float]]:
    """The heights of the lines of a panel that are in its legend."""
    return {
        str(line.get_label()): np.asarray(line.get_ydata(), float).tolist()
        for line in axes.get_lines()
        if not str(line.get_label()).startswith("_")
    }


def test_buffers_that_are_equal_are_drawn_as_one(tmp_path: Path) -> None:
    """A panel per scheduler, all of one scale; each with both streams, the sums of ages beside them."""
    variants = {"one": "bp", "two": as_text({"kind": "wfq", "weights": [2, 1]})}
    samples = pl.DataFrame(
        {
            "variant": variant, "replicate": 1, "t_ns": time * 10**9, "stream": stream,
            "backlog_bytes": 1_000 * time * (1 + (variant == "two") * (stream == "fast")),
            "sojourn_sum_ns": time, "head_age_ns": time or None,
        }
        for variant, time, stream in itertools.product(variants, range(4), two_streams.STREAMS)
    )  # fmt: skip
    runs = pl.DataFrame(
        {
            "variant": variant, "flows.main.transport.scheduler": scheduler,
            "flows.main.streams.0.source.rate": "24 Mbps", "replicate": 1, "seed": 1,
            "metric": "m", "value": 0.0,
        }
        for variant, scheduler in variants.items()
    )  # fmt: skip
    result = SimpleNamespace(runs=runs, tables=SimpleNamespace(streams=samples))
    for draw, columns in ((figures.buffers, 1), (figures.buffers_and_sojourns, 3)):
        panels = drawn(draw, result, tmp_path).axes
        assert len(panels) == 2 * columns
        bp, wfq = panels[0], panels[columns]
        assert (bp.get_ylabel(), wfq.get_ylabel()) == ("bp", "wfq")
        assert [*bp.get_ylim(), *wfq.get_ylim()] == pytest.approx([0, 6.3, 0, 6.3])
        assert lines(bp) == {"fast": [0, 1, 2, 3], "slow": [0, 1, 2, 3]}
        assert lines(wfq) == {"fast": [0, 2, 4, 6], "slow": [0, 1, 2, 3]}


def test_means_are_drawn_per_stream_and_of_both(tmp_path: Path) -> None:
    keys = {"flows.main.transport.scheduler": "rr", "flows.main.streams.0.source.rate": "15 Mbps"}
    values = {"fast": 30.0, "slow": 10.0, "both": 20.0}
    runs = pl.DataFrame(
        {
            "variant": f"{controller}{off}", **keys, "flows.main.transport.congestion": controller,
            "links.isl.channel.off": off, "replicate": seed, "seed": seed, "value": value * (1 + seed / 100),
            "metric": f"flows.main.{f'streams.{stream}.' * (stream != 'both')}{metric}",
        }
        for controller, off, seed, (stream, value), metric in itertools.product(
            ("cubic", "newreno"), ("0 s", "500 ms"), (1, 2), values.items(),
            ("delay_ms.mean", "delay_ms.p50", "delay_ms.p95", "goodput_bps"),
        )
    )  # fmt: skip
    result = SimpleNamespace(runs=runs)
    for draw, panels in (
        (figures.delays, 1), (figures.delays_and_throughputs, 2), (figures.delays_by_controller, 2),
    ):  # fmt: skip
        shown = drawn(draw, result, tmp_path).axes
        assert len(shown) == panels
        assert [tick.get_text() for tick in shown[-1].get_xticklabels()] == ["rr"]
        assert lines(shown[0]) == {stream: pytest.approx([1.015 * mean]) for stream, mean in values.items()}
    figure = drawn(figures.delays_and_throughputs, result, tmp_path)
    assert "each to its own last delivery, so they need not add up" in figure.get_supxlabel()
    assert "add up" not in drawn(figures.delays, result, tmp_path).get_supxlabel()
    top, bottom = drawn(figures.interruptions, result, tmp_path).axes
    assert lines(top) == {stream: pytest.approx([1.015 * mean] * 2) for stream, mean in values.items()}
    # Student's t of four runs, two per controller: 3.182 standard errors of 0.00289 around the mean.
    for each, mean in zip(top.collections, values.values(), strict=True):
        ends = np.array([np.asarray(path.vertices)[:, 1] for path in each.get_paths()])
        assert ends == pytest.approx(np.array([[1.015 - 0.009187, 1.015 + 0.009187]] * 2) * mean, rel=1e-4)
    assert bottom.get_ylabel().startswith("95 % quantile\nless median (")


@pytest.mark.parametrize(
    ("schedulers", "labels"),
    [
        (2, ["0", "100", "200", "300", "400", "500"]),
        (4, ["0", "", "200", "", "400", ""]),
        (6, ["0", "", "200", "", "400", ""]),
    ],
)
def test_interruptions_are_ticked_where_they_were_measured(
    schedulers: int, labels: list[str], tmp_path: Path
) -> None:
    runs = pl.DataFrame(
        {
            "variant": f"{scheduler}{step}", "flows.main.transport.scheduler": f"s{scheduler}",
            "links.isl.channel.off": step, "replicate": 1, "seed": 1,
            "metric": f"flows.main.{stream}delay_ms.{name}", "value": value,
        }
        for scheduler in range(schedulers)
        for step in STEPS
        for stream in ("", "streams.fast.", "streams.slow.")
        for name, value in (("mean", 100.0), ("p50", 90.0), ("p95", 300.0))
    )  # fmt: skip
    figure = drawn(figures.interruptions, SimpleNamespace(runs=runs), tmp_path)
    figure.canvas.draw()
    panels = figure.axes[schedulers:]
    assert len(panels) == schedulers
    for panel in panels:
        assert [tick.get_text() for tick in panel.get_xticklabels()] == labels
        assert panel.get_xticks() == pytest.approx([0, 100, 200, 300, 400, 500])
        shown = [tick.get_window_extent() for tick in panel.get_xticklabels() if tick.get_text()]
        assert not any(one.overlaps(other) for one, other in itertools.pairwise(shown))
    assert panels[0].yaxis.label.get_window_extent().height <= panels[0].get_window_extent().height


def test_places_and_values_go_by_their_words() -> None:
    runs = pl.DataFrame({"flows.x": ["a", "b"], "links.y": [1, 2], "value": [0.0, 1.0]})
    named = words.rename(
        runs, [words.Word("flows.x", "x", {"a": "first"}), words.Word("links.y", "y"), words.Word("no", "z")]
    )
    assert named.to_dict(as_series=False) == {"x": ["first", "b"], "y": [1, 2], "value": [0.0, 1.0]}


def test_what_papers_contradict_each_other_in_is_claimed_of_each() -> None:
    stated = {
        (paper.name, claim.id): claim for paper in papers.papers() for claim in claims.read(paper.claims)
    }
    assert str(stated["khan2023", "bp-spread-above-rr"].relation) == "ratio > 1"
    assert str(stated["khan2023delay", "bp-spread-below-rr"].relation) == "ratio < 1"
    assert str(stated["khan2023", "bp-equalises-delays"].relation) == "spread < 0.1"
    assert str(stated["khan2023delay", "bp-delays-slow-stream"].relation) == "ratio > 1"
