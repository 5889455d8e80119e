"""The flow that is asked about, and refusals of what cannot be explained."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench import engine
from leobench.attribution import measure
from leobench.errors import InputError, allowed
from leobench.plots import routes
from leobench.scenario import load

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from leobench.attribution.measure import Measure


@dataclass(frozen=True)
class Subject:
    """A flow with several paths in a scenario.

    Attributes:
        file: The scenario file.
        overrides: Values that replace those of the file.
        seed: The first seed.
        scenario: The scenario with all defaults.
        flow: Name of the flow.
        links: The links of its paths.
        measure: What is explained.
    """

    file: Path
    overrides: Mapping[str, object]
    seed: int
    scenario: dict[str, Any]
    flow: str
    links: tuple[str, ...]
    measure: Measure

    @property
    def spec(self) -> dict[str, Any]:
        """The flow in the scenario."""
        spec: dict[str, Any] = self.scenario["flows"][self.flow]
        return spec


def of(
    scenario: str | PathLike[str],
    seed: int | None,
    overrides: Mapping[str, object] | None,
    flow: str | None,
    metric: str | None,
) -> Subject:
    """Reads a scenario and finds the flow.

    Raises:
        ScenarioError: If the scenario is wrong.
        InputError: If it is for real time, or has no such flow with several paths.
    """
    loaded = load(scenario, seed, overrides)
    if loaded.engine == engine.REAL:
        raise InputError(
            f'{scenario}: engine = "real": runs in real time do not repeat, so no two of them can be '
            'compared under the same conditions; allowed: engine = "virtual"'
        )
    resolved = json.loads(loaded.to_json())
    name = _flow(str(scenario), resolved["flows"], flow)
    multipath = _multipath(resolved["flows"][name])
    if multipath["peer_links"]:
        raise InputError(
            f"{scenario}: flows.{name}.transport.multipath.peer_links: paths that share links at one end "
            "cannot be looked at one by one; allowed: flows without `peer_links`"
        )
    if routes.may_share_satellites(resolved, name):
        raise InputError(
            f"{scenario}: constellation.satellite: paths that may wait in one satellite's queue cannot be "
            "looked at one by one; allowed: no `satellite`, or a flow with one path over satellites"
        )
    links = tuple(multipath["links"])
    chosen = measure.usual(resolved["flows"][name]) if metric is None else measure.named(metric)
    return Subject(Path(scenario), dict(overrides or {}), loaded.seed, resolved, name, links, chosen)


def _flow(scenario: str, flows: Mapping[str, Any], wanted: str | None) -> str:
    several = [name for name, spec in flows.items() if _multipath(spec)]
    if wanted is not None and wanted not in flows:
        raise InputError(f"--flow = {wanted}: no such flow; {allowed(wanted, several or flows)}")
    if not several and wanted is not None:
        raise InputError(f"--flow = {wanted}: has one path; allowed: a flow with `transport.multipath`")
    if not several:
        raise InputError(
            f"{scenario}: no flow has several paths; allowed: a flow with `transport.multipath` "
            "(docs/howto/choosing-several-paths.md)"
        )
    if wanted is not None and wanted not in several:
        raise InputError(f"--flow = {wanted}: has one path; {allowed(wanted, several)}")
    foreground = [name for name in several if not flows[name]["background"]]
    return wanted or (foreground or several)[0]


def _multipath(flow: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = flow["transport"].get("multipath") or {}
    return found
