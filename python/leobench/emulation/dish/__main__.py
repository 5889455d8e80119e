"""The process of a dish, on its host.

It reads a line of JSON from its standard input, with the dish and the scenario, and writes one when it
serves. The next line that it reads has the instant, by the clock that only goes forward, at which the
network started.
"""

from __future__ import annotations

import json
import sys
import threading
from typing import Any

from leobench.emulation.dish import ADDRESS, PORT, Dish, measure, obstructions, server
from leobench.emulation.dish.answers import Answers, Place
from leobench.emulation.dish.protocol import Protocol
from leobench.emulation.dish.sky import Sky
from leobench.errors import LeobenchError


def main() -> int:
    """Serves until the process is killed."""
    given = json.loads(sys.stdin.readline())
    dish, scenario = Dish(**given["dish"]), given["scenario"]
    history, messages = measure.History(), Protocol()
    try:
        sky = Sky(scenario, dish.link)
        answers = Answers(messages, _place(json.loads(scenario), dish, sky), sky, history)
        pings = measure.Pings(dish.source, dish.pop)
        serving = server.serve(f"{ADDRESS}:{PORT}", messages, answers)
    except (LeobenchError, OSError) as error:
        _tell({"error": str(error)})
        return 1
    _tell({})
    line = sys.stdin.readline()
    if not line:
        return 0
    answers.start(float(line))
    threading.Thread(target=measure.follow, args=(history, pings, dish.device), daemon=True).start()
    serving.wait_for_termination()
    return 0


def _place(scenario: dict[str, Any], dish: Dish, sky: Sky) -> Place | None:
    """The dish's terminal, if it has a place."""
    terminal = scenario["constellation"].get("terminals", {}).get(dish.terminal)
    lowest_deg = sky.lowest_deg(dish.terminal)
    if terminal is None or lowest_deg is None:
        return None
    return Place(dish.terminal, obstructions.map_of(terminal, lowest_deg), obstructions.boresight(terminal))


def _tell(what: dict[str, str]) -> None:
    print(json.dumps(what), flush=True)  # noqa: T201 (to the process that started this one)


if __name__ == "__main__":
    sys.exit(main())
