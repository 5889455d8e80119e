"""Figs. 4 to 6 of Bujari et al. 2023: campaigns, measures, and what their claims and drawings say."""

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
from leobench.papers import Quick, bujari2023
from leobench.papers.bujari2023 import handover

if TYPE_CHECKING:
    from pathlib import Path

    from leobench.campaign import CampaignResult

FIGURES = {figure.name: figure for figure in bujari2023.PAPER.figures}
FIG4, FIG5, FIG6 = (FIGURES[name] for name in ("fig4", "fig5", "fig6"))
TCP = as_text({"kind": "tcp", "congestion": "newreno", "tls": True})
QUIC = as_text({"kind": "quic", "congestion": "newreno", "payload": "1472 B"})


@pytest.mark.parametrize(
    ("figure", "limits"),
    [
        (FIG4, {"25 kB", "50 kB"}),
        (FIG5, {"25 kB", "50 kB", "100 kB", "125 kB"}),
        (FIG6, {"100 kB", "125 kB", "10000 packets"}),
    ],
)
def test_the_set_up_is_the_papers(figure: Any, limits: set[str]) -> None:
    """Sections IV-A and V: the links of Fig. 2, the same queue on both backhauls, a handover at 90 s."""
    scenarios = Campaign.load(figure.campaign).scenarios.values()
    assert len(scenarios) == 4 * len(limits)
    found = set()
    for scenario in scenarios:
        bubble, terrestrial, leo = (scenario["links"][name] for name in ("bubble", "terrestrial", "leo"))
        assert (bubble["rate"], bubble["delay"]) == ("300 Mbps", "10 ms")
        moves = scenario["handovers"]["backhaul"]
        # A device that has the backhauls itself sees the round trips of the paths over the van.
        alone = moves["kind"] == "migrate"
        delays = ("20 ms", "50 ms") if alone else ("10 ms", "40 ms")
        assert (terrestrial["rate"], terrestrial["delay"]) == ("10 Mbps", delays[0])
        assert (leo["rate"], leo["delay"]) == ("10 Mbps", delays[1])
        node = "device" if alone else "van"
        assert terrestrial["between"] == leo["between"] == [node, "office"]
        assert terrestrial["queue"] == leo["queue"]
        found.add(leo["queue"]["limit"])
        assert (moves["node"], moves["links"], moves["at"]) == (node, ["terrestrial", "leo"], ["90 s"])
        assert scenario["flows"]["upload"]["transport"]["congestion"]["kind"] == "newreno"
    assert found == limits


def test_codel_has_the_papers_parameters() -> None:
    """Section V: 10,000 packets, a target of 40 ms and an interval of 200 ms; it forces losses."""
    queues = [each["links"]["leo"]["queue"] for each in Campaign.load(FIG6.campaign).scenarios.values()]
    codel = next(queue for queue in queues if queue["kind"] == "codel")
    assert (codel["limit"], codel["target"], codel["interval"], codel["ecn"]) == (
        "10000 packets",
        "40 ms",
        "200 ms",
        False,
    )


def test_the_sizes_are_products_of_rate_and_round_trip() -> None:
    """10 Mbit/s times 20 ms and 80 ms (the links), 40 ms and 100 ms (the paths)."""
    products = {f"{10e6 / 8 * ms / 1e3 / 1e3:g} kB" for ms in (20, 40, 80, 100)}
    queues = (each["links"]["leo"]["queue"] for each in Campaign.load(FIG5.campaign).scenarios.values())
    assert {queue["limit"] for queue in queues} == products


def made_up(low: int = 90_000) -> CampaignResult:
    """Runs of 180 s whose window alternates, in seconds, between a low value and 130 kB.

    They deliver 1 Mbit/s, none between 90 s and 92 s, and 2 Mbit/s after that, and count 5 % more. The RTT is
    50 ms, and 120 ms from 90 s on.
    """
    times = [t / 10 for t in range(1801)]
    bits = [t * 1e6 if t <= 90 else 90e6 + max(t - 92, 0) * 2e6 for t in times]
    samples = {
        "t_ns": [round(t * 1e9) for t in times],
        "bytes_delivered": [round(each / 8 * 1.05) for each in bits],
        "cwnd_bytes": [130_000 if int(t) % 2 else low for t in times],
        "latest_rtt_ns": [50_000_000 if t < 90 else 120_000_000 for t in times],
    }
    runs, tables = [], []
    for variant, transport, kind in (
        ("a", QUIC, "rebind"),
        ("b", QUIC, "reroute"),
        ("c", TCP, "reroute"),
    ):
        key = {"variant": variant, "replicate": 1}
        queue = as_text({"kind": "fifo", "limit": "25 kB"})
        places = {
            "links.terrestrial.queue": queue,
            "links.leo.queue": queue,
            "flows.upload.transport": transport,
            "handovers.backhaul.kind": kind,
        }
        metric = {"metric": "flows.upload.goodput_bps", "value": bits[-1] / 180}
        runs.append({**key, "seed": 1, **places, **metric})
        tables.append(pl.DataFrame({**samples, **key}))
    table = SimpleNamespace(transport=pl.concat(tables))
    return cast("CampaignResult", SimpleNamespace(runs=pl.DataFrame(runs), tables=table))


