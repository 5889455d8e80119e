"""The hand-over between an environment and its run, on a thread each: one waits while the other works."""

from __future__ import annotations

import itertools
import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from leobench.stepped import Step


class Asked(NamedTuple):
    """A step is over, and the run waits for an action."""

    step: Step


class Ended(NamedTuple):
    """The run is over: with what it returned, or what it raised."""

    outcome: Any
    error: BaseException | None


class Closed(BaseException):
    """Raised in the run when nobody will answer any more."""


_numbers = itertools.count(1)
_open: dict[int, Exchange] = {}


class Exchange:
    """The hand-over of one run.

    Attributes:
        number: The number by which a controller finds it.
    """

    def __init__(self) -> None:
        self.number = next(_numbers)
        self._to_env: SimpleQueue[Asked | Ended] = SimpleQueue()
        self._to_run: SimpleQueue[float | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        _open[self.number] = self

    def start(self, run: Callable[[], object]) -> None:
        """Starts the run."""

        def body() -> None:
            try:
                ended = Ended(run(), None)
            except BaseException as error:  # raised again by the environment
                ended = Ended(None, error)
            self._to_env.put(ended)

        self._thread = threading.Thread(target=body, name="leobench-gym", daemon=True)
        self._thread.start()

    def ask(self, step: Step) -> float:
        """Called in the run: waits for the action after a step.

        Raises:
            Closed: If there will be none.
        """
        self._to_env.put(Asked(step))
        action = self._to_run.get()
        if action is None:
            raise Closed
        return action

    def wait(self) -> Asked | Ended:
        """Called by the environment: what the run says next."""
        return self._to_env.get()

    def act(self, action: float) -> None:
        """Called by the environment: answers a step."""
        self._to_run.put(action)

    def close(self) -> None:
        """Ends the run, whatever it does."""
        _open.pop(self.number, None)
        self._to_run.put(None)
        if self._thread is not None:
            self._thread.join()


def find(number: int) -> Exchange | None:
    """The exchange of this number, while it is open."""
    return _open.get(number)
