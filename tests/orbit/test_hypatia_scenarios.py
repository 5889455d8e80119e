"""Scenarios whose constellation is a folder of Hypatia: packets follow its forwarding state."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

import leobench
from leobench import hypatia
from leobench.campaign import provenance
from leobench.errors import InputError
from tests.orbit.test_hypatia import DALIAN_RTT, PETERSBURG_RTT, STATE, folder

if TYPE_CHECKING:
    from pathlib import Path

    from leobench.orbit import Survey

__all__ = ["folder"]

SCENARIO = """
name = "manila-dalian"
duration = "200 s"
record = { interval = "1 s" }
nodes = { manila = {}, far = {} }

[constellation]
satellites = { hypatia = "kuiper_630" }
start = "2000-01-01T00:00:00Z"

[links.sky]
between = ["manila", "far"]
constellation = { terminal = "Manila", gateways = ["Dalian"] }
rate = "10 Mbps"

[flows.calls]
transport = "udp"
from = "manila"
to = "far"
source = { kind = "cbr", rate = "80 kbps", size = "1000 B" }
"""

# Hypatia's forwarding state in the fixture lacks the ways back.
BACK = {
    0: "1157,1156,217,0,0\n217,1156,183,0,0\n183,1156,184,0,0\n184,1156,1156,0,0\n",
    18_000_000_000: "1157,1156,217,0,0\n217,1156,218,0,0\n218,1156,1156,0,0\n",
    27_600_000_000: (
        "1157,1156,616,0,0\n616,1156,650,0,0\n650,1156,649,0,0\n649,1156,648,0,0\n648,1156,1156,0,0\n"
    ),
    74_300_000_000: "1157,1156,250,0,0\n250,1156,216,0,0\n216,1156,217,0,0\n217,1156,218,0,0\n",
    125_900_000_000: "1157,1156,616,0,0\n648,1156,647,0,0\n647,1156,1156,0,0\n",
    128_700_000_000: "1157,1156,615,0,0\n615,1156,649,0,0\n",
}


@pytest.fixture
def scenario(folder: Path, tmp_path: Path) -> Path:
    for at, lines in BACK.items():
        state = folder / "dynamic_state_100ms_for_200s" / f"fstate_{at}.txt"
        kept = [line for line in state.read_text(encoding="utf-8").splitlines() if ",1156,-1" not in line]
        state.write_text("\n".join([*kept, lines]), encoding="utf-8")
    file = tmp_path / "manila-dalian.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    return file


def delays(seen: Survey) -> dict[float, float | None]:
    return dict(seen.samples.select("t_s", "delay_ms").iter_rows())


def test_round_trips_are_those_that_hypatia_states(scenario: Path) -> None:
    """Within 0.1 %: its positions are PyEphem's."""
    shown = delays(leobench.survey(scenario, interval_s=0.1))
    for at, rtt in DALIAN_RTT.items():
        assert 2e6 * (shown[at / 1e9] or 0) == pytest.approx(rtt, rel=1e-3), at
    far: dict[str, Any] = {"links.sky.constellation.gateways": ["Sankt-Peterburg"], "duration": "10 s"}
    state = scenario.parent / "kuiper_630" / STATE
    back = ["1158", *(str(node) for node in (144, 178, 179, 180, 181, 182, 183, 184)), "1156"]
    hops = [f"{here},1156,{there},0,0" for here, there in pairwise(back)]
    state.write_text(state.read_text(encoding="utf-8") + "\n".join(hops) + "\n", encoding="utf-8")
    shown = delays(leobench.survey(scenario, overrides=far))
    assert 2e6 * (shown[0.0] or 0) == pytest.approx(PETERSBURG_RTT, rel=1e-3)


def test_delays_are_those_of_the_table(scenario: Path) -> None:
    """The command computes each position anew; a run interpolates between knots."""
    table = hypatia.Network(str(scenario.parent / "kuiper_630")).delays("Manila", "Dalian", 1_000_000_000)
    shown = delays(leobench.survey(scenario, interval_s=0.1))
    compared = 0
    for at, delay in table:
        here = shown.get(round(at / 1e9, 1))
        assert (delay is None) == (here is None), at
        if delay is not None and here is not None:
            assert here == pytest.approx(1e3 * delay, abs=1e-4)
            compared += 1
    assert compared > 150


def test_satellites_may_have_a_queue(scenario: Path) -> None:
    """A link alone, with hardly any load, sees no difference."""
    own = leobench.run(scenario)
    shared = leobench.run(scenario, overrides={"constellation.satellite": {"queue": "fifo"}})
    assert shared.tables.messages.equals(own.tables.messages)
    served = shared.summary["satellites"]
    labels = set(own.tables.channel.filter(own.tables.channel["up"])["label"])
    assert {each["name"].rsplit("/", 1)[0] for each in served} == labels
    there = [each for each in served if each["name"].endswith("/there")]
    links = {link["name"]: link for link in shared.summary["links"]}
    assert sum(each["sent_packets"] for each in there) == links["sky/manila->far"]["delivered_packets"]
    states = own.tables.channel.filter(link="sky/manila->far").select("t_ns", "up").rows()
    ends = [*(at for at, _ in states[1:]), 200_000_000_000]
    up = sum(end - at for (at, is_up), end in zip(states, ends, strict=True) if is_up)
    assert sum(each["served_s"] for each in there) == pytest.approx(up / 1e9)
    assert up < 200_000_000_000


