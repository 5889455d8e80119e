"""The state of a run while it runs: a file in its unfinished folder says what runs, and how far it is."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from leobench import version

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from leobench._core import Scenario

RUNNING = "running.json"

# Seconds between two writes of the file.
_EVERY_S = 0.5


class Running:
    """Keeps the file up to date; a `progress` callback that passes on what it is told.

    A run goes on if the file cannot be written: only who watches it misses something.
    """

    def __init__(
        self, folder: Path, scenario: Scenario, then: Callable[[float, float, int], object] | None = None
    ) -> None:
        self._file = folder / RUNNING
        self._then = then
        self._told: dict[str, Any] = {
            "commit": version.loaded(),
            "seed": scenario.seed,
            "engine": scenario.engine,
            "reached_s": 0.0,
            "end_s": None,
            "packets": 0,
            "scenario": json.loads(scenario.to_json()),
        }
        self._written = 0.0
        self._write()

    def __call__(self, now_s: float, end_s: float, packets: int) -> None:
        """Takes the time reached, that of the end, and the packets carried; see `leobench.run`."""
        self._told |= {"reached_s": now_s, "end_s": end_s, "packets": packets}
        if time.monotonic() - self._written >= _EVERY_S:
            self._write()
        if self._then is not None:
            self._then(now_s, end_s, packets)

    def end(self) -> None:
        """Removes the file: the manifest takes its place."""
        with suppress(OSError):
            self._file.unlink()

    def _write(self) -> None:
        self._written = time.monotonic()
        partial = self._file.with_name(f".{RUNNING}")
        with suppress(OSError):
            partial.write_text(json.dumps(self._told), encoding="utf-8")
            partial.replace(self._file)


def read(folder: Path) -> dict[str, Any] | None:
    """The content of the file in an unfinished folder; `None` if there is none, or no longer."""
    try:
        told = json.loads((folder / RUNNING).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return (
        told if isinstance(told, dict) and {"seed", "scenario", "reached_s", "end_s"} <= told.keys() else None
    )
