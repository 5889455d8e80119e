"""The guides to competition and to the controllers under both transports say what their campaigns measure."""

from __future__ import annotations

import re
import runpy
from typing import TYPE_CHECKING

import pytest

import leobench
from leobench import CampaignResult, sweep
from leobench.campaign import Campaign
from tests.support.controllers import over_tcp
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

PAGE = (ROOT / "docs" / "reports" / "competition.md").read_text(encoding="utf-8")
CONTROL = (ROOT / "docs" / "reports" / "congestion-controllers.md").read_text(encoding="utf-8")
QUEUES = ("52 packets", "104 packets", "416 packets")
TRANSPORTS = ("tcp", "quic")


def cells(page: str, heading: str) -> dict[str, list[str]]:
    """The cells of the first table after a heading by the words of its first column."""
    section = re.split(rf"^#+ {re.escape(heading)}$", page, flags=re.MULTILINE)[1]
    (table,) = re.findall(r"\A[^|]*\n((?:\|.*\n)+)", section)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return {row[0].strip("`"): row[1:] for row in rows[2:]}


def agree(cell: str, value: float) -> bool:
    """Whether a cell shows the value, give or take what a change of the transport may move it."""
    match = re.match(r"-?[\d,]+(?:\.\d+)?", cell)
    assert match is not None, cell
    shown = match[0].replace(",", "")
    digit = 10.0 ** -len(shown.partition(".")[2])
    return abs(float(shown) - value) <= 0.1 * abs(value) + digit


def measured(name: str, folder: Path) -> CampaignResult:
    return sweep(ROOT / "campaigns" / f"{name}.toml", folder / "results" / name)


def of_pairs(result: CampaignResult, metric: str) -> dict[tuple[str, str, str, str], pl.Series]:
    """The metric of all replicates by incumbent, queue, and the newcomer's transport and controller."""
    found = {}
    for variant in Campaign.load(ROOT / "campaigns" / "competition.toml").variants:
        newcomer = variant.overrides["flows.newcomer.transport"]
        assert isinstance(newcomer, dict)
        pair = (
            str(variant.overrides["flows.incumbent.transport.congestion"]),
            str(variant.overrides["links.bottleneck.queue.limit"]),
            str(newcomer["kind"]),
            str(newcomer["congestion"]),
        )
        found[pair] = result.runs.filter(variant=variant.name, metric=metric)["value"]
    return found


def test_the_campaigns_are_sound() -> None:
    assert len(Campaign.load(ROOT / "campaigns" / "competition.toml").plan()) == 2 * 3 * 14 * 5
    assert len(Campaign.load(ROOT / "campaigns" / "transports.toml").plan()) == 2 * 14 * 5


def test_metrics_of_competition_are_known_by_name(tmp_path: Path) -> None:
    """A run of a campaign has them, nulls where a run was too short to tell."""
    text = (ROOT / "campaigns" / "competition.toml").read_text()
    file = tmp_path / "campaign.toml"
    file.write_text(
        text.replace("../scenarios", str(ROOT / "scenarios"))
        .replace('"fairness_jain",', '"fairness_jain",\n"competition.flows.newcomer.share",')
        .replace("replicates = 5", "replicates = 1")
    )
    short = Campaign.load(file).scaled(1, {"duration": "12 s", "warm_up": "11 s"})
    plan = [run for run in short.plan() if "limit=52-packets" in run.variant and "vegas" in run.variant][:1]
    result = leobench.run(plan[0].scenario, plan[0].seed, plan[0].overrides)
    competition = result.summary["competition"]
    assert 0 < competition["flows"][1]["share"] < 1
    assert competition["convergence_s"] is None
    assert competition["friendliness_ratio"] == competition["flows"][1]["friendliness_ratio"]


@pytest.mark.parametrize("controller", over_tcp())
def test_a_controller_comes_out_alike_under_both_transports(controller: str, scenarios: Path) -> None:
    """Without random loss nothing is left to chance: headers (0.8 %) and a reduction more or less remain."""
    flows = {}
    for transport, own in (
        ("tcp", {"pacing": True, "receive_buffer": "unlimited", "send_buffer": "unlimited"}),
        ("quic", {"payload": "1472 B"}),
    ):
        overrides = {
            "flows.main.transport": {"kind": transport, "congestion": controller, **own},
            "links.path.forward.loss.probability": 0.0,
            "duration": "30 s",
        }
        (flows[transport],) = leobench.run(scenarios / "one-flow.toml", overrides=overrides).summary["flows"]
    tcp, quic = flows["tcp"], flows["quic"]
    assert quic["goodput_bps"] == pytest.approx(tcp["goodput_bps"], rel=0.025)
    assert quic["rtt_ms"]["mean"] == pytest.approx(tcp["rtt_ms"]["mean"], rel=0.05)
    assert abs(quic["congestion_events"] - tcp["congestion_events"]) <= 2


@pytest.mark.slow
def test_the_guide_to_competition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = measured("competition", tmp_path)
    ratios = of_pairs(result, "competition.friendliness_ratio")
    times = of_pairs(result, "competition.convergence_s")
    compared = {controller for *_, controller in ratios}
    for incumbent, heading in (("cubic", "Against CUBIC"), ("newreno", "Against NewReno")):
        table = cells(PAGE, heading)
        assert set(table) == compared
        for controller, row in table.items():
            columns = [(transport, queue) for transport in TRANSPORTS for queue in QUEUES]
            for cell, (transport, queue) in zip(row, columns, strict=True):
                mean = ratios[incumbent, queue, transport, controller].mean()
                assert agree(cell, mean), (heading, controller, transport, queue, cell, mean)  # type: ignore[arg-type]
    table = cells(PAGE, "How long it takes")
    assert set(table) == compared
    for controller, row in table.items():
        for cell, (transport, queue) in zip(row, columns, strict=True):
            found = times["cubic", queue, transport, controller].drop_nulls()
            count, _, median = cell.partition(" of 5: ")
            assert abs(int(count.removesuffix(" of 5")) - len(found)) <= 1, (controller, transport, queue)
            if median and len(found) >= 4:
                assert found.min() <= float(median.removesuffix(" s")) <= found.max()  # type: ignore[operator]
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "tools" / "figures" / "competition.py"))


@pytest.mark.slow
def test_the_controllers_under_both_transports(tmp_path: Path) -> None:
    result = measured("transports", tmp_path)
    found = {}
    for variant in Campaign.load(ROOT / "campaigns" / "transports.toml").variants:
        flow = variant.overrides["flows.main.transport"]
        assert isinstance(flow, dict)
        for metric, factor in (("goodput_bps", 1e-6), ("rtt_ms.mean", 1.0)):
            runs = result.runs.filter(variant=variant.name, metric=f"flows.main.{metric}")
            loss = variant.overrides["links.path.forward.loss.probability"]
            value = runs["value"].mean()
            assert isinstance(value, float)
            found[flow["congestion"], loss, metric, flow["kind"]] = factor * value
    table = cells(CONTROL, "How alike they are")
    assert set(table) == {controller for controller, *_ in found}
    for controller, row in table.items():
        columns = [
            (loss, metric, transport)
            for loss in (0.001, 0.0)
            for metric in ("goodput_bps", "rtt_ms.mean")
            for transport in TRANSPORTS
        ]
        for cell, column in zip(row, columns, strict=True):
            assert agree(cell, found[controller, *column]), (controller, column, cell)
