"""Fig. 3 of Bujari et al. 2023: its campaign, its measures, and what its claims and its drawing say."""

from __future__ import annotations

import dataclasses
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl
import pytest

from leobench import cli
from leobench.campaign import Campaign
from leobench.overrides import as_text
from leobench.papers import Quick, bujari2023, claims
from leobench.papers.bujari2023 import figures

if TYPE_CHECKING:
    from pathlib import Path

    from leobench.campaign import CampaignResult

FIG3 = bujari2023.PAPER.figures[0]
CLAIMS = [claim for claim in claims.read(bujari2023.PAPER.claims) if claim.figure == "fig3"]
TRANSPORTS = [
    as_text({"kind": "tcp", "congestion": "newreno", "tls": True}),
    as_text({"kind": "quic", "congestion": "newreno", "payload": "1472 B"}),
]


def test_the_set_up_is_the_papers() -> None:
    """Section IV-A: 300 Mbit/s and 10 ms to the van, 10 Mbit/s and 10 ms from there; NewReno; FIFO queues."""
    scenarios = Campaign.load(FIG3.campaign).scenarios.values()
    assert len(scenarios) == 4
    found = set()
    for scenario in scenarios:
        bubble, backhaul = scenario["links"]["bubble"], scenario["links"]["backhaul"]
        assert (bubble["rate"], bubble["delay"], bubble["queue"]["limit"]) == (
            "300 Mbps",
            "10 ms",
            "unlimited",
        )
        assert (backhaul["rate"], backhaul["delay"]) == ("10 Mbps", "10 ms")
        assert backhaul["queue"]["kind"] == "fifo"
        transport = scenario["flows"]["upload"]["transport"]
        assert transport["congestion"]["kind"] == "newreno"
        found.add((transport["kind"], backhaul["queue"]["limit"]))
    assert found == {(kind, queue) for kind in ("tcp", "quic") for queue in ("25 kB", "50 kB")}


def test_packets_of_both_are_of_one_size() -> None:
    """1,500 bytes: 52 of IPv4 and TCP headers with timestamps before the payload; 28 of IPv4 and UDP."""
    flows = [each["flows"]["upload"] for each in Campaign.load(FIG3.campaign).scenarios.values()]
    tcp, quic = (
        next(each["transport"] for each in flows if each["transport"]["kind"] == kind)
        for kind in ("tcp", "quic")
    )
    assert (tcp["mss"], quic["payload"]) == ("1.448 kB", "1.472 kB")


