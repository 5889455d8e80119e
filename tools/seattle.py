"""The pings measured over Starlink in Seattle beside those of `scenarios/starlink-seattle.toml`.

`python -m tools.seattle [FIGURE]` prints the table of docs/reports/starlink.md and draws its figure.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import leobench
from leobench.fitting import fit, readers, series
from leobench.fitting.statistics import Dependence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from leobench.fitting.series import Series

    Array = NDArray[np.float64]

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data" / "starlink-seattle-2023" / "ping.csv.gz"
FITTED, FRAMES = (ROOT / "scenarios" / f"starlink-{name}.toml" for name in ("seattle", "frames"))

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
SEEDS = (1, 2, 3, 4, 5)
# The delay of starlink-hour.toml in place of frames.
WITHOUT_FRAMES: Mapping[str, Any] = {"links.sky.access": None, "links.sky.delay": "8 ms"}
# Any whole minute, at which a run begins whose slots begin in second 12.
_MINUTE = 60.0 * 28_000_000


def measured() -> Series:
    """The pings."""
    return readers.read(DATA)[0]


def halves(pings: Series) -> tuple[Series, Series]:
    """Those of the first half of the time, and of the second."""
    start, end = pings.times[[0, -1]]
    return pings.between(start, (start + end) / 2), pings.between((start + end) / 2, end)


def modelled(scenario: Path, seed: int = 1, overrides: Mapping[str, Any] | None = None) -> Series:
    """The round trips of a run."""
    result = leobench.run(scenario, seed, overrides)
    rows = result.tables.transport.select("t_ns", "latest_rtt_ns").drop_nulls()
    rows = rows.filter(pl.col("latest_rtt_ns") != pl.col("latest_rtt_ns").shift())
    times = _MINUTE + rows["t_ns"].to_numpy() / 1e9
    return series.make(scenario.stem, times, rows["latest_rtt_ns"].to_numpy() / 1e6, "rtt", "idle")


def over_a_fit_of(pings: Series, seeds: Sequence[int] = SEEDS) -> Iterator[Series]:
    """Runs over a fit of these pings."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "part.fit.json"
        file.write_text(fit.fit([pings], "part").text())
        for seed in seeds:
            yield modelled(FITTED, seed, {"links.sky.channel.fit": str(file)})


def quantiles(pings: Series) -> Array:
    """The round trips at `QUANTILES`, in ms."""
    return np.quantile(pings.values[pings.present], QUANTILES)


def facts(pings: Series) -> Array:
    """A row of the table: quantiles, share of variance between slots in percent, step, autocorrelations."""
    found = Dependence.of(pings)
    dependence = [100 * found.between_slots, found.step, *found.autocorrelation.values()]
    return np.array([*quantiles(pings), *dependence])


def on_a_grid(pings: Series, hertz: Array) -> Array:
    """How much echoes arrive on a grid of each frequency, in slots of 30 or more; 1: not at all."""
    answered = pings.where(pings.present)
    arrived = answered.times + answered.values / 1e3
    power, count = np.zeros(len(hertz)), 0
    for slot in np.unique(answered.slots):
        within = arrived[answered.slots == slot]
        if len(within) >= 30:
            turns = np.exp(-2j * np.pi * np.outer(hertz, within - within[0]))
            power += np.abs(turns.sum(axis=1)) ** 2 / len(within)
            count += 1
    return power / count


def rows(seeds: Sequence[int] = SEEDS) -> Iterator[tuple[str, Array]]:
    """The rows of the table: each half, the fit of the other, and frames, which were fitted to both.

    Those of models are means over runs with these seeds.
    """
    first, second = halves(measured())
    for name, held, train in (("first", first, second), ("second", second, first)):
        yield f"{name} half, measured", facts(held)
        yield "fit of the other half", mean(over_a_fit_of(train, seeds))
    yield "geometry and frames", mean(modelled(FRAMES, seed) for seed in seeds)


def mean(runs: Iterator[Series]) -> Array:
    """The mean of the facts of several runs."""
    found: Array = np.mean([facts(run) for run in runs], axis=0)
    return found


def main() -> None:
    """Prints the table and draws the figure."""
    for name, numbers in rows():
        cells = [f"{value:.3g}" for value in numbers[:7]] + [f"{value:.2f}" for value in numbers[7:]]
        sys.stdout.write(" | ".join([f"| {name}", *cells]) + " |\n")
    if len(sys.argv) > 1:
        draw(Path(sys.argv[1]))


def draw(file: Path) -> None:
    """Draws the distributions, means over a second, and the grid on which echoes arrive."""
    from matplotlib import pyplot as plt

    from leobench.plots import style

    pings = measured()
    first, second = halves(pings)
    looks = [
        (second, "measured (second half)", style.BLACK),
        (next(over_a_fit_of(first)), "fit of the first half", style.BLUE),
        (modelled(FRAMES), "geometry and frames", style.VERMILION),
    ]
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    edges = np.arange(10, 130, 1.0)
    for run, name, colour in looks:
        values = run.values[run.present]
        left.stairs(np.histogram(values, edges)[0] / len(values) * 100, edges, color=colour, label=name)
        lags = Dependence.of(run).autocorrelation
        middle.plot(list(lags), list(lags.values()), "o-", color=colour)
    left.set(xlabel="round-trip time (ms)", ylabel="share of pings per ms (%)", xlim=(10, 130))
    left.set_title("Round trips of pings in Seattle")
    left.legend(frameon=False)
    middle.set(xlabel="lag (s)", ylabel="autocorrelation of means over 1 s", xticks=list(lags))
    middle.set_title("Means over a second hang together")
    hertz = np.arange(130, 290, 0.25)
    right.plot(1e3 / hertz, on_a_grid(pings, hertz), color=style.BLACK, linewidth=1)
    right.axvline(16 / 3, color=style.BLUE, linewidth=0.8, linestyle="--")
    right.annotate("four frames\nof 1/750 s", (16 / 3, 18), (5.6, 15), color=style.BLUE)
    right.set(xlabel="period (ms)", ylabel="power (1: no grid)", xlim=(3.5, 7.5), ylim=(0, None))
    right.set_title("Measured echoes arrive on a grid")
    for axes in (left, middle, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=130)


if __name__ == "__main__":
    main()
