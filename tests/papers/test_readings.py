"""Readings of claims: what they run, how they are judged, and what is refused before anything runs."""

from __future__ import annotations

import dataclasses
import itertools
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from scipy import stats as scipy_stats

from leobench import InputError, cli, papers
from leobench.campaign import Campaign, CampaignResult, task
from leobench.papers import Claim, Conclusion, Finding, Outcome, Reading, Verdict, claims, conclude, khan2023
from leobench.papers import readings as reading_rules
from leobench.papers.claims import Relation
from leobench.papers.settings import settings
from leobench.papers.verdicts import judge_reading

if TYPE_CHECKING:
    from pathlib import Path

HOLDS, FAILS, UNKNOWN = Verdict.HOLDS, Verdict.DOES_NOT_HOLD, Verdict.CANNOT_TELL
ONE = Reading("one", "says", "source", "because", overrides={"duration": "1 s"})
TWO = Reading("two", "says", "source", "because", instead={"fq": "fq, no surplus"})


def claim(*readings: Reading, **given: Any) -> Claim:
    written: dict[str, Any] = {
        "id": "c", "figure": "f", "stated": "section 1", "says": "words", "metric": "delay", "because": "b",
        "relation": Relation.parse("mean > 1"), "readings": readings,
    }  # fmt: skip
    return Claim(**written | given)


def concluded(*verdicts: Verdict) -> Conclusion:
    """The conclusion from the verdict on the claim as written and on each of its readings."""
    stated = claim(*(ONE, TWO)[: len(verdicts) - 1])
    ids = ("stated", "one", "two")
    (found,) = conclude(
        Finding(stated, "", {}, None, verdict, reading=id_)
        for id_, verdict in zip(ids, verdicts, strict=False)
    )
    return found


@pytest.mark.parametrize("verdicts", [*itertools.product((HOLDS, FAILS, UNKNOWN), repeat=3)])
def test_the_truth_table(verdicts: tuple[Verdict, ...]) -> None:
    stated, *others = verdicts
    if stated is HOLDS:
        outcome, reading = Outcome.HOLDS, "stated"
    elif HOLDS in others:
        outcome, reading = Outcome.UNDER_READING, ("one", "two")[others.index(HOLDS)]
    elif set(verdicts) == {FAILS}:
        outcome, reading = Outcome.UNDER_NONE, ""
    else:
        outcome, reading = Outcome.CANNOT_TELL, ""
    found = concluded(*verdicts)
    assert (found.outcome, found.reading) == (outcome, reading)
    assert found.saving == [
        id_ for id_, each in zip(("stated", "one", "two"), verdicts, strict=True) if each is HOLDS
    ]


def test_a_claim_without_readings_keeps_its_verdict() -> None:
    assert [str(concluded(each)) for each in (HOLDS, FAILS, UNKNOWN)] == [
        "holds", "does not hold", "cannot tell",
    ]  # fmt: skip
    assert concluded(Verdict.NOT_EVALUATED).outcome is Outcome.NOT_EVALUATED
    assert str(concluded(FAILS, HOLDS, HOLDS)) == "holds under reading one, two"


def test_readings_have_the_cases_of_the_claim() -> None:
    stated = claim(ONE)
    with pytest.raises(
        InputError, match="reading one: case `b` is not a case of the claim as written; allowed: `a`"
    ):
        conclude(
            [
                Finding(stated, "a", {}, None, FAILS),
                Finding(stated, "a", {}, None, FAILS, reading="one"),
                Finding(stated, "b", {}, None, FAILS, reading="one"),
            ]
        )
    with pytest.raises(InputError, match="reading one: has no case `b`"):
        conclude(
            [
                Finding(claim(ONE, TWO), "b", {}, None, FAILS),
                Finding(claim(ONE, TWO), "b", {}, None, FAILS, reading="two"),
            ]
        )


def runs(metric: str = "delay", **means: float) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "variant": name, "scheduler": name.replace("_", ", ").replace("0", " "), "replicate": seed,
            "seed": seed, "metric": metric, "value": mean + 0.1 * seed,
        }
        for name, mean in means.items()
        for seed in (1, 2, 3)
    )  # fmt: skip


