"""Round trips of the shipped pairs of cities over Kuiper's shell beside those of Hypatia's own code."""

from __future__ import annotations

from pathlib import Path

import pytest

import leobench
from leobench import papers
from leobench.errors import InputError

DATA = Path(__file__).parents[2] / "crates" / "orbit" / "tests" / "data"
PAIRS = papers.paper("hypatia2020").claims.parent / "pairs.toml"


def stated() -> dict[tuple[str, int], tuple[int, int] | None]:
    """By city and second: lasers on the way to the city 50 rows below it, and the round trip in ns."""
    found: dict[tuple[str, int], tuple[int, int] | None] = {}
    way = ""
    names = [line.split(" = ")[0] for line in _table("constellation.terminals")]
    for line in (DATA / "hypatia-routes.csv").read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        start, end, seconds, nodes, rtt = line.split(",")
        way = way if nodes == "=" else nodes
        if int(end) == int(start) + 50:
            found[names[int(start)], int(seconds)] = (way.count("-"), int(rtt)) if way else None
    return found


def _table(name: str) -> list[str]:
    lines = PAIRS.read_text("utf-8").splitlines()
    start = lines.index(f"[{name}]") + 1
    return lines[start : lines.index("", start)]


def test_ways_and_round_trips_are_those_of_hypatia() -> None:
    """Within a microsecond and with the same number of lasers, for 50 pairs of cities every 10 s."""
    survey = leobench.survey(PAIRS, interval_s=10.0)
    samples = survey.samples.select("link", "t_s", "hops", "delay_ms").iter_rows()
    shown = {(link, round(at)): (hops, delay) for link, at, hops, delay in samples}
    told = stated()
    assert len(told) == 50 * 20
    assert {key for key in told if shown[key][1] is None} == {key for key in told if told[key] is None}
    for key, expected in told.items():
        hops, delay = shown[key]
        if expected is not None and delay is not None:
            assert hops == expected[0], key
            assert abs(2e6 * delay - expected[1]) < 1e3, key


def test_a_range_limits_who_serves() -> None:
    """Ranges are at or below the limit, and longer with a longer one."""
    furthest = {}
    for limit in (1_000.0, 1_260.0):
        overrides = {
            "constellation.longest_range": f"{limit} km",
            "links.sky.constellation": {"terminal": "manila", "gateways": ["dalian"]},
            "duration": "60 s",
        }
        survey = leobench.survey(PAIRS.with_name("pair.toml"), overrides=overrides, interval_s=10.0)
        furthest[limit] = max(survey.samples["range_km"].drop_nulls().to_list())
    assert furthest[1_000.0] <= 1_000.0 < furthest[1_260.0] <= 1_260.0


def test_a_chain_has_no_range() -> None:
    chain = Path(__file__).parents[2] / "scenarios" / "maco-chain.toml"
    with pytest.raises(InputError, match=r"longest_range.*together with a `chain`"):
        leobench.survey(chain, overrides={"constellation.longest_range": "1000 km"})
