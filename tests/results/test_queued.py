"""How long queues hold packets, by the table `packets`, to the nanosecond."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import leobench

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = """\
name = "held"
duration = "3 s"
record = { packets = true }

[nodes.client]
[nodes.server]

[links.path]
between = ["client", "server"]
rate = "12 Mbps"
delay = "10 ms"
queue = { kind = "fifo", limit = "20 packets" }

[flows.main]
transport = "tcp"
from = "client"
to = "server"
source = { kind = "bulk" }
"""
# On this link, a packet of n bytes is on the wire for 2 n / 3 microseconds, and then propagates for 10 ms.
DELAY_NS = 10_000_000
CODEL = {
    "links.path.queue": {"kind": "codel", "limit": "1000 packets", "target": "5 ms", "interval": "50 ms"}
}
LOSSY = {"links.path.loss": {"kind": "bernoulli", "probability": 0.05}}


def packets(folder: Path, overrides: dict[str, object]) -> pl.DataFrame:
    """The end of every packet, with when it entered the link and how long it was on the wire."""
    file = folder / "held.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    table = leobench.run(file, overrides=overrides).tables.packets
    entered = table.filter(pl.col("event") == "enqueue")
    assert entered["queued_ns"].null_count() == entered.height
    entered = entered.select("packet", "link", entered_ns="t_ns")
    wire = (pl.col("size_bytes") * 2_000 / 3).alias("wire_ns")
    return (
        table.filter(pl.col("event").is_in(["deliver", "drop"]))
        .join(entered, ["packet", "link"])
        .with_columns(wire)
    )


def rest(of: pl.DataFrame) -> pl.Series:
    """The time that packets were on the link besides what the queue held them for."""
    return of["t_ns"] - of["entered_ns"] - of["queued_ns"]


def test_delivered_packets_waited_for_what_the_wire_and_the_way_do_not_explain(tmp_path: Path) -> None:
    delivered = packets(tmp_path, {}).filter(pl.col("event") == "deliver")
    assert ((rest(delivered) - delivered["wire_ns"] - DELAY_NS).abs() < 2).all()
    # 20 packets of 1 ms each.
    assert 19_000_000 < delivered["queued_ns"].max() < 20_100_000  # type: ignore[operator]
    assert delivered["queued_ns"].min() == 0


def test_packets_that_a_full_queue_refuses_did_not_wait(tmp_path: Path) -> None:
    dropped = packets(tmp_path, {}).filter(pl.col("event") == "drop")
    assert dropped.height > 0
    assert set(dropped["cause"]) == {"queue"}
    assert (dropped["queued_ns"] == 0).all()


@pytest.mark.parametrize(
    ("overrides", "cause", "on_wire"), [(CODEL, "codel", 0), (LOSSY, "channel", 1)], ids=["queue", "channel"]
)
def test_dropped_packets_waited_until_the_queue_let_them_go(
    tmp_path: Path, overrides: dict[str, object], cause: str, on_wire: int
) -> None:
    """CoDel drops a packet instead of sending it, the channel at the end of its transmission."""
    dropped = packets(tmp_path, overrides).filter(pl.col("cause") == cause)
    assert dropped.height > 5
    assert ((rest(dropped) - on_wire * dropped["wire_ns"]).abs() < 2).all()
    assert dropped["queued_ns"].max() > 1_000_000  # type: ignore[operator]
