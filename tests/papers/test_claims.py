from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leobench import InputError, papers
from leobench.papers import claims
from leobench.papers.claims import Relation

if TYPE_CHECKING:
    from pathlib import Path

FINE = """\
[[claims]]
id = "longer"
figure = "fig1"
stated = "section 1"
says = "Longer queues, longer delays."
metric = "delay"
along = "queue"
relation = "ratio > 1"
because = "an ordering"
"""


def read(tmp_path: Path, text: str) -> list[claims.Claim]:
    file = tmp_path / "claims.toml"
    file.write_text(text, encoding="utf-8")
    return claims.read(file)


def test_a_relation_is_a_statistic_and_a_range() -> None:
    infinity = float("inf")
    assert Relation.parse("ratio > 1") == Relation("ratio", 1, infinity)
    assert Relation.parse("mean < -0.5") == Relation("mean", -infinity, -0.5)
    assert Relation.parse("spread < 1e-3") == Relation("spread", -infinity, 1e-3)
    assert Relation.parse("mean within [0.9, 1.1]") == Relation("mean", 0.9, 1.1)


@pytest.mark.parametrize("text", ["ratio > 1", "mean < -0.5", "difference within [-1, 1]"])
def test_a_relation_is_written_as_it_is_read(text: str) -> None:
    assert str(Relation.parse(text)) == text


@pytest.mark.parametrize(
    "text", ["median > 1", "ratio >= 1", "ratio > one", "", "mean within [2, 1]", "a > b"]
)
def test_anything_else_is_no_relation(text: str) -> None:
    with pytest.raises(ValueError, match="allowed"):
        Relation.parse(text)


def test_claims_are_read(tmp_path: Path) -> None:
    (claim,) = read(tmp_path, FINE)
    assert claim.id == "longer"
    assert claim.relation == Relation("ratio", 1, float("inf"))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("along", "alnog", r"claims\[0\].alnog: unknown key; .*did you mean `along`"),
        ("ratio > 1", "ratio ~ 1", r'claims\[0\].relation = "ratio ~ 1": not a relation; allowed'),
        ("ratio > 1", "mean > 1", r"claims\[0\].along: `mean` compares nothing"),
        ('along = "queue"\n', "", r"claims\[0\].along: `ratio` compares values of a place"),
        ('because = "an ordering"\n', "", r"claims\[0\]: `because` is missing"),
        ('metric = "delay"\n', "", r"claims\[0\]: `metric` is missing"),
        ('along = "queue"', 'along = "metric"', r"claims\[0\]: `values` is missing"),
        ('metric = "delay"', "metric = 1", r"claims\[0\].metric = 1; allowed"),
        ("[[claims]]", "[[claim]]", r"allowed: `\[\[claims\]\]`"),
        ("[[claims]]", "[[claims", "unclosed array table"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(tmp_path, FINE.replace(old, new))


def test_no_claim_is_there_twice(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='id = "longer": appears twice'):
        read(tmp_path, FINE + FINE)


# Points that an abstract leaves open, controllers that are not ours to run, and times of the machine.
UNMET = {
    "mazilu2025": {
        "bbr3-reacts-slowly",
        "learned-underperform",
        "learned-resist-loss",
        "several-bottlenecks-are-unfair",
        "aqm-boosts-efficiency",
    },
    "hypatia2020": {"slowdown-of-the-simulator"},
    "zhao2024": {"cmab-beats-others"},
}


@pytest.mark.parametrize("paper", papers.papers(), ids=lambda paper: paper.name)
def test_the_claims_of_every_paper_are_sound_and_about_its_figures(paper: papers.Paper) -> None:
    found = claims.read(paper.claims)
    about = {claim.figure for claim in found}
    assert about <= {name for figure in paper.figures for name in figure.claims}
    assert {name for figure in paper.figures if not figure.extra for name in figure.claims} <= about
    needs = {claim.id for claim in found if claim.needs}
    assert needs == UNMET.get(paper.name, set()), "all that the others need is there"
