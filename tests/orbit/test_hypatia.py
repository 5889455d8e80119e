"""Networks in Hypatia's format: delays beside those that Hypatia states, and files that are wrong."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

import leobench
from leobench import cli, hypatia
from tests.orbit.test_inputs import checked

if TYPE_CHECKING:
    from pathlib import Path

# Kuiper's shell of 630 km as Hypatia has it: 34 orbits of 34 satellites, each second one half a place ahead.
ORBITS = PER_ORBIT = 34
SATELLITES = ORBITS * PER_ORBIT
INCLINATION, REVOLUTIONS = 51.9, 14.8
STATIONS = (
    "0,Manila,14.6042,120.9822,0",
    "1,Dalian,38.913811,121.602322,0",
    "2,Sankt-Peterburg,59.929858,30.326228,0",
)
MANILA, DALIAN, PETERSBURG = range(SATELLITES, SATELLITES + 3)

# Round-trip times in ns that Hypatia's own tests state for this network and these ways, by ns after its epoch
# (snkas/hypatia, satgenpy/tests/data_to_match/kuiper_630; its stations have other numbers there).
DALIAN_RTT = {
    0: 29_423_137.76,
    74_300_000_000: 42_043_769.70,
    100_000_000_000: 42_776_626.28,
    150_000_000_000: 42_234_037.94,
}
PETERSBURG_RTT = 76_846_048.72


def element_set(number: int) -> str:
    """The element set of a satellite on the grid, at rest in Hypatia's sense: no drag."""
    orbit, place = divmod(number, PER_ORBIT)
    node = orbit * 360 / ORBITS
    anomaly = (place + 0.5 * (orbit % 2)) * 360 / PER_ORBIT
    angles = f"{INCLINATION:8.4f} {node:8.4f} 0000001   0.0000 {anomaly:8.4f}"
    second = f"2 {number + 1:05d} {angles} {REVOLUTIONS:11.8f}    0"
    return "\n".join([f"Kuiper-630 {number}", first_line(number), checked(second)])


def first_line(number: int, day: int = 1) -> str:
    """Line 1 of the element set of a satellite, whose epoch is the start of a day of 2000."""
    return checked(f"1 {number + 1:05d}U 00000ABC 000{day:02d}.00000000  .00000000  00000-0  00000+0 0    0")


def grid() -> list[tuple[int, int]]:
    links = set()
    for number in range(SATELLITES):
        orbit, place = divmod(number, PER_ORBIT)
        for other in (
            orbit * PER_ORBIT + (place + 1) % PER_ORBIT,
            (orbit + 1) % ORBITS * PER_ORBIT + place,
        ):
            links.add((min(number, other), max(number, other)))
    return sorted(links)


