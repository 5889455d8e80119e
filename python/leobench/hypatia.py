"""Networks that Hypatia generated, and the delays of their ways as a table of the channel `schedule`.

Hypatia (Kassing et al. 2020, "Exploring the Internet from space") writes a folder with `tles.txt`,
`isls.txt`, `ground_stations.txt` and `description.txt`, and in it a folder `dynamic_state_*` with the
changes of the forwarding state at each time step, `fstate_<nanoseconds>.txt`. Nodes are numbered:
satellites from 0, then ground stations.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from leobench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_LIGHT = 299_792_458.0
# WGS84.
_EQUATOR_M, _FLATTENING = 6_378_137.0, 1 / 298.257_223_563

# How much longer than its limit a hop may be: Hypatia's positions are another library's.
_SLACK = 1.01

_STATION_COLUMNS = (5, 8)


@dataclass(frozen=True)
class Station:
    """A ground station: degrees and metres."""

    name: str
    latitude: float
    longitude: float
    altitude_m: float

    def position(self) -> Array:
        """Where it is, in metres in the frame of the Earth."""
        latitude, longitude = np.radians([self.latitude, self.longitude])
        squared = _FLATTENING * (2 - _FLATTENING)
        vertical = _EQUATOR_M / np.sqrt(1 - squared * np.sin(latitude) ** 2)
        across = (vertical + self.altitude_m) * np.cos(latitude)
        up = (vertical * (1 - squared) + self.altitude_m) * np.sin(latitude)
        return np.array([across * np.cos(longitude), across * np.sin(longitude), up])


@dataclass(frozen=True)
class Network:
    """A network as Hypatia generated it.

    Attributes:
        elements: The file of element sets, and its text, its first line a comment.
        satellites: Number of satellites.
        epoch: The instant at which the state starts.
        links: Pairs of satellites with a link, the lower number first.
        stations: Ground stations.
        longest_m: The longest link between a station and a satellite, and between two satellites.
        changes: Time in nanoseconds, and the next hops that change then, by node and destination; -1: none.
    """

    elements: tuple[str, str]
    satellites: int
    epoch: datetime
    links: frozenset[tuple[int, int]]
    stations: tuple[Station, ...]
    longest_m: tuple[float, float]
    changes: tuple[tuple[int, dict[tuple[int, int], int]], ...]

    def station(self, name: str) -> int:
        """The node of a ground station."""
        for number, station in enumerate(self.stations):
            if station.name == name:
                return self.satellites + number
        names = ", ".join(station.name for station in self.stations)
        raise InputError(f"{name}: no such ground station; allowed: {names}")

    def ways(self, source: str, target: str) -> list[tuple[int, tuple[int, ...] | None]]:
        """The ways between two stations: from when on (ns), and the nodes; `None` while there is no way."""
        origin, end = self.station(source), self.station(target)
        if origin == end:
            raise InputError(f"{source}: is both ends of the way; allowed: two ground stations")
        state: dict[tuple[int, int], int] = {}
        ways: list[tuple[int, tuple[int, ...] | None]] = []
        for at, changes in self.changes:
            state |= changes
            way = self._walk(state, at, origin, end)
            if not ways or ways[-1][1] != way:
                ways.append((at, way))
        return ways

    def _walk(
        self, state: dict[tuple[int, int], int], at: int, origin: int, end: int
    ) -> tuple[int, ...] | None:
        way = [origin]
        while way[-1] != end:
            here = way[-1]
            following = state.get((here, end))
            if following is None:
                raise InputError(
                    f"fstate_{at}.txt: node {here} has no next hop to {end} yet; "
                    "allowed: an entry for every node in fstate_0.txt"
                )
            if following == -1:
                return None
            if following in way:
                raise InputError(
                    f"fstate_{at}.txt: from {origin} to {end}, packets go in a circle at {following}; "
                    "allowed: next hops that lead to the destination"
                )
            way.append(following)
        return tuple(way)

    def delays(self, source: str, target: str, every_ns: int) -> list[tuple[int, float | None]]:
        """The delay one way in seconds, at each change of the way and every so many nanoseconds between."""
        ways = self.ways(source, target)
        last = self.changes[-1][0]
        ends = [*(at for at, _ in ways[1:]), last + every_ns]
        samples = [
            (now, way) for (at, way), end in zip(ways, ends, strict=True) for now in range(at, end, every_ns)
        ]
        return list(self._delays(samples))

    def _delays(
        self, samples: list[tuple[int, tuple[int, ...] | None]]
    ) -> Iterator[tuple[int, float | None]]:
        from leobench import _core

        wanted = [(now, node) for now, way in samples for node in way or () if node < self.satellites]
        start = self.epoch.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        places = iter(_core.positions(*self.elements, start, wanted))
        grounds = [station.position() for station in self.stations]
        for now, way in samples:
            if way is None:
                yield now, None
                continue
            points = [
                np.array(next(places)) if node < self.satellites else grounds[node - self.satellites]
                for node in way
            ]
            lengths = [float(np.linalg.norm(b - a)) for a, b in pairwise(points)]
            self._check(now, way, lengths)
            yield now, sum(lengths) / _LIGHT

    def _check(self, now: int, way: tuple[int, ...], lengths: list[float]) -> None:
        for (here, there), length in zip(pairwise(way), lengths, strict=True):
            longest = self.longest_m[max(here, there) < self.satellites]
            if length > longest * _SLACK:
                raise InputError(
                    f"{self.elements[0]}: at {now} ns, {here} and {there} are {length / 1e3:.0f} km apart; "
                    f"allowed: {longest / 1e3:.0f} km by description.txt, so elements and state of one run"
                )


def schedule(network: Network, source: str, target: str, rate: str, every_ns: int) -> Iterator[str]:
    """A table that the channel `schedule` reads."""
    yield "time,rate,delay,up\n"
    before = 0
    for now, delay in network.delays(source, target, every_ns):
        before = before if delay is None else round(delay * 1e9)
        yield f"{now} ns,{rate},{before} ns,{'false' if delay is None else 'true'}\n"


def load(folder: Path) -> Network:
    """Reads what Hypatia generated.

    Raises:
        InputError: If a file is missing or wrong: the file, the line, and what would be right.
    """
    name = str(folder / "tles.txt")
    text, satellites, epoch = _elements(folder / "tles.txt")
    links = _links(folder / "isls.txt", satellites)
    stations = _stations(folder / "ground_stations.txt")
    changes = []
    for at, file in _states(folder):
        changes.append((at, _changes(file, satellites, len(stations), links)))
    description = _description(folder / "description.txt")
    return Network((name, text), satellites, epoch, links, stations, description, tuple(changes))


def _wrong(file: Path, line: int, problem: str, right: str) -> InputError:
    return InputError(f"{file}, line {line}: {problem}; allowed: {right}")


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise InputError(f"{file}: no such file; allowed: a folder that Hypatia generated") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot be read: {error}; allowed: a text file") from error


def _whole(words: list[str]) -> list[int] | None:
    try:
        return [int(word) for word in words]
    except ValueError:
        return None


def _elements(file: Path) -> tuple[str, int, datetime]:
    """The text with its first line as a comment, the number of satellites, and the epoch of all of them."""
    lines = _lines(file)
    counts = _whole(lines[0].split()) if lines else None
    if counts is None or len(counts) != 2 or min(counts) < 1:
        right = "the number of orbits and of satellites in each, such as `34 34`"
        raise _wrong(file, 1, "has no two whole numbers above zero", right)
    satellites = counts[0] * counts[1]
    if len(lines) != 1 + 3 * satellites:
        right = f"three lines for each of the {satellites} satellites of line 1"
        raise _wrong(file, len(lines), f"is the last one, of {len(lines)}", right)
    first = lines[2][18:32]
    for number in range(satellites):
        at = 1 + 3 * number
        if lines[at].split()[-1:] != [str(number)]:
            raise _wrong(file, at + 1, f"names {lines[at]!r}", f"a name that ends with the number {number}")
        if lines[at + 1][18:32] != first:
            right = f"the epoch of the first satellite, {first.strip()}"
            raise _wrong(file, at + 2, f"has the epoch {lines[at + 1][18:32].strip()}", right)
    try:
        year, days = int(first[:2]), float(first[2:])
    except ValueError:
        raise _wrong(file, 3, f"has no epoch, but {first!r}", "a year and a day, `00001.00000000`") from None
    start = datetime(year + (1900 if year >= 57 else 2000), 1, 1, tzinfo=UTC)
    return "\n".join(["#", *lines[1:]]) + "\n", satellites, start + timedelta(days=days - 1)


def _links(file: Path, satellites: int) -> frozenset[tuple[int, int]]:
    links: set[tuple[int, int]] = set()
    for number, line in enumerate(_lines(file), start=1):
        pair = _whole(line.split())
        if pair is None or len(pair) != 2 or not 0 <= pair[0] < pair[1] < satellites:
            right = f"two numbers of satellites below {satellites}, the lower one first"
            raise _wrong(file, number, f"has {line!r}", right)
        if (pair[0], pair[1]) in links:
            raise _wrong(file, number, f"has the link {line!r} again", "each link once")
        links.add((pair[0], pair[1]))
    return frozenset(links)


def _stations(file: Path) -> tuple[Station, ...]:
    stations: list[Station] = []
    for number, line in enumerate(_lines(file), start=1):
        cells = line.split(",")
        if len(cells) not in _STATION_COLUMNS or cells[0] != str(len(stations)):
            right = f"number {len(stations)}, name, latitude, longitude, elevation"
            raise _wrong(file, number, f"has {line!r}", right)
        try:
            latitude, longitude, altitude = (float(cell) for cell in cells[2:5])
        except ValueError:
            raise _wrong(file, number, f"has {cells[2:5]}", "degrees, degrees, and metres") from None
        if not (-90 <= latitude <= 90 and -180 <= longitude <= 360):
            right = "a latitude from -90 to 90, a longitude from -180 to 360"
            raise _wrong(file, number, f"has the place {latitude:g}, {longitude:g}", right)
        if any(station.name == cells[1] for station in stations):
            raise _wrong(file, number, f"has the name {cells[1]} again", "a name of its own for each")
        stations.append(Station(cells[1], latitude, longitude, altitude))
    if not stations:
        raise InputError(f"{file}: is empty; allowed: a line for each ground station")
    return tuple(stations)


def _description(file: Path) -> tuple[float, float]:
    given: dict[str, float] = {}
    for number, line in enumerate(_lines(file), start=1):
        key, _, value = line.partition("=")
        try:
            given[key] = float(value)
        except ValueError:
            raise _wrong(file, number, f"has {line!r}", "`max_gsl_length_m=` and a number") from None
    for key in ("max_gsl_length_m", "max_isl_length_m"):
        if not given.get(key, 0.0) > 0:
            raise InputError(f"{file}: has no {key}; allowed: a number of metres above zero")
    return given["max_gsl_length_m"], given["max_isl_length_m"]


def _states(folder: Path) -> list[tuple[int, Path]]:
    """The files of forwarding state by time."""
    inside = sorted(path for path in folder.glob("dynamic_state_*") if path.is_dir())
    if len(inside) != 1:
        names = ", ".join(path.name for path in inside) or "none"
        raise InputError(f"{folder}: has {names}; allowed: one folder `dynamic_state_*`")
    files = []
    for file in inside[0].glob("fstate_*.txt"):
        time = file.stem.removeprefix("fstate_")
        if not time.isdecimal():
            raise InputError(f"{file}: has no time in its name; allowed: `fstate_<nanoseconds>.txt`")
        files.append((int(time), file))
    files.sort()
    if not files or files[0][0] != 0:
        raise InputError(f"{inside[0]}: has no fstate_0.txt; allowed: a state for the start, and its changes")
    return files


def _changes(
    file: Path, satellites: int, stations: int, links: frozenset[tuple[int, int]]
) -> dict[tuple[int, int], int]:
    changes: dict[tuple[int, int], int] = {}
    nodes = satellites + stations
    for number, line in enumerate(_lines(file), start=1):
        cells = _whole(line.split(","))
        if cells is None or len(cells) != 5:
            right = "node, destination, next hop, and two interfaces, as whole numbers"
            raise _wrong(file, number, f"has {line!r}", right)
        here, end, following = cells[:3]
        if not (0 <= here < nodes and satellites <= end < nodes):
            right = f"nodes below {nodes}, destinations from {satellites} on"
            raise _wrong(file, number, f"leads from {here} to {end}", right)
        pair = (min(here, following), max(here, following))
        to_station = here < satellites <= following < nodes
        from_station = here >= satellites and 0 <= following < satellites
        if not (following == -1 or to_station or from_station or pair in links):
            right = "a neighbour by isls.txt, a station, or -1 for none"
            raise _wrong(file, number, f"leads from {here} on to {following}", right)
        changes[here, end] = following
    return changes
