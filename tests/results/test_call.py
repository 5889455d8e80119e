"""Calls: what is seen and heard, by hand on a link of a constant rate, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import leobench
from leobench import cli, plots
from leobench.cli import summary_tables
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = """\
name = "call"
duration = "30 s"

[nodes.home]
[nodes.office]

[links.path]
between = ["home", "office"]
rate = "1 Mbps"
delay = "25 ms"

[flows.main]
transport = "udp"
from = "home"
to = "office"

[flows.main.call]
length = "20 s"
audio = {}
rate_control = "fixed"
jitter_buffer = { kind = "fixed", delay = "60 ms" }
"""

VIDEO = "flows.main.call.video"
AUDIO = "flows.main.call.audio"
IN_STREAMS = {"flows.main.transport": "quic", "flows.main.call.carried": "stream_per_message"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "call.toml"
    file.write_text(SCENARIO)
    return file


def call(file: Path, **overrides: Any) -> dict[str, Any]:
    flow: dict[str, Any] = leobench.run(file, overrides=overrides).summary["flows"][0]
    found: dict[str, Any] = flow["call"]
    return found


def test_a_voice_is_heard_after_the_sum_of_its_delays(file: Path) -> None:
    # 20 ms to fill a packet, heard 6.5 ms ahead; 80 B of voice, 20 B of RTP and 28 B of UDP and IPv4 at
    # 1 Mbit/s; 25 ms on the way, and 60 ms in the buffer.
    voice = call(file)["voice"]
    assert voice["mouth_to_ear_ms"]["mean"] == pytest.approx(20 + 6.5 + 1.024 + 25 + 60, abs=1e-3)
    # (20 s - 6.5 ms) / 20 ms.
    assert (voice["packets"], voice["due_packets"], voice["missed_packets"]) == (999, 999, 0)
    assert 4.2 < voice["opinion_score"] < 4.5


def test_a_picture_is_seen_after_the_sum_of_its_delays(file: Path) -> None:
    # The first frame, four times of 1,250 B, is five packets of 1,020 B with RTP. The pacer lets one go in
    # 1,020 B at 2.5 times (300 + 32) kbit/s; the last takes 1,048 B at 1 Mbit/s, and a packet of voice may be
    # in front of it, for 1.024 ms.
    pace = 1_020 * 8 / (2.5 * 332e3) * 1e3
    picture = call(file, **{VIDEO: {}})["picture"]
    first = 4 * pace + 1_048 * 8 / 1e6 * 1e3 + 25
    assert picture["delay_ms"]["mean"] == pytest.approx(first + 60, abs=1.1)
    assert picture["frames"] == picture["rendered_frames"] == 600
    assert picture["late_frames"] == picture["dropped_frames"] == picture["freezes"] == 0


@pytest.mark.parametrize("control", ["gcc", "scream"])
@pytest.mark.parametrize("transport", ["udp", "quic"])
def test_a_rate_control_approaches_the_capacity(file: Path, control: str, transport: str) -> None:
    found = call(
        file,
        **{
            "flows.main.transport": transport,
            "flows.main.call.rate_control": control,
            "flows.main.call.jitter_buffer": "adaptive",
            VIDEO: {"start": "500 kbps"},
        },
    )
    assert 0.5e6 < found["received_bps"] < 1e6
    assert found["picture"]["rendered_frames"] > 500
    assert found["voice"]["missed_packets"] < 0.1 * found["voice"]["due_packets"]


def test_marks_reach_the_rate_control(file: Path) -> None:
    """A queue marks packets of a call that takes marks, and drops others; SCReAM keeps it short by both."""
    shared = {
        "flows.main.call.rate_control": "scream",
        "links.path.queue": {"kind": "codel", "ecn": True},
        VIDEO: {"start": "500 kbps"},
    }
    dropped, marked = (
        leobench.run(file, overrides={**shared, "flows.main.transport": {"kind": "udp", "ecn": ecn}})
        for ecn in (False, True)
    )
    there, there_marked = (run.summary["links"][0] for run in (dropped, marked))
    assert there["dropped_packets"]["codel"] > 5
    assert there["marked_packets"]["codel"] == 0
    assert there_marked["dropped_packets"]["codel"] == 0
    assert there_marked["marked_packets"]["codel"] > 5
    # The rate yields to marks, so the queue stays as short as by drops.
    queues_ms = [each["queue_delay_ms"]["p95"] for each in (there, there_marked)]
    assert queues_ms[1] < 2 * queues_ms[0]


def test_what_a_call_lost_is_no_doubt(file: Path) -> None:
    """Nothing of it is sent again, so a longer run would wait in vain."""
    lossy = {"links.path.loss": {"kind": "bernoulli", "probability": 0.05}, "flows.main.transport": "quic"}
    result = leobench.run(file, overrides=lossy)
    assert result.summary["flows"][0]["undelivered_messages"] > 10
    assert result.warnings == []


def test_the_table_has_each_frame(file: Path) -> None:
    """And the figure shows it: when it was seen, or that it was not."""
    overrides = {VIDEO: {}, "links.path.loss": {"kind": "bernoulli", "probability": 0.02}}
    result = leobench.run(file, overrides=overrides)
    picture, frames = result.summary["flows"][0]["call"]["picture"], result.tables.frames
    seen = frames.drop_nulls("rendered_ns")
    assert frames["frame"].is_sorted()
    assert (len(seen), seen["late"].sum()) == (picture["rendered_frames"], picture["late_frames"])
    assert not frames.filter(pl.col("rendered_ns").is_null())["late"].any()
    # The jitter buffer has all frames wait for as long as the first one took, and 60 ms.
    whole_ms = (frames["complete_ns"] - frames["t_ns"]).drop_nulls() / 1e6
    in_time = seen["late"].not_()
    waited_ms = ((seen["rendered_ns"] - seen["t_ns"]) / 1e6).filter(in_time).to_list()
    assert waited_ms == pytest.approx([whole_ms[0] + 60] * len(waited_ms))
    assert (seen["complete_ns"] <= seen["rendered_ns"]).all()
    assert min(whole_ms) > 25
    above, below = plots.kind("call")(result).axes
    drawn = {str(line.get_label()): len(np.atleast_1d(line.get_ydata())) for line in below.lines}
    assert drawn["in time"] == in_time.sum()
    assert drawn.get("late", 0) == seen["late"].sum()
    assert drawn.get("not rendered", 0) == len(frames) - len(seen)
    (steps,) = [each for each in above.patches if each.get_label() == "complete frames"]
    values, edges, _ = steps.get_data()  # type: ignore[attr-defined]
    bits = 8 * frames.drop_nulls("complete_ns")["bytes"].sum()
    unit = 1e6 if above.get_ylabel() == "Mbit/s" else 1e3
    assert (values * np.diff(edges)).sum() * unit == pytest.approx(bits, rel=1e-3)


def test_only_calls_with_a_picture_have_the_figure(file: Path, quick: Path) -> None:
    for result in (leobench.run(file), leobench.run(quick)):
        with pytest.raises(leobench.InputError, match="no flow of the run is a call with a picture"):
            plots.kind("call")(result)


def test_streams_repeat_what_a_call_lost(file: Path) -> None:
    """A voice packet every 20 ms: acknowledgements of three later ones, or 9/8 of a round trip, show it.

    So a packet that is repeated comes some 60 ms and a round trip late: within 400 ms, none is missed that is
    not lost three times.
    """
    patient = {"flows.main.call.jitter_buffer": {"kind": "fixed", "delay": "400 ms"}}
    lossy = {"links.path.loss": {"kind": "bernoulli", "probability": 0.05}, **patient}
    runs = [
        leobench.run(file, overrides={**lossy, **carried}).summary["flows"][0]
        for carried in ({"flows.main.transport": "quic"}, IN_STREAMS)
    ]
    missed_once, missed = (run["call"]["voice"]["missed_packets"] for run in runs)
    assert 20 < missed_once < 90
    assert missed <= 2
    # A lost packet delays no other.
    once_ms, repeated_ms = (run["delay_ms"] for run in runs)
    assert repeated_ms["p50"] == pytest.approx(once_ms["p50"], abs=0.5)
    assert repeated_ms["max"] > 25 + 50


def test_packets_in_streams_are_cancelled_when_they_are_late(file: Path) -> None:
    """A second without a link: the picture's packets of half of it are reset, and none is asked for."""
    file.write_text(SCENARIO.replace('rate = "1 Mbps"\ndelay = "25 ms"\n', ""))
    steps = [
        {"at": "0 s", "rate": "8 Mbps", "delay": "25 ms"},
        {"at": "10 s", "up": False},
        {"at": "11 s", "up": True},
    ]
    channel = {"links.path.channel": {"kind": "schedule", "steps": steps}}
    result = leobench.run(file, overrides={**channel, VIDEO: {}, **IN_STREAMS})
    flow = result.summary["flows"][0]
    picture, (seen, heard) = flow["call"]["picture"], flow["streams"]
    # 30 frames a second, one packet or two each.
    assert 10 < seen["cancelled"]["messages"] < 60
    assert heard.get("cancelled") is None
    # Half a second of patience after the outage, and a round trip to the key frame.
    assert 0.9 < picture["longest_freeze_s"] < 2.5
    assert picture["rendered_frames"] > 530