def made_up() -> CampaignResult:
    """Uploads of 2.5 MB at 1 Mbit/s that count 2 % more; windows of 4 kB, then of 1 kB or 3 kB in turn."""
    times = list(range(0, 21_000_000_000, 100_000_000))
    shares = [min(t / 20e9, 1.0) for t in times]
    samples = {
        "t_ns": times,
        "bytes_delivered": [round(2_550_000 * share) for share in shares],
        "cwnd_bytes": [4_000 if t < 10e9 else 1_000 + t // 100_000_000 % 2 * 2_000 for t in times],
        "latest_rtt_ns": [40_000_000 + t // 100_000_000 % 2 * 20_000_000 for t in times],
    }
    values = {
        "flows.upload.goodput_bps": 1e6,
        "flows.upload.completion_s": 20.0,
        "flows.upload.congestion_events": 5.0,
    }
    runs, tables = [], []
    for variant, transport in zip(("a", "b"), TRANSPORTS, strict=True):
        key = {"variant": variant, "replicate": 1}
        place = {"links.backhaul.queue.limit": "25 kB", "flows.upload.transport": transport}
        runs += [
            {**key, "seed": 1, **place, "metric": each, "value": value} for each, value in values.items()
        ]
        tables.append(pl.DataFrame({**samples, **key}))
    table = SimpleNamespace(transport=pl.concat(tables))
    return cast("CampaignResult", SimpleNamespace(runs=pl.DataFrame(runs), tables=table))


def test_the_measures_are_what_was_made_up() -> None:
    measured = figures.fig3_measures(made_up())
    assert measured.columns == ["variant", "replicate", "metric", "value"]
    found = dict(measured.filter(variant="a").select("metric", "value").iter_rows())
    assert found.pop("startup_goodput_bps") == pytest.approx(
        0.99 * 1e6
    )  # the last sample of 10 s is at 9.9 s
    assert found == pytest.approx(
        {
            "window_mean_bytes": 2_000,
            "window_swing_bytes": 2_000,
            "rtt_mean_ms": 50,
            "rtt_swing_ms": 20,
            "startup_window_bytes": 4_000,
            "reductions_per_minute": 15,
        }
    )


def test_every_metric_that_a_claim_names_is_measured() -> None:
    kept = {*Campaign.load(FIG3.campaign).metrics, *figures.fig3_measures(made_up())["metric"]}
    assert {claim.metric for claim in CLAIMS} <= kept


def test_the_drawing_shows_goodput_window_and_rtt_with_the_lines_of_the_paper(tmp_path: Path) -> None:
    figure = figures.fig3(cast("Any", None), made_up(), tmp_path)
    goodput, window, rtt = figure.axes
    for axes, reference, shown in ((goodput, 10, 1.0), (window, 50, 4.0), (rtt, 40, 60.0)):
        tcp, quic, line = (np.asarray(each.get_ydata()) for each in axes.get_lines())
        assert (tcp.max(), quic.max()) == pytest.approx((shown, shown), rel=0.02)
        assert set(line) == {reference}
    assert [each.get_title(loc="left") for each in figure.axes] == [
        "Goodput (Mbit/s): TCP 1, QUIC 1",
        "Window, reductions: TCP 5, QUIC 5",
        "RTT, mean (ms): TCP 50, QUIC 50",
    ]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["TCP", "QUIC"]


def test_it_is_reproduced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = dataclasses.replace(FIG3, quick=Quick(2, {"flows.upload.source.size": "15 MB"}))
    monkeypatch.setattr(bujari2023, "PAPER", dataclasses.replace(bujari2023.PAPER, figures=(small,)))
    out = tmp_path / "out"
    assert (
        cli.main(["reproduce", "bujari2023", "--quick", "--workers", "1", "--quiet", "--out", str(out)]) == 0
    )
    capsys.readouterr()
    assert (out / "fig3/fig3.png").read_bytes().startswith(b"\x89PNG")
    text = (out / "fig3/claims.md").read_text(encoding="utf-8")
    for claim in CLAIMS:
        assert f"| {claim.id} |  |" in text
        for reading in claim.readings:
            assert f"- **{reading.id}**: {reading.says} Source: {reading.source}." in text
    assert text.count("| ↳ path-bdp |") == len(CLAIMS)
    assert "## Warnings" not in text
    # 15 MB take 12 s, in which the path is full whatever happens at the start: goodputs are within 5 %.
    assert text.count("| spread < 0.05 | holds |") == 2
    verdicts = json.loads((out / "fig3/verdicts.json").read_text(encoding="utf-8"))
    (slightly,) = (each for each in verdicts["conclusions"] if each["claim"] == "rtt-slightly-higher")
    means = {each["reading"]: list(each["means"]) for each in slightly["findings"]}
    assert means["stated"] == ["TCP", "QUIC"]
    assert means["tcp-over-samples"] == ["QUIC", "TCP"]
    ran = json.loads((out / "fig3/readings/ns3-acks/manifest.json").read_text(encoding="utf-8"))["identity"]
    assert len(ran["variants"]) == 2, "the queue of 25 kB only"
    assert ran["campaign"] == "bujari2023-fig3-ns3+ns3-acks"
    assert (out / "summary.md").read_text(encoding="utf-8").startswith("# bujari2023\n")
