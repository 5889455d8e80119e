"""The pings measured over Starlink in Seattle beside those of `scenarios/starlink-seattle.toml`.

`python tools/seattle.py [FIGURE]` prints the table of docs/reports/starlink.md and draws its figure.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import leobench

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data" / "starlink-seattle-2023" / "ping.csv.gz"
SCENARIO = ROOT / "scenarios" / "starlink-seattle.toml"

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
HOURS = (17, 18, 19)
SEEDS = (1, 2, 3, 4, 5)

# Local time at the first ping, in seconds from midnight.
_START_S = 61_535
_SLOT_S, _SLOT_PHASE_S = 15, 12

# What was fitted to the first half of the pings in time, without hours.
FIRST_HALF: Mapping[str, Any] = {
    "links.sky.delay": "5.2 ms",
    "links.sky.access.wait": {"kind": "uniform", "from": "4.2 ms", "to": "13.4 ms"},
    "links.sky.access.day": None,
}
# The delay of starlink-hour.toml in place of frames.
WITHOUT_FRAMES: Mapping[str, Any] = {"links.sky.access": None, "links.sky.delay": "8 ms"}


@dataclass(frozen=True)
class Pings:
    """Round trips: seconds since the first ping, and milliseconds."""

    t_s: Array
    rtt_ms: Array

    def where(self, chosen: NDArray[np.bool_]) -> Pings:
        """The pings that a mask selects."""
        return Pings(self.t_s[chosen], self.rtt_ms[chosen])

    def hour(self, hour: int) -> Pings:
        """Those of an hour of the local time of day."""
        return self.where((self.t_s + _START_S) // 3600 == hour)

    def quantiles(self) -> Array:
        """The round trips at `QUANTILES`, in milliseconds."""
        return np.quantile(self.rtt_ms, QUANTILES)


def measured() -> tuple[Pings, NDArray[np.int64]]:
    """The pings that came back, and the slot of 15 s of each, as Starlink reassigns terminals."""
    table = pl.read_csv(DATA).filter(pl.col("rtt_ms") > 0)
    unix = table["unix_s"].to_numpy()
    slots = np.floor((unix - _SLOT_PHASE_S) / _SLOT_S).astype(np.int64)
    return Pings(unix - unix[0], table["rtt_ms"].to_numpy()), slots


def modelled(seed: int = 1, overrides: Mapping[str, Any] | None = None) -> Pings:
    """The round trips of a run."""
    result = leobench.run(SCENARIO, seed, overrides)
    rows = result.tables.transport.select("t_ns", "latest_rtt_ns").drop_nulls()
    rows = rows.filter(pl.col("latest_rtt_ns") != pl.col("latest_rtt_ns").shift())
    return Pings(rows["t_ns"].to_numpy() / 1e9, rows["latest_rtt_ns"].to_numpy() / 1e6)


def pooled(overrides: Mapping[str, Any] | None = None) -> Pings:
    """The round trips of all seeds: a seed draws where the frames of each direction lie."""
    return together([modelled(seed, overrides) for seed in SEEDS])


def together(runs: Sequence[Pings]) -> Pings:
    """The round trips of several runs."""
    return Pings(np.concatenate([run.t_s for run in runs]), np.concatenate([run.rtt_ms for run in runs]))


def on_a_grid(times_s: Array, slots: NDArray[np.int64], hertz: Array) -> Array:
    """How much times lie on a grid of each frequency, within slots of 30 pings or more; 1: not at all."""
    power, count = np.zeros(len(hertz)), 0
    for slot in np.unique(slots):
        within = times_s[slots == slot]
        if len(within) >= 30:
            turns = np.exp(-2j * np.pi * np.outer(hertz, within - within[0]))
            power += np.abs(turns.sum(axis=1)) ** 2 / len(within)
            count += 1
    return power / count


def main() -> None:
    """Prints the table and draws the figure."""
    pings, slots = measured()
    judged = pings.where(slots % 2 == 1)
    model, first = pooled(), pooled(FIRST_HALF)
    half = len(slots) // 2
    later = pings.where(np.arange(len(slots)) >= half)
    show("odd slots", judged, model)
    for hour in HOURS:
        show(f"odd slots from {hour}:00", judged.hour(hour), model.hour(hour))
    show("second half", later, first)
    if len(sys.argv) > 1:
        draw(Path(sys.argv[1]), (judged, model, modelled(1, WITHOUT_FRAMES)), (pings, slots))


def show(name: str, real: Pings, model: Pings) -> None:
    """Prints the quantiles of both, and by how many percent they differ."""
    pairs = list(zip(real.quantiles(), model.quantiles(), strict=True))
    cells = [f"{real:.1f}, {model:.1f} ({100 * (model / real - 1):+.0f} %)" for real, model in pairs]
    sys.stdout.write(" | ".join([f"| {name}", *cells]) + " |\n")


def draw(file: Path, runs: tuple[Pings, Pings, Pings], data: tuple[Pings, NDArray[np.int64]]) -> None:
    """Draws the distributions side by side, and the grid on which echoes arrive."""
    from matplotlib import pyplot as plt

    from leobench.plots import style

    judged, model, plain = runs
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", width_ratios=(3, 2))
    edges = np.arange(10, 130, 1.0)
    looks = [
        (judged, "measured (slots not used to fit)", style.BLACK),
        (model, "model with frames", style.BLUE),
        (plain, "model without frames", style.VERMILION),
    ]
    for pings, name, colour in looks:
        share = np.histogram(pings.rtt_ms, edges)[0] / len(pings.rtt_ms) * 100
        left.stairs(share, edges, color=colour, label=name, linewidth=1.4)
    left.set(xlabel="round-trip time (ms)", ylabel="share of pings per ms (%)", ylim=(0, 12), xlim=(10, 130))
    peak = np.histogram(plain.rtt_ms, edges)[0].max() / len(plain.rtt_ms) * 100
    left.text(32, 11, f"up to {peak:.0f} %", color=style.VERMILION)
    left.set_title("Round trips of pings in Seattle")
    left.legend(frameon=False)
    pings, slots = data
    hertz = np.arange(130, 290, 0.25)
    right.plot(1e3 / hertz, on_a_grid(pings.t_s, slots, hertz), color=style.BLACK, linewidth=1)
    right.axvline(16 / 3, color=style.BLUE, linewidth=0.8, linestyle="--")
    right.annotate("four frames\nof 1/750 s", (16 / 3, 18), (5.6, 15), color=style.BLUE)
    right.set(xlabel="period (ms)", ylabel="power (1: no grid)", xlim=(3.5, 7.5), ylim=(0, None))
    right.set_title("Measured echoes arrive on a grid")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=130)


if __name__ == "__main__":
    main()
