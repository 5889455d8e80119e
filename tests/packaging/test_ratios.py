"""The comparison of the benchmark's ratios with the stored ones."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from benchmarks import ratios
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

# Lines in the forms that crates/bench prints.
OUTPUT = """\
One QUIC connection, bulk transfer, 60 virtual seconds, 20 ms one way.
bottleneck      packets     floor ns    engine ns      floor x     engine x    ratio
45 Mbit/s        344617         1837          713         94.9        244.2     0.39
             goodput: floor 42.94 Mbit/s, engine 42.97 Mbit/s

Peak memory at 45 Mbit/s, messages not recorded, tables to files:
  60 s: 20312 KiB   600 s: 20944 KiB   ratio 1.03

Schedulers alone: ns per packet of 1200 bytes for the messages pushed, the choice
scheduler                               all backlogged                   light load
rr                              61        66 ( 1.08)          85        90 ( 1.06)

QUIC: two endless streams under a scheduler, against a single stream, which needs none; 20, 10 and 5 virtual
stack own                        45 Mbit/s        200 Mbit/s          1 Gbit/s
one stream                     700 ( 1.00)       740 ( 1.00)       760 ( 1.00)
rr                             720 ( 1.03)       770 ( 1.04)       790 ( 1.04)

Two paths, coupled and not: ns per packet, either way (how many times as much, and how many times it may be).
lia        790  newreno   770 ( 1.03, at most 1.10)

Two paths by scheduler: ns per packet (how many times that of min_rtt, and how many times it may be).
blest                820 ( 1.02, at most 1.10)

One bulk transfer over each transport in turn, 60 virtual seconds, 20 ms one way, packets of 1,500 bytes
45 Mbit/s    own           344617        713          42.97       1.70       1.00
1 Gbit/s     tcp          7000000        430         940.10       1.00       1.05

TCP flows that share 1 Gbit/s, 20 ms one way and a queue of 3333 packets
10 flows                        900000      410     1.05 times one flow

QUIC flows of 10 Mbit/s between 30 stations over 1,156 satellites, each laser and station with a queue
   flows    packets at satellites  ns/packet    ns/hop      MiB
      10      46722       264053       2500       376       15   1.00 times the hop with 10 flows
    1000    4588604     43475915       5100       487      220   1.30 times the hop with 10 flows
"""


def test_ratios_are_read_off_every_part() -> None:
    assert ratios.ratios(OUTPUT.splitlines()) == {
        "engine/45 Mbit/s": 0.39,
        "memory": 1.03,
        "schedulers/rr/1": 1.08,
        "schedulers/rr/2": 1.06,
        "two streams/own, one stream/1": 1.0,
        "two streams/own, one stream/2": 1.0,
        "two streams/own, one stream/3": 1.0,
        "two streams/own, rr/1": 1.03,
        "two streams/own, rr/2": 1.04,
        "two streams/own, rr/3": 1.04,
        "coupled/lia": 1.03,
        "path schedulers/blest": 1.02,
        "transports/45 Mbit/s own": 1.7,
        "transports/1 Gbit/s tcp": 1.0,
        "scale/10 flows": 1.05,
        "sky/10": 1.0,
        "sky/1000": 1.3,
    }


def test_what_grew_or_is_missing_fails_and_the_rest_is_told() -> None:
    stored = {"same": 1.0, "grown": 1.0, "fallen": 1.0, "gone": 1.0}
    failed, told = ratios.compared({"same": 1.24, "grown": 1.26, "fallen": 0.74, "new": 1.0}, stored)
    assert [line.split(":")[0] for line in failed] == ["grown", "gone"]
    assert [line.split(":")[0] for line in told] == ["fallen", "new"]


@pytest.mark.parametrize(("ratio", "code"), [("0.39", 0), ("0.60", 1)])
def test_the_program_exits_by_the_outcome(
    ratio: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, baseline = tmp_path / "output", tmp_path / "ratios.json"
    baseline.write_text(json.dumps({"tolerance": 0.25, "ratios": {"engine/45 Mbit/s": 0.39}}))
    file.write_text("\n".join(OUTPUT.splitlines()[:3]).replace("0.39", ratio))
    monkeypatch.setattr(ratios, "BASELINE", baseline)
    monkeypatch.setattr(sys, "argv", ["ratios.py", "--from", str(file)])
    assert ratios.main() == code


def test_the_stored_ratios_say_their_tolerance() -> None:
    stored = json.loads(ratios.BASELINE.read_text())
    assert stored["tolerance"] == ratios.TOLERANCE
    assert stored["ratios"]
    assert all(value > 0 for value in stored["ratios"].values())


def test_a_program_that_fails_is_told(tmp_path: Path) -> None:
    program = tmp_path / "bench"
    program.write_text("#!/bin/sh\necho begun\nexit 3\n")
    program.chmod(0o755)
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks/ratios.py"), str(program)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stdout == "begun\n"
    assert done.stderr == f"{program}: exit code 3\n"
