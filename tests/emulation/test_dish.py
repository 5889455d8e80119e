"""A dish on a host at a terminal, as a public client of Starlink's user terminals sees it."""

from __future__ import annotations

import datetime as dt
import json
import math
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from leobench.emulation import dish
from leobench.emulation.dish.measure import LENGTH, History, Sample
from leobench.emulation.dish.obstructions import FREE, HIDDEN, SIZE, UNUSED, map_of
from leobench.emulation.dish.sky import Cause, Outage, Sky, outages_of
from leobench.errors import InputError
from leobench.orbit import survey
from leobench.scenario import load
from tests.support.paths import ROOT
from tests.support.programs import PATIENT, leobench

if TYPE_CHECKING:
    from pathlib import Path

STARLINK = ROOT / "scenarios" / "starlink-hour.toml"
ONE_FLOW = ROOT / "scenarios" / "one-flow.toml"

# Sends 300 datagrams of 1,000 bytes over six seconds, and prints what starlink-grpc-tools reads on the roof.
CLIENT = """
import json, socket, time
import starlink_grpc

load = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
began = time.time()
for number in range(300):
    load.sendto(bytes(972), ("pop", 9))
    time.sleep(0.02)
time.sleep(13)
context = starlink_grpc.ChannelContext()
status, obstructions, alerts = starlink_grpc.status_data(context)
bulk = starlink_grpc.history_bulk_data(-1, context=context)[1]
history = starlink_grpc.get_history(context)
outages = [
    [each.cause, each.start_timestamp_ns, each.duration_ns, each.did_switch] for each in history.outages
]
print(json.dumps({"status": status, "bulk": bulk, "outages": outages, "began": began}))
"""


@pytest.mark.usefixtures("hosts")
@pytest.mark.real_time
def test_a_public_client_reads_the_simulated_state(tmp_path: Path) -> None:
    """Starlink's satellites change at the seconds 12, 27, 42 and 57, here with outages of 3 s."""
    wall = 'constellation.terminals.seattle.obstructions=["0 deg", "60 deg"]'
    read = _read(tmp_path, "--set", wall, "--set", 'constellation.outage="3 s"')
    status, bulk = read["status"], read["bulk"]
    assert status["id"] == "leobench-seattle"
    assert status["state"] == "CONNECTED"
    assert status["uptime"] >= 18
    assert status["gps_sats"] is None
    # Headers of IP and UDP are part of a packet; ten pings a second are, too.
    sent = sum(bulk["uplink_throughput_bps"]) / 8
    pings = 84 * 10 * len(bulk["uplink_throughput_bps"])
    assert sent == pytest.approx(300 * 1000 + pings, rel=0.05)
    # A ping that waits longer than a second is lost: those of the seconds 12 and 13.
    assert max(bulk["pop_ping_drop_rate"][:12]) == 0
    assert max(bulk["pop_ping_drop_rate"][12:17]) == 1
    # Starlink's way there and back; a busy machine adds to it.
    delays = _delays(11)
    assert 2 * min(delays) <= min(bulk["pop_ping_latency_ms"][1:12]) <= 2 * max(delays) + 50
    cause, start_ns, duration_ns, did_switch = read["outages"][0]
    assert (cause, did_switch) == (7, True)
    assert duration_ns == pytest.approx(3e9, abs=1e3)
    # GPS time has been 18 s ahead of Unix time, whose epoch is 10 years and two days earlier, since 2017.
    unix = start_ns / 1e9 + dt.datetime(1980, 1, 6, tzinfo=dt.UTC).timestamp() - 18
    assert read["began"] + 8 <= unix <= read["began"] + 12


@pytest.mark.usefixtures("hosts")
def test_a_scenario_without_a_constellation_has_no_dish(tmp_path: Path) -> None:
    refused = leobench("emulate", ONE_FLOW, "--dish", "--", "true", cwd=tmp_path)
    assert refused.returncode == 2
    assert "--dish: no link leads through a constellation; allowed: a scenario with" in refused.stderr


def test_without_grpc_a_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "grpc", None)
    with pytest.raises(InputError, match=r"pip install 'leobench\[dish\]'"):
        _found()


def test_a_dish_is_at_the_first_node_of_a_link_through_the_constellation() -> None:
    (found,) = _found().dishes
    assert (found.host, found.link, found.terminal, found.device) == ("roof", "sky", "seattle", "sky")


