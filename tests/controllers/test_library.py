"""Congestion controllers in shared libraries: the interface in C, and libraries that go wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import leobench
from leobench import cli
from tests.controllers.test_errors import SCENARIO
from tests.support import libraries

FOLDER = Path(__file__).parent
CONSTANT = FOLDER / "constant.c"

CONGESTION = "flows.main.transport.congestion"

# Mistakes after 0.5 s, and the messages about them.
BROKEN = {
    "decision->window = 2503;": "set `window` to 2503; allowed: bytes from 2504 (two packets) to 1e15",
    "decision->window = 0;": "set `window` to 0; allowed: bytes from 2504 (two packets) to 1e15",
    "decision->window = LEOBENCH_NONE;": f"set `window` to {2**64 - 1}; allowed: bytes from 2504",
    "decision->pacing_rate = 0;": "set `pacing_rate` to 0; allowed: bits per second from 1 to 1e15",
    "decision->pacing_rate = 2000000000000000;": "set `pacing_rate` to 2000000000000000; allowed:",
    "decision->ssthresh = 2000000000000000;": "set `ssthresh` to 2000000000000000; allowed: bytes up to 1e15",
    'return "out of\\n  ideas";': "failed: out of ideas",
}

# Tables that are refused before the run, and the messages about them.
REFUSED = {
    "table.version = 7;": "has version 7 of the interface `leobench_controller`; this leobench has version 1",
    "table.size = 8;": "has a table of 8 bytes instead of 64",
    "table.on_loss = NULL;": "lacks the function `on_loss`",
    "return NULL;": "`leobench_controller` returned NULL",
}


def run(folder: Path, library: str, *changes: str) -> int:
    (folder / "broken.toml").write_text(SCENARIO, encoding="utf-8")
    sets = [f'{CONGESTION}={{ library = "{library}" }}', *changes]
    options = [part for change in sets for part in ("--set", change)]
    return cli.main(["run", str(folder / "broken.toml"), "--quiet", *options, "--out", str(folder / "out")])


@pytest.mark.parametrize("call", BROKEN)
def test_a_decision_that_makes_no_sense_ends_the_run(
    call: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    libraries.of_c(CONSTANT, tmp_path / "libbroken.so", CALL=call, TABLE="")
    assert run(tmp_path, "./libbroken.so") == 1
    said = capsys.readouterr().err
    assert "congestion controller `libbroken.so` at 0.5" in said
    assert f"`on_ack` {BROKEN[call]}" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("table", REFUSED)
def test_another_interface_is_refused_before_the_run(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    libraries.of_c(CONSTANT, tmp_path / "libbroken.so", CALL="", TABLE=table)
    assert run(tmp_path, "./libbroken.so") == 2
    said = capsys.readouterr().err
    assert f"{CONGESTION}.library" in said
    assert REFUSED[table] in said
    assert said.count("\n") == 1, "one line"


def test_a_file_that_is_no_such_library_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text.so").write_text("no library", encoding="utf-8")
    (tmp_path / "other.c").write_text("int unrelated(void) { return 0; }", encoding="utf-8")
    libraries.of_c(tmp_path / "other.c", tmp_path / "other.so")
    problems = {
        "./missing.so": "there is no such file",
        "./text.so": "cannot be loaded",
        "./other.so": "has no function `leobench_controller`",
        "..": "names no file",
    }
    for library, problem in problems.items():
        assert run(tmp_path, library) == 2
        said = capsys.readouterr().err
        assert problem in said
        assert f"{CONGESTION}.library" in said
        assert said.count("\n") == 1, "one line"


def test_what_a_library_refuses_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    libraries.of_c(CONSTANT, tmp_path / "libmine.so", CALL="", TABLE="")
    assert run(tmp_path, "./libmine.so", f"{CONGESTION}.parameters.speed=3") == 2
    assert "`create` failed: speed" in capsys.readouterr().err


RECORDER_IN_PYTHON = """\
import leobench

