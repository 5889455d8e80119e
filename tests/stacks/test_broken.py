"""QUIC stacks in shared libraries that go wrong: what is said, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from leobench import cli
from tests.support import libraries

BROKEN = Path(__file__).parent / "broken.c"
STACK = "flows.main.transport.stack"

SCENARIO = """\
name = "broken"
duration = "2 s"

[nodes.client]
[nodes.server]

[links.path]
between = ["client", "server"]
rate = "10 Mbps"
delay = "20 ms"

[flows.main]
transport = { kind = "quic", stack = { library = "./libbroken.so" } }
from = "client"
to = "server"
source = { kind = "bulk", size = "1 MB" }
"""

# Macros of the library, and the message that each makes the run end with.
WRONG: dict[tuple[str, str], str] = {
    ("NEXT_TIMEOUT", "now"): "had 10000 timeouts within 1 ms without sending anything",
    ("NEXT_TIMEOUT", "1"): "until `next_timeout` returned 1 ns",
    ("NEXT_TIMEOUT", "now + 1"): "had 10000 timeouts within 1 ms",
    ("ON_TIMEOUT", 'return "no more\\n ideas"'): "`on_timeout` failed: no more ideas",
    ("POLL", "event->kind = 9"): "`poll` returned event 9; allowed: 0 to 4",
    ("POLL", "event->kind = LEOBENCH_READABLE; event->stream = 7"): "`poll` named stream 7; allowed: below ",
    ("POLL", "event->kind = LEOBENCH_CONNECTED"): "`poll` returned more than 100000 events in a row",
    ("TRANSMIT", "datagram->length = 1253"): "`transmit` sent 1253 bytes; allowed: up to 1252",
    ("TRANSMIT", "datagram->length = 9; datagram->ecn = 4"): "`transmit` set `ecn` to 4; allowed: 0 to 3",
    ("TRANSMIT", "datagram->length = 9; datagram->data = NULL"): "`transmit` set `data` to NULL",
    ("TRANSMIT", "datagram->length = 9"): "sent more than 100000 datagrams at one instant",
    ("TRANSMIT", "datagram->length = 9; datagram->source.port = 9"): "`transmit` set the source's port to 9",
    ("TRANSMIT", "datagram->length = 9; datagram->source.ip[0] = 9"): "`transmit` set the source to 9.",
    (
        "TRANSMIT",
        "datagram->length = 9; datagram->source.family = 5",
    ): "`transmit` set `source` to no address",
    ("WRITE", "*written = length + 1"): "`write` took 65537 bytes of 65536 on stream 0",
    ("PATH", "1"): "`path` lowered `lost_packets` from 2 to 1",
}

# Tables that are refused before the run, and the messages about them.
REFUSED = {
    "table.version = 7": "has version 7 of the interface `leobench_stack`; this leobench has version 1",
    "table.size = 8": "has a table of 8 bytes instead of 112",
    "table.poll = NULL": "lacks the function `poll`",
}


def run(folder: Path, *changes: str, scenario: str = SCENARIO) -> int:
    (folder / "broken.toml").write_text(scenario, encoding="utf-8")
    options = [part for change in changes for part in ("--set", change)]
    return cli.main(["run", str(folder / "broken.toml"), "--quiet", *options, "--out", str(folder / "out")])


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: f"{wrong[0]} {wrong[1]}")
def test_what_makes_no_sense_ends_the_run(
    wrong: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    libraries.of_c(BROKEN, tmp_path / "libbroken.so", **{wrong[0]: wrong[1]})
    assert run(tmp_path) == 1
    said = capsys.readouterr().err
    assert "`libbroken.so`: " in said
    assert WRONG[wrong] in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("read", "said"),
    [
        ("*length = capacity + 1", "`read` gave 65537 bytes of stream 0 for 65536"),
        ("data[0] = 77; *length = 1", "`read` gave another byte 0 of stream 0 than was written"),
    ],
)
def test_bytes_that_were_not_written_end_the_run(
    read: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    readable = "if (!end->client) event->kind = LEOBENCH_READABLE"
    libraries.of_c(BROKEN, tmp_path / "libbroken.so", POLL=readable, READ=read)
    assert run(tmp_path) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("table", REFUSED)
def test_another_interface_is_refused_before_the_run(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    libraries.of_c(BROKEN, tmp_path / "libbroken.so", TABLE=table)
    assert run(tmp_path) == 2
    said = capsys.readouterr().err
    assert f"{STACK}.library" in said
    assert REFUSED[table] in said
    assert said.count("\n") == 1, "one line"


MOVING = (
    SCENARIO.replace("[links.path]", "[links.old]")
    + """
[links.new]
between = ["client", "server"]
rate = "10 Mbps"
delay = "20 ms"

[handovers.move]
node = "client"
links = ["old", "new"]
kind = "migrate"
at = ["1 s"]
"""
)

# Settings of the scenario that a library does not take, and the messages about them.
SETTINGS = {
    'flows.main.transport.congestion="bbr"': "is up to the stack `libbroken.so`",
    "flows.main.transport.pacing=false": "transport.pacing = false: is up to the stack `libbroken.so`",
    'flows.main.transport.scheduler="fq"': "is up to the stack `libbroken.so`",
    "flows.main.forecast={}": "flows.main.forecast = {}: is not passed on to the stack `libbroken.so`",
    'engine="real"': f"{STACK}",
    f"{STACK}.parameters.colour=red": "`create` failed: red",
    f'{STACK}.library="./missing.so"': "there is no such file",
    f'{STACK}="quinn"': "unknown word; allowed: `own`, `noq`, or a table with `library`",
    f"{STACK}=7": "is an integer; allowed: `own`, `noq`, or a table with `library`",
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_settings_that_a_library_does_not_take(
    setting: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    libraries.of_c(BROKEN, tmp_path / "libbroken.so")
    assert run(tmp_path, setting) == 2
    said = capsys.readouterr().err
    assert SETTINGS[setting] in said
    assert said.count("\n") == 1, "one line"


def test_a_stack_that_cannot_move_is_refused_where_it_has_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    libraries.of_c(BROKEN, tmp_path / "libbroken.so")
    assert run(tmp_path, scenario=MOVING) == 2
    assert "lacks the function `on_address`, but the client moves" in capsys.readouterr().err