def test_outages_are_handovers_and_times_without_a_satellite() -> None:
    """From one satellite to another, to none, and from none."""
    handovers: list[dict[str, Any]] = [
        {"t_s": 0.0, "from": None, "to": "a", "outage_ms": 0.0},
        {"t_s": 12.0, "from": "a", "to": "b", "outage_ms": 40.0},
        {"t_s": 20.0, "from": "b", "to": None, "outage_ms": 0.0},
        {"t_s": 27.0, "from": None, "to": "c", "outage_ms": 0.0},
        {"t_s": 42.0, "from": "c", "to": None, "outage_ms": 0.0},
    ]
    assert outages_of(handovers) == [
        Outage(12.0, 12.04, Cause.NO_DOWNLINK, did_switch=True),
        Outage(20.0, 27.0, Cause.NO_SATS, did_switch=True),
        Outage(42.0, None, Cause.NO_SATS, did_switch=False),
    ]
    assert outages_of([]) == [Outage(0.0, None, Cause.NO_SATS, did_switch=False)]


def test_the_sky_looks_further_when_time_gets_there() -> None:
    sky = Sky(load(STARLINK, flows="unused").to_json(), "sky")
    assert sky.outage(12.02) == Outage(12.0, 12.04, Cause.NO_DOWNLINK, did_switch=True)
    assert sky.outage(13.0) is None
    known = len(sky.outages(1e9))
    deadline = time.monotonic() + 60
    while len(sky.outages(1e9)) == known and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(sky.outages(1e9)) > known


def test_a_history_is_a_ring_of_the_latest_samples() -> None:
    history = History()
    for number in range(LENGTH + 3):
        history.add(Sample(0.0, float(number), 0.0, 0.0))
    count, ring = history.ring()
    assert count == LENGTH + 3
    assert [ring[place % LENGTH].latency_ms for place in range(3, count)] == list(range(3, LENGTH + 3))


def test_a_wall_hides_its_part_of_the_map() -> None:
    """A wall of 60 degrees over the east: of a sky from 20 degrees on, an annulus from 3/7 of the radius."""
    known = map_of({"obstructions": ["60 deg", "0 deg"]}, lowest_deg=20)
    rows = [known.values[row * SIZE : (row + 1) * SIZE] for row in range(SIZE)]
    middle = SIZE // 2
    assert rows[middle][middle] == FREE
    assert (rows[middle][SIZE - 2], rows[middle][1]) == (HIDDEN, FREE)
    assert rows[0][0] == UNUSED
    assert known.hidden_share == pytest.approx((1 - (3 / 7) ** 2) / 2, abs=0.01)
    assert known.used == pytest.approx(math.pi * middle**2, rel=0.01)


def test_a_tilted_dish_reaches_a_part_of_the_map() -> None:
    tilted = {"dish": {"azimuth": "0 deg", "elevation": "60 deg", "reach": "45 deg"}}
    rows = map_of(tilted, lowest_deg=10)
    middle = SIZE // 2
    column = [rows.values[row * SIZE + middle] for row in range(SIZE)]
    # To the north down to an elevation of 15 degrees, to the south 15 degrees from the zenith.
    used = [row for row, value in enumerate(column) if value == FREE]
    assert used[0] == middle - int(75 / 80 * middle)
    assert used[-1] == middle + int(15 / 80 * middle)


def _found() -> dish.Dishes:
    scenario = load(STARLINK, flows="unused")
    return dish.of(scenario, json.loads(scenario.to_json()))


def _delays(seconds: float) -> list[float]:
    """One-way delays in milliseconds, as `leobench orbit` finds them."""
    seen = survey(load(STARLINK, None, {"duration": f"{seconds} s"}, flows="unused"))
    return [float(each) for each in seen.samples["delay_ms"]]


def _read(folder: Path, *more: str) -> dict[str, Any]:
    client = folder / "client.py"
    client.write_text(CLIENT)
    words = ["emulate", STARLINK, *PATIENT, "--dish", *more, "--host", "roof", "--", sys.executable, client]
    ended = leobench(*words, cwd=folder)
    assert ended.returncode == 0, ended.stderr
    read: dict[str, Any] = json.loads(ended.stdout)
    return read