def test_satellites_hand_over_and_links_go_down_as_the_state_says(scenario: Path) -> None:
    run = leobench.run(scenario)
    changes = [row for row in run.tables.handovers.iter_rows(named=True) if row["stage"] == "begin"]
    begins = sorted({row["t_ns"] for row in changes})
    assert [at / 1e9 for at in begins] == [18.0, 27.6, 74.3, 125.9, 140.0]
    down = run.tables.channel.filter(~run.tables.channel["up"])["t_ns"].unique().to_list()
    assert down == [140_000_000_000]
    messages = run.tables.messages.filter(run.tables.messages["created_ns"] < 1_000_000_000)
    delay = (messages["delivered_ns"] - messages["created_ns"]).to_numpy() / 1e6
    # A packet of 1,028 B takes 0.82 ms at 10 Mbit/s, and 14.71 ms over the first way.
    assert delay == pytest.approx(DALIAN_RTT[0] / 2e6 + 0.82, abs=0.05)


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"constellation.start": "1999-12-31T00:00:00Z"}, "constellation.start"),
        ({"duration": "300 s"}, "after the start of a forwarding state of 200 s; allowed: at most 200 s"),
        ({"links.sky.constellation.gateways": ["Dalien"]}, "did you mean `Dalian`?"),
        ({"links.sky.constellation.gateways": ["Manila"]}, "is also the station of the terminal"),
        ({"links.sky.constellation.gateways": ["Dalian", "Manila"]}, "names 2 stations; allowed: one"),
        (
            {"links.sky.constellation": {"terminal": "Manila"}},
            "is required with a folder of Hypatia",
        ),
        ({"links.sky.constellation.policy": "highest"}, "the forwarding state selects the satellites"),
        ({"constellation.policy": "highest"}, "is given together with a folder of Hypatia"),
        ({"constellation.isl": {}}, "is given together with a folder of Hypatia"),
        ({"constellation.longest_range": "1000 km"}, "is given together with a folder of Hypatia"),
        ({"constellation.satellites.hypatia": "kuiper"}, "kuiper/tles.txt: no such file"),
    ],
)
def test_what_does_not_fit_the_folder_is_refused(
    scenario: Path, overrides: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError) as refused:
        leobench.survey(scenario, overrides=overrides)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("tles.txt", "34 34\n", "34\n", "kuiper_630/tles.txt, line 1: has \"34\""),
        ("tles.txt", "2 00185  51.9000", "2 00185  51.9001", "tles.txt, line 556: "),
        ("isls.txt", "0 1\n", "1 0\n", "isls.txt, line 1: has \"1 0\""),
        ("ground_stations.txt", "38.913811", "98.9", "ground_stations.txt, line 2: Dalian: latitude 98.9"),
        ("description.txt", "1260000", "600000", "km apart, but description.txt allows at most 606 km"),
        (STATE, "184,1157,183", "184,1157,900", "fstate_0.txt, line 2: has the next hop 900 for node 184"),
        (STATE, "183,1157,217", "183,1157,184", "fstate_0.txt: from 1156 to 1157, packets loop"),
        (STATE, "183,1157,217,0,0\n", "", "fstate_0.txt: node 183 has no next hop to 1157 yet"),
    ],
)  # fmt: skip
def test_files_that_are_wrong_are_refused_by_name(
    scenario: Path, file: str, old: str, new: str, said: str
) -> None:
    path = scenario.parent / "kuiper_630" / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        leobench.survey(scenario)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_programs_may_use_a_state_of_any_length(scenario: Path) -> None:
    checked = leobench.check(scenario, {"duration": None, "flows": None})
    assert "duration" not in checked


def test_a_state_must_say_how_long_it_lasts(scenario: Path) -> None:
    state = scenario.parent / "kuiper_630" / "dynamic_state_100ms_for_200s"
    state.rename(state.with_name("dynamic_state_new"))
    with pytest.raises(InputError, match="has no duration in its name"):
        leobench.survey(scenario)


def test_a_campaign_notices_other_state(scenario: Path) -> None:
    campaign = scenario.with_name("campaign.toml")
    campaign.write_text(
        'name = "tiny"\nscenario = "manila-dalian.toml"\nreplicates = 2\n'
        'metrics = ["flows.calls.delay_ms.mean"]\nset = { duration = "2 s" }\n',
        encoding="utf-8",
    )
    out = scenario.with_name("out")
    leobench.sweep(campaign, out, workers=1)
    state = scenario.parent / "kuiper_630" / STATE
    state.write_text(state.read_text(encoding="utf-8") + "5,1157,6,0,0\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"fstate_0.txt: has changed since"):
        leobench.sweep(campaign, out, workers=1, resume=True)


@pytest.mark.parametrize(
    ("sky", "file"),
    [
        ({"satellites": {"elements": "a.tle"}}, "a.tle"),
        ({"satellites": {"preset": "starlink"}, "gateway_list": "g.csv"}, "g.csv"),
        ({"satellites": {"preset": "starlink"}, "isl": {"file": "isls.txt"}}, "isls.txt"),
        ({"satellites": {"preset": "starlink"}, "terminals": {"van": {"track": "van.gpx"}}}, "van.gpx"),
    ],
)
def test_files_of_constellations_belong_to_what_determines_a_result(
    sky: dict[str, Any], file: str, tmp_path: Path
) -> None:
    (tmp_path / file).write_text("1", encoding="utf-8")
    resolved = {"links": {}, "flows": {}, "constellation": sky}
    before = provenance.fingerprint(resolved, tmp_path)
    (tmp_path / file).write_text("2", encoding="utf-8")
    assert provenance.fingerprint(resolved, tmp_path) != before
