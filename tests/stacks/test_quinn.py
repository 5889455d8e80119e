"""quinn-proto as a stack in a shared library: what it carries, over handovers too, and that runs repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import leobench
from tests.stacks.test_broken import MOVING, SCENARIO
from tests.support import libraries

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NOTHING: Mapping[str, object] = {}
BULK = {"flows.main.source.size": "3 MB", "duration": "20 s"}

# Headers of IPv4 and UDP; of a packet: flags, connection ID, packet number, tag, and the header of a frame.
IP = 28
PACKET = 1 + 8 + 2 + 16 + 8


def extreme(expression: pl.Expr, table: pl.DataFrame) -> int:
    """The one value of an expression over a table."""
    return int(table.select(expression).item())


@pytest.fixture(scope="module")
def quinn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return libraries.of_crate("quinn_stack", "libquinn_stack.so", tmp_path_factory.mktemp("target"))


def run(
    folder: Path,
    stack: object,
    changes: Mapping[str, object] = NOTHING,
    scenario: str = SCENARIO,
    seed: int = 1,
) -> leobench.Result:
    file = folder / "t.toml"
    file.write_text(scenario, encoding="utf-8")
    overrides = {"flows.main.transport.stack": stack, "record.packets": True, **changes}
    return leobench.run(file, seed=seed, overrides=overrides)


def library(file: Path, **parameters: object) -> dict[str, object]:
    return {"library": str(file), "parameters": parameters}


@pytest.mark.parametrize("congestion", ["cubic", "newreno"])
def test_it_fills_a_path(quinn: Path, congestion: str, tmp_path: Path) -> None:
    size = {"flows.main.source.size": "6 MB", "duration": "20 s"}
    result = run(tmp_path, library(quinn, congestion=congestion), size)
    flow = result.flows["main"]
    assert flow.undelivered_messages == 0
    assert flow.congestion is None, "it is the stack's own"
    # The rate of the path without headers; opening the window costs some round trips of 40 ms.
    most = 10e6 * (1252 - PACKET) / (1252 + IP)
    assert flow.goodput_bps is not None
    assert 0.9 * most < flow.goodput_bps <= 1.001 * most
    assert extreme(pl.col("size_bytes").max(), result.tables.packets) == 1252 + IP
    # A round trip of 40 ms, and a queue behind it.
    transport = result.tables.transport.filter(pl.col("t_ns") > 1_000_000_000)
    assert extreme(pl.col("srtt_ns").min(), transport) >= 40_000_000
    assert extreme(pl.col("cwnd_bytes").min(), transport) >= 2 * 1252
    assert transport["in_flight_bytes"].null_count() == transport.height, "quinn-proto does not tell"


def test_runs_repeat_bit_for_bit_and_follow_their_seed(quinn: Path, tmp_path: Path) -> None:
    lossy = {"links.path.forward": {"loss": {"kind": "bernoulli", "probability": 0.01}}}
    first, again, other = (
        run(tmp_path, library(quinn), lossy, seed=seed).tables.packets for seed in (5, 5, 6)
    )
    assert first.height > 500
    assert first.equals(again)
    assert not first.equals(other)


def test_its_losses_are_those_of_the_network(quinn: Path, tmp_path: Path) -> None:
    lossy = {
        "links.path.forward": {"loss": {"kind": "bernoulli", "probability": 0.02}},
        "flows.main.source.size": "3 MB",
        "duration": "30 s",
    }
    flow = run(tmp_path, library(quinn), lossy).flows["main"]
    assert flow.undelivered_messages == 0
    dropped = sum(flow.dropped_packets.values())
    # About 2,500 packets at 2 %: 50, within four standard deviations.
    assert 20 < dropped < 85
    # It may declare one lost that comes late, and its last acknowledgement may be under way.
    assert abs(flow.lost_packets - dropped) <= 5
    assert flow.congestion_events > 0
    assert "retransmitted_packets" in (flow.unreported or [])
    assert "lost_packets" not in (flow.unreported or [])
    assert flow.losses is None, "which packets it declared lost is not known"


def test_streams_and_both_directions(quinn: Path, tmp_path: Path) -> None:
    bulk = 'source = { kind = "bulk", size = "1 MB" }'
    paced = 'streams = 8\nsource = { kind = "cbr", rate = "4 Mbps", size = "5 kB" }'
    streams = SCENARIO.replace(bulk, paced)
    for opener in ("from", "to"):
        flow = run(tmp_path, library(quinn), {"flows.main.opened_by": opener}, streams).flows["main"]
        # A message takes about three of the 10 ms from one to the next.
        assert sum(stream.undelivered_messages for stream in flow.streams) <= 4
        assert flow.messages > 150


def test_handovers_that_keep_the_address(quinn: Path, tmp_path: Path) -> None:
    reroute = MOVING.replace('"migrate"', '"reroute"').replace(
        'at = ["1 s"]', 'at = ["1 s"]\noutage = "150 ms"'
    )
    flow = run(tmp_path, library(quinn), BULK, reroute).flows["main"]
    assert flow.undelivered_messages == 0


def test_handovers_that_change_the_address(quinn: Path, tmp_path: Path) -> None:
    result = run(tmp_path, library(quinn), BULK, MOVING)
    flow = result.flows["main"]
    assert flow.undelivered_messages == 0
    moved = result.tables.events.filter(pl.col("kind") == "path")
    assert moved.height >= 2, "both ends have moved"
    # The server validates the new address and goes on there within some round trips of 40 ms.
    arrived = extreme(pl.col("t_ns").max(), moved)
    assert 1_000_000_000 <= arrived < 1_500_000_000
    own = run(tmp_path, "own", BULK, MOVING).flows["main"]
    assert flow.completion_s is not None
    assert own.completion_s is not None
    assert flow.completion_s < 1.5 * own.completion_s
