"""Measures of ways, unused capacity and reductions without loss, on tables made by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import polars as pl
import pytest

from leobench.papers.hypatia2020 import measures, over_hops

if TYPE_CHECKING:
    from leobench.campaign import CampaignResult

MS, S = 1_000_000, 1_000_000_000
STEP = 100 * MS


def stub(**tables: pl.DataFrame) -> CampaignResult:
    """One run of one variant with these tables."""
    kept = {
        name: table.select(pl.lit("a").alias("variant"), pl.lit(1, pl.Int64).alias("replicate"), pl.all())
        for name, table in tables.items()
    }
    runs = pl.DataFrame({"variant": ["a"], "replicate": [1]})
    return cast("CampaignResult", SimpleNamespace(tables=SimpleNamespace(**kept), runs=runs))


def ways(*rows: tuple[int, str, str | None]) -> pl.DataFrame:
    """Rows of time, link in one direction, and satellites."""
    hops = [None if way is None else way.count("->") for _, _, way in rows]
    return pl.DataFrame(
        {
            "t_ns": [at for at, _, _ in rows],
            "link": [link for _, link, _ in rows],
            "satellites": [way for _, _, way in rows],
            "hops": hops,
        },
        schema_overrides={"satellites": pl.String, "hops": pl.Int64},
    )


def test_a_way_changes_when_its_satellites_do_and_when_it_is_lost() -> None:
    """By hand: 1-2-3, 1-4, none, 1-4 are three changes, of four and three hops with those to the ground."""
    rows = (
        (0, "sky/here->there", "1->2->3"),
        (0, "sky/there->here", "3->2->1"),
        (5 * S, "sky/here->there", "1->4"),
        (6 * S, "sky/there->here", "9"),
        (7 * S, "sky/here->there", None),
        (8 * S, "sky/here->there", "1->4"),
    )
    found = over_hops.changes(stub(ways=ways(*rows))).row(0, named=True)
    assert (found["name"], found["changes"]) == ("sky", 3)
    assert (found["hops_min"], found["hops_max"]) == (3, 4)


def hops(*rows: tuple[int, str, float]) -> pl.DataFrame:
    """Rows of the end of a sample, hop, and share of the sample in which it sent."""
    return pl.DataFrame(
        {
            "t_ns": [at for at, _, _ in rows],
            "hop": [hop for _, hop, _ in rows],
            "busy_ns": [round(share * STEP) for _, _, share in rows],
        }
    )


WAYS = ways(
    (0, "sky/here->there", "1->2->3"),
    (0, "sky/there->here", "3->2->1"),
    (2 * STEP, "sky/here->there", "4->5"),
    (3 * STEP, "sky/here->there", None),
)
HOPS = hops(
    (STEP, "laser/1->2", 0.25),
    (STEP, "laser/2->3", 0.75),
    (STEP, "laser/3->2", 1.0),  # the other direction
    (STEP, "up/here", 0.9),  # no laser
    (2 * STEP, "laser/1->2", 0.5),
    (2 * STEP, "laser/4->5", 1.0),  # not on the way yet
    (3 * STEP, "laser/1->2", 1.0),
    (3 * STEP, "laser/4->5", 1.01),  # a transmission that began in the sample before
    (4 * STEP, "laser/4->5", 0.5),
)


def test_what_is_unused_is_that_of_the_busiest_laser_on_the_way() -> None:
    """By hand: 1/4 of the rate, 1/2, nothing, and no way."""
    found = over_hops.unused(stub(ways=WAYS, hops=HOPS))
    assert found["t_ns"].to_list() == [0, STEP, 2 * STEP, 3 * STEP]
    assert found["unused"].to_list() == [pytest.approx(0.25), pytest.approx(0.5), 0.0, None]


def test_unused_capacity_counts_while_there_is_a_way() -> None:
    """The mean of 1/4, 1/2 and 0 is 1/4, and one of three samples is above a third."""
    measured = over_hops.of_cross(stub(ways=WAYS, hops=HOPS))
    values = dict(measured.select("metric", "value").iter_rows())
    assert set(values) == set(over_hops.CROSS)
    assert values["unused_mean_bps"] == pytest.approx(2.5e6)
    assert values["unused_third_share"] == pytest.approx(1 / 3)


def test_seconds_without_a_way_are_drawn_as_unused() -> None:
    """Four samples of a second: 1/4, 1/2, 0 and all of 10 Mbit/s have a mean of 4.375."""
    drawn = over_hops.drawn(stub(ways=WAYS, hops=HOPS))
    assert drawn["t_s"].to_list() == [0]
    assert drawn["unused_mbps"].to_list() == [pytest.approx(4.375)]


def reductions(losses: list[tuple[int | None, int | None]]) -> int:
    """The count for reductions at 1, 2 and 4 s, a timeout at 3 s, and packets of these drops and verdicts."""
    events = pl.DataFrame(
        {
            "t_ns": [1 * S, 2 * S, 3 * S, 4 * S, 4 * S],
            "kind": ["congestion", "congestion", "congestion", "congestion", "phase"],
            "subject": ["main/sender"] * 5,
            "detail": ["loss: ...", "loss: ...", "timeout: ...", "loss: ...", "..."],
        }
    )
    table = pl.DataFrame(
        {
            "flow": ["main"] * len(losses),
            "end": ["sender"] * len(losses),
            "dropped_ns": [dropped for dropped, _ in losses],
            "declared_ns": [declared for _, declared in losses],
        },
        schema_overrides={"dropped_ns": pl.Int64, "declared_ns": pl.Int64},
    )
    counted = measures.reductions_without_loss(stub(events=events, losses=table))
    return int(counted["reductions_without_loss"].item())


@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        pytest.param([], 0, id="reductions that declare nothing"),
        pytest.param([(None, 1 * S)], 1, id="one packet that had not been dropped"),
        pytest.param([(S // 2, 1 * S), (None, S + 1)], 0, id="one of two was dropped"),
        pytest.param([(None, 1 * S), (None, 2 * S)], 2, id="two reductions"),
        pytest.param([(None, 2 * S), (2 * S, 2 * S + 5), (None, 4 * S)], 1, id="a drop found later"),
        pytest.param([(None, 3 * S), (None, 3 * S + 5)], 0, id="timeouts do not count"),
        pytest.param([(2 * S, None), (None, 2 * S)], 1, id="a drop that nobody noticed"),
    ],
)
def test_reductions_without_loss_are_those_whose_packets_all_arrived(
    losses: list[tuple[int | None, int | None]], expected: int
) -> None:
    assert reductions(losses) == expected
