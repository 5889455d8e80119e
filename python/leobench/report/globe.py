"""The constellation of a run on a page: where satellites are, who serves which link, and until when."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench.czml import NO_PLACE
from leobench.errors import LeobenchError
from leobench.report import network

if TYPE_CHECKING:
    from leobench.orbit import Survey
    from leobench.report.content import Run

# Instants at which the serving satellites are looked up at most; changes in between are in the tables.
_INSTANTS = 2_000
# Points of orbits on a page at most; each takes about 20 bytes.
_MOST_POINTS = 60_000
# Seconds between two points of an orbit at least: a great circle between them is off by less than 1 km.
_SPACING_S = 30.0


def describe(run: Run, notes: list[str]) -> dict[str, Any] | None:
    """The constellation of a run as JSON; `None`, and a note on the reason, if it cannot be shown."""
    from leobench import _core, orbit
    from leobench.scenario import load

    scenario = run.manifest["scenario"]
    if "constellation" not in scenario:
        return None
    try:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "scenario.json"
            file.write_text(json.dumps(scenario), encoding="utf-8")
            loaded = load(file, flows="optional")
            # A chain of satellites has no place on the Earth.
            text = _core.scene(loaded, _SPACING_S)
            if text is None:
                notes.append(f"There is no globe: {NO_PLACE.partition(';')[0]}.")
                return None
            scene = json.loads(text)
            seen = orbit.survey(loaded, max(1.0, _duration_s(scene) / _INSTANTS))
            hops = network.describe(run, seen.duration_s, notes)
            passed = [] if hops is None else hops["satellites"]
            relays = json.loads(_core.trajectories(loaded, _SPACING_S, passed) or "[]")
    except (LeobenchError, OSError) as error:
        notes.append(f"There is no globe, as the constellation cannot be computed again: {error}")
        return None
    points = sum(len(way["points"]) for way in (*scene["satellites"], *relays))
    every = -(-points // _MOST_POINTS)
    return {
        "run": run.label,
        "start": seen.start,
        "duration_s": seen.duration_s,
        "terminals": [_way(way, 1) for way in scene["terminals"]],
        "gateways": [_way(way, 1) for way in scene["gateways"]],
        "satellites": [_way(way, every) for way in scene["satellites"]],
        "links": _serving(seen, scenario, [way["name"] for way in scene["terminals"]]),
        "handovers": seen.handovers.filter(seen.handovers["from"].is_not_null()).to_dicts(),
        "network": hops and {**hops, "satellites": [_way(way, every) for way in relays]},
    }


def _duration_s(scene: dict[str, Any]) -> float:
    """The end of the scene."""
    return max((float(way["to_s"]) for way in scene["terminals"]), default=0.0)


def _way(way: dict[str, Any], every: int) -> dict[str, Any]:
    """A place over time: seconds, and kilometres in the frame of the Earth; the first and last point stay."""
    points = way["points"]
    kept = [point for number, point in enumerate(points) if number % every == 0 or number == len(points) - 1]
    return {
        "name": way["name"],
        "from_s": round(way["from_s"], 3),
        "to_s": round(way["to_s"], 3),
        "points": [[round(point[0], 2), *(round(value / 1e3, 1) for value in point[1:])] for point in kept],
    }


def _serving(seen: Survey, scenario: dict[str, Any], terminals: list[str]) -> list[dict[str, Any]]:
    """For each link: its terminal, and a row per time with the same satellite, gateway and hops."""
    import polars as pl

    from leobench import orbit

    links = []
    for name in seen.samples["link"].unique(maintain_order=True):
        rows = seen.samples.filter(link=name)
        way = pl.struct("satellite", "gateway", hops=pl.col("hops").fill_null(0))
        first = rows.filter(way.rle_id() != way.rle_id().shift(1, fill_value=2**32 - 1)).select(
            "t_s", "satellite", "gateway", "hops", "delay_ms", "elevation_deg"
        )
        links.append(
            {
                "name": name,
                "terminal": orbit.terminal_of(name, scenario, terminals),
                "end_s": seen.duration_s,
                "serving": first.to_dicts(),
            }
        )
    return links
