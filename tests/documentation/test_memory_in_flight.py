"""Memory used by data in flight, as `docs/reports/cost-of-a-run.md` states it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import leobench

if TYPE_CHECKING:
    from pathlib import Path

# Without losses, slow start goes on: what is in flight grows as long as the run, if the queue has no limit.
SLOW_START = """
name = "flight"
duration = "8 s"
nodes = { client = {}, server = {} }
[record]
messages = false
[links.path]
between = ["client", "server"]
rate = "200 Mbps"
delay = "20 ms"
[flows.main]
transport = { kind = "quic", congestion = "cubic" }
from = "client"
to = "server"
source = "bulk"
"""

# Tells the most memory that a run took, in KiB. `ru_maxrss` would count that of its parent, too.
RUN = """
import re, sys
from pathlib import Path
import leobench
leobench.run(sys.argv[1], overrides={"links.path.queue.limit": sys.argv[2], "record.series": False})
print(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


def peak_memory(scenario: Path, limit: str) -> int:
    """Bytes of memory that a run with a queue of this limit took at its peak, with the interpreter."""
    ran = subprocess.run(
        [sys.executable, "-c", RUN, str(scenario), limit], check=True, capture_output=True, text=True
    )
    return int(ran.stdout) * 1024


def peak_in_flight(scenario: Path, limit: str) -> int:
    """Bytes that were in flight at most in the same run."""
    tables = leobench.run(scenario, overrides={"links.path.queue.limit": limit}).tables
    return max(tables.transport["in_flight_bytes"].to_list(), default=0)


def test_a_byte_in_flight_takes_less_than_a_byte_of_memory(tmp_path: Path) -> None:
    """A quarter to a half of one: what both ends know of a packet. Its content is not kept."""
    scenario = tmp_path / "flight.toml"
    scenario.write_text(SLOW_START, encoding="utf-8")
    limits = ("100 packets", "unlimited")
    few, many = (peak_in_flight(scenario, limit) for limit in limits)
    assert few < 5e6
    assert many > 100e6
    less, more = (peak_memory(scenario, limit) for limit in limits)
    assert 0 < (more - less) / (many - few) < 1
