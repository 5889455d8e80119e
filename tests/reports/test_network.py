"""The network in orbit on the globe of a report: routes, utilisation of lasers, and drops over time."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import polars as pl
from playwright.sync_api import expect

import leobench
from leobench import report
from leobench.report import network
from leobench.report.content import Run, Table
from tests.orbit.cities import scenario

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.reports.browser import Opened

SCENARIO = {
    "record": {"interval": "500 ms"},
    "constellation": {"terminals": {"van": {}}, "gateways": {"turin": {}}},
    "links": {"sky": {"between": ["a", "b"], "constellation": {"terminal": "van"}}},
}


def run_of(**tables: list[dict[str, Any]]) -> Run:
    def table(rows: list[dict[str, Any]]) -> Table:
        written = io.BytesIO()
        pl.DataFrame(rows, infer_schema_length=None).write_parquet(written)
        return Table(len(rows), written.getvalue())

    found = {name: table(rows) for name, rows in tables.items()}
    return Run("a", "a", "", "a.json", {"scenario": SCENARIO}, None, found)


def way(t_s: float, link: str, ends: tuple[str, str] | None, satellites: str | None) -> dict[str, Any]:
    start, end = ends or (None, None)
    delay = None if ends is None else 12_345_678
    return {
        "t_ns": round(t_s * 1e9),
        "link": link,
        "from_station": start,
        "satellites": satellites,
        "to_station": end,
        "delay_ns": delay,
    }


def hop(t_s: float, name: str, busy_ms: int, dropped: int = 0) -> dict[str, Any]:
    return {
        "t_ns": round(t_s * 1e9),
        "hop": name,
        "busy_ns": busy_ms * 1_000_000,
        "dropped_packets": dropped,
    }


def test_rows_become_what_the_globe_needs() -> None:
    there, back = ("van", "turin"), ("turin", "van")
    run = run_of(
        ways=[
            way(0, "sky/a->b", there, "x->y->z"),
            way(0, "sky/b->a", back, "z->x"),
            way(1.5, "sky/a->b", None, None),
        ],
        hops=[
            hop(0.5, "laser/x->y", 100),
            hop(0.5, "laser/y->x", 300),
            hop(1.0, "laser/x->y", 500, dropped=7),
            hop(2.0, "laser/w->z", 50),
            hop(2.0, "laser/z->q", 0),
            hop(1.0, "up/van", 500, dropped=2),
            hop(1.5, "up/sky", 500, dropped=3),
            hop(2.0, "down/z->ground", 500, dropped=4),
            hop(2.0, "backhaul/turin/there", 500, dropped=5),
            hop(2.0, "up/cell->y", 500, dropped=6),
        ],
    )
    notes: list[str] = []
    assert network.describe(run, 2.0, notes) == {
        "step_s": 0.5,
        "satellites": ["x", "y", "z", "w"],
        "routes": [
            {
                "link": "sky/a->b",
                "from_terminal": True,
                "changes": [[0.0, "van", [0, 1, 2], "turin", 12.346], [1.5, None, [], None, None]],
            },
            {
                "link": "sky/b->a",
                "from_terminal": False,
                "changes": [[0.0, "turin", [2, 0], "van", 12.346]],
            },
        ],
        # Of both directions, that which sent for longer; the sample at 0.5 s is about the time before.
        "lasers": [{"ends": [0, 1], "busy": [[0, 0.6], [1, 1.0]]}, {"ends": [3, 2], "busy": [[3, 0.1]]}],
        "drops": [
            {"hop": "backhaul/turin/there", "station": "turin", "packets": [[3, 5]]},
            {"hop": "down/z->ground", "satellite": 2, "packets": [[3, 4]]},
            {"hop": "laser/x->y", "satellite": 0, "packets": [[1, 7]]},
            {"hop": "up/cell->y", "satellite": 1, "packets": [[3, 6]]},
            {"hop": "up/sky", "station": "van", "packets": [[2, 3]]},
            {"hop": "up/van", "station": "van", "packets": [[1, 2]]},
        ],
    }
    assert notes == []
    assert network.describe(run_of(), 2.0, notes) is None


def test_long_runs_have_longer_intervals_and_say_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = ("van", "turin")
    hops = [hop(t, "laser/x->y", 250) for t in (0.5, 1.0, 300.0)] + [hop(300.0, "laser/y->z", 400)]
    ways = [way(0, f"sky/{end}", ends, "x->y") for end in ("a->b", "b->a")]
    run = run_of(ways=ways, hops=hops)
    described = network.describe(run, 300.0, [])
    assert described is not None
    # 600 samples in at most 200 intervals of 3 samples each.
    assert described["step_s"] == 1.5
    assert described["lasers"][0]["busy"] == [[0, 0.333], [199, 0.167]]
    monkeypatch.setattr(network, "_MOST_SHARES", 2)
    monkeypatch.setattr(network, "_MOST_CHANGES", 1)
    notes: list[str] = []
    short = network.describe(run, 300.0, notes)
    assert short is not None
    assert (len(short["routes"]), len(short["lasers"])) == (1, 1)
    assert notes == [
        "The globe shows the routes of 1 of 2 directions of links only.",
        "The globe shows the 1 busiest of 2 lasers only.",
    ]


CITIES = {"manila": (14.6, 120.98), "dalian": (38.91, 121.61), "tokyo": (35.69, 139.69)}


def test_the_globe_shows_the_network_at_the_time_of_its_slider(tmp_path: Path, opened: Opened) -> None:
    file = tmp_path / "network.toml"
    head = 'name = "network"\nduration = "4 s"\nrecord = { interval = "500 ms" }'
    # More than the lasers carry, so that packets are dropped.
    isl = 'rate = "4 Mbps", queue = { kind = "fifo", limit = "5 packets" }'
    file.write_text(scenario(head, CITIES, (("manila", "dalian"), ("manila", "tokyo")), isl=isl))
    result = leobench.run(file, out=tmp_path / "run")
    page = opened.open(report.write([tmp_path / "run"], tmp_path / "network.html"))
    page.locator("#globe").scroll_into_view_if_needed()
    expect(page.locator("#globe canvas")).to_be_visible()
    told = page.locator("#globe .in-orbit")
    assert "4 of 4 directions of links have a route" in told.inner_text()
    page.locator("#globe input").fill("2.2")
    hops = result.tables.hops.filter(pl.col("t_ns") == 2_500_000_000)
    busiest = hops.filter(pl.col("hop").str.starts_with("laser/"))["busy_ns"].max()
    assert isinstance(busiest, int)
    assert f"{100 * busiest / 5e8:.0f} %" in told.inner_text()
    assert "from 2.0 to 2.5 s" in told.inner_text()
    dropped = hops.filter(pl.col("dropped_packets") > 0)
    assert dropped.height
    for row in dropped.iter_rows(named=True):
        assert f"{row['hop']}: {row['dropped_packets']} packets dropped" in told.inner_text()
    page.get_by_label("Routes shown").select_option("manila-dalian/manila->dalian")
    way = result.tables.ways.filter(link="manila-dalian/manila->dalian").row(0, named=True)
    passed = " → ".join(["manila", *way["satellites"].split("->"), "dalian"])
    assert passed in told.inner_text()
