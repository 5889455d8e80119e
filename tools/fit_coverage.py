"""The share of 90 % intervals of `leobench fit` that hold the truth, over series drawn from known parameters.

    python -m tools.fit_coverage [DRAWS] [PROCESSES] [FILE]

prints a table with a row for each parameter of each part. FILE keeps the result of each draw; draws that it
has are not fitted again.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from leobench._core import Process
from leobench.fitting import losses, process
from leobench.fitting.process import flattened
from leobench.fitting.series import PHASE_S, SLOT_S, Series

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from leobench.fitting.series import Floats

    Draw = Callable[[int], tuple[dict[str, float], dict[str, list[float]]]]
    # A part and the seed of a draw; whether the interval of each parameter holds the truth, and the estimate.
    Task = tuple[str, int]
    Held = dict[str, tuple[bool, float]]
    # Part, parameter, truth, median estimate, share of intervals that hold the truth, and their number.
    Row = tuple[str, str, float, float, float, int]

START = 1_700_000_000.0 - 1_700_000_000.0 % 60 + PHASE_S

DELAY: dict[str, Any] = {
    "floor": 20.0,
    "location": 3.0,
    "scale": 0.5,
    "skewness": -0.1,
    "tail": 0.9,
    "shares": {"drift": 0.15, "slot": 0.4, "slow": 0.2, "fast": 0.25},
    "drift_s": 200.0,
    "slot_correlation": 0.2,
    "slow_s": 3.0,
    "fast_s": 0.06,
}
CAPACITY: dict[str, Any] = {
    "location": 5.5,
    "scale": 0.2,
    "skewness": -0.4,
    "tail": 0.8,
    "shares": {"drift": 0.2, "slot": 0.35, "slow": 0.3, "fast": 0.15},
    "drift_s": 400.0,
    "slot_correlation": 0.4,
    "slow_s": 3.0,
}
LOSS = {"clean": 0.004, "lossy": 0.06, "to_lossy": 0.1, "to_clean": 0.3}
OUTAGE = {"rate_per_s": 0.01, "at_boundary": 0.05, "length.median_s": 0.8, "length.sigma": 0.7}


def delay(seed: int) -> tuple[dict[str, float], dict[str, list[float]]]:
    """A process of round trips: four in a row of 40 ms, every 3 s, over 100 minutes."""
    times: Floats = START + (np.arange(0, 6_000, 3.0)[:, None] + 0.04 * np.arange(4)).ravel()
    return _process(DELAY, times, "rtt", seed)


def capacity(seed: int) -> tuple[dict[str, float], dict[str, list[float]]]:
    """A process of rates, one every 2 s over 200 minutes."""
    return _process(CAPACITY, START + np.arange(0, 12_000.0, 2.0), "downlink", seed)


def _process(
    truth: Mapping[str, Any], times: Floats, quantity: Any, seed: int
) -> tuple[dict[str, float], dict[str, list[float]]]:
    values = Process(json.dumps(truth)).sample(times, seed)
    series = Series("drawn", "", times, values, quantity, "idle")
    return flattened(truth), process.estimate(series).intervals


def loss(seed: int) -> tuple[dict[str, float], dict[str, list[float]]]:
    """Losses of probes every 0.1 s in 400 slots."""
    rng = np.random.default_rng(seed)
    times: Floats = START + 0.1 * np.arange(float(400 * SLOT_S * 10))
    state = rng.random() < LOSS["to_lossy"] / (LOSS["to_lossy"] + LOSS["to_clean"])
    probability = []
    for _ in range(400):
        probability.append(LOSS["lossy"] if state else LOSS["clean"])
        state = rng.random() < (1 - LOSS["to_clean"] if state else LOSS["to_lossy"])
    lost = rng.random(len(times)) < np.repeat(probability, int(SLOT_S * 10))
    series = Series("drawn", "ms", times, np.array([40.0, np.nan])[lost.astype(int)], "rtt", "idle")
    return LOSS, losses.losses(series).chain.intervals


def outages(seed: int) -> tuple[dict[str, float], dict[str, list[float]]]:
    """Outages that last 0.3 s or more, in probes every 0.1 s over 600 slots."""
    rng = np.random.default_rng(seed)
    slots = 600
    times: Floats = START + 0.1 * np.arange(float(slots * SLOT_S * 10))
    begins = [
        START + at
        for at in rng.uniform(0, slots * SLOT_S, rng.poisson(OUTAGE["rate_per_s"] * slots * SLOT_S))
    ]
    at_slots = np.flatnonzero(rng.random(slots) < OUTAGE["at_boundary"])
    begins += [START + slot * SLOT_S + rng.uniform(0, losses.WITHIN_S) for slot in at_slots]
    lost = np.zeros(len(times), dtype=np.bool_)
    for begin in begins:
        length = 0.0
        while length < 0.25:  # what the resolution of three probes shows
            length = OUTAGE["length.median_s"] * float(np.exp(OUTAGE["length.sigma"] * rng.normal()))
        lost |= (times >= begin) & (times < begin + length)
    series = Series("drawn", "ms", times, np.array([40.0, np.nan])[lost.astype(int)], "rtt", "idle")
    return OUTAGE, losses.outages(series, losses.runs(series, 3)).intervals


TRUTHS = {"delay": flattened(DELAY), "capacity": flattened(CAPACITY), "loss": LOSS, "outages": OUTAGE}
PARTS: dict[str, Draw] = {"capacity": capacity, "loss": loss, "outages": outages, "delay": delay}


def one(task: Task) -> tuple[Task, Held]:
    """Whether each interval of a draw holds the truth, and the estimate."""
    part, seed = task
    truth, intervals = PARTS[part](seed)
    return task, {name: (low <= truth[name] <= high, value) for name, (value, low, high) in intervals.items()}


def coverage(draws: int, processes: int, file: Path | None = None) -> list[Row]:
    """A row for each parameter of each part, from so many draws."""
    found = kept(file)
    tasks = [(part, seed) for part in PARTS for seed in range(1, draws + 1)]
    with ProcessPoolExecutor(processes) as pool:
        for task, held in pool.map(one, [task for task in tasks if task not in found]):
            found[task] = held
            if file is not None:
                with file.open("a", encoding="utf-8") as output:
                    output.write(json.dumps([task, held]) + "\n")
    rows = []
    for part in PARTS:
        results = [found[part, seed] for seed in range(1, draws + 1)]
        for name in dict.fromkeys(name for held in results for name in held):
            each = [held[name] for held in results if name in held]
            share = float(np.mean([inside for inside, _ in each]))
            middle = float(np.median([value for _, value in each]))
            rows.append((part, name, TRUTHS[part][name], middle, share, len(each)))
    return rows


def kept(file: Path | None) -> dict[Task, Held]:
    """The results that a file has."""
    if file is None or not file.exists():
        return {}
    lines = file.read_text(encoding="utf-8").splitlines()
    return {(part, seed): held for (part, seed), held in map(json.loads, lines)}


def main() -> None:
    """Prints the table."""
    words = sys.argv[1:]
    draws, processes = (int(word) for word in (*words[:2], *("200", "2")[len(words) :]))
    print("| part | parameter | truth | median estimate | intervals that hold it | of |")
    print("|---|---|---|---|---|---|")
    for part, name, truth, middle, share, count in coverage(draws, processes, *map(Path, words[2:3])):
        print(f"| {part} | {name} | {truth:.4g} | {middle:.4g} | {100 * share:.1f} % | {count} |")


if __name__ == "__main__":
    main()
