"""Shrinking keeps what is needed, removes the rest, and rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.attack import shrink
from leobench.attack.space import Event, Path

if TYPE_CHECKING:
    from collections.abc import Sequence


def loss(at_s: float, length: float = 7.31) -> Event:
    return Event("loss", at_s, (("length", length),))


def test_only_needed_events_with_round_numbers_stay() -> None:
    needed = (3.217, 11.84)
    path = Path(23.7, 17.3, 37, tuple(loss(at_s) for at_s in (1.1, needed[0], 5.5, 7.7, needed[1], 15.2)))

    def harms(paths: Sequence[Path]) -> list[float]:
        """Each of two losses that overlap the second from 3 and from 11.5 causes a half."""
        return [
            sum(
                any(start <= event.at_s <= start + 1 and event["length"] >= 5 for event in each.events)
                for start in (3.0, 11.5)
            )
            / 2
            for each in paths
        ]

    small, harm = shrink.shrink(path, 1.0, harms, lambda _: None)
    assert harm == 1.0
    assert small == Path(20, 20, 50, (loss(3.0, 5.0), loss(12.0, 5.0)))


def test_four_fifths_of_the_harm_are_kept() -> None:
    path = Path(20, 20, 50, tuple(loss(float(at_s)) for at_s in range(1, 11)))
    small, harm = shrink.shrink(path, 10.0, lambda paths: [float(len(each.events)) for each in paths], print)
    assert len(small.events) == 8
    assert harm == 8.0


def test_reconfigurations_stay_a_slot_apart() -> None:
    values = (("delay", 5.0), ("rate", 0.5), ("outage", 20.0))
    path = Path(
        20, 20, 50, (Event("reconfiguration", 2.317, values), Event("reconfiguration", 17.317, values))
    )

    def harms(paths: Sequence[Path]) -> list[float]:
        return [float(len(each.events)) for each in paths]

    small, _ = shrink.shrink(path, 2.0, harms, lambda _: None)
    assert [event.at_s for event in small.events] == [2.0, 17.0]
