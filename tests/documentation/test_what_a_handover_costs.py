"""The guide to handovers says what its campaign measures."""

from __future__ import annotations

import re
import runpy
from typing import TYPE_CHECKING

import polars as pl
import pytest

import leobench
from leobench import stats, sweep
from leobench.campaign import Campaign
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "reports" / "what-a-handover-costs.md").read_text(encoding="utf-8")
CAMPAIGN = ROOT / "campaigns" / "handover-cost.toml"
OF = "flows.file.handovers.each.backhaul-1"
KINDS = ("reroute", "rebind", "migrate")
TRANSPORTS = {
    "QUIC keeps": ("quic", "keep"),
    "QUIC resets": ("quic", "reset"),
    "QUIC resumes": ("quic", "careful_resume"),
    "TCP": ("tcp", None),
}
# The metric of each column, and what is shown of its runs.
COLUMNS = {
    "detection": ("detection_ms", "mean"),
    "validation": ("validation_ms", "mean"),
    "retransmission": ("retransmission_ms", "mean"),
    "slow start": ("slow_start_ms", "mean"),
    "recovered after": ("recovery_ms", "mean"),
    "slowest run": ("recovery_ms", "max"),
    "longest gap": ("outage_ms", "mean"),
}
# The section of each table: its direction and the outage.
TABLES = {
    "Upload": ("device", "0 s"),
    "Download": ("office", "0 s"),
    "Upload, one second without a link": ("device", "1 s"),
    "Download, one second without a link": ("office", "1 s"),
}


def table(heading: str) -> tuple[list[str], dict[str, list[str]]]:
    """The columns of a section's table after the first, and the cells by the words of the first."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if line.startswith("|")
    ]
    return cells[0][1:], {row[0]: row[1:] for row in cells[2:]}


def variants() -> dict[tuple[str, str, str, str], str]:
    """The variants of the campaign by sender, outage, kind and transport."""
    found = {}
    for variant in Campaign.load(CAMPAIGN).variants:
        kind, outage = (variant.overrides[f"handovers.backhaul.{key}"] for key in ("kind", "outage"))
        flow = variant.overrides["flows.file"]
        assert isinstance(flow, dict)
        means = flow["transport"]["kind"], flow["transport"].get("after_migration")
        (transport,) = [name for name, each in TRANSPORTS.items() if each == means]
        found[flow["from"], str(outage), str(kind), transport] = variant.name
    return found


def test_every_table_shows_the_variants_of_the_campaign() -> None:
    known = variants()
    assert len(known) == len(Campaign.load(CAMPAIGN).variants) == 48
    for heading in TABLES:
        columns, rows = table(heading)
        assert columns == list(COLUMNS)
        assert list(rows) == [f"`{kind}`, {transport}" for kind in KINDS for transport in TRANSPORTS]
    assert re.findall(r"leobench sweep campaigns/(.*)\.toml", PAGE) == ["handover-cost"]


def agree(text: str, mean: float | None, half: float = 0.0) -> bool:
    """Whether a cell is the value, give or take what a change of the transport may move it.

    `half` is half of the 95 % interval, after `±`; a change may move it by a third.
    """
    if mean is None or text == "-":
        return mean is None and text == "-"
    shown, _, interval = text.replace(",", "").partition(" ± ")
    near = abs(float(shown) - mean) <= 0.1 * abs(mean) + 2
    return near and abs(float(interval or 0) - half) <= half / 3 + 2


def test_intervals_are_compared() -> None:
    assert agree("1,190 ± 1,372", 1_190.4, 1_371.9)
    assert agree("303", 303.2, 0.4)
    assert not agree("1,190 ± 372", 1_190.4, 1_371.9)
    assert not agree("1,190", 1_190.4, 1_371.9)
    assert not agree("1,590 ± 1,372", 1_190.4, 1_371.9)


def quick(kind: str, flow: dict[str, object], outage: str = "0 s") -> dict[str, float]:
    """The second handover of a run of 45 s."""
    overrides: dict[str, object] = {
        "flows.file": {"source": "bulk", **flow},
        "handovers.backhaul.kind": kind,
        "handovers.backhaul.outage": outage,
    }
    if kind == "migrate":
        overrides["handovers.backhaul.node"] = "device"
        for link, delay in (("terrestrial", "20 ms"), ("leo", "50 ms")):
            overrides[f"links.{link}.between"] = ["device", "office"]
            overrides[f"links.{link}.delay"] = delay
    result = leobench.run(ROOT / "scenarios" / "handover-cost.toml", 1, {**overrides, "duration": "45 s"})
    handover: dict[str, float] = result.summary["flows"][0]["handovers"]["each"][1]
    return handover


UP = {"from": "device", "to": "office"}
DOWN = {"from": "office", "to": "device", "opened_by": "to"}


def quic(after_migration: str) -> dict[str, object]:
    return {"transport": {"kind": "quic", "congestion": "cubic", "after_migration": after_migration}}


def test_the_guide_in_short() -> None:
    """Checks the page's summary of what takes time, from single runs."""
    tcp = quick(
        "migrate",
        {
            **UP,
            "transport": {"kind": "tcp", "congestion": "cubic", "tls": True},
            "reconnect": {"after": "2 s"},
        },
    )
    # The patience of the application; then round trips of 100 ms for TCP, TLS, and the offset.
    assert tcp["detection_ms"] == pytest.approx(2_000, abs=60)
    assert tcp["validation_ms"] == pytest.approx(300, abs=60)
    moved = quick("migrate", {**UP, **quic("reset")})
    assert moved["detection_ms"] == moved["validation_ms"] == 0
    # A server hears of it after half a round trip, and validates for one.
    answered = quick("migrate", {**DOWN, **quic("reset")})
    assert answered["detection_ms"] == 0
    assert answered["validation_ms"] == pytest.approx(150, abs=10)
    # The satellite's path is known: the window jumps, where a reset grows.
    resumed = quick("migrate", {**DOWN, **quic("careful_resume")})
    assert resumed["recovery_ms"] < answered["recovery_ms"] - 50
    # Nothing reaches a device that is silent behind a NAT.
    lost = quick("rebind", {**DOWN, **quic("keep")}, outage="1 s")
    assert lost["recovery_ms"] is None


