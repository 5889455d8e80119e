"""A dish at 192.168.100.1 that answers the clients of Starlink's user terminals from the simulated state.

Each host at the terminal of a link through a constellation has one. A process of its own on that host
(`__main__`) serves gRPC (`server`) from the constellation (`sky`), the terminal's obstructions
(`obstructions`), the counters of the link's device, and pings to the link's other end (both `measure`).
`answers` turns them into messages, whose fields `protocol` declares. `process` starts it for a session.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leobench.emulation import hosts
from leobench.errors import InputError

if TYPE_CHECKING:
    from leobench._core import Scenario

# The address and port that clients expect.
ADDRESS, PORT = "192.168.100.1", 9200


@dataclass(frozen=True)
class Dish:
    """The dish of a host.

    Attributes:
        host: The name of the host.
        link: The name of its link through the constellation.
        terminal: The name of the link's terminal.
        device: The link's device on the host.
        source: The device's IPv4 address.
        pop: The IPv4 address of the host at the other end.
    """

    host: str
    link: str
    terminal: str
    device: str
    source: str
    pop: str


@dataclass(frozen=True)
class Dishes:
    """The dishes of a scenario.

    Attributes:
        scenario: The resolved scenario, as JSON, with whole paths of its data files.
        dishes: One for each host at a terminal.
    """

    scenario: str
    dishes: tuple[Dish, ...]


def of(scenario: Scenario, resolved: dict[str, Any]) -> Dishes:
    """One dish for each host at a terminal, of its first link through the constellation.

    Args:
        scenario: The scenario.
        resolved: The same with all defaults and whole paths of its data files.

    Raises:
        InputError: If no link leads through a constellation, or gRPC is not installed.
    """
    known = {host.name: host for host in hosts.of(scenario)}
    dishes: dict[str, Dish] = {}
    for name, link in resolved["links"].items():
        near, far = link["between"]
        if "constellation" not in link or near in dishes:
            continue
        (interface,) = (each for each in known[near].interfaces if each.link == name)
        dishes[near] = Dish(
            host=near,
            link=name,
            terminal=link["constellation"]["terminal"],
            device=interface.device,
            source=interface.addresses[0],
            pop=known[far].addresses[0],
        )
    if not dishes:
        raise InputError(
            f"{scenario.name}: --dish: no link leads through a constellation; allowed: a scenario with a "
            "table `constellation`, such as scenarios/starlink-hour.toml"
        )
    _check_installed()
    return Dishes(json.dumps(resolved), tuple(dishes.values()))


def _check_installed() -> None:
    try:
        import grpc  # noqa: F401
        import grpc_reflection  # noqa: F401
    except ImportError:
        raise InputError(
            "--dish: needs the packages grpcio and grpcio-reflection; install them: "
            "pip install 'leobench[dish]'"
        ) from None
