"""Messages in streams of their own whose senders cancel them when they are late."""

from __future__ import annotations

from typing import TYPE_CHECKING

import leobench

if TYPE_CHECKING:
    from pathlib import Path

# A frame of 10 kB every 100 ms, due after 300 ms: half of what the link carries, but for the third second.
SCENARIO = """\
name = "frames"
duration = "10 s"
nodes = { a = {}, b = {} }

[links.path]
between = ["a", "b"]
queue = { kind = "fifo", limit = "3 packets" }

[links.path.channel]
kind = "schedule"
steps = [
    { at = "0 s", rate = "1600 kbps", delay = "10 ms" },
    { at = "2 s", rate = "100 kbps" },
    { at = "3 s", rate = "1600 kbps" },
]

[flows.main]
transport = "quic"
from = "a"
to = "b"
stop = "5 s"

[[flows.main.streams]]
name = "frames"
source = { kind = "cbr", rate = "800 kbps", size = "10 kB" }
deadline = "300 ms"
carried = "stream_per_message"
on_deadline = "cancel"
"""


def test_cancelled_messages_are_counted_and_no_doubt(tmp_path: Path) -> None:
    file = tmp_path / "frames.toml"
    file.write_text(SCENARIO)
    result = leobench.run(file)
    (stream,) = result.summary["flows"][0]["streams"]
    cancelled = stream["cancelled"]
    assert stream["messages"] == 50
    # A frame takes 0.8 s of the third second: those from 2.0 to 2.7 s are too late, and perhaps the next two.
    assert 8 <= cancelled["messages"] <= 10
    assert cancelled["messages"] == stream["undelivered_messages"]
    assert cancelled["in_time_messages"] + stream["late_messages"] == 50
    arrived = result.tables.messages.drop_nulls("delivered_ns")
    assert len(arrived) == 50 - cancelled["messages"]
    waited = arrived["delivered_ns"] - arrived["created_ns"]
    # One that was sent in full before its deadline still arrives: a packet and the way later at most.
    assert waited.max() < 340e6  # type: ignore[operator]
    assert result.warnings == []