@pytest.mark.slow
def test_the_guide_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table holds what the campaign measures, and the figure is drawn from it."""
    runs = sweep(CAMPAIGN, tmp_path / "results" / "handover-cost", resume=True).runs
    grouped = runs.group_by("variant", "metric", maintain_order=True)
    means = stats.mean_intervals(runs, ["variant", "metric"])
    values = grouped.agg(max=pl.col("value").max()).join(means, on=["variant", "metric"])
    found = {(row["variant"], row["metric"]): row for row in values.iter_rows(named=True)}
    known = variants()
    for heading, (sender, outage) in TABLES.items():
        for row, cells in table(heading)[1].items():
            kind, transport = row.replace("`", "").split(", ")
            name = known[sender, outage, kind, transport]
            for cell, (key, shown) in zip(cells, COLUMNS.values(), strict=True):
                value = found[name, f"{OF}.{key}"]
                interval = shown == "mean" and value["low"] is not None
                half = (value["high"] - value["low"]) / 2 if interval else 0.0
                assert agree(cell, value[shown], half), (heading, row, key, cell, value)
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path(str(ROOT / "tools" / "figures" / "what_a_handover_costs.py"))
    assert (tmp_path / "what-a-handover-costs.png").stat().st_size > 10_000
    at = list(COLUMNS).index("recovered after")
    for axes, heading in zip(names["panels"], ("Upload", "Download"), strict=True):
        drawn = [text.get_text() for text in axes.texts if text.get_text().endswith(" ms")]
        expected = [row[at] for row in table(heading)[1].values()]
        for text, cell in zip(drawn, expected, strict=True):
            mean, _, half = text.removesuffix(" ms").replace(",", "").partition(" ± ")
            assert agree(cell, float(mean), float(half or 0)), (heading, text, cell)
