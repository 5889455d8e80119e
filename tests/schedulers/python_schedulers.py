"""A scenario with a stream scheduler written in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = """\
name = "turns"
duration = "2 s"
until = "drained"

[nodes.client]
[nodes.server]

[links.uplink]
between = ["client", "server"]
rate = "10 Mbps"
delay = "10 ms"
queue = { kind = "fifo", limit = "30 packets" }

[flows.main]
transport = { kind = "quic", congestion = "cubic", scheduler = { python = "turns:Turns" } }
from = "client"
to = "server"

[[flows.main.streams]]
source = { kind = "poisson", rate = "6 Mbps", size = "700 B" }
deadline = "80 ms"
[[flows.main.streams]]
source = { kind = "poisson", rate = "3 Mbps", size = "1700 B" }
urgency = 1
incremental = true
[[flows.main.streams]]
source = { kind = "poisson", rate = "1 Mbps", size = "90 B" }
"""

TURNS = """\
import leobench


class Turns(leobench.StreamScheduler):
    fills_packets = True

    def __init__(self, streams, random):
        super().__init__(streams, random)
        self.next = 0

    def schedule(self, now, streams, room):
        first = next((i for i, stream in enumerate(streams) if stream.number >= self.next), 0)
        self.next = streams[first].number + 1
        shares = []
        for stream in (*streams[first:], *streams[:first]):
            if room > 0:
                shares.append((stream, min(stream.backlog, room)))
                room -= shares[-1][1]
        return shares
"""


def write(folder: Path) -> Path:
    """The scenario beside its scheduler, in a folder of their own."""
    beside = folder / "scenario"
    beside.mkdir()
    file = beside / "turns.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    (beside / "turns.py").write_text(TURNS, encoding="utf-8")
    return file


def files(folder: Path) -> set[Path]:
    """Whatever is in a folder."""
    return set(folder.rglob("*"))
