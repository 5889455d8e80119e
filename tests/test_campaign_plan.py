"""What a campaign file asks for: variants, names, seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import campaigns
import pytest

import leobench
from leobench.campaign import Campaign, names
from leobench.campaign.plan import derive_seed

if TYPE_CHECKING:
    from pathlib import Path

HEAD = 'name = "tiny"\nscenario = "udp.toml"\nreplicates = 2\nmetrics = ["packets"]\n'


def load(folder: Path, rest: str) -> Campaign:
    return Campaign.load(campaigns.write(folder, campaign=HEAD + rest))


def test_blocks_are_crossed_and_the_lists_of_a_block_are_taken_in_step(tmp_path: Path) -> None:
    campaign = load(
        tmp_path,
        """
        [[grid]]
        "links.uplink.queue.limit" = ["2 packets", "unlimited"]
        "links.uplink.delay" = ["1 ms", "30 ms"]
        [[grid]]
        "flows.main.source.rate" = ["1 Mbps", "2 Mbps", "3 Mbps"]
        """,
    )
    assert [tuple(variant.overrides.values()) for variant in campaign.variants] == [
        ("2 packets", "1 ms", "1 Mbps"),
        ("2 packets", "1 ms", "2 Mbps"),
        ("2 packets", "1 ms", "3 Mbps"),
        ("unlimited", "30 ms", "1 Mbps"),
        ("unlimited", "30 ms", "2 Mbps"),
        ("unlimited", "30 ms", "3 Mbps"),
    ]
    assert campaign.variants[4].name == "limit=unlimited,delay=30-ms,rate=2-Mbps"
    assert campaign.varied == ("links.uplink.queue.limit", "links.uplink.delay", "flows.main.source.rate")


def test_variants_are_added_to_the_grid(tmp_path: Path) -> None:
    campaign = load(
        tmp_path,
        """
        [[grid]]
        "links.uplink.delay" = ["1 ms", "2 ms"]
        [[variants]]
        name = "far"
        set = { "links.uplink.delay" = "270 ms", "duration" = "2 s" }
        """,
    )
    assert [variant.name for variant in campaign.variants] == ["delay=1-ms", "delay=2-ms", "far"]


def test_a_campaign_without_variants_repeats_the_base_scenario(tmp_path: Path) -> None:
    (variant,) = load(tmp_path, "").variants
    assert variant.name == "base"
    assert variant.overrides == {}


def test_a_run_of_the_plan_is_one_that_can_be_repeated_by_hand(tmp_path: Path) -> None:
    campaign = Campaign.load(campaigns.write(tmp_path))
    plan = campaign.plan()
    assert [(run.variant, run.replicate) for run in plan] == [
        (variant.name, replicate) for variant in campaign.variants for replicate in (1, 2, 3)
    ]
    run = plan[5]
    by_hand = leobench.run(run.scenario, run.seed, run.overrides)
    swept = leobench.sweep(campaign.file, tmp_path / "out", workers=1).runs
    row = swept.filter(variant=run.variant, replicate=run.replicate, metric="flows.main.goodput_bps")
    assert row["value"].item() == by_hand.summary["flows"][0]["goodput_bps"]
    assert row["seed"].item() == by_hand.summary["seed"] == run.seed


def test_overrides_of_every_run_reach_the_scenario(tmp_path: Path) -> None:
    campaign = load(tmp_path, '[set]\n"duration" = "250 ms"\n"links.uplink.queue" = { kind = "fifo" }\n')
    resolved = campaign.scenarios["base"]
    assert resolved["duration"] == "250 ms"
    assert resolved["links"]["uplink"]["queue"]["limit"] == "unlimited"


def test_runs_record_only_what_is_kept(tmp_path: Path) -> None:
    recorded = Campaign.load(campaigns.write(tmp_path)).scenarios["limit=unlimited,rate=1-Mbps"]["record"]
    assert (recorded["messages"], recorded["series"], recorded["packets"]) == (True, True, False)
    recorded = load(tmp_path, "").scenarios["base"]["record"]
    assert (recorded["messages"], recorded["series"], recorded["packets"]) == (False, False, False)


@pytest.mark.parametrize(
    ("args", "seed"),
    [((1, 1), 6507153154050862093), ((1, 2), 3300144296342471641), ((7, 3, "short"), 7971255559006314654)],
)
def test_seeds_are_the_documented_ones(args: tuple[int, int, str], seed: int) -> None:
    """Expected: `printf leobench/1/1 | sha256sum`, the first 16 digits halved."""
    assert derive_seed(*args) == seed


def test_common_seeds_are_shared_by_variants_and_independent_ones_are_not(tmp_path: Path) -> None:
    common = Campaign.load(campaigns.write(tmp_path)).plan()
    assert [run.seed for run in common] == [run.seed for run in common[:3]] * 4
    assert len({run.seed for run in common}) == 3
    independent = Campaign.load(
        campaigns.write(tmp_path, ("seed = 1", 'seed = 1\nseeds = "independent"'))
    ).plan()
    assert len({run.seed for run in independent}) == 12
    other_root = Campaign.load(campaigns.write(tmp_path, ("seed = 1", "seed = 2"))).plan()
    assert {run.seed for run in other_root}.isdisjoint(run.seed for run in common)


def test_a_scaled_campaign_keeps_its_seeds(tmp_path: Path) -> None:
    campaign = Campaign.load(campaigns.write(tmp_path))
    quick = campaign.scaled(replicates=2, overrides={"duration": "100 ms"})
    assert [run.seed for run in quick.plan()[:2]] == [run.seed for run in campaign.plan()[:2]]
    assert len(quick.plan()) == 8
    assert {scenario["duration"] for scenario in quick.scenarios.values()} == {"100 ms"}
    with pytest.raises(
        leobench.InputError, match=r"rate: is what variant `limit=2-packets,rate=1-Mbps` varies"
    ):
        campaign.scaled(overrides={"flows.main.source.rate": "1 Mbps"})
    with pytest.raises(leobench.InputError, match="replicates = 0"):
        campaign.scaled(replicates=0)


def test_names_tell_alike_places_apart_and_are_file_safe() -> None:
    assert names.derive([{"links.up.delay": "1 ms", "links.down.delay": "2 ms"}]) == [
        "up.delay=1-ms,down.delay=2-ms"
    ]
    (named,) = names.derive(
        [{"flows.main.streams[0].source": {"kind": "cbr", "rate": "1 Mbps"}, "x": [1, 2.5]}]
    )
    assert named == "source=cbr-rate-1-Mbps,x=1-2.5"
    for name in names.derive([{"a": "/etc/../*?"}, {"a": ""}, {"a": True}, {"a": "x" * 500}, {"a": "é"}]):
        assert names.is_sound(name), name


def test_values_that_are_spelled_alike_get_names_of_their_own() -> None:
    one, two = names.derive([{"a": "7 packets"}, {"a": "7-packets"}])
    assert one != two
    assert names.derive([{"a": "7-packets"}, {"a": "7 packets"}]) == [two, one], "whatever their order"