def test_a_reading_is_judged_by_what_it_names_and_told_by_the_case_as_written() -> None:
    stated = claim(TWO, where={"scheduler": ["rr", "fq"]}, each=["scheduler"])
    frame = runs(rr=5.0, fq=0.0, fq_no0surplus=5.0)
    found = judge_reading(stated, TWO, frame, 0.95)
    assert [(each.case, each.reading, each.verdict) for each in found] == [
        ("rr", "two", HOLDS), ("fq", "two", HOLDS),
    ]  # fmt: skip
    metric = Reading("m", "s", "s", "b", instead={"delay": "jitter"})
    (of_jitter,) = judge_reading(claim(metric), metric, runs("jitter", rr=5.0), 0.95)
    assert of_jitter.verdict is HOLDS
    assert of_jitter.claim.metric == "delay"


def test_two_values_can_change_places() -> None:
    swap = Reading("s", "s", "s", "b", instead={"TCP": "QUIC", "QUIC": "TCP"})
    taken = reading_rules.under(claim(along="protocol", values=["TCP", "QUIC"]), swap)
    assert taken.values == ["QUIC", "TCP"]
    assert reading_rules.stated_case(["TCP", 7], swap) == ["QUIC", 7]


def test_more_readings_do_not_make_it_easier_to_hold() -> None:
    """A claim whose truth lies on its bound seldom holds under any of three readings."""
    rng = np.random.default_rng(3)
    repeats, saved = 300, 0
    readings = [Reading(str(index), "s", "s", "b", instead={"delay": f"m{index}"}) for index in range(3)]
    for _ in range(repeats):
        frame = pl.concat(
            pl.DataFrame(
                {
                    "variant": "v", "replicate": range(10), "seed": range(10), "metric": f"m{index}",
                    "value": rng.normal(1.0, 1.0, 10),
                }
            )
            for index in range(3)
        )  # fmt: skip
        found = [judge_reading(claim(*readings), each, frame, 1 - 0.05 / 3)[0] for each in readings]
        saved += any(each.verdict is HOLDS for each in found)
    assert saved <= scipy_stats.binom.ppf(0.999, repeats, 0.025)


READING = """\
[[readings]]
id = "other"
says = "It is the jitter."
source = "section 2"
because = "it varies"
overrides = { "links.uplink.independent" = true }

[[claims]]
id = "short"
figure = "fig4"
stated = "section 1"
says = "Delays are short."
metric = "flows.main.delay_ms.mean"
relation = "mean < 1e9"
because = "any"
readings = ["other"]
"""


def read(tmp_path: Path, text: str) -> list[Claim]:
    file = tmp_path / "claims.toml"
    file.write_text(text, encoding="utf-8")
    return claims.read(file)


def test_claims_have_their_readings(tmp_path: Path) -> None:
    (found,) = read(tmp_path, READING)
    (reading,) = found.readings
    assert (reading.id, reading.because) == ("other", "it varies")
    assert reading.needs_runs


AGAIN = READING[: READING.index("[[claims]]")]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("because = \"it varies\"", "becuase = 1", r"\[0\].becuase: unknown key; .*did you mean `because`"),
        ('source = "section 2"\n', "", r"readings\[0\]: `source` is missing"),
        ('because = "it varies"\n', "", r"readings\[0\]: `because` is missing"),
        ('id = "other"', 'id = "stated"', r'readings\[0\].id = "stated": is the claim as written'),
        ("[[claims]]", f"{AGAIN}[[claims]]", r'readings\[1\].id = "other": appears twice'),
        ('readings = ["other"]', 'readings = ["othr"]', r"\"othr\": no .*did you mean `other`"),
        ('readings = ["other"]', 'readings = ["other", "other"]', r"\"other\": appears twice"),
        ('readings = ["other"]', 'readings = ["a", "b", "c", "d"]', "has 4; allowed: at most 3"),
        ('readings = ["other"]', "", r'readings\[0\].id = "other": no claim uses it'),
        (READING[READING.index("overrides") : READING.index("\n\n")], "", r"readings\[0\]: changes nothing"),
        ("overrides = {", "instead = {", "allowed: a string"),
        (
            'overrides = { "links.uplink.independent" = true }', 'instead = { x = "y" }',
            r'claims\[0\].readings\[0\] = "other": does not change this claim',
        ),
    ],
)  # fmt: skip
def test_wrong_readings_are_refused_in_one_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in READING
    with pytest.raises(InputError, match=said) as refused:
        read(tmp_path, READING.replace(old, new))
    assert "\n" not in str(refused.value)


