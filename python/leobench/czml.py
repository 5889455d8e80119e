"""A constellation as CZML, which CesiumJS shows on a globe: satellites, places, and links over time.

CZML is a list of packets, of which the first is the document's
(https://github.com/AnalyticalGraphicsInc/czml-writer/wiki/CZML-Guide).
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import polars as pl

from leobench.errors import InputError
from leobench.files import write_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from leobench._core import Scenario
    from leobench.orbit import Survey

    Packet = dict[str, Any]

NO_PLACE = "a chain of satellites has no place on the Earth; allowed: satellites with orbits"

# Seconds between two points of an orbit. Between them, Lagrange polynomials of degree 5 are within a metre.
_SPACING_S = 30.0
_DEGREE = 5

_TERMINAL, _GATEWAY, _SATELLITE = [213, 94, 0, 255], [240, 228, 66, 255], [180, 180, 180, 255]
_LINK = [0, 158, 115, 255]


def packets(scenario: Scenario, seen: Survey) -> Iterator[Packet]:
    """The packets of a scenario's constellation: a document, places, satellites in view, and links.

    Raises:
        InputError: If its satellites have no place on the Earth.
    """
    from leobench import _core

    text = _core.scene(scenario, _SPACING_S)
    if text is None or seen.satellites is None:
        raise InputError(f"{seen.name}: {NO_PLACE}")
    scene = json.loads(text)
    clock = Clock(seen)
    yield clock.document(seen.name)
    for kind, colour in (("terminal", _TERMINAL), ("gateway", _GATEWAY)):
        for way in scene[f"{kind}s"]:
            yield _place(clock, kind, way, colour)
    passes: dict[str, list[tuple[float, float, str]]] = {}
    for way in scene["satellites"]:
        own = passes.setdefault(way["name"], [])
        number = "" if not own else f"/{len(own) + 1}"
        own.append((way["from_s"], way["to_s"], f"satellite/{way['name']}{number}"))
        yield _satellite(clock, way, own[-1][2])
    links = json.loads(scenario.to_json())["links"]
    for link in seen.samples["link"].unique(maintain_order=True):
        yield from _link(clock, seen, link, links[link]["constellation"]["terminal"], passes)


class Clock:
    """The time of a run as CZML writes it."""

    def __init__(self, seen: Survey) -> None:
        self.start = datetime.fromisoformat(seen.start)
        self.end_s = seen.duration_s

    def at(self, seconds: float) -> str:
        """An instant of the run."""
        instant = self.start + timedelta(seconds=seconds)
        return instant.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def between(self, begin_s: float, end_s: float) -> str:
        """An interval."""
        return f"{self.at(begin_s)}/{self.at(end_s)}"

    def document(self, name: str) -> Packet:
        """The first packet, with the clock of the animation."""
        clock = {
            "interval": self.between(0, self.end_s),
            "currentTime": self.at(0),
            "multiplier": 10,
            "range": "LOOP_STOP",
            "step": "SYSTEM_CLOCK_MULTIPLIER",
        }
        return {"id": "document", "name": name, "version": "1.0", "clock": clock}

    def position(self, points: list[list[float]]) -> Packet:
        """A position in the frame of the Earth: at rest, or interpolated."""
        if len(points) == 1:
            return {"cartesian": [round(value, 2) for value in points[0][1:]]}
        samples = [round(value, 2 if place else 6) for point in points for place, value in enumerate(point)]
        return {
            "interpolationAlgorithm": "LAGRANGE",
            "interpolationDegree": min(_DEGREE, len(points) - 1),
            "epoch": self.at(0),
            "referenceFrame": "FIXED",
            "cartesian": samples,
        }


def _point(colour: list[int], size: int) -> Packet:
    return {"color": {"rgba": colour}, "pixelSize": size}


def _place(clock: Clock, kind: str, way: Packet, colour: list[int]) -> Packet:
    label = {"text": way["name"], "font": "12pt sans-serif", "pixelOffset": {"cartesian2": [0, -16]}}
    return {
        "id": f"{kind}/{way['name']}",
        "name": way["name"],
        "position": clock.position(way["points"]),
        "point": _point(colour, 10),
        "label": label,
    }


def _satellite(clock: Clock, way: Packet, name: str) -> Packet:
    return {
        "id": name,
        "name": way["name"],
        "availability": clock.between(way["from_s"], way["to_s"]),
        "position": clock.position(way["points"]),
        "point": _point(_SATELLITE, 5),
    }


def _link(
    clock: Clock,
    seen: Survey,
    link: str,
    terminal: str,
    passes: dict[str, list[tuple[float, float, str]]],
) -> Iterator[Packet]:
    """A line for each time in which the same satellite and gateway serve.

    Over links between satellites, the line ends at the serving one.
    """
    rows = seen.samples.filter(link=link)
    way = pl.struct("satellite", "gateway", on_board=pl.col("hops").fill_null(0) > 0)
    runs = rows.with_columns(ends=pl.col("t_s").shift(-1, fill_value=clock.end_s), run=way.rle_id())
    number = 0
    for run in runs.drop_nulls("satellite").partition_by("run", maintain_order=True):
        first = run.row(0, named=True)
        begin, end = first["t_s"], run["ends"][-1]
        over = [each for each in passes[first["satellite"]] if each[0] <= begin < each[1]]
        if not over or begin >= end:
            continue
        _, sets, satellite = over[0]
        number += 1
        ends = [f"terminal/{terminal}", satellite]
        if not first["hops"] and first["gateway"] is not None:
            ends.append(f"gateway/{first['gateway']}")
        yield {
            "id": f"link/{link}/{number}",
            "name": f"{link} over {first['satellite']}",
            "availability": clock.between(begin, min(end, sets)),
            "polyline": {
                "positions": {"references": [f"{one}#position" for one in ends]},
                "width": 2,
                "arcType": "NONE",
                "material": {"solidColor": {"color": {"rgba": _LINK}}},
            },
        }


def write(scenario: Scenario, seen: Survey, folder: Path) -> list[Path]:
    """Writes the file `NAME.czml`, NAME that of the scenario, into a folder that exists."""
    lines = [json.dumps(packet, separators=(",", ":")) for packet in packets(scenario, seen)]
    file = folder / f"{seen.name}.czml"
    write_text(file, "[\n" + ",\n".join(lines) + "\n]\n")
    return [file]
