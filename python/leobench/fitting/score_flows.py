"""Goodput and round trip of CUBIC and BBR over a fitted capacity, beside the same over the recorded one.

The recording is cut into pieces without gaps, of one to four whole slots of 15 s. A flow of TCP runs over
each piece, and flows as long over the channel `starlink` with the fit, each with a seed of its own and with
slots that begin where those of its piece do. Everything but the capacity and its outages is the same: a
delay of 25 ms each way, no loss, acknowledgements at 1 Gbit/s, and a queue that holds 100 ms at the mean
recorded capacity. Both capacities hold for the interval of the samples: nobody measured changes within it.
All runs are in virtual time.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from leobench.errors import InputError
from leobench.fitting import blocks, flow_run, losses
from leobench.fitting.series import PHASE_S, SLOT_S

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from leobench.fitting.flow_run import Changes
    from leobench.fitting.series import Floats, Quantity, Series

    Report = Callable[[int, int], object]

CONTROLLERS = ("cubic", "bbr")
MODEL, TRAINING = "model", "training"
# Slots of a piece, and slots and gigabits of all together: of a longer recording, pieces at even ranks.
_LONGEST_SLOTS, _MOST_SLOTS, _MOST_GBIT = 4, 300, 300.0
_FEWEST_SLOTS = 8
# Flows over the fit for each piece.
_REPEATS = 2
# How much longer than usual the interval of two samples of a piece may be; and the longest usual one.
_GAP, _COARSEST_S = 1.5, 1.1

_DELAY, _BACK, _QUEUE_S = "25 ms", "1 Gbps", 0.1
_SAMPLES_S = 0.1
_RESAMPLES, _BLOCK = 1_000, 4
_SCENARIO, _FIT = "scenario.json", "part.fit.json"


@dataclass(frozen=True)
class Piece:
    """Recorded capacity without a gap, in whole slots of 15 s.

    Attributes:
        start_s: The time of its beginning, in seconds since 1970.
        interval_s: The time that each value holds.
        mbps: The capacity in Mbit/s; zero in outages.
    """

    start_s: float
    interval_s: float
    mbps: Floats

    @property
    def slots(self) -> int:
        """The number of 15 s in it."""
        return round(len(self.mbps) * self.interval_s / SLOT_S)


@dataclass(frozen=True)
class Link:
    """The properties that all flows of a comparison share.

    Attributes:
        quantity: The direction.
        mean_mbps: The mean of the recorded capacity, which the queue is sized by.
    """

    quantity: Quantity
    mean_mbps: float


@dataclass(frozen=True)
class Flows:
    """The measurements of flows.

    Attributes:
        goodput: By flow, the goodput in each 15 s, in Mbit/s.
        rtt: By flow, the median of the round trips in each 15 s, in milliseconds.
    """

    goodput: Sequence[Floats]
    rtt: Sequence[Floats]


@dataclass(frozen=True)
class Compared:
    """A measure of flows over a capacity beside that of flows over the recorded capacity.

    Attributes:
        quantity: The direction.
        controller: The congestion controller.
        measure: `goodput` or `round trip`.
        unit: Its unit.
        capacity: What the flows ran over: `model`, or `training`.
        slots: The number of slots of 15 s that were recorded.
        recorded: The median over the recorded slots, and their interquartile range.
        found: The same over the capacity.
        median: The ratio of the medians, with its 95 % interval.
        spread: The ratio of the interquartile ranges, with its 95 % interval.
    """

    quantity: str
    controller: str
    measure: str
    unit: str
    capacity: str
    slots: int
    recorded: tuple[float, float]
    found: tuple[float, float]
    median: tuple[float, float, float]
    spread: tuple[float, float, float]


def pieces(series: Series) -> list[Piece]:
    """The pieces of a recorded capacity; of many, some at even ranks.

    Raises:
        InputError: If its samples are further apart than a second, or too few of them have no gap.
    """
    interval_s = series.interval_s
    if interval_s > _COARSEST_S:
        raise InputError(
            f"{series.name}: has a sample every {interval_s:.3g} s; allowed for flows: one a second or more"
        )
    per_slot = round(SLOT_S / interval_s)
    mbps = np.where(losses.dark(series), 0.0, series.values)
    ends = [*np.flatnonzero(np.diff(series.times) > _GAP * interval_s) + 1, len(series.times)]
    found = []
    begin = 0
    for end in ends:
        for at in range(begin, end - per_slot + 1, _LONGEST_SLOTS * per_slot):
            whole = min(_LONGEST_SLOTS, (end - at) // per_slot)
            found.append(Piece(float(series.times[at]), SLOT_S / per_slot, mbps[at : at + whole * per_slot]))
        begin = end
    slots = sum(piece.slots for piece in found)
    if slots < _FEWEST_SLOTS:
        raise InputError(
            f"{series.name}: has {slots} times {SLOT_S:g} s without a gap; allowed for flows: "
            f"at least {_FEWEST_SLOTS}"
        )
    gbit = SLOT_S * slots * float(np.mean(mbps)) / 1e3
    count = min(len(found), max(1, int(len(found) * min(_MOST_SLOTS / slots, _MOST_GBIT / gbit))))
    return [found[int((rank + 0.5) * len(found) / count)] for rank in range(count)]


def score(
    fit: Mapping[str, Any], held: Sequence[Series], train: Sequence[Series], report: Report
) -> list[Compared]:
    """Runs flows over a fit, over the recorded capacity, and over that of the training, and compares them.

    Args:
        fit: The content of a fit file.
        held: A recording that the fit has not seen; only capacities that the fit has, too, take part.
        train: What the fit was made from; nothing without.
        report: Told how many runs of how many are done, for each of the three anew.

    Raises:
        InputError: If the recording has no capacity that the fit has, or too few samples without a gap.
    """
    rows: list[Compared] = []
    for series in held:
        if series.quantity == "rtt" or (fit.get(series.quantity) or {}).get("capacity") is None:
            continue
        recorded = pieces(series)
        link = Link(series.quantity, float(np.concatenate([piece.mbps for piece in recorded]).mean()))
        theirs = over_recording(link, recorded, report)
        rows += compare(series.quantity, MODEL, theirs, over_fit(fit, link, recorded, report))
        for trained in train:
            if trained.quantity == series.quantity:
                others = over_recording(link, pieces(trained), report)
                rows += compare(series.quantity, TRAINING, theirs, others)
    if not rows:
        have = ", ".join(sorted({series.quantity for series in held})) or "nothing"
        raise InputError(
            f"flows need a capacity that the fit and the data have; the data have {have}, "
            f"and the fit {fit.get('name', '')} has {_capacities(fit) or 'none'}"
        )
    return rows


def _capacities(fit: Mapping[str, Any]) -> str:
    return ", ".join(name for name in ("downlink", "uplink") if (fit.get(name) or {}).get("capacity"))


def over_recording(link: Link, recorded: Sequence[Piece], report: Report) -> dict[str, Flows]:
    """Runs a flow of each controller over each piece."""
    sides = {"downlink": ("backward", "forward"), "uplink": ("forward", "backward")}
    ahead, back = sides[link.quantity]

    def channels(folder: Path, index: int, piece: Piece) -> list[Changes]:
        (folder / f"{index}.csv").write_text(_table(piece), encoding="utf-8")
        return [
            [
                (f"links.path.{ahead}.channel", {"kind": "schedule", "file": f"{index}.csv"}),
                (f"links.path.{back}.channel", {"kind": "steady", "rate": _BACK}),
            ]
        ]

    return _run(link, recorded, None, channels, report)


def over_fit(
    fit: Mapping[str, Any], link: Link, recorded: Sequence[Piece], report: Report
) -> dict[str, Flows]:
    """Runs flows of each controller over the capacity and the outages of a fit, two for each piece."""
    keys = ("format", "version", "name", "slots", "outages")
    part = {key: fit[key] for key in keys if fit.get(key) is not None}
    part[link.quantity] = {"capacity": fit[link.quantity]["capacity"]}
    slots = fit.get("slots", {})
    every_s, phase_s = slots.get("every_s", SLOT_S), slots.get("phase_s", PHASE_S)
    other = "uplink" if link.quantity == "downlink" else "downlink"

    def channels(_folder: Path, _index: int, piece: Piece) -> list[Changes]:
        channel = {
            "kind": "starlink",
            "fit": _FIT,
            "every": f"{every_s:g} s",
            "phase": f"{(phase_s - piece.start_s) % every_s:.3f} s",
            "step": f"{piece.interval_s:.6f} s",
            "delay": "0 ms",
            f"{other}_rate": _BACK,
        }
        return [[("links.path.channel", channel)] for _ in range(_REPEATS)]

    return _run(link, recorded, part, channels, report)


def _table(piece: Piece) -> str:
    """The table of the channel `schedule`."""
    rows = ["time,rate,delay,loss,up"]
    for step, mbps in enumerate(piece.mbps.tolist()):
        rows.append(f"{step * piece.interval_s:.6f} s,{mbps:.6f} Mbps,,,{'true' if mbps else 'false'}")
    return "\n".join(rows) + "\n"


def _run(
    link: Link,
    recorded: Sequence[Piece],
    part: Mapping[str, Any] | None,
    channels: Callable[[Path, int, Piece], list[Changes]],
    report: Report,
) -> dict[str, Flows]:
    """Runs flows of each controller over the channels of each piece, on the processors of this machine."""
    from leobench.campaign import processes

    with tempfile.TemporaryDirectory(prefix="leobench-flows-") as name:
        folder = Path(name)
        (folder / _SCENARIO).write_text(json.dumps(_scenario(link)), encoding="utf-8")
        if part is not None:
            (folder / _FIT).write_text(json.dumps(part), encoding="utf-8")
        paths = [
            (piece.slots, [("duration", f"{piece.slots * SLOT_S:g} s"), *changes])
            for index, piece in enumerate(recorded)
            for changes in channels(folder, index, piece)
        ]
        runs = [
            (controller, seed, slots, [*path, ("flows.main.transport.congestion", controller)])
            for controller in CONTROLLERS
            for seed, (slots, path) in enumerate(paths, start=1)
        ]
        file = str(folder / _SCENARIO)
        measured: dict[tuple[str, int], tuple[Floats, Floats]] = {}
        with processes.WorkerProcesses(min(processes.available(), len(runs))) as pool:
            futures = {
                pool.submit(flow_run.execute, file, seed, slots, changes): (controller, seed)
                for controller, seed, slots, changes in runs
            }
            for future in processes.as_completed(futures):
                measured[futures[future]] = future.result()
                report(len(measured), len(runs))
    return {
        controller: Flows(
            *zip(*(measured[controller, seed] for seed in range(1, len(paths) + 1)), strict=True)
        )
        for controller in CONTROLLERS
    }


def _scenario(link: Link) -> dict[str, Any]:
    """The scenario of all flows, without channels."""
    ends = ("server", "terminal") if link.quantity == "downlink" else ("terminal", "server")
    limit = max(3_000.0, link.mean_mbps * 1e6 / 8 * _QUEUE_S)
    return {
        "name": "flows",
        "duration": f"{SLOT_S:g} s",
        "record": {"interval": f"{_SAMPLES_S:g} s", "messages": False},
        "nodes": {"server": {}, "terminal": {}},
        "links": {
            "path": {
                "between": ["terminal", "server"],
                "delay": _DELAY,
                "queue": {"kind": "fifo", "limit": f"{limit:.0f} B"},
            }
        },
        "flows": {
            "main": {
                "from": ends[0],
                "to": ends[1],
                "transport": {"kind": "tcp", "congestion": CONTROLLERS[0]},
                "source": {"kind": "bulk"},
            }
        },
    }


def compare(
    quantity: str, capacity: str, recorded: Mapping[str, Flows], found: Mapping[str, Flows]
) -> list[Compared]:
    """The measures of each controller over a capacity, beside those over the recorded one."""
    rows = []
    for controller in recorded:
        for measure, unit, key in (("goodput", "Mbit/s", "goodput"), ("round trip", "ms", "rtt")):
            ours, theirs = getattr(found[controller], key), getattr(recorded[controller], key)
            rows.append(
                Compared(
                    quantity,
                    controller,
                    measure,
                    unit,
                    capacity,
                    sum(map(len, theirs)),
                    _middle(np.concatenate(theirs)),
                    _middle(np.concatenate(ours)),
                    *_ratios(ours, theirs),
                )
            )
    return rows


def _middle(values: Floats) -> tuple[float, float]:
    """The median and the interquartile range."""
    low, middle, high = np.nanquantile(values, [0.25, 0.5, 0.75])
    return float(middle), float(high - low)


def _ratios(
    ours: Sequence[Floats], theirs: Sequence[Floats]
) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """The ratios of medians and interquartile ranges, with 95 % intervals: a bootstrap of blocks of flows."""
    rng = np.random.default_rng(1)

    def drawn(flows: Sequence[Floats]) -> tuple[float, float]:
        chosen = blocks.resampled(len(flows), _BLOCK, rng)
        return _middle(np.concatenate([flows[at] for at in chosen]))

    each = np.array([np.divide(drawn(ours), drawn(theirs)) for _ in range(_RESAMPLES)])
    ends = np.quantile(each, [0.025, 0.975], axis=0)
    best = np.divide(_middle(np.concatenate(ours)), _middle(np.concatenate(theirs)))
    both = [(float(best[at]), float(ends[0, at]), float(ends[1, at])) for at in range(2)]
    return both[0], both[1]
