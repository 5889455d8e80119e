"""A campaign whose scenario needs a trace in another folder, and a plug-in of several files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = """\
name = "travels"
duration = "2 s"

[nodes.client]
[nodes.server]

[links.uplink]
between = ["client", "server"]
channel = { kind = "trace", file = "../traces/mine.mahimahi" }
delay = "10 ms"
queue = { kind = "fifo", limit = "20 packets" }

[flows.main]
transport = { kind = "quic", scheduler = { python = "turns:Turns" } }
from = "client"
to = "server"
streams = 2
source = { kind = "poisson", rate = "4 Mbps", size = "1000 B" }
"""

# One run in four or so fails, and its message has the path of this file.
PLUGIN = """\
from helpers.order import first

class Turns:
    def __init__(self, streams, random, **parameters):
        self.fails = random.random() < 0.25

    def schedule(self, now, streams, room):
        if self.fails:
            raise ValueError("no turn")
        return [(first(streams), min(room, first(streams).backlog))]
"""

HELPER = """\
def first(streams):
    return max(streams, key=lambda stream: stream.backlog)
"""

CAMPAIGN = """\
name = "travels"
scenario = "scenarios/mine.toml"
replicates = 12
seed = 1
metrics = ["flows.main.goodput_bps", "flows.main.delay_ms.p95"]
tables = ["messages"]

[[grid]]
"links.uplink.queue.limit" = ["5 packets", "unlimited"]
"""


FILES = {
    "scenarios/mine.toml": SCENARIO,
    "scenarios/turns.py": PLUGIN,
    "scenarios/helpers/__init__.py": "",
    "scenarios/helpers/order.py": HELPER,
    # A packet of 1500 bytes every 3 ms: 4 Mbit/s.
    "traces/mine.mahimahi": "".join(f"{ms}\n" for ms in range(3, 2001, 3)),
    "travels.toml": CAMPAIGN,
}


def write(folder: Path) -> Path:
    """Writes the files to a new folder, and returns the campaign's."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "travels.toml"
