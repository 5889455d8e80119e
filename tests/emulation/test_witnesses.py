"""The TCP connections and the processor time of programs, as the kernel tells them."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import polars as pl
import pytest

import leobench
from leobench.emulation import sockets
from tests.support.paths import ROOT

pytestmark = pytest.mark.usefixtures("hosts")

PROGRAMS = Path(__file__).with_name("host_programs.py")
ONE_FLOW = ROOT / "scenarios" / "one-flow.toml"
PATIENT = {"real.lateness": "10 s", "real.stall": "10 s", "real.busy": 1}
FETCHED = 2_000_000


def command(*words: str) -> str:
    return shlex.join((sys.executable, str(PROGRAMS), *words))


def test_tcp_connections_of_programs_are_sampled_at_both_ends(tmp_path: Path) -> None:
    """The receiver has all bytes, and the link's round trip is the least that the sender sees."""
    programs = [("server", command("serve", "-")), ("client", command("fetch", "server"))]
    done = leobench.emulate(ONE_FLOW, programs, overrides=PATIENT, out=tmp_path / "out")
    assert done.code == 0
    assert done.result is not None
    samples = done.result.tables.sockets
    assert samples.columns == [name for name, *_ in sockets.COLUMNS]
    assert samples["t_ns"].is_sorted()
    ends = samples.group_by("host").agg(
        pl.col("local", "remote").first(),
        pl.col("bytes_received", "bytes_acked", "t_ns").max(),
        pl.col("min_rtt_ns").min(),
    )
    client = ends.row(by_predicate=pl.col("host") == "client", named=True)
    server = ends.row(by_predicate=pl.col("host") == "server", named=True)
    assert (client["local"], client["remote"]) == (server["remote"], server["local"])
    # The last sample may come before the last segment; the kernel counts the end of the stream as a byte.
    assert 0.5 * FETCHED < client["bytes_received"] <= FETCHED + 1
    assert 0.5 * FETCHED < server["bytes_acked"] <= FETCHED + 2
    # Twice 25 ms, which the link of the scenario takes.
    assert 50_000_000 <= server["min_rtt_ns"] < 80_000_000


def test_programs_have_their_processor_time(tmp_path: Path) -> None:
    """One computes for half a second of its processor's time, the other sleeps."""
    burn = "import time\nwhile time.process_time() < 0.5: pass"
    programs = [("server", "sleep 0.1"), ("client", shlex.join((sys.executable, "-c", burn)))]
    done = leobench.emulate(ONE_FLOW, programs, overrides=PATIENT, out=tmp_path / "out")
    asleep, burning = (each.cpu_s for each in done.exits)
    assert asleep < 0.1
    assert 0.5 <= burning < 1.5
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert [each["cpu_s"] for each in manifest["programs"]] == [round(each.cpu_s, 3) for each in done.exits]
