"""The controller inside the run, which asks the environment after each step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.gym import exchange
from leobench.stepped import SteppedController

if TYPE_CHECKING:
    from random import Random

    from leobench.stepped import Step


class Agent(SteppedController):
    """Sets the window as the environment of its exchange says."""

    may_wait = True

    def __init__(self, packet: int, random: Random, number: int, step_s: float) -> None:
        super().__init__(packet, random, step_s)
        self._number = number

    def act(self, step: Step) -> float:
        """Waits for the action of the environment."""
        found = exchange.find(self._number)
        if found is None:
            raise exchange.Closed
        return found.ask(step)
