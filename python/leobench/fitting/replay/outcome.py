"""The outcome of a replay: intervals of each metric over the draws, and the files that hold it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from leobench import folder, plots
from leobench.files import write_text
from leobench.fitting.replay import runs, world
from leobench.fitting.replay.transfer import BIN_S, MOSTLY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from leobench.fitting.replay.posterior import Posterior

NUMBERS, DRAWS, BANDS, FIGURE = "replay.json", "draws.csv", "posterior.csv", "replay.png"

# Shares of the draws within an interval.
LEVELS = (0.5, 0.8, 0.9)
# Metrics of the recorded flow that its runs over the draws must reproduce: within the range of these, wider
# on either side by this share of it, by that of the recorded value, and for round trips by so many times what
# they are off.
_REPRODUCED = ("goodput_mbps", "rtt_p50_ms")
_SLACK_RANGE, _SLACK_SHARE, _SLACK_JITTER = 0.5, 0.1, 2.0

# Draws whose least and greatest are the ends of the widest of them.
FEWEST_DRAWS = 19


@dataclass(frozen=True)
class Interval:
    """A metric over the draws.

    Attributes:
        median: Of the draws that have it.
        ends: The ends of the interval that holds each of `LEVELS`.
        missing: Draws without it, such as those that did not complete.
    """

    median: float
    ends: Mapping[float, tuple[float, float]]
    missing: int


@dataclass(frozen=True)
class Mismatch:
    """A metric of the recorded flow that it does not have over the draws: its value, and theirs."""

    recorded: float
    low: float
    high: float


@dataclass(frozen=True)
class Outcome:
    """A replay.

    Attributes:
        posterior: The draws of the path.
        changes: What `--set` replaced, by place.
        cases: The metrics of each flow in each run.
    """

    posterior: Posterior
    changes: Sequence[tuple[str, object]]
    cases: Mapping[runs.Case, Mapping[str, Mapping[str, float]]]

    def intervals(self, which: str) -> dict[str, Interval]:
        """The metrics of a world, by `flow.metric`."""
        rows = [_flat(flows) for case, flows in self.cases.items() if case.world == which]
        names = list(dict.fromkeys(name for row in rows for name in row))
        return {name: interval([row[name] for row in rows if name in row], len(rows)) for name in names}

    @property
    def naive(self) -> dict[str, float]:
        """The metrics over the naive path, by `flow.metric`."""
        return next(_flat(flows) for case, flows in self.cases.items() if case.world == runs.NAIVE)

    @property
    def recorded(self) -> dict[str, float]:
        """The metrics of the recording itself, by `flow.metric`."""
        name = str(self.posterior.transfer.template["name"])
        return {f"{name}.{metric}": value for metric, value in self.posterior.transfer.own.items()}

    @property
    def mismatches(self) -> dict[str, Mismatch]:
        """The metrics of the recording that its flow does not reproduce over the draws, by `flow.metric`."""
        rows = [_flat(flows) for case, flows in self.cases.items() if case.world == runs.UNCHANGED]
        flow = str(self.posterior.transfer.template["name"])
        found = {}
        for metric in _REPRODUCED:
            name = f"{flow}.{metric}"
            recorded, values = self.recorded.get(name), [row[name] for row in rows if name in row]
            if recorded is None or not values:
                continue
            low, high = min(values), max(values)
            slack = _SLACK_RANGE * (high - low) + _SLACK_SHARE * abs(recorded)
            if metric.startswith("rtt"):
                slack += 1e3 * _SLACK_JITTER * self.posterior.transfer.jitter_s
            if not low - slack <= recorded <= high + slack:
                found[name] = Mismatch(recorded, low, high)
        return found

    @property
    def warnings(self) -> list[str]:
        """Limits of the outcome, a sentence each."""
        found = []
        share = self.posterior.bounded_share
        if share > MOSTLY:
            found.append(
                f"the recording bounds the capacity only from below in {100 * share:.0f} % of the time; "
                "results about faster senders rest on the prior"
            )
        for name, each in self.mismatches.items():
            flow, _, metric = name.rpartition(".")
            found.append(
                f"recorded flow {flow} is not reproduced: {metric} {each.recorded:.4g} recorded, "
                f"{each.low:.4g} to {each.high:.4g} over the paths"
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """The outcome as JSON has it."""
        found = self.posterior
        return {
            "recording": found.transfer.name,
            "set": dict(self.changes),
            "draws": len(found.paths.capacity),
            "prior": {
                "capacity": found.prior.capacity.to_dict(),
                "delay": found.prior.delay.to_dict(),
            },
            "queue_limit_bytes": round(found.queue_limit),
            "queue_limit_is_known": found.queue_known,
            "bounded_share": found.bounded_share,
            "loss_mean": float(found.loss.mean()),
            "warnings": self.warnings,
            "not_reproduced": {name: asdict(each) for name, each in self.mismatches.items()},
            "recorded": self.recorded,
            "naive": self.naive,
            "unchanged": _intervals(self.intervals(runs.UNCHANGED)),
            "changed": _intervals(self.intervals(runs.CHANGED)),
        }


def interval(values: Sequence[float], count: int) -> Interval:
    """The median and the intervals of values, of which there could be `count`.

    The intervals are predictive: the r-th of n draws exceeds another draw with probability r / (n + 1)
    (Hyndman and Fan 1996, type 6). Fewer than `FEWEST_DRAWS` span less than 90 %.
    """
    found = np.array(values)
    ends = {
        level: (
            float(np.quantile(found, (1 - level) / 2, method="weibull")),
            float(np.quantile(found, (1 + level) / 2, method="weibull")),
        )
        for level in LEVELS
    }
    return Interval(float(np.median(found)), ends, count - len(values))


def bands(posterior: Posterior) -> pl.DataFrame:
    """Quantiles of the capacity and the base delay per bin, with the observed throughput."""
    columns: dict[str, Any] = {
        "time_s": np.arange(len(posterior.seen)) * BIN_S,
        "observed_mbps": posterior.observed_mbps,
    }
    for name, values in (
        ("capacity_mbps", posterior.paths.capacity),
        ("base_ms", posterior.paths.base_ms),
    ):
        for share in (5, 25, 50, 75, 95):
            columns[f"{name}_p{share:02}"] = np.quantile(values, share / 100, axis=0)
    columns["bounded"] = posterior.paths.bound.mean(axis=0)
    columns["queue_bytes_p50"] = np.median(posterior.paths.queue, axis=0)
    columns["loss_mean"] = posterior.loss.mean(axis=0)
    return pl.DataFrame(columns)


def write(outcome: Outcome, partial: Path) -> None:
    """Writes the outcome into a folder that has the scenario and its paths."""
    from leobench.plots import replay

    text = json.dumps(outcome.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    write_text(partial / NUMBERS, text + "\n")
    rows = [
        {"world": case.world, "path": case.path, "seed": case.seed, "metric": name, "value": value}
        for case, flows in outcome.cases.items()
        for name, value in _flat(flows).items()
    ]
    pl.DataFrame(rows).write_csv(partial / DRAWS)
    found = bands(outcome.posterior)
    found.write_csv(partial / BANDS, float_precision=5)
    plots.save(replay.draw(found), partial / FIGURE)


def refuse_existing(target: Path, *, force: bool) -> None:
    """Checks that a replay may be written to a folder.

    Raises:
        InputError: If something is there that may not be replaced.
    """
    folder.refuse_existing(target, force=force, ours=is_ours)


def is_ours(entry: Path) -> bool:
    """Whether it is something that a replay writes."""
    if entry.name == world.PATHS:
        return entry.is_dir() and all(each.suffix == ".csv" for each in entry.iterdir())
    return entry.is_file() and entry.name in (NUMBERS, DRAWS, BANDS, FIGURE, world.SCENARIO)


def _flat(flows: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    return {f"{flow}.{name}": value for flow, values in flows.items() for name, value in values.items()}


def _intervals(found: Mapping[str, Interval]) -> dict[str, Any]:
    return {
        name: {
            "median": each.median,
            **{f"low{100 * level:.0f}": ends[0] for level, ends in each.ends.items()},
            **{f"high{100 * level:.0f}": ends[1] for level, ends in each.ends.items()},
            "missing": each.missing,
        }
        for name, each in found.items()
    }