def test_the_measures_are_what_was_made_up() -> None:
    measured = handover.measures_and_shares(made_up())
    assert measured.columns == ["variant", "replicate", "metric", "value"]
    found = dict(measured.filter(variant="a").select("metric", "value").iter_rows())
    assert set(found) == {*FIG4.measures}
    expected = {
        "before_goodput_bps": 1e6,
        "after_goodput_bps": 176e6 / 90,
        "settled_goodput_bps": 2e6,
        "before_share": 1e6 / (10e6 * 1439 / 1500),
        "settled_share": 2e6 / (10e6 * 1439 / 1500),
        "before_window_bytes": 110_000,
        "before_rtt_ms": 50,
        "before_wait_ms": 10,
        "settled_rtt_ms": 120,
        "settled_wait_ms": 20,
        "dips_below_path_per_minute": 30,
        "dips_below_link_per_minute": 30,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=2e-3)
    assert found["gap_s"] == pytest.approx(2.1)
    tcp = dict(measured.filter(variant="c").select("metric", "value").iter_rows())
    assert tcp["before_share"] == pytest.approx(found["before_share"] * 1439 / 1446)


def test_a_window_between_the_lines_falls_below_that_of_the_path_only() -> None:
    measured = handover.measures(made_up(low=110_000)).filter(variant="a")
    found = dict(measured.select("metric", "value").iter_rows())
    assert found["dips_below_path_per_minute"] == pytest.approx(30, rel=0.02)
    assert found["dips_below_link_per_minute"] == 0


def test_the_drawing_marks_the_handover_and_the_lines_on_either_side(tmp_path: Path) -> None:
    figure = handover.draw(cast("Any", None), made_up(), tmp_path, queues=("25 kB",))
    for axes, before, after, shown in zip(
        figure.axes, (10, 50, 40), (10, 125, 100), (2.0, 130.0, 120.0), strict=True
    ):
        tcp, quic, reference, mark = (np.asarray(each.get_ydata()) for each in axes.get_lines())
        assert (tcp.max(), quic.max()) == pytest.approx((shown, shown), rel=0.02)
        assert list(reference) == [before, before, after, after]
        assert list(mark) == [0, 1]
        assert set(np.asarray(axes.get_lines()[3].get_xdata())) == {90}
    assert [each.get_title(loc="left") for each in figure.axes] == [
        "QUIC: 1, then 2 Mbit/s",
        "QUIC: 110, then 110 kB",
        "QUIC: 50, then 120 ms",
    ]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["TCP, its addresses stay", "QUIC"]


def reno(product: float, queue: float) -> float:
    """The share of a link that NewReno uses: a packet more per round trip, from half of what fits.

    Up to the bandwidth-delay product of the path (kB), a round trip has a constant length and the rate grows
    with the window; beyond it, the rate is that of the link and round trips grow with the window.
    """
    most = product + queue
    rising = max(product - most / 2, 0)
    full = (most**2 - max(most / 2, product) ** 2) / 2 / product
    return (rising * (product - rising / 2) / product + full) / (rising + full)


def test_fig4_is_reproduced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Small queues carry less over 100 ms than over 40 ms, as much less as the arithmetic of NewReno says."""
    small = dataclasses.replace(FIG4, quick=Quick(2, {"duration": "125 s"}))
    monkeypatch.setattr(bujari2023, "PAPER", dataclasses.replace(bujari2023.PAPER, figures=(small,)))
    out = tmp_path / "out"
    assert (
        cli.main(["reproduce", "bujari2023", "--quick", "--workers", "1", "--quiet", "--out", str(out)]) == 0
    )
    capsys.readouterr()
    assert (out / "fig4/fig4.png").read_bytes().startswith(b"\x89PNG")
    text = (out / "fig4/claims.md").read_text(encoding="utf-8")
    assert "## Warnings" not in text
    assert not (out / "fig4/readings").exists(), "all readings are variants of the figure's campaign"
    verdicts = json.loads((out / "fig4/verdicts.json").read_text(encoding="utf-8"))
    outcomes = {each["claim"]: each["outcome"] for each in verdicts["conclusions"]}
    assert outcomes["fig4-transfer-continues"] == "holds"
    assert outcomes["fig4-window-dips"] == "holds"
    assert outcomes["fig4-full-before"] == "holds under a reading"
    (less,) = (each for each in verdicts["conclusions"] if each["claim"] == "fig4-less-goodput-after")
    assert less["outcome"].startswith("holds")
    ratios = {each["reading"]: each["value"] for each in less["findings"]}
    # 2 %: the window is reduced a round trip after the loss, and the periods cut cycles off.
    assert ratios["stated"] == pytest.approx(reno(125, 25) / reno(50, 25), rel=0.02)
    assert ratios["path-bdp"] == pytest.approx(reno(125, 50) / reno(50, 50), rel=0.02)
