"""Packets that take hops with queues by Hypatia's forwarding state."""

from __future__ import annotations

from math import dist
from typing import TYPE_CHECKING, Any

import pytest

import leobench
from leobench import _core
from leobench.errors import InputError
from tests.orbit.test_hypatia import DALIAN, MANILA, folder
from tests.orbit.test_hypatia_scenarios import scenario

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["folder", "scenario"]

# From these seconds on, a packet from Manila to Dalian meets so many satellites.
SATELLITES = {0: 3, 18: 2, 27.6: 4, 125.9: 5, 128.7: 4, 140: 0, 150: 4}
LIGHT = 299_792_458


def satellites(at: float) -> int:
    return next(number for second, number in reversed(SATELLITES.items()) if second <= at)


def test_an_empty_network_delays_as_one_without_hops(scenario: Path) -> None:
    """To the nanosecond; a packet of 1,028 B takes 822.4 us on a hop of 10 Mbit/s."""
    own = leobench.run(scenario)
    ground = leobench.run(scenario, overrides={"constellation.ground": {}})
    assert ground.tables.messages.equals(own.tables.messages)
    assert ground.tables.handovers.equals(own.tables.handovers)
    lasers = {"constellation.isl": {"rate": "10 Mbps"}, "constellation.ground": {"rate": "10 Mbps"}}
    hops = leobench.run(scenario, overrides=lasers)
    created = [at / 1e9 for at in own.tables.messages["created_ns"]]
    before, after = (run.tables.messages["delivered_ns"].to_list() for run in (own, hops))
    # The hops of a way are those between its satellites, and the one down.
    for at, alone, queued in zip(created, before, after, strict=True):
        assert (alone is None) == (satellites(at) == 0) == (queued is None), at
        assert alone is None or queued - alone == 822_400 * satellites(at), at
    orbit = hops.summary["orbit"]
    assert orbit["visits"] == sum(satellites(at) for at in created)
    assert (orbit["looped_packets"], orbit["black_hole_packets"]) == (0, 0)
    names = {hop["name"] for hop in orbit["hops"]}
    first = {"laser/Kuiper-630 184->Kuiper-630 183", "laser/Kuiper-630 183->Kuiper-630 217"}
    assert first | {"up/Manila", "down/Kuiper-630 217->ground"} <= names
    for hop in orbit["hops"]:
        assert hop["queue_delay_ms"]["max"] == 0


def test_packets_on_their_way_meet_the_state_of_the_moment(scenario: Path) -> None:
    """At 30 s, 649 sends back to 648, which has no way on: packets loop into a black hole."""
    network = scenario.parent / "kuiper_630"
    changes = [
        f"{node},{DALIAN},{following},0,0"
        for node, following in [(MANILA, 218), (218, 217), (217, DALIAN), (649, 648), (648, -1)]
    ]
    state = network / "dynamic_state_100ms_for_200s" / "fstate_30000000000.txt"
    state.write_text("\n".join([*changes, ""]), encoding="utf-8")
    run = leobench.run(
        scenario,
        overrides={
            "constellation.start": "2000-01-01T00:00:29Z",
            "constellation.ground": {},
            "duration": "1.5 s",
            "flows.calls.source.rate": "8 Mbps",
        },
    )
    at = 30_000_000_000
    places = _core.HypatiaNetwork(str(network)).positions([(at, node) for node in (MANILA, 648, 649)])
    up, over = (1e9 * dist(*pair) / LIGHT for pair in (places[:2], places[1:]))
    # A packet every millisecond, which leaves 822.4 us later.
    left = [1_000_000 * number + 822_400 for number in range(1_500)]
    change = 1_000_000_000
    lost_on_way_up = sum(sent < change <= sent + up for sent in left)
    looped = sum(sent + up < change <= sent + up + over for sent in left)
    assert lost_on_way_up > 1
    assert looped > 1
    orbit = run.summary["orbit"]
    assert orbit["looped_packets"] == looped
    assert orbit["black_hole_packets"] == looped + lost_on_way_up
    dropped = run.summary["links"][0]["dropped_packets"]
    assert sum(dropped.values()) == dropped["no_route"] == looped + lost_on_way_up


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"constellation.isl": {"rate": "1 Gbps", "every": "2 s"}}, "only the `rate` and the `queue`"),
        ({"constellation.isl": {"rate": "1 Gbps"}, "constellation.outage": "40 ms"}, "constellation.outage"),
        ({"constellation.beam": {}}, "the folder has no cells"),
    ],
)  # fmt: skip
def test_what_a_folder_says_is_not_said_again(scenario: Path, overrides: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        leobench.check(scenario, overrides)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_relays_on_the_ground_are_refused(scenario: Path) -> None:
    """Hypatia can lead packets over other stations; their hops have no queues here."""
    network = scenario.parent / "kuiper_630"
    limits = "max_gsl_length_m=20000000.0\nmax_isl_length_m=20000000.0\n"
    (network / "description.txt").write_text(limits, encoding="utf-8")
    states = network / "dynamic_state_100ms_for_200s"
    relay = "\n".join(f"{node},{DALIAN},{following},0,0" for node, following in [(183, 1158), (1158, 217)])
    (states / "fstate_2000000000.txt").write_text(relay + "\n", encoding="utf-8")
    with pytest.raises(InputError) as refused:
        leobench.check(scenario, {"constellation.ground": {}})
    assert "fstate_2000000000.txt: packets from 183 to 1157 come down to the relay 1158" in str(refused.value)
