"""Future work of Bujari et al. 2023: campaigns, measures and drawings of our figures."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import polars as pl
import pytest

from leobench.campaign import Campaign, dataset, run_campaign
from leobench.papers import bujari2023, claims
from leobench.papers.bujari2023 import later
from leobench.papers.words import rename

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from leobench.campaign import CampaignResult

FIGURES = {figure.name: figure for figure in bujari2023.PAPER.figures if figure.extra}


def test_they_cover_what_the_paper_leaves_for_later() -> None:
    """Section V, last paragraph, and section VI."""
    scenarios = {
        name: list(Campaign.load(figure.campaign).scenarios.values()) for name, figure in FIGURES.items()
    }
    controllers = {
        each["flows"]["upload"]["transport"]["congestion"]["kind"] for each in scenarios["controllers"]
    }
    assert controllers == {"newreno", "cubic", "westwood", "hybla", "vegas", "bbr", "bbr3"}
    kinds = {each["flows"]["upload"]["transport"]["kind"] for each in scenarios["controllers-tcp"]}
    assert kinds == {"tcp"}
    queues = {each["links"]["leo"]["queue"]["kind"] for each in scenarios["queues"]}
    assert queues == {"fifo", "codel", "fq_codel", "pie", "cake"}
    assert all("interval" in each["handovers"]["backhaul"] for each in scenarios["random-handovers"])
    assert {each["flows"]["upload"]["from"] for each in scenarios["download"]} == {"device", "office"}
    assert all(len(each["flows"]) == 4 for each in scenarios["users"])
    assert all({"call", "page-across"} <= set(each["flows"]) for each in scenarios["call"])


def test_every_sentence_about_the_handover_is_judged_for_every_way_to_move() -> None:
    """Three kinds, QUIC with three policies of the window, TCP, both directions, five queues."""
    figure = FIGURES["migration"]
    campaign = Campaign.load(figure.campaign)
    described = rename(dataset.variants(campaign), later.WORDS)
    transports = ("QUIC resets", "QUIC keeps", "QUIC resumes", "TCP")
    flows = {f"{transport}, {way}" for transport in transports for way in ("up", "down")}
    assert set(described["flow"]) == flows
    assert set(described["kind"]) == {"reroute", "rebind", "migrate"}
    assert described.height == len(flows) * 3 * 5 == len(campaign.variants)
    for scenario in campaign.scenarios.values():
        flow = scenario["flows"]["upload"]
        if flow["transport"].get("after_migration") == "careful_resume":
            assert flow["transport"]["careful_resume"]["required"], "never a reset in disguise"
        moves = scenario["handovers"]["backhaul"]
        assert moves["node"] == ("device" if moves["kind"] == "migrate" else "van")
    judged = [claim for claim in claims.read(bujari2023.PAPER.claims) if claim.figure == "migration"]
    assert len(judged) == 11
    assert all(list(claim.each) == ["kind", "flow"] and claim.ours for claim in judged)


@pytest.mark.parametrize("name", FIGURES)
def test_queues_of_both_backhauls_are_the_same_and_have_names(name: str) -> None:
    campaign = Campaign.load(FIGURES[name].campaign)
    for scenario in campaign.scenarios.values():
        assert scenario["links"]["terrestrial"]["queue"] == scenario["links"]["leo"]["queue"]
        assert not scenario["links"]["leo"]["queue"].get("ecn"), "the paper speaks of losses"
    described = rename(dataset.variants(campaign), later.WORDS)
    if "queue" in described.columns:
        assert not described["queue"].str.contains("{", literal=True).any()


KEYS = ({"variant": "quic", "replicate": 1}, {"variant": "tcp-resumes", "replicate": 1})


def result(values: Mapping[str, tuple[float | None, ...]], **tables: list[pl.DataFrame]) -> CampaignResult:
    """Made-up runs: the values of each metric, and the parts of each table."""
    runs = [
        {**key, "seed": 1, "metric": metric, "value": value}
        for metric, each in values.items()
        for key, value in zip(KEYS, each, strict=False)
    ]
    joined = {name: pl.concat(parts) for name, parts in tables.items()}
    return cast("CampaignResult", SimpleNamespace(runs=pl.DataFrame(runs), tables=SimpleNamespace(**joined)))


def measured(frame: pl.DataFrame, variant: str) -> dict[str, float | None]:
    return dict(frame.filter(variant=variant).select("metric", "value").iter_rows())


def test_a_loss_counts_from_the_handover_and_the_completion_from_the_ideal() -> None:
    lost = pl.DataFrame(
        {
            **KEYS[1],
            "t_ns": [90_250_000_000, 90_100_000_000, 95_000_000_000],
            "kind": ["lost", "lost", "lost"],
            "subject": ["upload/receiver", "upload/sender", "upload/sender"],
        }
    )
    largest = 10e6 * 1439 / 1500
    made_up = result(
        {
            "flows.upload.goodput_bps": (largest / 1.25, 1e6),
            "flows.upload.completion_s": (100.0, None),
        },
        events=[lost],
    )
    found = later.reconnect_measures(made_up)
    assert measured(found, "quic") == {"lost_after_s": None, "over_ideal": pytest.approx(1.25)}
    assert measured(found, "tcp-resumes") == {"lost_after_s": pytest.approx(0.1), "over_ideal": None}


def test_users_get_what_they_deliver_in_each_period() -> None:
    """Each delivers evenly: 1, 2 and 3 Mbit/s before the handover, and half of that after it."""
    times = range(181)
    tables, values = [], {}
    for at, user in enumerate(("one", "two", "three")):
        rate = (at + 1) * 1e6
        bits = [rate * (max(min(t, 90) - at, 0) + max(t - 90, 0) / 2) for t in times]
        values[f"flows.{user}.goodput_bps"] = (bits[-1] / (180 - at),)
        rows = {"t_ns": [t * 10**9 for t in times], "bytes_delivered": [round(each / 8) for each in bits]}
        tables.append(pl.DataFrame({**KEYS[0], "flow": user, **rows}))
    found = measured(later.users_measures(result(values, transport=tables)), "quic")
    assert found == pytest.approx(
        {
            f"{user}_{period}_bps": (at + 1) * rate
            for at, user in enumerate(("one", "two", "three"))
            for period, rate in (("before", 1e6), ("after", 0.5e6))
        },
        rel=1e-3,
    )


def test_late_frames_are_counted_in_each_period() -> None:
    """A frame every second: of four before the handover, one is late; the one across it never arrives."""
    created = [20, 21, 22, 23, 92, 110, 111]
    delays = [50, 60, 70, 151, None, 80, 80]
    frames = pl.DataFrame(
        {
            **KEYS[0],
            "flow": "call",
            "created_ns": [t * 10**9 for t in created],
            "delivered_ns": [
                None if ms is None else t * 10**9 + ms * 10**6 for t, ms in zip(created, delays, strict=True)
            ],
        }
    )
    found = measured(later.call_measures(result({}, messages=[frames])), "quic")
    assert (found["late_percent_before"], found["late_percent_across"], found["late_percent_after"]) == (
        25,
        100,
        0,
    )
    assert (found["p95_ms_before"], found["p95_ms_after"]) == (151, 80)


def test_bars_show_the_means_and_the_numbers_are_written(tmp_path: Path) -> None:
    figure = FIGURES["controllers"]
    campaign = Campaign.load(figure.campaign)
    names = [each.name for each in campaign.variants if "newreno" in each.name or "vegas" in each.name][:2]
    two = campaign.restricted(names).scaled(2, {"duration": "105 s"})
    ran = run_campaign(two, tmp_path / "campaign", workers=1)
    drawing = later.controllers(two, ran, tmp_path)
    goodput, rtt = drawing.axes
    assert goodput.get_ylabel() == "goodput (Mbit/s)"
    assert rtt.get_ylabel() == "mean RTT (ms)"
    means = figure.measure(ran).group_by("variant", "metric").agg(pl.col("value").mean())  # type: ignore[misc]
    shown = sorted(bar.get_height() for bar in goodput.patches)  # type: ignore[attr-defined]
    told = means.filter(pl.col("metric").is_in(["before_goodput_bps", "settled_goodput_bps"]))["value"] / 1e6
    assert shown == pytest.approx(sorted(told))
    head, line, *rows = (tmp_path / "numbers.md").read_text(encoding="utf-8").splitlines()
    assert head.startswith("| queue | controller | flows.upload.goodput_bps |")
    assert set(line) == {"|", " ", "-"}
    assert [row.split(" | ")[:2] for row in rows] == [["| 25 kB", "newreno"], ["| 25 kB", "vegas"]]


def test_what_the_text_says_of_a_figure_without_claims() -> None:
    from leobench.papers import findings_text

    assert findings_text.tally([]) == "no claims"
