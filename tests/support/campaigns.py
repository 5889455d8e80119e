"""A tiny campaign, and what its tests share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = """\
name = "udp"
duration = "1 s"

[nodes.client]
[nodes.server]

[links.uplink]
between = ["client", "server"]
channel = { kind = "lms", preset = "s" }
delay = "10 ms"
queue = { kind = "fifo", limit = "5 packets" }

[flows.main]
transport = "udp"
from = "client"
to = "server"
source = { kind = "poisson", rate = "2 Mbps", size = "1000 B" }
"""

CAMPAIGN = """\
name = "tiny"
scenario = "udp.toml"
replicates = 3
seed = 1
metrics = ["flows.main.goodput_bps", "flows.main.delay_ms.mean"]
tables = ["messages", "channel"]

[[grid]]
"links.uplink.queue.limit" = ["2 packets", "unlimited"]

[[grid]]
"flows.main.source.rate" = ["1 Mbps", "3 Mbps"]
"""


def write(folder: Path, *changes: tuple[str, str], campaign: str = CAMPAIGN) -> Path:
    """The campaign's file, each first text in it replaced by the second, beside its scenario."""
    for old, new in changes:
        assert old in campaign
        campaign = campaign.replace(old, new)
    (folder / "udp.toml").write_text(SCENARIO, encoding="utf-8")
    file = folder / "tiny.toml"
    file.write_text(campaign, encoding="utf-8")
    return file


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a campaign by its name, except the manifest, which holds what took how long where."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name != "manifest.json"
    }
