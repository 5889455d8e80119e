"""`leobench why` names the cause that was put in, and its parts add up."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest

import leobench
from leobench import InputError, attribution, cli
from leobench.attribution import causes, links, places, runs, subject
from leobench.attribution.runs import Case
from tests.support.paths import ROOT
from tests.support.programs import leobench as run_leobench

if TYPE_CHECKING:
    from pathlib import Path

    from leobench import Explanation

PAIR = """\
name = "pair"
duration = "8 s"

[nodes.van]
[nodes.office]

[links.near]
between = ["van", "office"]
rate = "10 Mbps"
delay = "5 ms"
queue = { kind = "fifo", limit = "60 kB" }

[links.far]
between = ["van", "office"]
rate = "10 Mbps"
delay = "100 ms"
queue = { kind = "fifo", limit = "200 kB" }

[flows.upload]
transport = { kind = "quic", multipath = { links = ["near", "far"] } }
from = "van"
to = "office"
source = "bulk"
"""

TRANSPORT = "flows.upload.transport"
MESSAGES = {"kind": "poisson", "rate": "2 Mbps", "size": "1000 B"}

# A cause is put in, beside others that cost little: what the sentence has to name.
DOMINANT: dict[str, tuple[str, dict[str, Any]]] = {
    "a tiny window": ("windows", {f"{TRANSPORT}.connection_window": "20 kB"}),
    "turns over unequal paths": (
        "scheduler",
        {
            f"{TRANSPORT}.multipath.scheduler": "round_robin",
            f"{TRANSPORT}.connection_window": "100 kB",
            "flows.upload.source": MESSAGES,
        },
    ),
    "one path at a time": ("manager", {f"{TRANSPORT}.multipath.manager": "standby"}),
    "a backup": ("manager", {f"{TRANSPORT}.multipath.backup": ["far"]}),
    "a lossy link": (
        "losses",
        {
            "links.far.loss": {"kind": "bernoulli", "probability": 0.02},
            f"{TRANSPORT}.connection_window": "4 MB",
        },
    ),
    "a link with outages": (
        "handovers",
        {
            "links.far.rate": None,
            "links.far.channel": {
                "kind": "on_off", "rate": "10 Mbps", "on": "1 s", "off": "1 s", "outage": "drop",
            },
            f"{TRANSPORT}.connection_window": "4 MB",
        },
    ),
    "handovers between the links": (
        "handovers",
        {
            "handovers.roam": {
                "node": "van", "links": ["near", "far"], "every": "2 s", "kind": "migrate",
                "outage": "300 ms",
            }
        },
    ),
}  # fmt: skip


def alone(found: Explanation, link: str) -> float:
    """The rate of a link alone."""
    value = found.each[link]
    assert value is not None
    return value.value


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    file = tmp_path / "pair.toml"
    file.write_text(PAIR, encoding="utf-8")
    return file


def adds_up(found: Explanation) -> bool:
    """Whether the yardstick, less the parts and what is unexplained, is what was measured."""
    lost = sum(part.lost.value for part in found.parts) + found.unexplained.value
    measured = found.ideal.value - found.measure.sign * lost
    return math.isclose(measured, found.measured.value, rel_tol=1e-9)


@pytest.mark.parametrize("case", DOMINANT)
def test_the_cause_that_was_put_in_is_named(pair: Path, case: str) -> None:
    cause, put_in = DOMINANT[case]
    found = leobench.why(pair, overrides=put_in, workers=1)
    assert adds_up(found)
    assert found.dominant == cause
    largest = found.parts[0]
    assert largest.lost.value > 0.8 * found.lost
    assert found.lost > 0.1 * found.ideal.value
    assert largest.label in found.sentence
    assert found.advice
    assert abs(found.unexplained.value) < 0.02 * found.ideal.value


def test_two_links_that_are_slower_than_one_are_said_to_be(pair: Path) -> None:
    turns = {f"{TRANSPORT}.multipath.scheduler": "round_robin", f"{TRANSPORT}.connection_window": "50 kB"}
    found = leobench.why(pair, overrides=turns, workers=1)
    assert found.measured.value < alone(found, "near")
    assert f"less than near alone ({alone(found, 'near') / 1e6:.2f}); " in found.sentence


def test_little_is_lost_where_nothing_was_put_in(pair: Path) -> None:
    found = leobench.why(pair, workers=1)
    assert found.is_slight
    assert "hardly anything is lost" in found.sentence or "nothing is lost" in found.sentence
    assert found.to_dict()["dominant"] is None
    # Two links of 10 Mbit/s, less headers (1,252 of 1,280 bytes are payload) and slow start.
    assert 17e6 < found.measured.value < 20e6
    assert set(found.labels.values()) >= {"random losses (none)", "flow-control windows (unlimited)"}


def test_coupled_paths_carry_what_one_of_them_does(pair: Path) -> None:
    # RFC 6356, goals 1 and 2: over two equal paths, all together take what one connection with a path would.
    coupled = {
        f"{TRANSPORT}.congestion": "lia", "duration": "30 s", "links.far.delay": "5 ms",
        "links.near.loss": {"kind": "bernoulli", "probability": 0.02},
        "links.far.loss": {"kind": "bernoulli", "probability": 0.02},
    }  # fmt: skip
    found = leobench.why(pair, overrides=coupled, workers=2, seeds=3)
    assert adds_up(found)
    assert found.measured.value == pytest.approx(alone(found, "near"), rel=0.2)
    parts = {part.cause: part for part in found.parts}
    assert parts["coupling"].regained.value == pytest.approx(alone(found, "far"), rel=0.3)
    assert parts["coupling"].alone.value == 0


def test_a_cause_that_takes_others_shares_with_them(pair: Path) -> None:
    # Blocking, the window and the scheduler cost nothing without each other: each repair alone regains all.
    together = {
        f"{TRANSPORT}.multipath.scheduler": "round_robin", f"{TRANSPORT}.connection_window": "300 kB",
        "duration": "20 s",
    }  # fmt: skip
    found = leobench.why(pair, overrides=together, workers=1)
    assert adds_up(found)
    parts = {part.cause: part for part in found.parts}
    assert set(parts) == {"order", "windows", "scheduler"}
    for part in parts.values():
        assert part.regained.value > 0.9 * found.lost
        assert part.lost.value == pytest.approx(found.lost / 3, rel=0.25)
    assert "alone would regain as much" in found.sentence


def test_messages_wait_for_messages_in_one_stream(pair: Path) -> None:
    # Without a loss nothing is out of order over one path, and `round_robin` lets every second message wait.
    turns = {
        "flows.upload.source": MESSAGES,
        f"{TRANSPORT}.multipath.scheduler": "round_robin",
    }
    found = leobench.why(pair, overrides=turns, workers=1, metric="delay_mean")
    parts = {part.cause: part for part in found.parts}
    # In many streams, the half over 5 ms waits for none of the other half; at the start there is one path.
    spread = found.measured.value - parts["order"].regained.value
    assert spread == pytest.approx((6 + 101) / 2, abs=5)
    # In one stream, all but the first of them wait for the last message that went over 100 ms.
    assert 1.7 * spread < found.measured.value < 101
    assert found.dominant == "scheduler"


def test_several_seeds_have_t_intervals_of_what_each_seed_adds_up_to(pair: Path) -> None:
    lossy = {"links.far.loss": {"kind": "bernoulli", "probability": 0.001}, "duration": "4 s"}
    both = leobench.why(pair, overrides=lossy, workers=2, seeds=3)
    single = [leobench.why(pair, seed, lossy, workers=1) for seed in (1, 2, 3)]
    assert both.seeds == (1, 2, 3)
    assert adds_up(both)
    for part in both.parts:
        each = [next(one for one in found.parts if one.cause == part.cause).lost.value for found in single]
        mean = sum(each) / 3
        assert part.lost.value == pytest.approx(mean)
        # Student's t of two degrees of freedom, 95 %: 4.3027.
        spread = math.sqrt(sum((value - mean) ** 2 for value in each) / 2)
        assert part.lost.low == pytest.approx(mean - 4.3027 * spread / math.sqrt(3), rel=1e-3, abs=1)
        assert part.lost.high == pytest.approx(mean + 4.3027 * spread / math.sqrt(3), rel=1e-3, abs=1)
    assert single[0].parts[0].lost.low is None


def test_a_link_alone_is_the_scenario_without_the_other(pair: Path) -> None:
    found = leobench.why(pair, workers=1)
    for link, other in (("near", "far"), ("far", "near")):
        without = {f"links.{other}": None, f"{TRANSPORT}.multipath": None}
        single = leobench.run(pair, overrides=without).summary["flows"][0]["goodput_bps"]
        assert alone(found, link) == single


def test_a_link_alone_has_its_outages_and_not_the_other_link(pair: Path) -> None:
    # Half of the time each, less half a second of outage in every two.
    turns = {"node": "van", "links": ["near", "far"], "at": ["2 s", "4 s", "6 s"], "outage": "500 ms"}
    found = leobench.why(pair, overrides={"handovers.roam": turns | {"kind": "reroute"}}, workers=1)
    capacity = alone(leobench.why(pair, workers=1), "near")
    assert 0.6 * 0.44 * capacity < alone(found, "near") < 0.44 * capacity
    assert 0 < alone(found, "far") < 0.38 * capacity


def test_flows_over_the_other_link_do_not_move_to_the_one_that_is_left(pair: Path) -> None:
    other = {"transport": "udp", "from": "van", "to": "office", "background": True}
    # The way of least delay is over `near`: with its packets over `far`, that link alone would be full.
    busy = {"flows.noise": other | {"source": {"kind": "cbr", "rate": "9 Mbps", "size": "1000 B"}}}
    asked = subject.of(pair, None, busy, None, None)
    seen = runs.look(asked)
    assert "flows.noise" not in runs.changes(Case(1, link="near"), asked, seen)
    assert runs.changes(Case(1, link="far"), asked, seen)["flows.noise"] is None
    found = leobench.why(pair, overrides=busy, workers=1)
    assert alone(found, "near") < 2e6
    assert alone(found, "far") > 8e6


def test_a_repaired_channel_has_the_rate_of_a_good_state(pair: Path) -> None:
    steps = [{"at": "0 s", "rate": "10 Mbps", "delay": "20 ms", "loss": 0.1}, {"at": "4 s", "rate": "2 Mbps"}]
    fading = {"links.far.rate": None, "links.far.channel": {"kind": "schedule", "steps": steps}}
    asked = subject.of(pair, None, fading, None, None)
    seen = runs.look(asked)
    repaired = causes.repaired(asked, seen, ["handovers"])["links"]["far"]
    assert "channel" not in repaired
    assert repaired["forward"] == repaired["backward"] == {"rate": "10000000 bps", "delay": "120000000 ns"}
    without = causes.repaired(asked, seen, ["losses"])["links"]["far"]["channel"]["steps"]
    assert all("loss" not in step for step in without)
    assert [cause.name for cause in causes.present(asked, seen)] == ["order", "losses", "handovers"]


def test_parts_that_cannot_be_repaired_are_named(scenarios: Path) -> None:
    short = {"duration": "16 s"}  # the second link has no satellite before 15 s
    asked = subject.of(scenarios / "maco-chain.toml", None, short, None, None)
    seen = runs.look(asked)
    assert [cause.name for cause in causes.present(asked, seen)] == ["order"]
    assert "satellites still take turns" in seen.unmeasured["handovers"][0]


def test_a_trace_cannot_be_repaired(pair: Path) -> None:
    (pair.parent / "far.mahimahi").write_text("1\n2\n3\n", encoding="utf-8")
    traced = {"links.far.rate": None, "links.far.channel": {"kind": "trace", "file": "far.mahimahi"}}
    asked = subject.of(pair, None, traced, None, None)
    seen = runs.look(asked)
    assert "handovers" not in [cause.name for cause in causes.present(asked, seen)]
    assert "`far`" in seen.unmeasured["handovers"][0]


@pytest.mark.parametrize(
    ("flow", "reason"),
    [
        ({"flows.upload.application": "blocking", "flows.upload.source": MESSAGES}, "blocking application"),
        (
            {
                "flows.upload.source": None,
                "flows.upload.streams": [{"source": MESSAGES}, {"source": MESSAGES}],
            },
            "sources of their own",
        ),
        (
            {
                "flows.upload.source": MESSAGES,
                "flows.upload.streams": 2,
                f"{TRANSPORT}.scheduler": "priority",
            },
            "`priority` tells its streams apart",
        ),
        (
            {
                "flows.upload.source": None,
                "flows.upload.video": {"ladder": ["1 Mbps", "2 Mbps"], "length": "8 s"},
            },
            "the player of a video",
        ),
    ],
)
def test_data_that_is_bound_to_its_streams_is_not_spread(
    pair: Path, flow: dict[str, Any], reason: str
) -> None:
    asked = subject.of(pair, None, flow, None, None)
    seen = runs.look(asked)
    assert "order" not in [cause.name for cause in causes.present(asked, seen)]
    assert reason in seen.unmeasured["order"][0]


def test_a_file_in_many_streams_is_the_same_data(pair: Path) -> None:
    file = {"flows.upload.source": {"kind": "bulk", "size": "1 MB"}, f"{TRANSPORT}.stream_window": "100 kB"}
    asked = subject.of(pair, None, file, None, None)
    flow = causes.repaired(asked, runs.look(asked), ["order"])["flows"]["upload"]
    sizes = [causes.size_bytes(stream["source"]["size"]) for stream in flow["streams"]]
    assert sum(sizes) == 1e6
    assert len(sizes) == 1_000_000 // 1252
    assert flow["transport"]["stream_window"] == "unlimited"
    assert causes.size_bytes(flow["transport"]["connection_window"]) == 100e3, "as much as before in flight"


def test_differences_are_values_to_replace() -> None:
    before = {"a": 1, "b": {"kind": "x", "y": 2, "z": 3}, "c": {"kind": "p", "q": 1}, "d": [1]}
    after = {"a": 1, "b": {"kind": "x", "y": 4}, "c": {"kind": "o"}, "d": [1, 2], "e": {}}
    assert places.changes(before, after) == {
        "b.y": 4, "b.z": None, "c": {"kind": "o"}, "d": [1, 2], "e": {},
    }  # fmt: skip
    assert places.changes(before, before) == {}


def test_the_folder_has_numbers_and_a_figure(
    pair: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(pair.parent)
    args = [
        "why",
        "pair.toml",
        "--set",
        f"{TRANSPORT}.connection_window=20 kB",
        "--out",
        "out",
        "--workers",
        "1",
    ]
    assert cli.main(args) == 0
    said = capsys.readouterr().out
    assert "flow-control windows" in said
    assert "Results in out/: why.json, why.png" in said
    numbers = json.loads((pair.parent / "out" / "why.json").read_text(encoding="utf-8"))
    assert (numbers["dominant"], numbers["flow"], numbers["seeds"]) == ("windows", "upload", [1])
    assert numbers["sentence"] in said
    lost = sum(part["lost"]["mean"] for part in numbers["parts"]) + numbers["unexplained"]["mean"]
    assert numbers["ideal"]["mean"] - lost == pytest.approx(numbers["measured"]["mean"])
    # Every case can be run again: that without the window is what the best repair alone gives.
    (window,) = (part for part in numbers["parts"] if part["cause"] == "windows")
    again = leobench.run(pair, overrides={f"{TRANSPORT}.connection_window": "20 kB"} | window["changes"])
    (case,) = (run for run in numbers["runs"] if run["without"] == ["windows"] and run["link"] is None)
    assert again.summary["flows"][0]["goodput_bps"] == case["value"]
    assert (pair.parent / "out" / "why.png").read_bytes().startswith(b"\x89PNG")
    assert cli.main(args) == 2
    assert "--force" in capsys.readouterr().err
    assert cli.main([*args, "--force", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == numbers


def test_a_run_says_what_share_it_used_and_how_to_explain_it(pair: Path) -> None:
    place = f"{TRANSPORT}.connection_window"
    done = run_leobench("run", "pair.toml", "--set", f"{place}=20 kB", "--seed", 3, cwd=pair.parent)
    (line,) = (each for each in done.stdout.splitlines() if "leobench why" in each)
    summary = json.loads((pair.parent / "results" / "pair-3" / "summary.json").read_text(encoding="utf-8"))
    goodput = summary["flows"][0]["goodput_bps"]
    assert line.startswith(
        f"upload over near, far: {goodput / 1e6:.2f} of 20.00 Mbit/s ({goodput / 20e6:.1%});"
    )
    assert line.endswith(f"leobench why pair.toml --set '{place}=20 kB' --seed 3")
    single = run_leobench(
        "run", "pair.toml", "--set", f"{TRANSPORT}.multipath=", "--seed", 4, cwd=pair.parent
    )
    assert "leobench why" not in single.stdout


def test_what_cannot_be_explained_is_refused_in_one_line(
    pair: Path, scenarios: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    second = f'flows.second={{transport="udp", from="van", to="office", source={MESSAGES_TEXT}}}'
    refused = {
        (
            str(scenarios / "ka.toml"),
        ): "no flow has several paths; allowed: a flow with `transport.multipath`",
        (str(scenarios / "ka.toml"), "--flow", "main"): "--flow = main: has one path",
        (
            str(pair),
            "--flow",
            "uplod",
        ): "--flow = uplod: no such flow; allowed: `upload`; did you mean `upload`?",
        (str(pair), "--set", second, "--flow", "second"): "--flow = second: has one path; allowed: `upload`",
        (str(pair), "--set", "engine=real"): 'allowed: engine = "virtual"',
        (str(scenarios.parent / "campaigns" / "buffers.toml"),): "is a campaign, not a scenario",
        (str(pair), "--metric", "delay"): "--metric = delay: unknown metric",
        (str(pair), "-n", "0"): "seeds = 0: is not positive",
        (str(pair), "--workers", "0"): "workers = 0: is not positive",
        ("nowhere.toml",): "nowhere.toml",
    }
    for args, message in refused.items():
        assert cli.main(["why", *args]) == 2, args
        err = capsys.readouterr().err
        assert message in err
        assert err.count("\n") == 1


MESSAGES_TEXT = '{kind="poisson", rate="2 Mbps", size="1000 B"}'


def test_nothing_delivered_is_an_error_that_names_the_run(pair: Path) -> None:
    late = {"flows.upload.source": {"kind": "bulk", "size": "100 MB"}}
    with pytest.raises(
        leobench.RunError, match=r"seed 1: flow upload has no 95th percentile of message delays"
    ):
        leobench.why(pair, overrides=late, metric="delay_p95", workers=1)


def test_a_link_that_all_paths_share_limits_the_yardstick(scenarios: Path) -> None:
    short = {"duration": "8 s", "warm_up": "4 s", "flows.rival": None}
    found = leobench.why(scenarios / "shared-bottleneck.toml", overrides=short, workers=1)
    assert found.ideal.value == 20e6, "the rate of `exit`, which each path alone fills"
    assert all(alone(found, link) > 17e6 for link in found.links)
    assert found.dominant == "unexplained"


def test_the_measure_suits_the_flow(pair: Path) -> None:
    assert subject.of(pair, None, None, None, None).measure.name == "goodput"
    messages = {"flows.upload.source": MESSAGES}
    assert subject.of(pair, None, messages, None, None).measure.name == "delay_p95"
    assert subject.of(pair, None, messages, None, "goodput").measure.name == "goodput"
    with pytest.raises(InputError, match="has one path"):
        subject.of(pair, None, {f"{TRANSPORT}.multipath": None}, "upload", None)


def test_goodput_is_compared_with_what_the_flow_offers(pair: Path) -> None:
    messages = {"flows.upload.source": MESSAGES, "duration": "4 s"}
    found = leobench.why(pair, overrides=messages, metric="goodput", workers=1)
    # Each link alone carries the 2 Mbit/s, and both together no more than that.
    assert found.ideal.value == pytest.approx(2e6, rel=0.1)
    assert found.is_slight
    assert isinstance(found, attribution.Explanation)
    assert list(links.rates_bps(subject.of(pair, None, messages, None, None), runs.look(
        subject.of(pair, None, messages, None, None)
    ))) == [10e6, 10e6]  # fmt: skip


def test_nothing_is_said_of_a_run_that_carried_nothing(pair: Path) -> None:
    with pytest.raises(leobench.RunError, match="delivered nothing"):
        leobench.why(pair, overrides={"duration": "1 ms"}, workers=1)


def test_forecasts_go_with_the_handovers_that_they_foretell(pair: Path) -> None:
    roam = {"node": "van", "links": ["near", "far"], "every": "2 s", "kind": "migrate", "outage": "300 ms"}
    put_in = {
        "handovers.roam": roam,
        "flows.upload.forecast": {},
        f"{TRANSPORT}.multipath.manager": "make_before_break",
    }
    found = leobench.why(pair, overrides=put_in, workers=1)
    assert adds_up(found)
    assert {part.cause for part in found.parts} >= {"handovers", "manager"}


def test_paths_that_may_share_a_satellite_are_refused() -> None:
    with pytest.raises(
        InputError, match=r"constellation\.satellite: .*allowed: no `satellite`, or a flow with"
    ):
        leobench.why(ROOT / "scenarios" / "maco.toml", workers=1)


def test_paths_that_share_links_at_one_end_are_refused(pair: Path) -> None:
    mesh = {
        f"{TRANSPORT}.multipath.peer_links": ["near", "far"],
        f"{TRANSPORT}.multipath.manager": "full_mesh",
    }
    with pytest.raises(InputError, match=r"multipath\.peer_links: .*allowed: flows without `peer_links`"):
        leobench.why(pair, overrides=mesh, workers=1)
