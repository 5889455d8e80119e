"""The manifest of a run: what ran, where, for how long, and how far its numbers can be trusted."""

from __future__ import annotations

import json
import os
import platform
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leobench._core import Scenario


def describe(scenario: Scenario, summary: dict[str, Any], wall_s: float) -> dict[str, Any]:
    """The manifest of a finished run. Only here may values depend on the clock or the machine."""
    from leobench import _core

    resolved: dict[str, Any] = json.loads(scenario.to_json())
    warnings = validity_warnings(resolved, summary)
    return {
        "leobench": _core.__version__,
        "engine": summary["engine"],
        "seed": scenario.seed,
        "wall_s": round(wall_s, 3),
        "machine": machine(),
        "validity": {"verdict": "warnings" if warnings else "ok", "warnings": warnings},
        "scenario": resolved,
    }


def machine() -> dict[str, Any]:
    """The machine that this is."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "architecture": platform.machine(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
    }


def validity_warnings(scenario: dict[str, Any], summary: dict[str, Any]) -> list[str]:
    """Reasons not to take the numbers of a summary at face value."""
    drained = scenario.get("until") == "drained"
    warnings = []
    for flow in summary["flows"]:
        name, messages, missing = flow["name"], flow["messages"], flow["undelivered_messages"]
        if messages == 0:
            warnings.append(f"flow {name}: created no message, so it has no goodput and no delay")
        elif missing and flow["transport"] != "udp":
            # What is cut off at the end is what was delayed most: the delays that remain are biased.
            why = "when `drain_limit` passed" if drained else "at the end of the run"
            advice = "raise `drain_limit`" if drained else 'set `until = "drained"`'
            warnings.append(
                f"flow {name}: {missing} of {messages} messages had not arrived {why}, "
                f"and their delays are not counted; {advice} to wait for them"
            )
    return warnings
