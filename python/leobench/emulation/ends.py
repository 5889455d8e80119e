"""The two ends of a scenario for programs: the near host, which is the user's, and the far one, the server's.

The near host is the end of the scenario's first flow that opens the connection (background flows do not
count), and the far host is the other end. Without flows, these are the first and the last node. If the near
host by this rule is called `server`, the two change places.

The main program runs on the near host unless told otherwise. The name `server` leads to the far host on
every host, unless a node has that name.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leobench._core import Scenario

# The name that the far host has on every host.
SERVER = "server"


@dataclass(frozen=True)
class Ends:
    """The two ends of a scenario, by the names of their nodes.

    Attributes:
        near: The user's host.
        far: The host of servers.
        aliases: The node of each name that no node has and that leads to one all the same.
    """

    near: str
    far: str
    aliases: Mapping[str, str]

    def told(self) -> str:
        """Which hosts they are, for a user."""
        alias = "".join(f" (also {alias})" for alias in self.aliases)
        return f"near host: {self.near}, far host: {self.far}{alias}"


def of(scenario: Scenario) -> Ends:
    """The ends of a scenario."""
    return of_resolved(json.loads(scenario.to_json()))


def of_resolved(resolved: Mapping[str, Any]) -> Ends:
    """The ends of a scenario, given with all its defaults."""
    nodes = list(resolved["nodes"])
    near, far = nodes[0], nodes[-1]
    for flow in resolved.get("flows", {}).values():
        if not flow.get("background", False):
            near, far = flow["from"], flow["to"]
            if flow.get("opened_by") == "to":
                near, far = far, near
            break
    if near == SERVER:
        near, far = far, near
    return Ends(near, far, {} if SERVER in nodes else {SERVER: far})