AXES = """\
[[readings]]
id = "near"
says = "It is near."
source = "section 2"
because = "it may be"
overrides = { "links.uplink.delay" = "1 ms" }

[[readings]]
id = "far"
says = "It is far."
source = "section 3"
because = "it may be"
overrides = { "links.uplink.delay" = "9 ms" }

[[readings]]
id = "jitter"
says = "It is the jitter."
source = "section 4"
because = "it varies"
instead = { "flows.main.delay_ms.mean" = "flows.main.delay_ms.p95" }

[[claims]]
id = "short"
figure = "fig4"
stated = "section 1"
says = "Delays are short."
metric = "flows.main.delay_ms.mean"
relation = "mean < 1e9"
because = "any"
readings = [["near", "far"], ["jitter"]]
"""


def test_axes_of_readings_are_tried_in_every_combination(tmp_path: Path) -> None:
    (found,) = read(tmp_path, AXES)
    ids = [each.id for each in found.readings]
    assert ids == ["jitter", "near", "near+jitter", "far", "far+jitter"]
    both = found.readings[2]
    assert both.overrides == {"links.uplink.delay": "1 ms"}
    assert reading_rules.under(found, both).metric == "flows.main.delay_ms.p95"
    assert [each.id for each in both.parts] == ["near", "jitter"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('["jitter"]]', '"jitter"]', r'readings\[1\] = \'jitter\'; allowed: a list of ids'),
        ('["jitter"]]', '[]]', r"readings\[1\] = \[\]; allowed: a list of ids"),
        ('["jitter"]]', '["jitter"], ["near"]]', '"near" is on two axes'),
        ('["near", "far"], ["jitter"]', '["near"], ["far"], ["jitter"]', "two change links.uplink.delay"),
        ('[["near", "far"], ["jitter"]]', '[["near"], ["far"], ["jitter"], ["jitter"]]', "has 4 axes"),
        ('["jitter"]]', '["jiter"]]', r'readings\[1\]\[0\] = "jiter": no such reading; .*`jitter`'),
        ('id = "jitter"', 'id = "jit+ter"', r"has a `\+`"),
    ],
)  # fmt: skip
def test_axes_that_contradict_each_other_are_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in AXES
    with pytest.raises(InputError, match=said) as refused:
        read(tmp_path, AXES.replace(old, new))
    assert "\n" not in str(refused.value)


