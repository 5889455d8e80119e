"""The congestion controllers that a transport takes."""

from __future__ import annotations

import leobench
from leobench import scenario
from tests.support.paths import ROOT


def over_tcp() -> list[str]:
    """The built-in controllers that TCP takes by themselves: none that couple paths or need reports."""
    return [
        name for name in leobench.kinds("congestion") if name not in {"python", "library"} and _is_taken(name)
    ]


def _is_taken(controller: str) -> bool:
    transport = {"kind": "tcp", "congestion": controller}
    try:
        scenario.load(ROOT / "scenarios" / "one-flow.toml", overrides={"flows.main.transport": transport})
    except leobench.ScenarioError as error:
        return not any(
            reason in str(error) for reason in ("couples the paths of a connection", "which needs")
        )
    return True
