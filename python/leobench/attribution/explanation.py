"""The content of an explanation: parts of a loss, in numbers, in a sentence, and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leobench.errors import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leobench.attribution.measure import Measure
    from leobench.stats.estimate import Estimate

# A smaller share of the yardstick is not worth an explanation.
_LITTLE = 0.02

# Another link carries more alone only if it carries so many times as much as all together.
_MORE = 1.01

# Repairs that regain so much of what another one does regain as much.
_ALIKE = 0.9

UNEXPLAINED = "unexplained"


@dataclass(frozen=True)
class Part:
    """A part of the loss, in the unit of the summary; what a cause costs is positive, for delays too.

    Attributes:
        cause: The cause.
        label: It in words.
        lost: Its share of the loss over all links.
        alone: Its share of what the links lose one by one.
        regained: What its repair alone would regain.
        changes: The values that its repair replaces in the scenario, by place.
        advice: What to change.
    """

    cause: str
    label: str
    lost: Estimate
    alone: Estimate
    regained: Estimate
    changes: Mapping[str, Any]
    advice: str


@dataclass(frozen=True)
class Run:
    """A run of an explanation.

    Attributes:
        seed: Its seed.
        without: The causes that are repaired.
        link: The only link that the flow has; all of its links if `None`.
        scheduler: The path scheduler that was tried, if any.
        value: The measure.
    """

    seed: int
    without: tuple[str, ...]
    link: str | None
    scheduler: str | None
    value: float


@dataclass(frozen=True)
class Explanation:
    """Why several links carry less than each alone, added up.

    All numbers are means over the seeds with 95 % intervals, in bits per second or milliseconds. `ideal`,
    less the parts and what is unexplained, is `measured`.

    Attributes:
        scenario: Name of the scenario.
        flow: Name of the flow.
        links: Its links.
        seeds: The seeds.
        measure: What is explained.
        measured: The flow over all links, as the scenario is.
        ideal: The yardstick: the links one by one, without any of the causes.
        alone: The yardstick as the scenario is.
        each: Each link alone, as the scenario is; `None` if it delivers nothing.
        repaired: The flow over all links, without any of the causes.
        parts: The parts, the largest first.
        unexplained: What is lost without any of the causes.
        unmeasured: Reasons why a cause could not be repaired, or not in full, by cause.
        labels: Causes in words; why there is none, of those that are not there.
        runs: All cases; some may be one run, as they come to the same scenario.
        count: The number of different runs.
    """

    scenario: str
    flow: str
    links: tuple[str, ...]
    seeds: tuple[int, ...]
    measure: Measure
    measured: Estimate
    ideal: Estimate
    alone: Estimate
    each: Mapping[str, Estimate | None]
    repaired: Estimate
    parts: tuple[Part, ...]
    unexplained: Estimate
    unmeasured: Mapping[str, tuple[str, ...]]
    labels: Mapping[str, str]
    runs: tuple[Run, ...]
    count: int

    @property
    def lost(self) -> float:
        """The loss against the yardstick; negative if several links do better."""
        return self.measure.sign * (self.ideal.value - self.measured.value)

    @property
    def is_slight(self) -> bool:
        """Whether too little is lost to be worth an explanation."""
        return self.lost < _LITTLE * abs(self.ideal.value)

    @property
    def dominant(self) -> str:
        """The cause of the largest part, or `unexplained`."""
        largest = self.parts[0] if self.parts else None
        if largest is None or largest.lost.value < self.unexplained.value:
            return UNEXPLAINED
        return largest.cause

    @property
    def sentence(self) -> str:
        """The loss and its dominant cause in a sentence."""
        number = self.measure.number
        said, missing = self.loss
        largest = self._largest
        if self.is_slight:
            said = f"{said}: {'nothing' if self.lost <= 0 else 'hardly anything'} is lost"
            still = (
                f"; still, {self.measure.shown(largest.lost.value)} go to {largest.label}" if largest else ""
            )
            return f"{said}{still}."
        if largest is None:
            return f"{said}; {number(self.unexplained.value)} of {missing} remain unexplained."
        return (
            f"{said}; {number(largest.lost.value)} of {missing} go to {largest.label}{self._others(largest)}."
        )

    @property
    def advice(self) -> str | None:
        """Advice on the dominant cause; `None` if there is nothing to explain."""
        return (
            None if self._largest is None else f"{self._largest.advice[0].upper()}{self._largest.advice[1:]}."
        )

    @property
    def _largest(self) -> Part | None:
        """The largest part, if it is worth a word."""
        largest = self.parts[0] if self.parts else None
        if largest is None or largest.lost.value < _LITTLE * abs(self.measured.value):
            return None
        return largest if self.is_slight or self.dominant == largest.cause else None

    @property
    def loss(self) -> tuple[str, str]:
        """The loss in words, and what is missing."""
        shown, number = self.measure.shown, self.measure.number
        many = counted(len(self.links), "link")
        if self.measure.sign > 0:
            said = (
                f"{many} carried {number(self.measured.value)} of {shown(self.ideal.value)}{self._slower()}"
            )
            return said, f"the missing {shown(self.lost)}"
        said = f"Over {many}, the {self.measure.label} is {shown(self.measured.value)}"
        said += f", over the best one alone {shown(self.ideal.value)}"
        return said, f"the {shown(self.lost)} more"

    def _slower(self) -> str:
        """The link that carries more alone than all together, if any."""
        alone = {link: value.value for link, value in self.each.items() if value is not None}
        best = max(alone, key=lambda link: alone[link], default=None)
        if best is None or alone[best] <= _MORE * self.measured.value:
            return ""
        return f", less than {best} alone ({self.measure.number(alone[best])})"

    def _others(self, largest: Part) -> str:
        """The causes whose repair alone would regain as much: it takes all of them together to lose it."""
        enough = _ALIKE * largest.regained.value
        others = [part.label for part in self.parts[1:] if part.regained.value >= enough > 0]
        return f" (a repair of {' or '.join(others)} alone would regain as much)" if others else ""

    def to_dict(self) -> dict[str, Any]:
        """The explanation as `why.json` has it."""
        return {
            "scenario": self.scenario,
            "flow": self.flow,
            "links": list(self.links),
            "metric": self.measure.name,
            "unit": "bit/s" if self.measure.sign > 0 else "ms",
            "seeds": list(self.seeds),
            "measured": _numbers(self.measured),
            "ideal": _numbers(self.ideal),
            "alone": _numbers(self.alone),
            "each": {link: value and _numbers(value) for link, value in self.each.items()},
            "repaired": _numbers(self.repaired),
            "parts": [
                {
                    "cause": part.cause,
                    "lost": _numbers(part.lost),
                    "alone": _numbers(part.alone),
                    "regained": _numbers(part.regained),
                    "changes": dict(part.changes),
                    "advice": part.advice,
                }
                for part in self.parts
            ],
            "unexplained": _numbers(self.unexplained),
            "unmeasured": {cause: list(reasons) for cause, reasons in self.unmeasured.items()},
            "dominant": None if self.is_slight else self.dominant,
            "sentence": self.sentence,
            "advice": self.advice,
            "runs": [
                {
                    "seed": run.seed,
                    "without": list(run.without),
                    "link": run.link,
                    "scheduler": run.scheduler,
                    "value": run.value,
                }
                for run in self.runs
            ],
        }


def _numbers(estimate: Estimate) -> dict[str, float | None]:
    return {"mean": estimate.value, "low": estimate.low, "high": estimate.high}