FIG4 = next(figure for figure in khan2023.PAPER.figures if figure.name == "fig4")
FIG7 = next(figure for figure in khan2023.PAPER.figures if figure.name == "fig7")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"overrides": {"links.uplnk.delay": "1 ms"}}, r"claims: readings\[2\].overrides: .*uplnk"),
        ({"overrides": {"flows.main.transport.scheduler": "rr"}}, r"\[2\].overrides: .*varies it"),
        ({"overrides": {"duration": "60 s"}}, r"\[2\].overrides: changes nothing"),
        ({"campaign": "fig77"}, r"readings\[2\].campaign: .*fig77.toml: no such file"),
        ({"instead": {"delay_imbalance": "delay_imbalace"}}, "instead: .*did you mean `delay_imbalance`"),
        ({"instead": {"fq": "fq, no surpls"}}, r"scheduler = fq, no surpls: .*did you mean `fq, no surplus`"),
    ],
)  # fmt: skip
def test_readings_that_do_not_fit_their_campaign_are_refused(changes: dict[str, Any], said: str) -> None:
    reading = Reading("r", "s", "s", "b", **changes, at="claims: readings[2]")
    stated = claim(
        reading,
        figure="fig7",
        metric="delay_imbalance",
        where={"scheduler": "fq"},
        relation=Relation.parse("mean > 0"),
    )
    with pytest.raises(InputError, match=said):
        settings(FIG7, Campaign.load(FIG7.campaign), [stated])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"metric": "delay_imbalace"}, "claim c: delay_imbalace: no such metric; .*mean `delay_imbalance`"),
        ({"where": {"schedulr": "fq"}}, "claim c: schedulr: no such place; .*did you mean `scheduler`"),
        ({"along": "scheduler", "values": ["fq", "rrr"]}, "claim c: scheduler = rrr: no variant has it"),
    ],
)  # fmt: skip
def test_claims_that_do_not_fit_their_campaign_are_refused_before_it_runs(
    changes: dict[str, Any], said: str
) -> None:
    given = {"figure": "fig7", "metric": "delay_imbalance", "relation": Relation.parse("mean > 0"), "id": "c"}
    with pytest.raises(InputError, match=said):
        settings(FIG7, Campaign.load(FIG7.campaign), [claim(**{**given, **changes})])


def test_only_what_differs_is_run() -> None:
    longer = {"links.uplink.queue.limit": "113 kB"}
    first = Reading("first", "s", "s", "b", overrides=longer)
    second = Reading("second", "s", "s", "b", overrides=longer, instead={"fq": "fq, no surplus"})
    third = Reading("third", "s", "s", "b", instead={"fq": "fq, no surplus"})
    given: dict[str, Any] = {"figure": "fig7", "metric": "delay_imbalance"}
    campaign = Campaign.load(FIG7.campaign)
    stated = [
        claim(first, **given, id="a", where={"scheduler": "bp", "load": "50 %"}),
        claim(second, third, **given, id="b", where={"load": "50 %"}, along="scheduler", values=["rr", "fq"]),
    ]
    own, other = settings(FIG7, campaign, stated)
    assert own.campaign is campaign
    assert [reading.id for _, reading in own.pairs] == ["third"]
    assert [reading.id for _, reading in other.pairs] == ["first", "second"]
    assert other.campaign.name == "khan2023-fig7+first"
    assert [each.overrides["flows.main.transport.scheduler"] for each in other.campaign.variants] == [
        "rr", {"kind": "fq", "surplus": "none"}, "bp",
    ]  # fmt: skip
    seeds = {(run.variant, run.replicate): run.seed for run in campaign.plan()}
    assert all(seeds[run.variant, run.replicate] == run.seed for run in other.campaign.plan())
    assert len(settings(FIG7, campaign, [dataclasses.replace(each, readings=()) for each in stated])) == 1


def test_a_restricted_campaign_has_the_runs_that_it_has_in_the_whole_one() -> None:
    campaign = Campaign.load(FIG7.campaign)
    name = campaign.variants[3].name
    some = campaign.restricted([name], "x")
    assert some.plan() == [run for run in campaign.plan() if run.variant == name]
    assert some.name == "khan2023-fig7+x"
    with pytest.raises(InputError, match="rrr: no such variant of campaign khan2023-fig7"):
        campaign.restricted(["rrr"])
    with pytest.raises(InputError, match="no variant is left"):
        campaign.restricted([])


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """A paper of one figure with one claim and one reading; the runs that are executed, by folder."""
    file = tmp_path / "claims.toml"
    file.write_text(READING, encoding="utf-8")
    cut = dataclasses.replace(FIG4, quick=papers.Quick(2, {"duration": "300 ms"}))
    monkeypatch.setattr(khan2023, "PAPER", dataclasses.replace(khan2023.PAPER, figures=(cut,), claims=file))
    executed: list[str] = []
    execute = task.execute

    def count(run: Any, tables: Any, version: str) -> Any:
        executed.append("other" if "links.uplink.independent" in run.overrides else "own")
        return execute(run, tables, version)

    monkeypatch.setattr(task, "execute", count)
    return executed


