"""Runs over the drawn paths, on the processors of this machine, and what they measured."""

from __future__ import annotations

import functools
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench.errors import RunError, ScenarioError
from leobench.fitting.replay import world

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from leobench.fitting.replay.transfer import Transfer

    Values = dict[str, float]

# Metrics by name: the keys in the summary of a flow, and the factor to the unit of the name.
METRICS: dict[str, tuple[tuple[str, ...], float]] = {
    "goodput_mbps": (("goodput_bps",), 1e-6),
    "delay_p50_ms": (("delay_ms", "p50"), 1.0),
    "delay_p95_ms": (("delay_ms", "p95"), 1.0),
    "rtt_p50_ms": (("rtt_ms", "p50"), 1.0),
    "rtt_p95_ms": (("rtt_ms", "p95"), 1.0),
    "completion_s": (("completion_s",), 1.0),
}

# The worlds of a replay.
CHANGED, UNCHANGED, NAIVE = "changed", "unchanged", "naive"


@dataclass(frozen=True)
class Case:
    """A run: of the changed or the recorded flow over a path."""

    world: str
    path: str
    seed: int
    changed: bool


def check(transfer: Transfer, changes: Sequence[tuple[str, object]]) -> None:
    """Refuses changes that the scenario of a replay cannot have, before a path is inferred.

    Raises:
        ScenarioError: If one is wrong; the message calls the scenario a replay of the transfer.
    """
    from leobench.scenario import load

    with tempfile.TemporaryDirectory(prefix="leobench-replay-") as place:
        file = world.write_trial(transfer, Path(place))
        try:
            load(file, 1, changes)
        except ScenarioError as error:
            raise ScenarioError(str(error).replace(str(file), f"replay of {transfer.name}")) from None


def cases(draws: int, *, changed: bool) -> list[Case]:
    """The runs of a replay: over every draw, as recorded and with the changes, and over the naive path."""
    found = [Case(UNCHANGED, f"{draw:03}", draw + 1, changed=False) for draw in range(draws)]
    if changed:
        found += [Case(CHANGED, f"{draw:03}", draw + 1, changed=True) for draw in range(draws)]
    return [*found, Case(NAIVE, world.NAIVE, 1, changed=changed)]


def execute(file: str, seed: int, overrides: Sequence[tuple[str, object]]) -> dict[str, Values]:
    """Runs the scenario and returns the metrics of each flow. Called in worker processes."""
    from leobench import engine
    from leobench.scenario import load

    ended = engine.run(load(file, seed, overrides), engine.Recording())
    return {each["name"]: measured(each) for each in json.loads(ended.summary)["flows"]}


def measured(flow: Mapping[str, Any]) -> Values:
    """The metrics that the summary of a flow has."""
    values: Values = {}
    for name, (keys, factor) in METRICS.items():
        value: Any = flow
        for key in keys:
            value = value[key]
        if value is not None:
            values[name] = factor * value
    if flow["sent_packets"]:
        values["lost_share"] = flow["lost_packets"] / flow["sent_packets"]
    return values


def run(
    file: Path,
    chosen: Sequence[Case],
    changes: Sequence[tuple[str, object]],
    workers: int | None,
    progress: Callable[[int, int], object],
) -> dict[Case, dict[str, Values]]:
    """Runs cases; the metrics of each flow, by case in the order given.

    Raises:
        RunError: If one fails; the message names its path.
    """
    from leobench.campaign import processes

    quiet: list[tuple[str, object]] = [("record.series", False), ("record.messages", False)]
    calls = [
        (
            case,
            (str(file), case.seed, [*(changes if case.changed else ()), *world.channels(case.path), *quiet]),
        )
        for case in chosen
    ]
    count = min(workers or processes.available(), len(calls))
    done: dict[Case, dict[str, Values]] = {}
    for case, outcome in _outcomes(calls, count):
        done[case] = outcome
        progress(len(done), len(calls))
    return {case: done[case] for case in chosen}


def _outcomes(calls: Sequence[tuple[Case, Any]], workers: int) -> Iterable[tuple[Case, dict[str, Values]]]:
    from leobench.campaign import processes

    if workers <= 1:
        for case, arguments in calls:
            yield case, _named(case, functools.partial(execute, *arguments))
        return
    with processes.WorkerProcesses(workers) as pool:
        futures = {pool.submit(execute, *arguments): case for case, arguments in calls}
        for future in processes.as_completed(futures):
            yield futures[future], _named(futures[future], future.result)


def _named(case: Case, call: Callable[[], dict[str, Values]]) -> dict[str, Values]:
    try:
        return call()
    except (RunError, ScenarioError) as error:
        raise type(error)(f"the run over path {case.path}, {case.world}: {error}") from error
