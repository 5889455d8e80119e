"""The times at which no satellite carries a link, foreseen from the geometry of its constellation."""

from __future__ import annotations

import json
import tempfile
import threading
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from leobench.errors import LeobenchError
from leobench.scenario import load

# How far a look goes at least, and how long before its end a longer one begins; in seconds.
_FIRST_S = 900.0
_AHEAD_S = 120.0
# Only the handovers of a survey are of use here, not its samples.
_SAMPLE_EVERY_S = 60.0


class Cause(StrEnum):
    """The causes of outages in the protocol's names."""

    NO_SATS = "NO_SATS"
    NO_DOWNLINK = "NO_DOWNLINK"


@dataclass(frozen=True)
class Outage:
    """A time without service, in seconds of the run.

    Attributes:
        begin: Its first instant.
        end: Its end; `None` while nobody knows.
        cause: Whether no satellite can serve, or the link changes from one to another.
        did_switch: Whether another satellite serves afterwards.
    """

    begin: float
    end: float | None
    cause: Cause
    did_switch: bool


class Sky:
    """The outages of a link, as far as its constellation is known: it looks further when time gets there."""

    def __init__(self, scenario: str, link: str) -> None:
        """Looks ahead.

        Args:
            scenario: The resolved scenario, as JSON.
            link: The name of the link.
        """
        self._scenario, self._link = scenario, link
        self._outages: list[Outage] = []
        self._lowest_deg: dict[str, float | None] = {}
        self._horizon = self._asked = 0.0
        self._look(_FIRST_S)

    def lowest_deg(self, terminal: str) -> float | None:
        """The lowest elevation at which a terminal uses satellites; `None` if it has no place."""
        return self._lowest_deg.get(terminal)

    def outages(self, now: float) -> list[Outage]:
        """Those that have begun."""
        self._look_further(now)
        return [outage for outage in self._outages if outage.begin <= now]

    def outage(self, now: float) -> Outage | None:
        """That of an instant."""
        begun = self.outages(now)
        if begun and (begun[-1].end is None or now < begun[-1].end):
            return begun[-1]
        return None

    def _look_further(self, now: float) -> None:
        if now + _AHEAD_S > self._horizon and self._asked == self._horizon:
            self._asked = 2 * self._horizon
            threading.Thread(target=self._look, args=(self._asked,), daemon=True).start()

    def _look(self, seconds: float) -> None:
        try:
            survey = _survey(self._scenario, seconds)
        except LeobenchError:
            if self._horizon > 0:
                return  # the state of the constellation ends earlier
            survey = _survey(self._scenario, None)
            seconds = survey["duration_s"]
        handovers = [each for each in survey["handovers"] if each["link"] == self._link]
        self._lowest_deg = {each["name"]: each["lowest_deg"] for each in survey["terminals"]}
        self._outages = outages_of(handovers)
        self._horizon = self._asked = seconds


def outages_of(handovers: list[dict[str, Any]]) -> list[Outage]:
    """The outages between and at handovers, in order."""
    outages: list[Outage] = []
    # Since when nobody serves.
    since: float | None = 0.0 if not handovers or handovers[0]["t_s"] > 0 else None
    for handover in handovers:
        at, length = handover["t_s"], handover["outage_ms"] / 1e3
        if since is not None:
            outages.append(Outage(since, at + length, Cause.NO_SATS, did_switch=handover["to"] is not None))
        elif handover["to"] is not None and length > 0:
            outages.append(Outage(at, at + length, Cause.NO_DOWNLINK, did_switch=True))
        since = at if handover["to"] is None else None
    if since is not None:
        outages.append(Outage(since, None, Cause.NO_SATS, did_switch=False))
    return outages


def _survey(scenario: str, seconds: float | None) -> dict[str, Any]:
    from leobench import _core

    overrides = [] if seconds is None else [("duration", f"{seconds} s")]
    with tempfile.TemporaryDirectory(prefix="leobench-") as folder:
        file = Path(folder) / "scenario.json"
        file.write_text(scenario, encoding="utf-8")
        text = _core.orbit(load(file, None, overrides, flows="unused"), _SAMPLE_EVERY_S)
    if text is None:
        raise LeobenchError("the scenario has no constellation")
    known: dict[str, Any] = json.loads(text)
    return known
