"""The paths that an attack may choose, their bounds, and their place in the unit cube of the optimiser."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Seconds of a run: at least one reconfiguration, and time to recover from it.
DURATION_S = 20.0
# Seconds between two reconfigurations of Starlink (Tanveer et al. 2023).
SLOT_S = 15.0
# Bytes of a packet on the path, by which a queue is counted.
PACKET = 1_500
# The packets that every queue holds: an initial window.
SHORTEST_QUEUE = 10
# Events begin after the opening of a connection and end before the run does.
FIRST_S, LAST_S = 0.3, 18.0

Kind = Literal["reconfiguration", "outage", "loss", "fade", "transfer", "train", "frames"]


@dataclass(frozen=True)
class Bound:
    """The range of a number that an attack chooses.

    Attributes:
        unit: Its unit.
        low: Its smallest value.
        high: Its largest value.
        reason: Why these are the ends.
        is_log: Whether it is searched by its logarithm.
    """

    unit: str
    low: float
    high: float
    reason: str
    is_log: bool = True

    def holds(self, value: float) -> bool:
        """Whether a value lies in the range."""
        return self.low <= value <= self.high

    def at(self, share: float) -> float:
        """The value at a share of the range."""
        if self.is_log:
            return float(self.low * (self.high / self.low) ** share)
        return self.low + (self.high - self.low) * share


_TIME = Bound("s", FIRST_S, LAST_S, "after the handshake, and early enough to be seen", is_log=False)

# The bounds of everything that an attack chooses, by the kind of the event (`path` for the path itself).
BOUNDS: dict[str, dict[str, Bound]] = {
    "path": {
        "rate": Bound("Mbit/s", 4, 40, "from a busy uplink to a busy downlink of Starlink"),
        "delay": Bound("ms", 10, 40, "one way: round trips of Starlink are 20 to 80 ms", is_log=False),
        "queue": Bound("BDP", 0.5, 2, "around the usual advice of one; at least 10 packets"),
        "phase": Bound("s", 0.5, 14.5, "the slots of 15 s begin anywhere in the run", is_log=False),
    },
    "reconfiguration": {
        "delay": Bound("ms", -8, 20, "another satellite or gateway, one way", is_log=False),
        "rate": Bound("ratio", 0.25, 1, "another cell and its load"),
        "outage": Bound("ms", 1, 200, "interruptions at reconfigurations"),
    },
    "outage": {
        "at": _TIME,
        "length": Bound("ms", 20, 1_500, "obstructions, satellites out of reach"),
    },
    "loss": {
        "at": _TIME,
        "length": Bound("ms", 1, 60, "a single packet up to a burst"),
    },
    "fade": {
        "at": _TIME,
        "length": Bound("ms", 50, 3_000, "rain cells and trees"),
        "rate": Bound("ratio", 0.1, 0.9, "10 dB, the range of modulations"),
    },
    "transfer": {
        "at": _TIME,
        "size": Bound("kB", 10, 1_000, "a page beside the flow"),
    },
    "train": {
        "period": Bound("s", 0.1, 3, "around retransmission timeouts"),
        "length": Bound("ms", 10, 300, "a burst fills a queue for a round trip"),
        "rate": Bound("ratio", 1, 4, "of a neighbour's link over that of the path"),
    },
    "frames": {
        "period": Bound("ms", 1.33, 20, "frames of Starlink and multiples of them"),
        "wait": Bound("ms", 0.5, 15, "frames that others use"),
    },
}

# How many events of a kind a path has at most.
COUNTS: dict[Kind, int] = {
    "reconfiguration": 3,
    "outage": 2,
    "loss": 6,
    "fade": 2,
    "transfer": 2,
    "train": 1,
    "frames": 1,
}

# The largest share of the path that a train may take on average: less than half, so that most is the flow's.
LARGEST_TRAIN = 0.4


@dataclass(frozen=True)
class Event:
    """Something that happens to the path.

    Attributes:
        kind: What it is.
        at_s: When it begins; zero for what lasts from the start.
        values: Its other numbers, in the units of `BOUNDS`.
    """

    kind: Kind
    at_s: float
    values: tuple[tuple[str, float], ...]

    def __getitem__(self, name: str) -> float:
        return dict(self.values)[name]

    def with_value(self, name: str, value: float) -> Event:
        """The same event with another number; `at` is its beginning."""
        if name == "at":
            return replace(self, at_s=value)
        return replace(self, values=tuple((key, value if key == name else old) for key, old in self.values))


@dataclass(frozen=True)
class Path:
    """A path with its events.

    Attributes:
        rate_mbps: Its rate, before events.
        delay_ms: Its one-way delay, before events.
        queue_packets: The packets that its queue holds.
        events: What happens to it.
    """

    rate_mbps: float
    delay_ms: float
    queue_packets: float
    events: tuple[Event, ...]

    def of_kind(self, kind: Kind) -> list[Event]:
        """Its events of a kind, in the order of time."""
        return sorted((event for event in self.events if event.kind == kind), key=lambda event: event.at_s)


@dataclass(frozen=True)
class State:
    """The state of the path from an instant to the next change."""

    at_s: float
    rate_mbps: float
    delay_ms: float
    loss: float
    is_up: bool


@dataclass(frozen=True)
class Gene:
    """A coordinate of the unit cube: a number of an event, or whether there is the event (`name` is `is`)."""

    kind: str
    index: int
    name: str


def genes(kinds: Sequence[Kind]) -> list[Gene]:
    """The coordinates of the search for a goal whose paths have events of these kinds."""
    made = [Gene("path", 0, name) for name in BOUNDS["path"]]
    for kind in kinds:
        for index in range(COUNTS[kind]):
            made += [Gene(kind, index, name) for name in ("is", *BOUNDS[kind])]
    return made


def decode(point: Sequence[float], kinds: Sequence[Kind]) -> Path:
    """The path at a point of the unit cube."""
    shares: dict[tuple[str, int], dict[str, float]] = {}
    for gene, share in zip(genes(kinds), point, strict=True):
        shares.setdefault((gene.kind, gene.index), {})[gene.name] = min(max(float(share), 0.0), 1.0)
    base = {name: bound.at(shares["path", 0][name]) for name, bound in BOUNDS["path"].items()}
    events = []
    for (kind, index), given in shares.items():
        if kind != "path" and given["is"] > 0.5:
            events += list(_event(kind, index, given, base["phase"]))
    events = _limit_trains(events)
    bdp = base["rate"] * 1e3 * 2 * base["delay"] / 8 / PACKET
    return Path(
        rate_mbps=_figures(base["rate"], 3),
        delay_ms=round(base["delay"], 1),
        queue_packets=max(round(base["queue"] * bdp), SHORTEST_QUEUE),
        events=tuple(events),
    )


def _event(kind: str, index: int, given: dict[str, float], phase_s: float) -> Iterator[Event]:
    """The event of a slot, unless it would come after the end."""
    found = {name: bound.at(given[name]) for name, bound in BOUNDS[kind].items()}
    at_s = found.pop("at", 0.0)
    if kind == "reconfiguration":
        # The first of the slots begins before the run: its event is the state at the start.
        at_s = max(phase_s + (index - 1) * SLOT_S, 0.0)
        if at_s > LAST_S:
            return
    values = tuple((name, _figures(value, 3)) for name, value in found.items())
    yield Event(kind, round(at_s, 3), values)  # type: ignore[arg-type]


def _limit_trains(events: Sequence[Event]) -> list[Event]:
    """The events with bursts that are short enough for the slowest satellite."""
    slowest = min((event["rate"] for event in events if event.kind == "reconfiguration"), default=1.0)
    return [
        event.with_value("length", _figures(min(event["length"], slowest * _longest_ms(event)), 3))
        if event.kind == "train"
        else event
        for event in events
    ]


def is_too_long(event: Event) -> bool:
    """Whether the bursts of a train take more of the path than any may."""
    return event.kind == "train" and event["length"] > _longest_ms(event)


def _longest_ms(train: Event) -> float:
    return LARGEST_TRAIN * train["period"] / train["rate"] * 1e3


def _figures(value: float, count: int) -> float:
    """A number with so many significant figures."""
    if value == 0:
        return 0.0
    return round(value, count - 1 - math.floor(math.log10(abs(value))))


def timeline(path: Path) -> list[State]:
    """The states of a path from the start of the run, merged where nothing changes."""
    times = {0.0}
    for event in path.events:
        times.add(event.at_s)
        if (end := _end(event)) is not None:
            times.add(end)
    states: list[State] = []
    for at_s in sorted(time for time in times if time < DURATION_S):
        state = _state(path, at_s)
        if not states or replace(state, at_s=states[-1].at_s) != states[-1]:
            states.append(state)
    return states


def _end(event: Event) -> float | None:
    """When an event ends that the schedule of the path shows; a reconfiguration ends its outage."""
    name = {"outage": "length", "loss": "length", "fade": "length", "reconfiguration": "outage"}.get(
        event.kind
    )
    return None if name is None else round(event.at_s + event[name] / 1e3, 4)


def _state(path: Path, at_s: float) -> State:
    rate, delay, loss, is_up = path.rate_mbps, path.delay_ms, 0.0, True
    begun = [event for event in path.of_kind("reconfiguration") if event.at_s <= at_s]
    if begun:
        last = begun[-1]
        rate, delay = rate * last["rate"], max(delay + last["delay"], 1.0)
        # The state at the start needs no interruption.
        is_up = last.at_s == 0 or at_s >= (_end(last) or 0.0)
    for event in path.events:
        end = _end(event)
        if event.kind == "reconfiguration" or end is None or not event.at_s <= at_s < end:
            continue
        if event.kind == "fade":
            rate *= event["rate"]
        elif event.kind == "loss":
            loss = 1.0
        else:
            is_up = False
    return State(at_s, _figures(rate, 3), round(delay, 3), loss, is_up)


def later(path: Path, seconds: float) -> Path:
    """The path with everything that happens during the run later."""
    moved = (replace(event, at_s=event.at_s + seconds) if event.at_s > 0 else event for event in path.events)
    return replace(path, events=tuple(moved))