@pytest.mark.parametrize("control", ["gcc", "scream"])
def test_a_rate_control_in_streams_approaches_the_capacity(file: Path, control: str) -> None:
    adaptive = {"flows.main.call.rate_control": control, "flows.main.call.jitter_buffer": "adaptive"}
    found = call(file, **{**IN_STREAMS, **adaptive, VIDEO: {"start": "500 kbps"}})
    assert 0.5e6 < found["received_bps"] < 1e6
    assert found["picture"]["dropped_frames"] == 0


def test_an_outage_freezes_the_picture(file: Path) -> None:
    outage = {
        "kind": "reconfiguration",
        "rate": "8 Mbps",
        "delay": "25 ms",
        "outage": "1 s",
        "during_outage": "drop",
        "every": "15 s",
        "phase": "10 s",
    }
    file.write_text(SCENARIO.replace('rate = "1 Mbps"\ndelay = "25 ms"\n', ""))
    picture = call(file, **{"links.path.channel": outage, VIDEO: {}})["picture"]
    assert picture["freezes"] >= 1
    assert 0.9 < picture["longest_freeze_s"] < 2


@pytest.mark.parametrize("buffer", ["adaptive", "fixed"])
def test_a_picture_outlives_a_lasting_rise_of_the_delay(file: Path, buffer: str) -> None:
    """By more than the patience: the frames after it come one by one, each late at first."""
    file.write_text(SCENARIO.replace('rate = "1 Mbps"\ndelay = "25 ms"\n', ""))
    channel = {
        "kind": "schedule",
        "steps": [
            {"at": "0 s", "rate": "10 Mbps", "delay": "30 ms"},
            {"at": "8 s", "rate": "10 Mbps", "delay": "700 ms"},
        ],
    }
    overrides = {"links.path.channel": channel, VIDEO: {}, "flows.main.call.jitter_buffer": buffer}
    picture = call(file, **overrides)["picture"]
    assert picture["rendered_frames"] > 560
    assert 0.6 < picture["frozen_s"] < 0.8


