"""Paths as scenarios: one link between the two ends of the flow, whose channels are tables over time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from leobench.files import write_text
from leobench.fitting.replay.transfer import BIN_S, PACKET

if TYPE_CHECKING:
    from pathlib import Path

    from leobench.fitting.replay.posterior import Posterior
    from leobench.fitting.replay.transfer import Transfer
    from leobench.fitting.series import Floats

SCENARIO, PATHS, NAIVE = "scenario.json", "paths", "naive"
LINK = "path"

# Of acknowledgements, which a recording says nothing about.
_BACK = "1 Gbps"
# Mbit/s that a table states at least: a packet in two seconds.
_LEAST_MBPS = 0.006


def write(posterior: Posterior, folder: Path) -> Path:
    """Writes the scenario of the first draw and the tables of all, and those of the naive path."""
    (folder / PATHS).mkdir()
    found = posterior.paths
    for draw in range(len(found.capacity)):
        _tables(folder, f"{draw:03}", found.capacity[draw], found.base_ms[draw], posterior.loss[draw])
    least = np.full_like(posterior.observed_mbps, 1e3 * float(np.nanmin(posterior.transfer.rtt_s)))
    _tables(folder, NAIVE, posterior.observed_mbps, least, np.zeros_like(least))
    return _scenario(posterior.transfer, posterior.queue_limit, folder)


def write_trial(transfer: Transfer, folder: Path) -> Path:
    """Writes the scenario before anything is inferred: its flow is known, its path and queue are any."""
    (folder / PATHS).mkdir()
    some = np.ones(transfer.bins)
    _tables(folder, "000", some, some, np.zeros_like(some))
    return _scenario(transfer, PACKET * transfer.bins, folder)


def channels(name: str) -> list[tuple[str, object]]:
    """The values of the scenario that make its path the one of this name, by place."""
    return [
        (f"links.{LINK}.{side}.channel", {"kind": "schedule", "file": f"{PATHS}/{name}-{side}.csv"})
        for side in ("forward", "backward")
    ]


def _scenario(transfer: Transfer, queue_limit: float, folder: Path) -> Path:
    """Writes the scenario of a replay; its path is the first draw."""
    template = dict(transfer.template)
    flow = str(template.pop("name"))
    ends = [str(template["from"]), str(template["to"])]
    forward, backward = (channel for _, channel in channels("000"))
    scenario = {
        "name": "replay",
        "description": "A recorded transfer over the path inferred from it",
        "duration": f"{transfer.bins * BIN_S:.1f} s",
        "record": {"interval": "100 ms"},
        "nodes": {end: {} for end in ends},
        "links": {
            LINK: {
                "between": ends,
                "queue": {"kind": "fifo", "limit": f"{queue_limit:.0f} B"},
                "forward": {"channel": forward},
                "backward": {"channel": backward},
            }
        },
        "flows": {flow: template},
    }
    file = folder / SCENARIO
    write_text(file, json.dumps(scenario, indent=2) + "\n")
    return file


def _tables(folder: Path, name: str, capacity: Floats, base_ms: Floats, loss: Floats) -> None:
    lines = ["time,rate,delay,loss,up"]
    back = list(lines)
    for at, (mbps, base, lost) in enumerate(zip(capacity, base_ms, loss, strict=True)):
        time, delay = f"{at * BIN_S:.1f} s", f"{base / 2:.4f} ms"
        lines.append(f"{time},{1e3 * max(mbps, _LEAST_MBPS):.3f} kbps,{delay},{lost:.3g},true")
        back.append(f"{time},{_BACK},{delay},0,true")
    write_text(folder / PATHS / f"{name}-forward.csv", "\n".join(lines) + "\n")
    write_text(folder / PATHS / f"{name}-backward.csv", "\n".join(back) + "\n")
