"""Networks that Hypatia generated, and the delays of their ways as a table of the channel `schedule`.

Hypatia (Kassing et al. 2020, "Exploring the Internet from space") writes a folder with `tles.txt`,
`isls.txt`, `ground_stations.txt` and `description.txt`, and in it a folder `dynamic_state_*` with the
changes of the forwarding state at each time step, `fstate_<nanoseconds>.txt`. Nodes are numbered:
satellites from 0, then ground stations. Scenarios have the same reader.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from leobench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    Way = tuple[int, ...] | None

_LIGHT = 299_792_458.0


class Network:
    """A network as Hypatia generated it: what is read in a folder of this name.

    Raises:
        InputError: If a file is missing or wrong: the file, the line, and what would be right.
    """

    def __init__(self, folder: str) -> None:
        from leobench import _core

        self._folder = folder
        self._read = _core.HypatiaNetwork(folder)
        self._changes = self._read.changes()
        self.stations = self._read.stations

    def station(self, name: str) -> int:
        """The node of a ground station."""
        if name not in self.stations:
            raise InputError(f"{name}: no such ground station; allowed: {', '.join(self.stations)}")
        return self._read.satellites + self.stations.index(name)

    def ways(self, source: str, target: str) -> list[tuple[int, Way]]:
        """The ways between two stations: from when on (ns), and the nodes; `None` while there is no way."""
        origin, end = self.station(source), self.station(target)
        if origin == end:
            raise InputError(f"{source}: is both ends of the route; allowed: two different ground stations")
        following: dict[int, int | None] = {}
        ways: list[tuple[int, Way]] = []
        for at, file, changes in self._changes:
            following |= {node: after for node, towards, after in changes if towards == end}
            way = _walk(following, file, origin, end)
            if not ways or ways[-1][1] != way:
                ways.append((at, way))
        return ways

    def delays(self, source: str, target: str, every_ns: int) -> list[tuple[int, float | None]]:
        """The one-way delay in seconds, at each change of the way and every so many nanoseconds between."""
        ways = self.ways(source, target)
        last = self._changes[-1][0]
        ends = [*(at for at, _ in ways[1:]), last + every_ns]
        samples = [
            (now, way) for (at, way), end in zip(ways, ends, strict=True) for now in range(at, end, every_ns)
        ]
        return list(self._delays(samples))

    def _delays(self, samples: list[tuple[int, Way]]) -> Iterator[tuple[int, float | None]]:
        wanted = [(now, node) for now, way in samples for node in way or ()]
        places = iter(self._read.positions(wanted))
        for now, way in samples:
            if way is None:
                yield now, None
                continue
            points = [next(places) for _ in way]
            lengths = [math.dist(*ends) for ends in pairwise(points)]
            self._check(now, way, lengths)
            yield now, sum(lengths) / _LIGHT

    def _check(self, now: int, way: tuple[int, ...], lengths: list[float]) -> None:
        for (here, there), length in zip(pairwise(way), lengths, strict=True):
            longest = self._read.longest_m(here, there)
            if length > longest:
                raise InputError(
                    f"{self._folder}/tles.txt: at {now} ns, "
                    f"{here} and {there} are {length / 1e3:.0f} km apart; "
                    f"allowed: at most {longest / 1e3:.0f} km by description.txt, "
                    "with elements and forwarding state from one run"
                )


def _walk(following: dict[int, int | None], file: str, origin: int, end: int) -> Way:
    way = [origin]
    while way[-1] != end:
        if way[-1] not in following:
            raise InputError(
                f"{file}: node {way[-1]} has no next hop to {end} yet; "
                "allowed: an entry for every node in fstate_0.txt"
            )
        after = following[way[-1]]
        if after is None:
            return None
        if after in way:
            raise InputError(
                f"{file}: from {origin} to {end}, packets loop at {after}; "
                "allowed: next hops that lead to the destination"
            )
        way.append(after)
    return tuple(way)


def schedule(network: Network, source: str, target: str, rate: str, every_ns: int) -> Iterator[str]:
    """A table that the channel `schedule` reads."""
    yield "time,rate,delay,up\n"
    before = 0
    for now, delay in network.delays(source, target, every_ns):
        before = before if delay is None else round(delay * 1e9)
        yield f"{now} ns,{rate},{before} ns,{'false' if delay is None else 'true'}\n"
