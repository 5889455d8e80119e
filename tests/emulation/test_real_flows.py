"""The scenario's own flows in real time, on sockets of its hosts."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from leobench.errors import INVALID_RUN
from tests.emulation.real_scenarios import Link, scenario, two_ways
from tests.support.programs import PATIENT, leobench

pytestmark = pytest.mark.usefixtures("hosts")

POISSON = '{ kind = "poisson", rate = "5 Mbps", size = "1000 B" }'
TCP = '{ kind = "tcp", congestion = "cubic" }'
PATH = Link.steady("path", ("client", "server"), "20 Mbps", "25 ms")
ROOMY = ("--set", "links.path.queue.limit=5000 packets")
STEADY = scenario(PATH, transport=TCP, source=POISSON, duration="2 s", until="drained")


def run(
    folder: Path, engine: str, *args: object, text: str = STEADY, expected: int = 0
) -> tuple[dict[str, Any], Path]:
    """A run of a scenario, changed by some overrides; its summary and its folder."""
    file = folder / "steady.toml"
    file.write_text(text, encoding="utf-8")
    out = folder / engine
    budget = PATIENT if engine == "real" else ()
    ended = leobench("run", file, "--engine", engine, "--out", out, *budget, *args, cwd=folder)
    assert ended.returncode == expected, ended.stderr
    summary: dict[str, Any] = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    return summary, out


@pytest.mark.parametrize(
    "transport",
    ['{ kind = "tcp", congestion = "cubic" }', '{ kind = "quic", congestion = "cubic" }', "udp"],
)
def test_both_engines_carry_the_same_messages(transport: str, tmp_path: Path) -> None:
    """The same seed writes the same messages at the same times; all arrive, and none before it can.

    25 ms of delay and 0.4 ms or more to serialise 1,000 bytes at 20 Mbit/s. The queue has room for what a
    driver that was held up for seconds sends at once.
    """
    found = []
    for engine in ("virtual", "real"):
        summary, out = run(tmp_path, engine, "--set", f"flows.main.transport={transport}", *ROOMY)
        (flow,) = summary["flows"]
        assert summary["engine"] == engine
        assert flow["undelivered_messages"] == 0
        messages = pl.read_parquet(out / "messages.parquet").sort("created_ns")
        delay = messages["delivered_ns"] - messages["created_ns"]
        assert (delay >= 25_400_000).all()
        assert (messages["first_sent_ns"] >= messages["created_ns"]).all()
        found.append(messages.select("created_ns", "size_bytes"))
        # What is held up is delivered in a longer time, never in a shorter one.
        assert (4.0 if engine == "virtual" else 2.0) < flow["goodput_bps"] / 1e6 < 6.0
        assert summary["links"][0]["dropped_packets"] == {"queue": 0, "channel": 0, "down": 0, "mtu": 0}
    assert found[0].equals(found[1])


@pytest.mark.alone
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may set the size of a send buffer")
def test_as_much_waits_in_the_send_buffer_in_both_engines(tmp_path: Path) -> None:
    """A blocking writer keeps the send buffer full, which grows with the window, by 4,352 bytes a segment.

    What waits in the mean is the delay times the rate (Little's law). If the kernel sized the buffer, it
    would hold half as much where it was built without wireless networks and tunnels.
    """
    path = Link.steady("path", ("client", "server"), "20 Mbps", "10 ms", packets=30)
    linux = (
        '{ kind = "tcp", congestion = { kind = "cubic", slow_start = "hystart", full_reno_slope = false } }'
    )
    source = '{ kind = "cbr", rate = "40 Mbps", size = "1000 B" }'
    text = scenario(path, transport=linux, source=source, duration="6 s", more='application = "blocking"')
    contents = []
    for engine in ("virtual", "real"):
        summary, _ = run(tmp_path, engine, text=text)
        (flow,) = summary["flows"]
        contents.append(flow["delay_ms"]["mean"] * flow["goodput_bps"] / 8e3)
    virtual, real = contents
    assert 250e3 < virtual < 600e3
    assert real == pytest.approx(virtual, rel=0.12)


@pytest.mark.alone
def test_the_kernels_tcp_is_sampled(tmp_path: Path) -> None:
    """A transfer fills a queue of 100 packets: the network drops some, and the kernel repeats them.

    The window stays below what the path and the queue hold, 183 packets, and what is under way then.
    """
    source = 'flows.main.source={ kind = "bulk", size = "4 MB" }'
    summary, out = run(tmp_path, "real", "--set", source, "--pcap")
    (flow,) = summary["flows"]
    assert flow["completion_s"] > 4e6 * 8 / 20e6
    dropped = flow["dropped_packets"]["queue"]
    assert dropped > 0
    assert flow["retransmitted_packets"] >= dropped
    assert flow["congestion_events"] > 0
    assert flow["losses"] is None
    assert 50 < flow["rtt_ms"]["p50"] < 125
    samples = pl.read_parquet(out / "transport.parquet")
    assert samples.height > 50
    assert (samples["cwnd_bytes"] <= 400 * 1_448).all()
    assert (samples["cwnd_bytes"] >= 40 * 1_448).any()
    assert {"slow-start", "avoidance"} <= set(samples["phase"])
    assert (samples["pacing_bps"] > 1e6).any()
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["engine"] == "real"
    assert manifest["kernel_tcp"] == {"main": "cubic"}
    assert manifest["clock"]["packets_in"] > 2_000
    captured = (out / "pcap" / "main-sender.pcapng").stat().st_size
    assert captured > 2_000 * 100


def test_quic_has_real_tls_and_a_qlog(tmp_path: Path) -> None:
    _, out = run(tmp_path, "real", "--set", 'flows.main.transport="quic"', "--qlog", "--pcap")
    secrets = (out / "pcap" / "tls-secrets.log").read_text(encoding="utf-8")
    assert "CLIENT_TRAFFIC_SECRET_0" in secrets
    assert (out / "qlog" / "main-sender.sqlog").stat().st_size > 10_000


def test_lost_datagrams_hold_nothing_up(tmp_path: Path) -> None:
    """Datagrams that the channel drops are known to be lost: the run ends once the others have arrived."""
    loss = 'links.path.forward.loss={ kind = "bernoulli", probability = 0.05 }'
    summary, _ = run(tmp_path, "real", "--set", 'flows.main.transport="udp"', "--set", loss, *ROOMY)
    (flow,) = summary["flows"]
    assert flow["undelivered_messages"] == flow["dropped_packets"]["channel"] > 10
    # That is later if the driver is held up, but not for ever.
    assert summary["virtual_s"] < 10


def test_flows_go_through_a_handover_and_both_ways(tmp_path: Path) -> None:
    """A download that the client asks for over TCP, and one over QUIC, while the client changes its link."""
    changes = (
        'links.space={ between = ["client", "server"], rate = "20 Mbps", delay = "35 ms" }',
        'handovers.move={ node = "client", links = ["path", "space"], at = ["1 s"], outage = "50 ms" }',
        'flows.main.opened_by="to"',
        'flows.main.from="server"',
        'flows.main.to="client"',
        'flows.other={ transport = "quic", from = "client", to = "server", '
        'source = { kind = "cbr", rate = "2 Mbps", size = "1000 B" } }',
    )
    overrides = [word for change in changes for word in ("--set", change)]
    summary, _ = run(tmp_path, "real", *overrides)
    for flow in summary["flows"]:
        assert flow["undelivered_messages"] == 0
        assert flow["handovers"]["count"] == 1
    carried = {link["name"]: link["delivered_packets"] for link in summary["links"]}
    assert min(carried.values()) > 100


def test_quic_migrates_in_both_engines(tmp_path: Path) -> None:
    """A client whose address goes away moves to that of the other link: 50 ms without a way, then 10 more."""
    found = []
    for engine in ("virtual", "real"):
        links, handovers = two_ways("migrate", "van", "900 ms")
        steady = '{ kind = "cbr", rate = "5 Mbps", size = "1000 B" }'
        text = scenario(
            *links, transport='"quic"', source=steady, duration="2 s", until="drained", more=handovers
        )
        summary, out = run(tmp_path, engine, text=text)
        (flow,) = summary["flows"]
        assert flow["undelivered_messages"] == 0
        carried = {link["name"]: link["delivered_packets"] for link in summary["links"]}
        assert min(carried.values()) > 100, carried
        handover = flow["handovers"]
        assert (handover["count"], handover["no_way_ms"]["max"]) == (2, 50)
        # Without a way, and at least one way of the new link.
        assert handover["outage_ms"]["mean"] > 50 + 10
        found.append((flow, pl.read_parquet(out / "paths.parquet")))
    (virtual, paths), (real, moved) = found
    assert paths.equals(moved)
    assert real["messages"] == virtual["messages"]


@pytest.mark.alone
def test_the_spin_bit_agrees_with_the_round_trips_of_quic(tmp_path: Path) -> None:
    """Both ends of the own QUIC set it. Each sees 50 ms, and what is in the queue."""
    summary, out = run(tmp_path, "real", "--set", 'flows.main.transport="quic"')
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    known = summary["flows"][0]["rtt_ms"]
    assert len(manifest["spin"]) == 2
    for direction in manifest["spin"]:
        assert direction["spin_bit"] == "spins"
        assert direction["samples"] > 20
        assert direction["rtt_ms"]["min"] > 50
        # An acknowledgement, and so an edge, may wait for 25 ms, and for the next message.
        assert known["p50"] * 0.9 < direction["rtt_ms"]["p50"] < known["p50"] + 27
    samples = pl.read_parquet(out / "spin.parquet", glob=False)
    types = {"t_ns": pl.Int64, "source": pl.String, "destination": pl.String, "rtt_ns": pl.Int64}
    assert samples.schema == types
    assert samples["t_ns"].is_sorted()
    for direction in manifest["spin"]:
        own = samples.filter(source=direction["from"], destination=direction["to"])
        assert own.height == direction["samples"]
        assert min(own["rtt_ns"].to_list()) / 1e6 == direction["rtt_ms"]["min"]


def test_tcp_that_would_reconnect_is_for_virtual_time(tmp_path: Path) -> None:
    links, handovers = two_ways("migrate", "van", "900 ms")
    file = tmp_path / "migrate.toml"
    file.write_text(scenario(*links, transport=TCP, more=f"reconnect = {{}}\n{handovers}"), encoding="utf-8")
    ended = leobench("run", file, "--engine", "real", "--out", "out", cwd=tmp_path)
    assert ended.returncode == 2
    assert "flows.main.reconnect" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_an_invalid_run_says_so_first(tmp_path: Path) -> None:
    file = tmp_path / "steady.toml"
    file.write_text(STEADY, encoding="utf-8")
    budget = ("--lateness", "0", "--stall", "10000", "--set", "duration=500 ms")
    ended = leobench("run", file, "--engine", "real", "--out", "out", *budget, cwd=tmp_path)
    assert ended.returncode == INVALID_RUN
    assert ended.stdout.startswith("INVALID: one packet in 100 left ")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["validity"]["verdict"] == "invalid"
    assert manifest["scenario"]["real"]["lateness"] == "0 ns"


def test_what_cannot_run_in_real_time_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "steady.toml"
    file.write_text(STEADY, encoding="utf-8")
    offered = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text(encoding="ascii").split()
    listed = ", ".join(f"`{name}`" for name in offered)
    for change, message in [
        (
            "flows.main.transport.tls=true",
            "flows.main.transport.tls = true: cannot be set for the kernel's TCP in real time",
        ),
        ("flows.main.transport.congestion=bbr3", f"allowed in real time: {listed}"),
    ]:
        ended = leobench("run", file, "--engine", "real", "--out", "out", "--set", change, cwd=tmp_path)
        assert ended.returncode == 2
        assert message in ended.stderr
        assert len(ended.stderr.splitlines()) == 1
        assert sorted(path.name for path in tmp_path.iterdir()) == ["steady.toml"]


def test_the_budget_stands_in_the_scenario(tmp_path: Path) -> None:
    file = tmp_path / "steady.toml"
    budget = "[real]\nlateness = '10 s'\nstall = '10 s'\nbusy = 1\n"
    file.write_text(STEADY + budget, encoding="utf-8")
    command = ("--host", "client", "--out", "out", "--", "true")
    ended = leobench("emulate", file, *command, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["clock"]["budget"] == {
        "lateness_ms": 10_000,
        "stall_ms": 10_000,
        "busy": 1,
        "waited": 0.25,
    }


def test_engines_are_compared(tmp_path: Path) -> None:
    """UDP, whose packets no congestion control holds up: both engines deliver what is offered."""
    file = tmp_path / "steady.toml"
    roomy = Link.steady("path", ("client", "server"), "20 Mbps", "25 ms", packets=5_000)
    file.write_text(scenario(roomy, source=POISSON, duration="1 s", until="drained"), encoding="utf-8")
    asked = ("agree", file, "--engines", "virtual,real", "--seeds", "2", "--json", "--out", "out")
    ended = leobench(*asked, *PATIENT, cwd=tmp_path)
    found = json.loads(ended.stdout)
    assert (found["axis"], found["sides"]) == ("engine", ["virtual", "real"])
    (cell,) = found["cells"]
    assert len(cell["seeds"]) == 2
    judged = {measure["metric"]: measure for measure in cell["measures"]}
    assert [name for name, each in judged.items() if each["verdict"]] == ["goodput_bps", "delay_ms.p50"]
    goodput = judged["goodput_bps"]
    assert goodput["bound"] == 0.02
    # Of a second, which may become longer.
    assert 0.4 < goodput["ratio"]["value"] < 1.1
    assert judged["delay_ms.p50"]["mean"]["real"] >= 25.4
    assert (
        (tmp_path / "out" / "agreement.md")
        .read_text(encoding="utf-8")
        .startswith("# Engines virtual and real")
    )


@pytest.mark.parametrize("option", ["lateness", "stall", "spin"])
def test_options_of_real_time_are_refused_without_it(option: str, quick: Path) -> None:
    for command, wanted in (("run", "--engine real"), ("agree", "--engines virtual,real")):
        ended = leobench(command, quick, f"--{option}", "5", cwd=quick.parent)
        said = f"leobench: --{option}: is for real time only; add {wanted}, or leave it out\n"
        assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", said)
    assert [path.name for path in quick.parent.iterdir()] == [quick.name]


def campaign_of(file: Path, *sets: str) -> Path:
    """A campaign of one run of a scenario, whose `set` has these lines."""
    campaign = file.with_name("campaign.toml")
    lines = [
        f'name = "c"\nscenario = "{file.name}"\nreplicates = 1\nmetrics = ["flows.main.goodput_bps"]\n[set]',
        *sets,
    ]
    campaign.write_text("\n".join(lines), encoding="utf-8")
    return campaign


def test_a_campaign_is_judged_by_the_options_of_real_time(tmp_path: Path) -> None:
    file = tmp_path / "steady.toml"
    file.write_text(STEADY, encoding="utf-8")
    campaign = campaign_of(
        file,
        '"engine" = "real"',
        '"duration" = "500 ms"',
        '"real.lateness" = "10 s"',
        '"real.stall" = "10 s"',
    )
    for options, is_told in (((), False), (("--lateness", "0"), True)):
        ended = leobench("sweep", campaign, *options, "--out", "out", "--force", cwd=tmp_path)
        assert ended.returncode == 0, ended.stderr
        assert ("late" in ended.stderr) is is_told, ended.stderr


def test_options_of_real_time_are_refused_of_a_campaign_in_virtual_time(quick: Path) -> None:
    campaign = campaign_of(quick)
    ended = leobench("sweep", campaign, "--stall", "5", cwd=quick.parent)
    wanted = '`"engine" = "real"` to the campaign\'s `set`'
    said = f"leobench: --stall: is for real time only; add {wanted}, or leave it out\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", said)
    assert not (quick.parent / "results").exists()


def test_only_two_engines_can_be_compared(tmp_path: Path) -> None:
    file = tmp_path / "steady.toml"
    file.write_text(STEADY, encoding="utf-8")
    ended = leobench("agree", file, "--engines", "virtual,rael", cwd=tmp_path)
    message = "--engines virtual,rael: rael: unknown; allowed: `virtual`, `real`; did you mean `real`?"
    assert (ended.returncode, ended.stderr) == (2, f"leobench: {message}\n")
