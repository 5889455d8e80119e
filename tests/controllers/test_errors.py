"""Congestion controllers in Python that go wrong: what is said, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leobench import cli, plugins

if TYPE_CHECKING:
    from pathlib import Path

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
transport = { kind = "quic", congestion = { python = "broken:Broken" } }
from = "client"
to = "server"
source = { kind = "bulk", size = "1 GB" }
"""

CLASS = """\
import leobench


class Broken(leobench.CongestionController):
    def on_ack(self, ack):
        if ack.now > 0.5:
            {}

    def on_loss(self, event):
        pass
"""

WINDOW = "bytes from 2504 (two packets) to 1e15 (broken.py, line 5)"
RATE = "None, or bits per second from 1 to 1e15 (broken.py, line 5)"

# Mistakes after 0.5 s, and the messages about them.
BROKEN = {
    "self.window = 2503": f"set `window` to 2503; allowed: {WINDOW}",
    "self.window = -1": f"set `window` to -1; allowed: {WINDOW}",
    "self.window = float('nan')": f"set `window` to nan; allowed: {WINDOW}",
    "self.window = float('inf')": f"set `window` to inf; allowed: {WINDOW}",
    "self.window = True": f"set `window` to True; allowed: {WINDOW}",
    "self.window = '9 kB'": f"set `window` to '9 kB'; allowed: {WINDOW}",
    "self.window = None": f"has no `window`; allowed: {WINDOW}",
    "del self.window": f"has no `window`; allowed: {WINDOW}",
    "self.pacing_rate = -5.0": f"set `pacing_rate` to -5.0; allowed: {RATE}",
    "self.pacing_rate = 0": f"set `pacing_rate` to 0; allowed: {RATE}",
    "self.pacing_rate = float('nan')": f"set `pacing_rate` to nan; allowed: {RATE}",
    "self.ssthresh = -1": "set `ssthresh` to -1; allowed: None, or bytes up to 1e15 (broken.py, line 5)",
    "1 // 0": "raised ZeroDivisionError",
    "raise SystemExit('enough')": "raised SystemExit: enough",
}


def run(folder: Path, source: str, *changes: str) -> int:
    (folder / "broken.toml").write_text(SCENARIO, encoding="utf-8")
    (folder / "broken.py").write_text(source, encoding="utf-8")
    sets = [part for change in changes for part in ("--set", change)]
    return cli.main(["run", str(folder / "broken.toml"), "--quiet", *sets, "--out", str(folder / "out")])


@pytest.mark.parametrize("kind", ["quic", "tcp"])
@pytest.mark.parametrize("line", BROKEN)
def test_the_run_ends_and_says_why_and_when(
    line: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    least = {"quic": "2504", "tcp": "2896"}[kind]
    assert run(tmp_path, CLASS.format(line), f"flows.main.transport.kind={kind}") == 1
    said = capsys.readouterr().err
    assert BROKEN[line].replace("2504", least) in said
    assert "broken:Broken" in said
    assert "0.5" in said, "the virtual time"
    assert "broken.py" in said
    assert "line" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("class Other:\n    def on_ack(self, ack): ...\n", "has no `Broken`"),
        ("class Broken:\n    def __init__(self, packet, random): ...\n", "has no method `on_ack`"),
        ("class Broken:\n    def on_ack(self, ack): ...\n", "cannot be built"),
        (CLASS.format("pass").replace("on_ack", "on_akc"), "cannot be built"),
        ("def broken(:\n", "cannot be imported"),
    ],
)
def test_a_class_that_is_none_is_refused_before_the_run(
    source: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, source) == 2
    message = capsys.readouterr().err
    assert said in message
    assert "flows.main.transport.congestion.python" in message
    assert message.count("\n") == 1, "one line"


def test_parameters_reach_the_class(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = CLASS.format("pass") + (
        "\n    def __init__(self, packet, random, start):\n"
        "        super().__init__(packet, random)\n"
        "        self.window = start * packet\n"
    )
    place = "flows.main.transport.congestion"
    assert run(tmp_path, source, f"{place}.parameters.start=30") == 0
    assert run(tmp_path, source, f"{place}.parameters.begin=30", "name='again'") == 2
    assert "unexpected keyword argument 'begin'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        "while True: pass",
        "while True:\n                try: iter(int, 1)\n                except Exception: pass",
    ],
)
def test_a_call_that_never_returns_ends_the_run(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugins, "LONGEST_CALL_S", 1.0)
    assert run(tmp_path, CLASS.format(line)) == 1
    said = capsys.readouterr().err
    assert "the call went on for 1 s of real time" in said
    assert "broken.py" in said
    assert "in on_ack" in said
