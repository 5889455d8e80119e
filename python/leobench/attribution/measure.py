"""Measures of a flow: goodput, or delays of messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leobench.errors import InputError, allowed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Flow = Mapping[str, Any]


@dataclass(frozen=True)
class Measure:
    """A number of a flow that several links are to improve.

    Attributes:
        name: Its name on the command line.
        label: What it is, in words.
        unit: The unit in which it is shown.
        scale: What one such unit is in the unit of the summary.
        sign: 1 if more is better, -1 if less is.
        of: The number of a flow's summary; `None` if it was not measured.
        yardstick: What the links are worth, from the worth of each alone.
    """

    name: str
    label: str
    unit: str
    scale: float
    sign: int
    of: Callable[[Flow], float | None]
    yardstick: Callable[[Sequence[float]], float]

    def shown(self, value: float) -> str:
        """A value with its unit."""
        return f"{self.number(value)} {self.unit}"

    def number(self, value: float) -> str:
        """A value in the unit, without it."""
        scaled = value / self.scale
        return (
            f"{scaled:,.0f}"
            if abs(scaled) >= 1_000
            else f"{scaled:,.1f}"
            if abs(scaled) >= 10
            else f"{scaled:.2f}"
        )


MEASURES = {
    each.name: each
    for each in (
        Measure("goodput", "goodput", "Mbit/s", 1e6, 1, lambda flow: flow["goodput_bps"], sum),
        Measure(
            "delay_p95",
            "95th percentile of message delays",
            "ms",
            1.0,
            -1,
            lambda flow: flow["delay_ms"]["p95"],
            min,
        ),
        Measure(
            "delay_mean", "mean message delay", "ms", 1.0, -1, lambda flow: flow["delay_ms"]["mean"], min
        ),
    )
}


def named(name: str) -> Measure:
    """The measure of this name.

    Raises:
        InputError: If there is none.
    """
    if name not in MEASURES:
        raise InputError(f"--metric = {name}: unknown metric; {allowed(name, MEASURES)}")
    return MEASURES[name]


def usual(flow: Mapping[str, Any]) -> Measure:
    """The measure that suits a flow of a scenario: the goodput of bulk data, otherwise delays of messages."""
    sources = [flow.get("source"), *(each.get("source") for each in streams(flow))]
    bulk = all(source["kind"] == "bulk" for source in sources if source is not None)
    return MEASURES["goodput" if bulk and "objects" not in flow else "delay_p95"]


def streams(flow: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The streams of a flow that have a source each; none if one source serves all."""
    given = flow.get("streams")
    return list(given) if isinstance(given, list) else []