def entries(way: list[int], end: int) -> list[str]:
    """The forwarding state along a way; interfaces do not matter here."""
    return [f"{here},{end},{there},0,0" for here, there in pairwise(way)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Hypatia's Kuiper-630, with the ways that it states, and 140 s to 150 s without one."""
    folder = tmp_path / "kuiper_630"
    states = folder / "dynamic_state_100ms_for_200s"
    states.mkdir(parents=True)
    tles = [f"{ORBITS} {PER_ORBIT}", *(element_set(number) for number in range(SATELLITES))]
    (folder / "tles.txt").write_text("\n".join(tles) + "\n", encoding="utf-8")
    (folder / "isls.txt").write_text("".join(f"{a} {b}\n" for a, b in grid()), encoding="utf-8")
    (folder / "ground_stations.txt").write_text("\n".join(STATIONS) + "\n", encoding="utf-8")
    limits = "max_gsl_length_m=1260000.0000000000\nmax_isl_length_m=5442958.2030362869\n"
    (folder / "description.txt").write_text(limits, encoding="utf-8")
    ways: dict[int, list[list[str]]] = {
        0: [
            entries([MANILA, 184, 183, 217, DALIAN], DALIAN),
            entries([DALIAN, 217, 183, 184, MANILA], MANILA),
            entries([MANILA, 184, 183, 182, 181, 180, 179, 178, 144, PETERSBURG], PETERSBURG),
        ],
        18_000_000_000: [entries([MANILA, 218, 217, DALIAN], DALIAN), [f"{DALIAN},{MANILA},-1,-1,-1"]],
        27_600_000_000: [entries([MANILA, 648, 649, 650, 616, DALIAN], DALIAN)],
        74_300_000_000: [entries([MANILA, 218, 217, 216, 250, DALIAN], DALIAN)],
        125_900_000_000: [entries([MANILA, 647, 648, 649, 650, 616, DALIAN], DALIAN)],
        128_700_000_000: [entries([MANILA, 647, 648, 649, 615, DALIAN], DALIAN)],
        140_000_000_000: [[f"{MANILA},{DALIAN},-1,-1,-1"]],
        150_000_000_000: [entries([MANILA, 647, 648, 649, 615, DALIAN], DALIAN)],
        155_400_000_000: [[f"{MANILA},{PETERSBURG},-1,-1,-1"]],
        199_900_000_000: [[]],
    }
    for at, changes in ways.items():
        lines = [line for each in changes for line in each]
        (states / f"fstate_{at}.txt").write_text("\n".join([*lines, ""]), encoding="utf-8")
    return folder


def test_delays_are_those_that_hypatia_states(folder: Path) -> None:
    """Within 0.1 %: its positions are PyEphem's."""
    network = hypatia.Network(str(folder))
    assert len(network.stations) == 3
    delays = dict(network.delays("Manila", "Dalian", 100_000_000))
    for at, rtt in DALIAN_RTT.items():
        assert 2e9 * (delays[at] or 0) == pytest.approx(rtt, rel=1e-3), at
    far = dict(network.delays("Manila", "Sankt-Peterburg", 1_000_000_000))
    assert 2e9 * (far[0] or 0) == pytest.approx(PETERSBURG_RTT, rel=1e-3)
    back = dict(network.delays("Dalian", "Manila", 1_000_000_000))
    assert back[0] == pytest.approx(delays[0], rel=1e-12)


def test_a_way_changes_ends_and_returns(folder: Path) -> None:
    ways = hypatia.Network(str(folder)).ways("Manila", "Dalian")
    assert [at // 100_000_000 for at, _ in ways] == [0, 180, 276, 743, 1259, 1287, 1400, 1500]
    assert ways[6][1] is None
    assert ways[3][1] == (MANILA, 218, 217, 216, 250, DALIAN)
    delays = hypatia.Network(str(folder)).delays("Manila", "Dalian", 1_000_000_000)
    assert {at for at, delay in delays if delay is None} == {
        second * 1_000_000_000 for second in range(140, 150)
    }


def test_a_run_has_the_delays_of_the_table(folder: Path, tmp_path: Path, quick: Path) -> None:
    table = tmp_path / "way.csv"
    command = ["hypatia", str(folder), "Manila", "Dalian", "--rate", "20 Mbps", "--interval", "1"]
    assert cli.main([*command, "--out", str(table)]) == 0
    channel = {"links.uplink.channel": {"kind": "schedule", "file": "way.csv"}, "links.uplink.rate": None}
    run = leobench.run(quick, overrides=channel | {"links.uplink.delay": "0 ms", "duration": "1 s"})
    first = run.tables.channel.row(0, named=True)
    assert 2 * first["delay_ns"] == pytest.approx(DALIAN_RTT[0], rel=1e-3)
    assert first["rate_bps"] == 20_000_000
    assert run.summary["flows"][0]["rtt_ms"]["p50"] > 29


def test_ways_are_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["hypatia", str(folder), "Manila", "Dalian", "--interval", "10"]) == 0
    said = capsys.readouterr().out
    assert f"{MANILA}-218-217-216-250-{DALIAN}" in said
    assert "14.7" in said


def test_ways_may_lead_over_stations(folder: Path) -> None:
    """As those without links between satellites do."""
    state = folder / STATE
    text = state.read_text(encoding="utf-8")
    over = (
        text.replace(f"184,{DALIAN},183", f"184,{DALIAN},{PETERSBURG}") + f"{PETERSBURG},{DALIAN},183,0,0\n"
    )
    state.write_text(over, encoding="utf-8")
    assert hypatia.Network(str(folder)).ways("Manila", "Dalian")[0][1] == (
        MANILA,
        184,
        PETERSBURG,
        183,
        217,
        DALIAN,
    )


STATE = "dynamic_state_100ms_for_200s/fstate_0.txt"


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("tles.txt", "34 34\n", "34\n", 'tles.txt, line 1: has "34"; it should have the number of orbits'),
        ("tles.txt", "34 34\n", "34 33\n", "tles.txt: has 1156 element sets, but line 1 announces 34 x 33"),
        ("tles.txt", "Kuiper-630 7\n", "Kuiper-630 8\n", 'line 24: has the name "Kuiper-630 8"; it'),
        ("tles.txt", first_line(7), first_line(7, 2), "tles.txt, line 24: has the epoch 2000-01-02T"),
        ("tles.txt", "2 00185  51.9000", "2 00185  51.9001", "tles.txt, line 556: the checksum is"),
        ("isls.txt", "0 1\n", "1 0\n", 'isls.txt, line 1: has "1 0"; it should have two numbers'),
        ("isls.txt", "0 1\n", "0 1\n0 1\n", 'isls.txt, line 2: repeats the link "0 1"'),
        ("isls.txt", "0 1\n", "0 1156\n", "numbers of satellites below 1156"),
        ("ground_stations.txt", "1,Dalian", "2,Dalian", 'ground_stations.txt, line 2: has "2,Dalian'),
        ("ground_stations.txt", "38.913811", "98.9", "line 2: Dalian: latitude 98.9 is not from -90 to"),
        ("ground_stations.txt", "38.913811", "north", 'line 2: has ["north"'),
        ("description.txt", "max_isl", "max_osl", "description.txt: has no max_isl_length_m"),
        ("description.txt", "1260000", "600000", "km apart; allowed: at most 606 km by description.txt"),
        (STATE, "184,1157,183", "184,1157,900", "fstate_0.txt, line 2: has the next hop 900 for node 184"),
        (STATE, "184,1157,183,0,0", "184,1157,183", 'fstate_0.txt, line 2: has "184,1157,183"'),
        (STATE, "184,1157,183", "184,5,183", "has node 184 and destination 5; nodes should be below 1159"),
        (STATE, "183,1157,217", "183,1157,184", "packets loop at 184"),
        (STATE, "183,1157,217,0,0\n", "", "node 183 has no next hop to 1157 yet"),
    ],
)  # fmt: skip
def test_files_that_are_wrong_are_refused_by_line(
    folder: Path, file: str, old: str, new: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    out = folder / "way.csv"
    assert cli.main(["hypatia", str(folder), "Manila", "Dalian", "--out", str(out)]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "; allowed: " in error
    assert error.count("\n") == 1
    assert not out.exists()


def test_what_is_missing_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["hypatia", str(folder), "Manila", "Rome"]) == 2
    assert "Rome: no such ground station; allowed: Manila, Dalian, Sankt-Peterburg" in capsys.readouterr().err
    assert cli.main(["hypatia", str(folder), "Manila", "Manila"]) == 2
    assert "Manila: is both ends of the route" in capsys.readouterr().err
    (folder / "dynamic_state_100ms_for_200s" / "fstate_0.txt").unlink()
    assert cli.main(["hypatia", str(folder), "Manila", "Dalian"]) == 2
    assert "has no fstate_0.txt" in capsys.readouterr().err
    (folder / "isls.txt").unlink()
    assert cli.main(["hypatia", str(folder), "Manila", "Dalian"]) == 2
    assert "isls.txt: no such file; allowed: a folder that Hypatia generated" in capsys.readouterr().err
