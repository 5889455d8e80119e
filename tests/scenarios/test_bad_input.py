"""Everything that may be wrong with a scenario: what is said, exit code 2, and nothing written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leobench import cli
from tests.support.quick import QUICK

if TYPE_CHECKING:
    from pathlib import Path

TRACE = 'channel = { kind = "trace", file = "cell.trace" }'

# What is replaced in a scenario that is fine, by what, and what is said about it.
WRONG = {
    "unknown key": ('delay = "10 ms"', 'dealy = "10 ms"', ["links.uplink.dealy", "did you mean `delay`"]),
    "missing node": ('to = "server"', 'to = "sevrer"', ["flows.main.to", "did you mean `server`"]),
    "node of a link": ('["client", "server"]', '["client", "mars"]', ["links.uplink.between", '"mars"']),
    "unit missing": ('"10 Mbps"', '"10"', ["links.uplink.rate", '"10"', "allowed", "Mbps"]),
    "unit wrong": ('"10 Mbps"', '"45 Mb"', ["links.uplink.rate", '"45 Mb"', "did you mean `45 Mbps`"]),
    "bytes per second": ('"10 Mbps"', '"150 MB/s"', ["links.uplink.rate", "did you mean `1200 Mbps`"]),
    "key one level up": (
        'from = "client"',
        'from = "client"\ncongestion = "bbr"',
        ["flows.main.congestion", "did you mean `flows.main.transport.congestion`?"],
    ),
    "ratio beside rates": (
        'rate = "10 Mbps"',
        """channel = { kind = "lms", preset = "ka" }
        forward = { rate = "20 Mbps" }
        backward = { rate = "150 Mbps" }""",
        ["links.uplink.channel", "is unused", '`rate_scale` for a direction, such as "20/150"'],
    ),
    "Python class": (
        'congestion = "cubic"',
        'congestion = "cubic", pacing = { python = "m:C" }',
        ["flows.main.transport.pacing", "m:C", "allowed"],
    ),
    "no unit at all": ('"10 Mbps"', "10", ["links.uplink.rate = 10", "allowed"]),
    "negative rate": ('"10 Mbps"', '"-10 Mbps"', ["links.uplink.rate", "negative"]),
    "never up": ('"10 Mbps"', '"0 bps"', ["links.uplink.rate", "allowed"]),
    "probability": (
        'delay = "10 ms"',
        'loss = { kind = "bernoulli", probability = 1.5 }',
        ["links.uplink.loss.probability = 1.5", "from 0 to 1"],
    ),
    "Markov row": (
        'rate = "10 Mbps"',
        """channel = { kind = "lms", rates = ["8 Mbps", "4 Mbps", "1 Mbps"], slot = "100 ms",
            matrix = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.2], [0.1, 0.1, 0.8]] }""",
        ["links.uplink.channel.matrix[1]", "sum"],
    ),
    "name given twice": ("[nodes.server]", "[nodes.server]\n[nodes.server]", ["server"]),
    "syntax": ("[nodes.client]", "[nodes.client", [".toml:5:"]),
    "duration of zero": ('duration = "2 s"', 'duration = "0 s"', ["duration", "is zero"]),
    "unknown kind": ('kind = "cbr"', 'kind = "crb"', ["flows.main.source.kind", "did you mean `cbr`"]),
    "unknown word": ('congestion = "cubic"', 'congestion = "qubic"', ["did you mean `cubic`"]),
    "not modelled": (
        'congestion = "cubic"',
        'congestion = "tcpwave"',
        ['flows.main.transport.congestion = "tcpwave": is not modelled', "no RFC or draft", "`bbr`"],
    ),
    "trace missing": ('rate = "10 Mbps"', TRACE, ["links.uplink.channel.file", "there is no file"]),
    "schedule out of order": (
        'rate = "10 Mbps"',
        """channel = { kind = "schedule", steps = [
            { at = "2 s", rate = "1 Mbps" }, { at = "1 s", rate = "2 Mbps" }] }""",
        ["links.uplink.channel"],
    ),
}


def refused(scenario: Path, capsys: pytest.CaptureFixture[str], begins: str | None = None) -> str:
    before = set(scenario.parent.rglob("*"))
    assert cli.main(["run", str(scenario), "--out", str(scenario.parent / "out")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"leobench: {begins or scenario}")
    assert said.err.count("\n") == 1, "one line, no traceback"
    assert set(scenario.parent.rglob("*")) == before, "nothing written"
    return said.err


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_value_is_named_with_what_is_allowed(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right, wrong, parts = WRONG[case]
    assert right in QUICK
    scenario = tmp_path / "wrong.toml"
    scenario.write_text(QUICK.replace(right, wrong), encoding="utf-8")
    said = refused(scenario, capsys)
    for part in parts:
        assert part in said


def test_a_flow_without_a_route(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = tmp_path / "wrong.toml"
    island = QUICK.replace("[nodes.server]", "[nodes.server]\n[nodes.island]")
    scenario.write_text(island.replace('to = "server"', 'to = "island"'), encoding="utf-8")
    said = refused(scenario, capsys)
    assert "flows.main" in said
    assert "route" in said


@pytest.mark.parametrize(
    ("trace", "part"),
    [("", "is empty"), ("1\n5\n3\n", "line 3"), ("1\ntwo\n3\n", "line 2")],
    ids=["empty", "decreasing", "not a number"],
)
def test_a_wrong_trace(trace: str, part: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cell.trace").write_text(trace, encoding="utf-8")
    scenario = tmp_path / "wrong.toml"
    scenario.write_text(QUICK.replace('rate = "10 Mbps"', TRACE), encoding="utf-8")
    said = refused(scenario, capsys)
    assert "links.uplink.channel.file" in said
    assert part in said


def test_a_file_that_is_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = tmp_path / "wrong.toml"
    scenario.write_bytes(b'name = "\xff\xfe"')
    assert "is not text" in refused(scenario, capsys)


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no such file" in refused(tmp_path / "absent.toml", capsys)


@pytest.mark.parametrize(
    ("override", "parts"),
    [
        ("links.uplnik.delay=5 ms", ["links.uplnik", "did you mean `links.uplink.delay`"]),
        ("links.uplink.delay=5 m", ["links.uplink.delay", '"5 m"', "did you mean"]),
        ("links.uplink.queue.limt=5 packets", ["links.uplink.queue.limt", "did you mean `limit`"]),
    ],
)
def test_a_wrong_override(
    override: str, parts: list[str], quick: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["run", str(quick), "--out", str(quick.parent / "out"), "--set", override]) == 2
    said = capsys.readouterr().err
    for part in parts:
        assert part in said
    assert set(quick.parent.iterdir()) == {quick}


@pytest.mark.parametrize("seed", ["-1", "many", "1.5"])
def test_a_wrong_seed(seed: str, quick: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", str(quick), "--out", str(quick.parent / "out"), f"--seed={seed}"]) == 2
    assert "seed = " in capsys.readouterr().err


MOVES = """
[nodes.server]
[links.other]
between = ["client", "server"]
rate = "10 Mbps"
delay = "30 ms"
[handovers.move]
node = "client"
links = ["uplink", "other"]
at = ["1 s"]
kind = "migrate"
"""

# What only a run finds out: the transport, and what is said about it.
IMPOSSIBLE = {
    "nothing saved": (
        '{ kind = "quic", after_migration = "careful_resume", careful_resume = { required = true } }',
        [
            "flow `main`: `careful_resume` requires saved parameters",
            "at 1.000000000 s",
            "allowed: `saved_cwnd` and `saved_rtt`, or `required = false`",
        ],
    ),
    "a peer with one path": (
        '{ kind = "quic", multipath = { links = ["uplink", "other"], peer_offers = false } }',
        [
            "flow `main`: `client` offers several paths, but `server`",
            "does not; allowed: `multipath.peer_offers = true`, or no `multipath`",
        ],
    ),
}


def moving(folder: Path, transport: str) -> Path:
    """A scenario whose client migrates after a second."""
    text = QUICK.replace("[nodes.server]", MOVES)
    kind = next(line for line in text.splitlines() if line.startswith("transport"))
    scenario = folder / "moving.toml"
    scenario.write_text(text.replace(kind, f"transport = {transport}"), encoding="utf-8")
    return scenario


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_what_only_a_run_finds_out(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    transport, said = IMPOSSIBLE[what]
    message = refused(moving(tmp_path, transport), capsys, "flow `main`: ")
    for part in said:
        assert part in message, message


def test_nothing_is_refused_that_is_possible(tmp_path: Path) -> None:
    saved = 'saved_cwnd = "50 kB", saved_rtt = "60 ms", required = true'
    for transport in (
        f'{{ kind = "quic", after_migration = "careful_resume", careful_resume = {{ {saved} }} }}',
        '{ kind = "quic", multipath = { links = ["uplink", "other"] } }',
        '{ kind = "quic", preferred_address = "other" }',
    ):
        scenario = moving(tmp_path, transport)
        assert cli.main(["run", str(scenario), "--out", str(tmp_path / "out"), "--force"]) == 0


def test_a_migration_needs_a_second_interface(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = moving(tmp_path, '"quic"')
    text = scenario.read_text(encoding="utf-8")
    scenario.write_text(text.replace('["uplink", "other"]', '["uplink"]'), encoding="utf-8")
    message = refused(scenario, capsys)
    assert "handovers.move.links" in message
    assert "has no link to move to; allowed: two or more links" in message
