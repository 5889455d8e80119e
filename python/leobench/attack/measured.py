"""Paths that were measured, and ship: what an attack is compared with."""

from __future__ import annotations

from pathlib import Path

_TRACES = Path(__file__).parents[1] / "templates" / "scenarios" / "traces"

# Channels by name, towards the network from a terminal. A part that a fit lacks is that of a usual uplink.
CHANNELS: dict[str, dict[str, object]] = {
    "starlink": {"kind": "starlink", "fit": "starlink"},
    "osnabrueck-2024": {"kind": "starlink", "fit": "osnabrueck-2024", "delay": "25 ms"},
    "autobahn-2024": {"kind": "starlink", "fit": "autobahn-2024", "delay": "25 ms"},
    "seattle-2023": {
        "kind": "starlink",
        "fit": "seattle-2023",
        "uplink_rate": "12 Mbps",
        "downlink_rate": "60 Mbps",
    },
    "trace": {
        "kind": "trace",
        "file": str(_TRACES / "synthetic.mahimahi"),
        "delay_file": str(_TRACES / "synthetic.delay"),
        "delay_interval": "100 ms",
        "start": "random",
    },
}
# Draws of each channel.
DRAWS = 8
