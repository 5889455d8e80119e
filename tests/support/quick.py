"""A scenario that takes milliseconds to run."""

from __future__ import annotations

QUICK = """\
name = "quick"
duration = "2 s"
until = "drained"

[nodes.client]
[nodes.server]

[links.uplink]
between = ["client", "server"]
rate = "10 Mbps"
delay = "10 ms"
queue = { kind = "fifo", limit = "50 packets" }

[flows.main]
transport = { kind = "quic", congestion = "cubic" }
from = "client"
to = "server"
source = { kind = "cbr", rate = "5 Mbps", size = "1000 B" }
"""
