"""`leobench sweep` as a user sees it."""

from __future__ import annotations

import json
import re
import statistics
from typing import TYPE_CHECKING

import polars as pl
import pytest

import leobench
from leobench import cli, means
from leobench.campaign import Campaign, CampaignResult, Status, run_campaign
from leobench.cli import table
from leobench.cli.progress import render_campaign
from tests.support import campaigns
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from leobench.campaign import Variant

SHIPPED = sorted(file.name for file in (ROOT / "campaigns").glob("*.toml"))


# What more than the duration must be cut short.
SHORT: dict[str, dict[str, object]] = {
    "handover-cost.toml": {"duration": "45 s"},
    "pages.toml": {"duration": "6 s", "flows.page.start": "0 s"},
    "competition.toml": {"warm_up": "0 s", "flows.newcomer.start": "500 ms"},
    **{f"film{kind}.toml": {"flows.film.video.length": "8 s"} for kind in ("", "-player")},
    "film-paths.toml": {"flows.main.video.length": "8 s"},
    "viewers.toml": {"flows.film.video.length": "8 s", "flows.film.video.begins_within": "1 s"},
    "paths-controllers.toml": {"warm_up": "0 s", "flows.rival.start": "0 s"},
    **{f"paths-{flow}.toml": {"warm_up": "0 s"} for flow in ("call", "call-file", "file", "managers")},
    **{f"forecast-{kind}.toml": {"warm_up": "0 s"} for kind in ("paths", "emergency-paths")},
    "queue-sizing.toml": {"warm_up": "0 s"},
    "queue-sizing-fading.toml": {"warm_up": "0 s"},
    "queue-sizing-handover.toml": {"warm_up": "0 s", "handovers.satellites.phase": "500 ms"},
    "queue-sizing-reconfigured.toml": {"warm_up": "0 s"},
    "queue-sizing-targets.toml": {"warm_up": "0 s"},
    "random-loss.toml": {"warm_up": "0 s"},
    "transports.toml": {"warm_up": "0 s"},
    **{
        f"two-quic-stacks-{cells}.toml": {"warm_up": "0 s"}
        for cells in ("bursts", "ka", "loss", "s", "steady")
    },
}


def values(campaign: Campaign, variant: Variant) -> set[tuple[str, str]]:
    """The value of each place that the campaign varies; that of the base scenario counts as `None`."""
    return {(place, repr(variant.overrides.get(place))) for place in campaign.varied}


def all_values(campaign: Campaign) -> set[tuple[str, str]]:
    return set().union(*(values(campaign, variant) for variant in campaign.variants))


def covering(campaign: Campaign) -> Campaign:
    """The campaign with so many of its variants that each value of each place is in one of them."""
    chosen, seen = [], set[tuple[str, str]]()
    for variant in campaign.variants:
        if not (found := values(campaign, variant)) <= seen:
            chosen.append(variant.name)
            seen |= found
    return campaign.restricted(chosen or [campaign.variants[0].name])


def run_briefly(campaign: Campaign, folder: Path) -> None:
    """Runs each variant once, cut short."""
    short = {"duration": "1 s"} | SHORT.get(campaign.file.name, {})
    result = run_campaign(campaign.scaled(replicates=1, overrides=short), folder, workers=1)
    assert result.failures.height == 0
    assert result.runs.height == len(campaign.variants) * len(campaign.metrics)
    # Nothing converges so soon, a download behind a NAT may never recover, and a call may show no picture.
    places = r"competition\.convergence_s|handovers\.each|picture\.frozen_s"
    never = pl.col("metric").str.contains(places)
    measured = result.runs.filter(~never)
    assert measured["value"].null_count() == 0


@pytest.mark.parametrize("name", SHIPPED)
def test_every_campaign_that_is_shipped_runs(name: str, tmp_path: Path) -> None:
    campaign = Campaign.load(ROOT / "campaigns" / name)
    assert f"{campaign.name}.toml" == name
    assert campaign.plan(), "every variant is a scenario of its own"
    part = covering(campaign)
    assert all_values(part) == all_values(campaign)
    run_briefly(part, tmp_path / "out")


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_every_variant_that_is_shipped_runs(name: str, tmp_path: Path) -> None:
    run_briefly(Campaign.load(ROOT / "campaigns" / name), tmp_path / "out")


