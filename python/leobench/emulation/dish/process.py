"""The processes of dishes, as a session starts them on its hosts."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import asdict
from typing import IO, TYPE_CHECKING

from leobench.emulation.dish import ADDRESS
from leobench.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leobench.emulation.dish import Dish, Dishes
    from leobench.emulation.hosts import Made


class Processes:
    """One for each dish. They end with the sandbox that this process is the first one of."""

    def __init__(self, dishes: Dishes, made: Mapping[str, Made]) -> None:
        """Starts them, and waits until they serve.

        Raises:
            RunError: If one cannot.
        """
        self._inputs = [_started(dishes.scenario, dish, made[dish.host]) for dish in dishes.dishes]

    def begin(self) -> None:
        """Tells them that the network starts now."""
        for pipe in self._inputs:
            pipe.write(f"{time.monotonic()}\n".encode())
            pipe.flush()


def _started(scenario: str, dish: Dish, made: Made) -> IO[bytes]:
    """The standard input of a dish's process that serves."""
    made.enter()
    _add_address()
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "leobench.emulation.dish"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # an interrupt at the terminal is for the programs
    )
    process.returncode = 0  # it is waited for with the programs
    if process.stdin is None or process.stdout is None:
        raise RunError(f"the dish of {dish.host}: has no pipes")
    process.stdin.write(json.dumps({"dish": asdict(dish), "scenario": scenario}).encode() + b"\n")
    process.stdin.flush()
    said = json.loads(process.stdout.readline() or b'{"error": "its process ended"}')
    if "error" in said:
        raise RunError(f"the dish of {dish.host}: {said['error']}")
    return process.stdin


def _add_address() -> None:
    """Gives the host that this thread is on the address of the dish."""
    from pyroute2 import IPRoute

    with IPRoute() as route:
        loopback = route.link_lookup(ifname="lo")[0]
        route.addr("add", index=loopback, address=ADDRESS, prefixlen=32)
