"""The plan of a campaign file: variants, names, seeds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

import leobench
from leobench.campaign import Campaign, names
from leobench.campaign.plan import derive_seed
from tests.support import campaigns

if TYPE_CHECKING:
    from pathlib import Path

HEAD = 'name = "tiny"\nscenario = "udp.toml"\nreplicates = 2\nmetrics = ["packets"]\n'


def load(folder: Path, rest: str) -> Campaign:
    return Campaign.load(campaigns.write(folder, campaign=HEAD + rest))


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    file = campaigns.write(tmp_path)
    plain = Campaign.load(file)
    file.write_text(file.read_text(encoding="utf-8"), encoding="utf-8-sig")
    assert Campaign.load(file) == plain


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


def test_a_variant_has_the_last_word_wherever_set_names_the_same_place(tmp_path: Path) -> None:
    """Values are put in place one after the other: what `set` says must not come after what replaces it."""
    campaign = load(
        tmp_path,
        """
        [set]
        "links.uplink.queue.limit" = "2 packets"
        "duration" = "2 s"
        [[variants]]
        name = "bytes"
        set = { "links.uplink.queue" = { kind = "fifo" }, "links.uplink.queue.limit" = "9 kB" }
        [[variants]]
        name = "packets"
        """,
    )
    limits = {name: each["links"]["uplink"]["queue"]["limit"] for name, each in campaign.scenarios.items()}
    assert limits == {"bytes": "9 kB", "packets": "2 packets"}


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
    with pytest.raises(leobench.InputError, match=r"rate: variant `limit=2-packets,rate=1-Mbps` varies it"):
        campaign.scaled(overrides={"flows.main.source.rate": "1 Mbps"})
    again = quick.scaled(overrides={"links.uplink.loss": {"kind": "bernoulli", "probability": 0.5}})
    both = again.scaled(overrides={"links.uplink.loss.probability": 0.25}).scenarios
    assert {each["links"]["uplink"]["loss"]["probability"] for each in both.values()} == {0.25}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"replicates": 0}, "replicates = 0: is not positive; allowed: a whole number from 1"),
        ({"replicates": "3"}, "replicates = '3': is not a whole number; allowed: a whole number from 1"),
        ({"overrides": {"seed": 3}}, "seed: the seeds of runs are derived from the campaign's `seed`"),
        (
            {"overrides": {"record.messages": True}},
            "record.messages: the campaign's `tables` decide what runs record",
        ),
        ({"overrides": {"": 3}}, ": is not a place; allowed: names separated by dots"),
        (
            {"overrides": {"links.uplink.queue": "fifo"}},
            "links.uplink.queue: variant `limit=2-packets,rate=1-Mbps` varies it; allowed: any other",
        ),
        (
            {"overrides": {"flows.main.source.rate.x": 1}},
            "flows.main.source.rate.x: variant `limit=2-packets,rate=1-Mbps` varies it",
        ),
        (
            {"overrides": {"links.uplink.loss": "none"}},
            'set."links.uplink.loss.probability": is overwritten by set."links.uplink.loss"',
        ),
    ],
)
def test_a_scaled_campaign_stays_what_its_file_says(
    change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    lossy = ("[[grid]]", '[set]\n"links.uplink.loss.probability" = 0.5\n[[grid]]')
    text = campaigns.CAMPAIGN.replace(*lossy, 1)
    campaign = Campaign.load(campaigns.write(tmp_path, campaign=text))
    with pytest.raises(leobench.InputError, match=re.escape(said)):
        campaign.scaled(**change)


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
