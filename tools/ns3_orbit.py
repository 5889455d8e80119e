"""TCP between 100 cities over Kuiper K1 at rest: the network for ns-3, and its goodputs beside ours.

`python -m tools.ns3_orbit network FILE [--mbps 10]` writes the network that
`crates/sim/testdata/ns3/orbit.cc` reads, and `python -m tools.ns3_orbit compare FILE [--mbps 10]
[--seconds 20] [--warm-up 5]` prints our goodputs beside those that it printed into FILE. Satellites stay
where they are at the start, so that both have the same ways. Delays are computed here, by circular orbits
without any perturbation, and must add up to ours within 50 us a way.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import resource
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import leobench
from tools import hypatia_speed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

PAIR = hypatia_speed.FOLDER / "pair.toml"
# Nothing is updated after the start.
AT_REST = {"constellation.step": "300 s", "constellation.isl.every": "300 s"}
# Earth, by WGS 84: gravity in m^3/s^2, radius at the equator in m, flattening. Light in m/s.
GRAVITY, RADIUS, FLATTENING, LIGHT = 3.986004418e14, 6_378_137.0, 1 / 298.257223563, 299_792_458.0
# Greenwich's sidereal time at 2000-01-01T12:00Z in degrees, and its turn in degrees a day (Vallado 2013,
# eq. 3-45).
SIDEREAL, TURN = 280.46061837, 360.98564736629
# A hop that only takes time to propagate: bit/s and packets.
FAST = (10**12, 100_000)
# By how much our delay of a way may differ from that of circular orbits.
TOLERANCE_MS = 0.05


class Way(NamedTuple):
    """The satellites from one city to another, and our delay."""

    source: str
    destination: str
    satellites: list[int]
    delay_ms: float


def overrides(mbps: int, seconds: float, warm_up: float = 0.0) -> dict[str, Any]:
    """The scenario of `tools.hypatia_speed`, at rest."""
    return {**hypatia_speed.scenario(mbps, seconds), **AT_REST, "warm_up": f"{warm_up} s"}


def ways(mbps: int) -> list[Way]:
    """The ways at the start."""
    seen = leobench.survey(PAIR, 1, overrides(mbps, 1.0))
    rows = seen.routes.filter(seen.routes["t_s"] == 0).iter_rows(named=True)
    return [
        Way(
            row["from_station"],
            row["to_station"],
            [int(satellite) for satellite in row["satellites"].split("->")],
            row["delay_ms"],
        )
        for row in rows
    ]


class Sky:
    """Places at the start in metres from the Earth's centre, without its rotation."""

    @cached_property
    def satellites(self) -> list[NDArray[np.float64]]:
        """Satellites by number."""
        with (hypatia_speed.FOLDER / "kuiper-k1.csv").open(encoding="utf-8", newline="") as file:
            return [self._orbit(row) for row in csv.DictReader(file)]

    @staticmethod
    def _orbit(row: dict[str, str]) -> NDArray[np.float64]:
        motion = float(row["MEAN_MOTION"]) * math.tau / 86_400
        node, inclination = (math.radians(float(row[key])) for key in ("RA_OF_ASC_NODE", "INCLINATION"))
        angle = math.radians(float(row["ARG_OF_PERICENTER"]) + float(row["MEAN_ANOMALY"]))
        along, across = math.cos(angle), math.cos(inclination) * math.sin(angle)
        east = math.cos(node) * along - math.sin(node) * across
        north = math.sin(node) * along + math.cos(node) * across
        up = math.sin(inclination) * math.sin(angle)
        radius = (GRAVITY / motion**2) ** (1 / 3)
        return np.array([radius * east, radius * north, radius * up])

    @cached_property
    def cities(self) -> dict[str, NDArray[np.float64]]:
        """Cities by name."""
        since = (datetime(2000, 1, 1) - datetime(2000, 1, 1, 12)).total_seconds() / 86_400
        turned = math.radians(SIDEREAL + TURN * since)
        return {name: self._city(place, turned) for name, place in hypatia_speed.cities().items()}

    @staticmethod
    def _city(place: dict[str, str], turned: float) -> NDArray[np.float64]:
        degrees = [float(place[key].split()[0]) for key in ("latitude", "longitude")]
        latitude, longitude = map(math.radians, degrees)
        squared = FLATTENING * (2 - FLATTENING)
        normal = RADIUS / math.sqrt(1 - squared * math.sin(latitude) ** 2)
        east, flat = longitude + turned, normal * math.cos(latitude)
        up = (1 - squared) * normal * math.sin(latitude)
        return np.array([flat * math.cos(east), flat * math.sin(east), up])

    def delays_ns(self, way: Way) -> list[int]:
        """The delay of each hop of a way, those to and from the ground included."""
        relays = [self.satellites[number] for number in way.satellites]
        places = [self.cities[way.source], *relays, self.cities[way.destination]]
        lengths = [float(np.linalg.norm(one - other)) for one, other in itertools.pairwise(places)]
        delays = [round(1e9 * length / LIGHT) for length in lengths]
        if abs(sum(delays) / 1e6 - way.delay_ms) > TOLERANCE_MS:
            ends = f"{way.source} to {way.destination}"
            raise SystemExit(f"{ends}: {way.delay_ms} ms, by circular orbits {sum(delays) / 1e6} ms")
        return delays