def test_a_call_of_which_nothing_arrives_was_not_seen(file: Path) -> None:
    lost = {"links.path.loss": {"kind": "bernoulli", "probability": 1.0}, VIDEO: {}}
    found = call(file, **lost)
    assert (found["picture"]["startup_s"], found["picture"]["frozen_s"]) == (None, None)
    voice = found["voice"]
    assert voice["missed_packets"] == voice["due_packets"] == voice["packets"] > 990
    assert (voice["rating"], voice["opinion_score"]) == (None, None)


def test_a_call_of_which_nothing_arrives_has_no_figure(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "run")
    lost = 'links.path.loss={ kind = "bernoulli", probability = 1.0 }'
    sets = ["--set", lost, "--set", f"{VIDEO}={{}}"]
    assert cli.main(["run", str(file), "--out", out, *sets]) == 0
    # Start, frames, late frames, freezes, time frozen.
    (row,) = [line for line in capsys.readouterr().out.splitlines() if " of 600 " in line]
    assert row.split()[:9] == ["main", "0.00", "-", "0", "of", "600", "-", "-", "-"]
    assert cli.main(["plot", out, "--kind", "call"]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert "--kind = call: no frame of flow main arrived, so there is no picture to draw" in said


def test_a_picture_that_hardly_arrives_is_frozen_until_the_end(file: Path) -> None:
    """Most packets are lost, and none is sent again: the pauses between the few frames are freezes."""
    few = {"start": "100 kbps", "key_every": "100 ms", "key_size": 1, "retransmission": "0 s"}
    sets = {"links.path.loss": {"kind": "bernoulli", "probability": 0.97}, VIDEO: few}
    result = leobench.run(file, overrides=sets)
    picture = result.summary["flows"][0]["call"]["picture"]
    shown = result.tables.frames.drop_nulls("rendered_ns")["rendered_ns"].to_numpy() / 1e9
    assert 2 <= picture["rendered_frames"] == len(shown) < 30
    # All intervals but those of neighbouring frames: 150 ms and the mean of the last 30 frames, or more.
    intervals = np.diff([*shown, 20.0])
    assert picture["frozen_s"] == pytest.approx(20 - picture["startup_s"], abs=2)
    assert picture["longest_freeze_s"] == pytest.approx(intervals.max())
    assert 1 <= picture["freezes"] <= len(intervals)
    said = summary_tables.render(result.summary)
    assert f" {len(shown)} of 600 " in said


def test_streams_do_not_limit_a_call(file: Path) -> None:
    """20 Mbit/s over a round trip of 100 ms are 208 packets of 1,200 B, more than stacks allow by default."""
    wide = {
        "links.path.rate": "50 Mbps",
        "links.path.delay": "50 ms",
        "flows.main.call.jitter_buffer.delay": "500 ms",
    }
    result = leobench.run(
        file, overrides={**IN_STREAMS, **wide, VIDEO: {"start": "20 Mbps", "most": "20 Mbps"}}
    )
    flow = result.summary["flows"][0]
    assert flow["call"]["received_bps"] == pytest.approx(20e6, rel=0.05)
    assert flow["call"]["picture"]["rendered_frames"] > 500


def test_the_first_picture_is_timed_from_the_start_of_the_call(file: Path) -> None:
    result = leobench.run(file, overrides={VIDEO: {}, "flows.main.start": "2 s"})
    first = result.tables.frames.drop_nulls("rendered_ns")["rendered_ns"][0] / 1e9
    assert result.summary["flows"][0]["call"]["picture"]["startup_s"] == pytest.approx(first - 2)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            {"flows.main.transport": "tcp"},
            "`tcp` does not send datagrams, which a call needs; allowed: `udp`, or `quic`",
        ),
        (
            {"flows.main.source": "bulk"},
            "given together with a `call`; allowed: either a `call`, or sources",
        ),
        ({"flows.main.stop": "5 s"}, "allowed: no `stop`: a call has a `length`"),
        (
            {"flows.main.call.length": "0 s"},
            '"0 s": is too short; allowed: from 26.5 ms, that of a frame or voice packet, to 28800 s',
        ),
        (
            {VIDEO: {"packet": "1300 B"}},
            "makes packets of 1.32 kB, RTP headers included; allowed: packets",
        ),
        (
            {VIDEO: {"start": "9 Mbps"}},
            "is out of range; allowed: from `least`, 100 kbps, to `most`, 2.5",
        ),
        ({VIDEO: {"fec": 2}}, "is out of range; allowed: a number from 0 to 1"),
        ({f"{AUDIO}.codec": "opus"}, "unknown word; allowed: `g711_plc`"),
        ({"flows.main.call.rate_control": "gc"}, "did you mean `gcc`?"),
        (
            {"flows.main.transport": {"kind": "quic", "resumption": True, "zero_rtt": True}},
            "packets of a call wait for the handshake; allowed: `false`",
        ),
        (
            {"flows.main.call.carried": "stream_per_message"},
            "`udp` has no stream for each packet; allowed: `datagrams`, or the transport `quic`",
        ),
        (
            {"flows.main.call.carried": "streams"},
            "unknown word; allowed: `datagrams`, `stream_per_message`; did you mean `stream_per_message`?",
        ),
        ({**IN_STREAMS, VIDEO: {"retransmission": "0 s"}}, "is zero, but packets in streams are cancelled"),
        ({**IN_STREAMS, VIDEO: {"fec": 0.1}}, "adds parities to packets that streams repeat; allowed: 0"),
    ],
)
def test_a_call_that_cannot_be_is_refused(file: Path, overrides: dict[str, Any], message: str) -> None:
    with pytest.raises(leobench.InputError) as caught:
        leobench.run(file, overrides=overrides)
    assert message in str(caught.value)


def test_a_call_without_picture_and_voice_is_refused(file: Path) -> None:
    file.write_text(SCENARIO.replace("audio = {}\n", ""))
    with pytest.raises(leobench.InputError, match="at least one of both"):
        leobench.run(file)


def test_the_tables_show_the_scenario_of_a_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = str(ROOT / "scenarios" / "video-call.toml")
    shorter = ["--set", 'flows.call.call.length="20 s"', "--out", str(tmp_path / "run")]
    assert cli.main(["run", scenario, *shorter]) == 0
    said = capsys.readouterr().out
    assert "mouth to ear" in said
    assert "opinion" in said
    assert cli.main(["run", scenario, "--set", "flows.call.transport=tcp"]) == 2
