"""Smaller paths with almost the same harm: fewer events first, then rounder numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from leobench.attack import space

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from leobench.attack.space import Event, Path

    Harms = Callable[[Sequence[Path]], list[float]]

# Share of the harm that a smaller path must keep.
KEPT = 0.8
# Values at which a number of an event does nothing.
_NEUTRAL = {
    ("reconfiguration", "delay"): 0.0,
    ("reconfiguration", "rate"): 1.0,
    ("reconfiguration", "outage"): 0.0,
}
# Steps of a grid of times in seconds, the coarsest first.
_GRID_S = (1.0, 0.5, 0.1, 0.01)


def shrink(path: Path, harm: float, harms: Harms, report: Callable[[Path], object]) -> tuple[Path, float]:
    """The smallest path that was found, and its harm.

    Events are removed by delta debugging (Zeller and Hildebrandt 2002): halves, quarters, and so on, until
    each of the rest is needed. Then numbers are rounded one by one, and events removed again.
    """
    least = KEPT * harm
    path, harm = _without_events(path, harm, least, harms, report)
    path, harm = _rounded(path, harm, least, harms, report)
    return _without_events(path, harm, least, harms, report)


def _without_events(
    path: Path, harm: float, least: float, harms: Harms, report: Callable[[Path], object]
) -> tuple[Path, float]:
    size = max(len(path.events) // 2, 1)
    while path.events:
        smaller = [
            replace(path, events=path.events[:start] + path.events[start + size :])
            for start in range(0, len(path.events), size)
        ]
        found = harms(smaller)
        best = max(range(len(smaller)), key=found.__getitem__)
        if found[best] >= least:
            path, harm = smaller[best], found[best]
            size = max(min(size, len(path.events) // 2), 1)
            report(path)
        elif size == 1:
            break
        else:
            size //= 2
    return path, harm


def _rounded(
    path: Path, harm: float, least: float, harms: Harms, report: Callable[[Path], object]
) -> tuple[Path, float]:
    for place in list(_places(path)):
        rounder = _rounder(path, place)
        found = harms(rounder)
        chosen = next((index for index, each in enumerate(found) if each >= least), None)
        if chosen is not None:
            path, harm = rounder[chosen], found[chosen]
            report(path)
    return path, harm


def _places(path: Path) -> Iterator[tuple[int | None, str]]:
    """The numbers of a path: of itself, or of one of its events by its index."""
    yield from ((None, name) for name in ("rate_mbps", "delay_ms", "queue_packets"))
    for index, event in enumerate(path.events):
        if event.at_s > 0:
            yield index, "at"
        yield from ((index, name) for name, _ in event.values)


def _rounder(path: Path, place: tuple[int | None, str]) -> list[Path]:
    """The path with rounder values at a place, the roundest first."""
    index, name = place
    if index is None:
        return _rounder_bases(path, name)
    event = path.events[index]
    if event.kind == "reconfiguration" and name == "at":
        return _rounder_phases(path, event)
    return [
        replace(path, events=(*path.events[:index], changed, *path.events[index + 1 :]))
        for changed in _rounder_events(event, name)
    ]


def _rounder_bases(path: Path, name: str) -> list[Path]:
    """The path with rounder values of a number of its own."""
    if name == "queue_packets":
        queues = _figures(path.queue_packets)
        return [replace(path, queue_packets=queue) for queue in queues if queue >= space.SHORTEST_QUEUE]
    if name == "delay_ms":
        bound = space.BOUNDS["path"]["delay"]
        delays = _figures(path.delay_ms)
        return [replace(path, delay_ms=delay) for delay in delays if bound.holds(delay)]
    bound = space.BOUNDS["path"]["rate"]
    return [replace(path, rate_mbps=rate) for rate in _figures(path.rate_mbps) if bound.holds(rate)]


def _rounder_phases(path: Path, event: Event) -> list[Path]:
    """The path with its reconfigurations at rounder times, a slot apart as before."""
    made = []
    for value in _times(event.at_s):
        shift = value - event.at_s
        moved = tuple(
            each.with_value("at", round(each.at_s + shift, 6))
            if each.kind == "reconfiguration" and each.at_s > 0
            else each
            for each in path.events
        )
        if all(0 <= each.at_s <= space.LAST_S for each in moved):
            made.append(replace(path, events=moved))
    return made


def _rounder_events(event: Event, name: str) -> Iterable[Event]:
    before = event.at_s if name == "at" else event[name]
    values = _times(before) if name == "at" else _figures(before)
    bounds = space.BOUNDS[event.kind]
    neutral = _NEUTRAL.get((event.kind, name))
    if neutral is not None and neutral != before:
        yield event.with_value(name, neutral)
    for value in values:
        bound = bounds[name]
        changed = event.with_value(name, value)
        if bound.holds(value) and not space.is_too_long(changed):
            yield changed


def _figures(value: float) -> list[float]:
    """A number with one and with two figures, and half-way between two of one figure."""
    if value == 0:
        return []
    unit = 10.0 ** math.floor(math.log10(abs(value)))
    steps = (unit * 5, unit, unit / 2, unit / 10)
    return _distinct(value, (round(value / step) * step for step in steps))


def _times(value: float) -> list[float]:
    return _distinct(value, (round(value / step) * step for step in _GRID_S))


def _distinct(value: float, rounder: Iterable[float]) -> list[float]:
    found: list[float] = []
    for each in rounder:
        clean = float(f"{each:.6g}")
        if clean == value:
            break
        if clean not in found:
            found.append(clean)
    return found