class Nodes(dict[tuple[str, object], int]):
    """Numbers of nodes: satellites and cities, the transmitter of a satellite, and the antenna of a city."""

    def __missing__(self, key: tuple[str, object]) -> int:
        self[key] = number = len(self)
        return number


def network(mbps: int) -> Iterator[str]:
    """The lines of the network.

    A city sends at the rate of the link to its antenna, and from there every way up only takes time. A
    satellite sends to the ground at that rate to its transmitter, whichever city is below.
    """
    sky, nodes = Sky(), Nodes()
    limited = (1_000_000 * mbps, 10 * mbps)
    links: dict[tuple[int, int], tuple[tuple[int, int], tuple[int, int], int]] = {}
    routes, flows = [], []
    for way in ways(mbps):
        source, destination = nodes["city", way.source], nodes["city", way.destination]
        up, down = nodes["antenna", way.source], nodes["antenna", way.destination]
        relays = [nodes["satellite", number] for number in way.satellites]
        transmitter = nodes["transmitter", way.satellites[-1]]
        first, *lasers, last = sky.delays_ns(way)
        links[source, up] = limited, FAST, 1
        links[up, relays[0]] = FAST, FAST, first
        links[relays[-1], transmitter] = limited, FAST, 1
        links[transmitter, down] = FAST, FAST, last
        for (one, other), delay in zip(itertools.pairwise(relays), lasers, strict=True):
            links[min(one, other), max(one, other)] = limited, limited, delay
        hops = itertools.pairwise([source, up, *relays, transmitter, down, destination])
        routes += [f"route {one} {destination} {after}" for one, after in hops]
        flows.append(f"flow {source} {destination}")
    for (one, other), (there, back, delay) in links.items():
        yield f"link {one} {other} {there[0]} {there[1]} {back[0]} {back[1]} {delay}"
    yield from routes
    yield from flows


@dataclass(frozen=True)
class Comparison:
    """Goodputs of the same flows in bit/s, and our seconds of the processor."""

    ours: NDArray[np.float64]
    theirs: NDArray[np.float64]
    spent_s: float

    @property
    def total(self) -> float:
        """Our goodput of all flows over theirs."""
        return float(self.ours.sum() / self.theirs.sum())

    @property
    def correlation(self) -> float:
        """The correlation of the goodputs of flows."""
        return float(np.corrcoef(self.ours, self.theirs)[0, 1])

    def jain(self) -> list[float]:
        """Jain's index of our goodputs, and of theirs."""
        both = (self.ours, self.theirs)
        return [float(each.sum() ** 2 / (len(each) * (each**2).sum())) for each in both]


def compare(file: Path, mbps: int, seconds: float, warm_up: float) -> Comparison:
    """Our goodputs beside those in a file, flow by flow in the order of the network's lines."""
    theirs = np.array([float(line) for line in file.read_text("utf-8").split()])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    result = leobench.run(PAIR, 1, overrides(mbps, seconds, warm_up))
    spent = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    pairs = result.summary["traffic"]["pairs"]
    known = {(pair["sender"], pair["receiver"]): pair["goodput_bps"] for pair in pairs}
    ours = np.array([known[way.source, way.destination] for way in ways(mbps)])
    return Comparison(ours, theirs, spent)


def main(words: Sequence[str] | None = None) -> None:
    """Writes the network, or compares."""
    parser = argparse.ArgumentParser(description="TCP between 100 cities over Kuiper K1 at rest, for ns-3")
    parser.add_argument("task", choices=["network", "compare"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--mbps", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--warm-up", type=float, default=0.0)
    chosen = parser.parse_args(words)
    if chosen.task == "network":
        chosen.file.write_text("".join(f"{line}\n" for line in network(chosen.mbps)), "utf-8")
        return
    seen = compare(chosen.file, chosen.mbps, chosen.seconds, chosen.warm_up)
    total, theirs = seen.ours.sum() / 1e6, seen.theirs.sum() / 1e6
    spread = np.quantile(seen.ours / seen.theirs, [0.05, 0.5, 0.95]).round(2)
    jain, theirs_jain = seen.jain()
    print(f"{seen.spent_s:.1f} s of the processor for {chosen.seconds:g} s")
    print(f"goodput of all flows: {total:.1f} Mbit/s, ns-3 {theirs:.1f}, ratio {seen.total:.3f}")
    print(f"flow by flow: correlation {seen.correlation:.3f}, ratio at 5, 50, 95 %: {spread}")
    print(f"Jain's index: {jain:.3f}, ns-3 {theirs_jain:.3f}")


if __name__ == "__main__":
    main()