def ns(seconds):
    return round(seconds * 1e9)

class Recorder(leobench.CongestionController):
    def __init__(self, packet, random, file, packets):
        super().__init__(packet, random)
        self.window, self.file = packets * packet, file

    def write(self, *words):
        with open(self.file, "a") as opened:
            print(*words, file=opened)

    def on_ack(self, a):
        flags = [int(flag) for flag in (a.app_limited, a.cwnd_limited, a.recovering)]
        rtts = [ns(rtt) for rtt in (a.rtt, a.smoothed_rtt, a.min_rtt)]
        packets = [f"{n}/{size}/{ns(sent)}/{int(old)}" for n, size, sent, old in a.packets]
        rate = round(a.delivery_rate or 0)
        self.write("ack", ns(a.now), a.prior_in_flight, a.in_flight, *rtts, rate, *flags, *packets)

    def note(self, kind, e):
        self.write(kind, ns(e.now), ns(e.sent), e.lost, int(e.persistent), int(e.answered), *e.packets)

    def on_loss(self, event):
        self.note("loss", event)

    def on_ecn(self, event):
        self.note("ecn", event)

    def on_forecast(self, f):
        self.write("forecast", ns(f.at), ns(f.base_rtt or 0), round(f.bottleneck or 0))
"""


# Another link, for there to be handovers to forecast.
HANDOVERS = """
[links.other]
between = ["client", "server"]
rate = "8 Mbps"
delay = "30 ms"

[handovers.move]
node = "client"
links = ["path", "other"]
kind = "reroute"
at = ["1 s"]
"""


@pytest.mark.parametrize("transport", ["quic", "tcp"])
def test_a_library_is_told_what_a_class_is_told(transport: str, tmp_path: Path) -> None:
    libraries.of_c(FOLDER / "recorder.c", tmp_path / "librecorder.so")
    (tmp_path / "recorder.py").write_text(RECORDER_IN_PYTHON, encoding="utf-8")
    (tmp_path / "t.toml").write_text(SCENARIO + HANDOVERS, encoding="utf-8")
    told = {}
    for name, plug_in in {"library": "./librecorder.so", "python": "recorder:Recorder"}.items():
        file = tmp_path / f"{name}.txt"
        changes = {
            CONGESTION: {name: plug_in, "parameters": {"file": str(file), "packets": 150}},
            "flows.main.transport.kind": transport,
            "flows.main.transport.ecn": True,
            "flows.main.forecast": {"every": "200 ms"},
            "links.path.forward": {"loss": {"kind": "bernoulli", "probability": 0.01}},
            "links.path.queue": {"kind": "codel", "ecn": True},
        }
        leobench.run(tmp_path / "t.toml", overrides=changes)
        told[name] = file.read_text(encoding="utf-8").splitlines()
    assert told["library"] == told["python"]
    kinds = {line.split()[0] for line in told["library"]}
    assert kinds == {"ack", "loss", "ecn", "forecast"}
    assert len(told["library"]) > 300


def test_a_campaign_knows_the_library(tmp_path: Path) -> None:
    from leobench import scenario
    from leobench.campaign import provenance

    library = libraries.of_c(CONSTANT, tmp_path / "libmine.so", CALL="", TABLE="")
    (tmp_path / "t.toml").write_text(SCENARIO, encoding="utf-8")
    changes = {CONGESTION: {"library": "./libmine.so"}}

    def fingerprint() -> str:
        resolved = json.loads(scenario.load(tmp_path / "t.toml", overrides=changes).to_json())
        assert provenance.travelling(resolved, tmp_path) == ["./libmine.so"]
        return provenance.fingerprint(resolved, tmp_path)

    first = fingerprint()
    libraries.of_c(CONSTANT, library, CALL="decision->ssthresh = 9;", TABLE="")
    assert fingerprint() != first