def test_a_row_of_means_by_variant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["sweep", str(campaigns.write(tmp_path)), "--workers", "1"]) == 0
    said = capsys.readouterr()
    assert said.err == "", "no bar where nobody watches"
    assert said.out.startswith("tiny: 12 runs, 0 failed, in ")
    result = CampaignResult.open(tmp_path / "results" / "tiny")
    assert table.render(means.of(result)) in said.out
    delays = result.runs.filter(variant="limit=unlimited,rate=3-Mbps", metric="flows.main.delay_ms.mean")
    (line,) = (line for line in said.out.splitlines() if re.match(r"unlimited +3 Mbps", line))
    mean, _, half = line.split()[-3:]
    assert float(mean) == pytest.approx(statistics.mean(delays["value"]), abs=0.06)
    # Student's t with two degrees of freedom: 4.303 (any table).
    assert float(half) == pytest.approx(4.303 * statistics.stdev(delays["value"]) / 3**0.5, abs=0.06)


def test_json_for_machines_and_a_warning_about_what_was_never_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = campaigns.write(tmp_path, ("flows.main.goodput_bps", "flows.main.rtt_ms.mean"))
    assert cli.main(["sweep", str(file), "--out", str(tmp_path / "out"), "--workers", "1", "--json"]) == 0
    said = capsys.readouterr()
    ran = json.loads(said.out)
    assert (ran["out"], ran["runs"], ran["failed"]) == (str(tmp_path / "out"), 12, 0)
    assert said.err == "leobench: warning: flows.main.rtt_ms.mean: not measured in any run\n"


def test_runs_not_to_be_taken_at_face_value_are_told_of(
    quick: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sender that is not waited for at the end, one that is, and one that has nothing to send."""
    file = tmp_path / "cut.toml"
    file.write_text(
        f"""
        name = "cut"
        scenario = "{quick.name}"
        replicates = 2
        metrics = ["flows.main.delay_ms.mean"]
        [set]
        "flows.main.source" = {{ kind = "cbr", rate = "20 Mbps", size = "1000 B" }}
        [[grid]]
        "until" = ["time", "drained"]
        [[variants]]
        name = "idle"
        set = {{ "flows.main.source" = {{ kind = "poisson", rate = "1 bps", size = "1000 B" }} }}
        """
    )
    out = tmp_path / "out"
    assert cli.main(["sweep", str(file), "--out", str(out), "--workers", "1", "--json"]) == 0
    said = capsys.readouterr()
    cut, idle = json.loads(said.out)["warnings"]
    assert (cut["variant"], cut["kind"], cut["runs"], cut["replicate"]) == ("until=time", "undelivered", 2, 1)
    assert (idle["variant"], idle["kind"], idle["runs"]) == ("idle", "silent", 2)
    lines = said.err.splitlines()
    by_hand = leobench.run(quick, 1, Campaign.load(file).plan()[0].overrides).warnings
    assert lines[0] == f"leobench: warning: until=time: 2 of 2 runs, first replicate 1: {by_hand[0]}"
    assert "had not arrived at the end of the run" in lines[0]
    assert lines[1].startswith(
        "leobench: warning: idle: 2 of 2 runs, first replicate 1: flow main: created no"
    )

    result = CampaignResult.open(out)
    assert result.warnings.columns == [
        "variant",
        "until",
        "flows.main.source",
        "replicate",
        "seed",
        "kind",
        "warning",
    ]
    assert result.warnings.select("variant", "replicate", "kind").rows() == [
        ("until=time", 1, "undelivered"),
        ("until=time", 2, "undelivered"),
        ("idle", 1, "silent"),
        ("idle", 2, "silent"),
    ]
    sound = result.runs.join(result.warnings, on=["variant", "replicate"], how="anti")
    assert sound["variant"].unique().to_list() == ["until=drained"]
    (out / "runs.parquet").unlink()
    leobench.sweep(file, out, workers=1, resume=True)
    assert CampaignResult.open(out).warnings.equals(result.warnings), "kept with the runs"


def test_the_bar_shows_runs_failures_and_time_left() -> None:
    bar = "[##########          ]  50%"
    assert render_campaign(Status(15, 0, 30, 0), 45.0) == f"{bar}  15 of 30 runs  45 s left"
    # Five runs since it was resumed took 100 s, so the fifteen left take 300 s.
    assert render_campaign(Status(15, 2, 30, 10), 100.0) == f"{bar}  15 of 30 runs  5 min 0 s left  2 failed"
    assert render_campaign(Status(15, 0, 30, 15), 0.1) == f"{bar}  15 of 30 runs"
    assert render_campaign(Status(30, 0, 30, 0), 9.0) == f"[{'#' * 20}] 100%  30 of 30 runs"
    assert render_campaign(Status(1, 0, 721, 0), 18.0).endswith("1 of 721 runs  3 h 36 min left")