def test_a_reading_is_run_judged_and_told(
    small: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = ["reproduce", "khan2023/fig4", "--quick", "--workers", "1", "--out", str(out)]
    assert cli.main([*command, "--no-readings"]) == 0
    assert small == ["own", "own"]
    assert not (out / "fig4/readings").exists()
    plain = (out / "fig4/claims.md").read_text(encoding="utf-8")
    assert "The interval of a claim as written has a confidence of 95 %.\n" in plain
    assert "reading" not in plain
    capsys.readouterr()
    assert cli.main([*command, "--resume"]) == 0
    assert small == ["own", "own", "other", "other"], "what is there is not run again"
    said = capsys.readouterr()
    assert "  reading other: 1 variant of 2 runs" in said.err
    assert said.out.splitlines()[-2] == "khan2023: holds: 1"
    own, other = (
        CampaignResult.open(out / "fig4" / each).runs["seed"].unique().sort().to_list()
        for each in ("campaign", "readings/other")
    )
    assert own == other
    text = (out / "fig4/claims.md").read_text(encoding="utf-8")
    assert "| short |  |" in text
    assert "| ↳ other |  |" in text
    assert (
        "\n\nA quick look: fewer or shorter runs than the paper's, so the verdicts are preliminary.\n\n"
        in text
    )
    assert "## Remarks\n\n- The application rates are " in text
    assert "the wait in the sender" not in text, "which concerns another figure"
    assert (
        "- **other**: It is the jitter. Source: section 2. Plausible because it varies. "
        "Changes `links.uplink.independent` to true. Holds in 1 of 1 cases.\n"
    ) in text
    (conclusion,) = json.loads((out / "fig4/verdicts.json").read_text(encoding="utf-8"))["conclusions"]
    assert [each["reading"] for each in conclusion["findings"]] == ["stated", "other"]
    assert conclusion["findings"][1]["confidence"] == 0.95
    summary = (out / "summary.md").read_text(encoding="utf-8")
    assert "| fig4 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | [claims.md](fig4/claims.md) |" in summary
    assert "\n\nA quick look, with fewer or shorter runs than the paper's: fig4. " in summary


def test_what_fails_under_every_reading_is_told_first_but_not_by_a_quick_look(
    small: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "claims.toml"
    never = READING.replace("mean < 1e9", "mean < 0")
    second = never[never.index("[[claims]]") :].replace('"short"', '"long"').replace("< 0", "> 0")
    file.write_text(f"{never}\n{second}".replace('says = "Delays', 'says = "All delays'), encoding="utf-8")
    command = ["reproduce", "khan2023/fig4", "--workers", "1", "--out"]
    assert cli.main([*command, str(tmp_path / "quick"), "--quick"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "Claims that the runs cannot decide:" in lines
    assert lines[-2] == "khan2023: holds: 1, cannot tell: 1"
    # In full, the same two runs decide.
    whole = tmp_path / "whole.toml"
    lines = [f'extends = "{FIG4.campaign}"', 'name = "whole"', "replicates = 2", 'set.duration = "300 ms"']
    whole.write_text("\n".join(lines), encoding="utf-8")
    (figure,) = khan2023.PAPER.figures
    figure = dataclasses.replace(figure, campaign=whole)
    monkeypatch.setattr(khan2023, "PAPER", dataclasses.replace(khan2023.PAPER, figures=(figure,)))
    assert cli.main([*command, str(tmp_path / "full")]) == 0
    assert len(small) == 2 * 4
    lines = capsys.readouterr().out.splitlines()
    assert "Claims that hold under no reading tried:" in lines
    assert "- fig4: All delays are short." in lines
    assert lines[-2] == "khan2023: holds: 1, holds under no reading tried: 1"


def test_a_wrong_reading_is_refused_before_anything_runs(
    small: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "claims.toml"
    file.write_text(READING.replace("uplink", "uplnk"), encoding="utf-8")
    assert cli.main(["reproduce", "khan2023/fig4", "--quick", "--out", str(tmp_path / "o")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"leobench: {file}: readings[0].overrides: " in line
    assert "uplnk" in line
    assert small == []
    assert not (tmp_path / "o").exists()
