"""Campaign files that extend others: what they take over, what they replace, and where mistakes stand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from leobench import InputError, ScenarioError
from leobench.campaign import Campaign, run_campaign
from tests.support import campaigns

if TYPE_CHECKING:
    from pathlib import Path

ONE_GRID = campaigns.CAMPAIGN[: campaigns.CAMPAIGN.rindex("[[grid]]")]
EXTENDING = 'extends = "tiny.toml"\nname = "longer"\n'


def write(folder: Path, text: str, name: str = "longer.toml") -> Path:
    """A campaign file in a folder of its own beside the tiny campaign, whose path leads there and back."""
    campaigns.write(folder)
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_all_but_the_names_is_taken_over(tmp_path: Path) -> None:
    extended = 'extends = "../tiny.toml"\nname = "same"\n'
    same = Campaign.load(write(tmp_path, extended, "below/same.toml"))
    tiny = Campaign.load(campaigns.write(tmp_path, ('name = "tiny"', 'name = "tiny"\ndescription = "small"')))
    assert (same.name, same.description, same.file.name) == ("same", "", "same.toml")
    assert same.scenario == tiny.scenario == tmp_path / "udp.toml"
    for key in ("replicates", "seed", "seeds", "metrics", "tables", "set", "variants"):
        assert getattr(same, key) == getattr(tiny, key), key
    assert [run.seed for run in same.plan()] == [run.seed for run in tiny.plan()]


def test_keys_are_replaced_and_values_of_set_one_by_one(tmp_path: Path) -> None:
    campaigns.write(tmp_path)
    (tmp_path / "middle.toml").write_text(
        'extends = "tiny.toml"\nname = "middle"\nreplicates = 2\n'
        '[set]\n"duration" = "2 s"\n"links.uplink.delay" = "5 ms"\n',
        encoding="utf-8",
    )
    last = write(
        tmp_path,
        'extends = "middle.toml"\nname = "last"\ntables = []\n[set]\n"duration" = "3 s"\n'
        '[[grid]]\n"flows.main.source.rate" = ["1 Mbps", "2 Mbps"]\n',
    )
    campaign = Campaign.load(last)
    assert (campaign.replicates, campaign.tables) == (2, ())
    assert campaign.set == {"links.uplink.delay": "5 ms", "duration": "3 s"}
    assert [variant.name for variant in campaign.variants] == ["rate=1-Mbps", "rate=2-Mbps"]
    assert len(campaign.metrics) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('extends = "tyni.toml"\nname = "a"', 'longer.toml: extends = "tyni.toml": no such file; '
         "allowed: a campaign file; did you mean `tiny.toml`?"),
        ('extends = ["tiny.toml"]\nname = "a"', 'longer.toml: extends = ["tiny.toml"]: is not a string'),
        ('extends = "longer.toml"\nname = "a"', 'longer.toml: extends = "longer.toml": leads back to'),
        ('extends = "tiny.toml"', "longer.toml: name: is required but missing"),
        (EXTENDING + "[set]\nseed = 3", 'longer.toml: set."seed": the seeds of runs are derived'),
    ],
)  # fmt: skip
def test_what_is_wrong_with_extending(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        Campaign.load(write(tmp_path, text))
    assert str(error.value).startswith(f"{tmp_path}/{said}")


def test_files_that_extend_each_other(tmp_path: Path) -> None:
    campaigns.write(tmp_path, ('name = "tiny"', 'name = "tiny"\nextends = "longer.toml"'))
    (tmp_path / "longer.toml").write_text(EXTENDING, encoding="utf-8")
    with pytest.raises(InputError, match=r'/tiny.toml: extends = "longer.toml": leads back to a file that'):
        Campaign.load(tmp_path / "longer.toml")


@pytest.mark.parametrize(
    ("old", "new", "added", "said"),
    [
        ("replicates = 3", "replicates = 0", "", "tiny.toml: replicates = 0: is not a valid number"),
        ("replicates = 3", "replicate = 3", "", "tiny.toml: replicate: unknown key"),
        ('"udp.toml"', '"udq.toml"', "", "tiny.toml: scenario: "),
        ("[[grid]]", '[set]\n"links" = {}\n[[grid]]', "", 'tiny.toml: set."links": would replace'),
        ('"2 packets"', '"2 pakets"', "", "tiny.toml: grid[0]: links.uplink.queue.limit"),
        ("[[grid]]", '[set]\n"links.uplink.dely" = 1\n[[grid]]', "", "tiny.toml: set: links.uplink.dely"),
        ("", "", '[set]\n"links.uplink.dely" = 1', "longer.toml: set: links.uplink.dely"),
        (
            "[[grid]]", '[set]\n"links.uplink.delay" = "x"\n[[grid]]', '[set]\n"links.uplink.delay" = "y"',
            "longer.toml: set: links.uplink.delay",
        ),
        (
            "", "",
            '[set]\n"links.uplink.queue.limit" = "2 packets"\n[[grid]]\n"links.uplink.queue" = ["fifo"]',
            'longer.toml: set."links.uplink.queue.limit": is overwritten by grid[0]."links.uplink.queue"',
        ),
        (
            "[[grid]]", '[set]\n"flows.main.source.rate" = "1 Mbps"\n[[grid]]',
            '[[grid]]\n"flows.main.source" = ["bulk"]',
            'tiny.toml: set."flows.main.source.rate": is overwritten by grid[0]."flows.main.source" '
            "of {folder}/longer.toml, which replaces",
        ),
    ],
)  # fmt: skip
def test_a_mistake_is_told_where_it_stands(old: str, new: str, added: str, said: str, tmp_path: Path) -> None:
    file = write(tmp_path, EXTENDING + added)
    (tmp_path / "tiny.toml").write_text(campaigns.CAMPAIGN.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as error:
        Campaign.load(file).plan()
    assert str(error.value).startswith(f"{tmp_path}/{said.format(folder=tmp_path)}")


def test_a_metric_of_nothing_is_told_where_it_stands(tmp_path: Path) -> None:
    file = write(tmp_path, EXTENDING)
    campaigns.write(tmp_path, ("flows.main.goodput_bps", "flows.main.goodput"))
    with pytest.raises(InputError, match=r'/tiny\.toml: metrics\[0\] = "flows\.main\.goodput": no run'):
        run_campaign(Campaign.load(file), tmp_path / "out", workers=1)


def test_a_value_that_is_replaced_for_a_quick_look_stands_in_no_file(tmp_path: Path) -> None:
    file = write(tmp_path, EXTENDING)
    campaigns.write(tmp_path, ("[[grid]]", '[set]\n"duration" = "2 s"\n[[grid]]'), campaign=ONE_GRID)
    with pytest.raises(ScenarioError, match=r"/longer\.toml: set: duration"):
        Campaign.load(file).scaled(1, {"duration": "-1 s"}).plan()


def test_a_file_that_is_extended_and_has_changed_is_not_resumed(tmp_path: Path) -> None:
    """Even in a comment, as for the campaign file; where both lie does not matter."""
    file = write(tmp_path, EXTENDING + 'tables = []\nmetrics = ["flows.main.goodput_bps"]\n')
    run_campaign(Campaign.load(file), tmp_path / "out", workers=1)
    identity = json.loads((tmp_path / "out/manifest.json").read_text(encoding="utf-8"))["identity"]
    assert identity["extends"] == {"tiny.toml": campaigns.CAMPAIGN}
    run_campaign(Campaign.load(file), tmp_path / "out", workers=1, resume=True)
    (tmp_path / "tiny.toml").write_text("# ?\n" + campaigns.CAMPAIGN, encoding="utf-8")
    with pytest.raises(InputError, match="a file that the campaign file extends has changed since"):
        run_campaign(Campaign.load(file), tmp_path / "out", workers=1, resume=True)
