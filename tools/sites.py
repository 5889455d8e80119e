"""Starlink's choice of satellites at three sites: `scenarios/starlink-sites.toml` step by step, and measured.

`python tools/sites.py [FOLDER]` prints the second table of docs/reports/starlink.md on these sites. With
the folder `paper_results` of the repository aliahan/SatInView, it adds the rows of the measurements and of
the element sets of the day, and fits the weights of the choice. Where the list of gateways is, it adds the
row in which satellites must see one.
"""

from __future__ import annotations

import json
import sys
import tempfile
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
    Values = list[float]

ROOT = Path(__file__).parents[1]
SCENARIO = ROOT / "scenarios" / "starlink-sites.toml"
GATEWAYS = ROOT.parent / "shared" / "data" / "starlink-gateways" / "ground-stations.json"
NAMES = ("louvain", "kanazawa", "brisbane")
SEEDS = (1, 2, 3, 4, 5)

# The factor on a standard error for a 95 % interval of five values (Student's t, four degrees of freedom).
STUDENT = 2.776

# The names of the sites in the data, and their latitudes.
_IN_DATA = {"louvain": ("ucl", 50.67), "kanazawa": ("kna", 36.56), "brisbane": ("bri", -27.47)}
# The default weights of the policy.
DEFAULTS = np.array([5.5, -0.9, 1.7])
_LOWEST_DEG, _EXCLUSION_DEG = 25.0, 18.0

_PRESET = {"constellation.satellites": {"preset": "starlink"}}
_WHOLE_SKY = {f"constellation.terminals.{site}.dish": None for site in NAMES}
_DEFAULTS = {"constellation.policy": "starlink"}
# The weights of the serving satellite that each site has by itself.
_KEPT = {"louvain": 1.6, "kanazawa": 2.3, "brisbane": 0.7}

# The weights of the scenario.
OTHER_WEIGHTS = {"kind": "starlink", "elevation": 20.7, "square": -13.4, "kept": 1.6}

# What changes from row to row of the guide's table, as overrides of the scenario.
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "preset, whole sky": _PRESET | _WHOLE_SKY | _DEFAULTS,
    "preset, dishes": _PRESET | _DEFAULTS,
    "July 2024, whole sky": _WHOLE_SKY | _DEFAULTS,
    "July 2024, dishes": _DEFAULTS,
    "and other weights": {},
    "and [kept] by site": {
        f"links.{site}.constellation.policy": OTHER_WEIGHTS | {"kept": _KEPT[site]} for site in NAMES
    },
}


def survey(seed: int, overrides: Mapping[str, Any]) -> pl.DataFrame:
    """The slots of the sites. Steps of a second choose the same satellites as those of 100 ms."""
    return leobench.survey(SCENARIO, seed, {"constellation.step": "1 s"} | dict(overrides)).slots


def shares(slots: pl.DataFrame) -> Values:
    """Satellites in view, how often the highest one serves and the same one, and how close to the arc."""
    separation = slots["separation_deg"].quantile(0.05, "linear")
    percent = [100 * float(slots[name].mean()) for name in ("highest", "kept")]  # type: ignore[arg-type]
    return [float(slots["candidates"].mean()), *percent, float(separation)]  # type: ignore[arg-type]


def modelled(overrides: Mapping[str, Any]) -> dict[str, list[Values]]:
    """The shares seed by seed, of each site and of all together."""
    slots = [survey(seed, overrides) for seed in SEEDS]
    found = {site: [shares(each.filter(link=site)) for each in slots] for site in NAMES}
    return found | {"pooled": [shares(each) for each in slots]}


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and the half width of its 95 % interval."""
    return float(np.mean(values)), float(STUDENT * np.std(values, ddof=1) / len(values) ** 0.5)


def cells(found: Mapping[str, list[Values]]) -> list[str]:
    """The cells of a row, each for the three sites; highest and kept pooled, too."""
    by_site = [[float(np.mean(values)) for values in zip(*found[site], strict=True)] for site in NAMES]
    pooled = list(zip(*found["pooled"], strict=True))
    together = ["{:.1f} ± {:.1f}".format(*interval(pooled[which])) for which in (1, 2)]
    return _row(by_site, together)


def _row(by_site: Sequence[Values], pooled: Sequence[str]) -> list[str]:
    columns = list(zip(*by_site, strict=True))
    shown = [
        ", ".join(f"{value:.{digits}f}" for value in values)
        for digits, values in zip((1, 0, 0, 0), columns, strict=True)
    ]
    return [shown[0], f"{shown[1]}; {pooled[0]}", f"{shown[2]}; {pooled[1]}", shown[3]]


@dataclass(frozen=True)
class Slot:
    """A dish's candidates in a measured slot: satellites above 25 degrees in its field of view."""

    elevation_deg: Array
    separation_deg: Array
    kept: NDArray[np.bool_]
    chosen: int

    def allowed(self) -> NDArray[np.bool_]:
        """Those that the policy would look at."""
        return self.separation_deg >= _EXCLUSION_DEG


def _directions(azimuth_deg: Array, elevation_deg: Array) -> Array:
    azimuth, elevation = np.radians(azimuth_deg), np.radians(elevation_deg)
    flat = np.cos(elevation)
    return np.stack([flat * np.sin(azimuth), flat * np.cos(azimuth), np.sin(elevation)], axis=-1)


def _arc(latitude_deg: float) -> Array:
    """Directions of the geostationary arc, as east, north, up."""
    latitude, around = np.radians(latitude_deg), np.radians(np.arange(-80.0, 80.5, 0.5))
    up = np.array([np.cos(latitude), 0.0, np.sin(latitude)])
    north, east = np.array([-np.sin(latitude), 0.0, np.cos(latitude)]), np.array([0.0, 1.0, 0.0])
    ways = np.stack([np.cos(around), np.sin(around), 0 * around], axis=-1) - 6378.0 / 42164.0 * up
    seen: Array = ways @ np.stack([east, north, up], axis=-1)
    seen /= np.linalg.norm(seen, axis=1, keepdims=True)
    return seen[seen[:, 2] > 0]


def measured(folder: Path, site: str) -> list[Slot]:
    """The slots of a site in which the serving satellite is among the candidates."""
    name, latitude = _IN_DATA[site]
    arc = _arc(latitude)
    served = pl.read_csv(folder / f"first_{name}.csv")
    serving = dict(zip(served["Timestamp"].str.replace(" ", "T"), served["Connected_Satellite"], strict=True))
    slots: list[Slot] = []
    before = None
    for view in json.loads((folder / f"fov_data_{name}.json").read_text(encoding="utf-8")):
        seen = [one for one in view["Satellites"] if one["Elevation"] >= _LOWEST_DEG]
        names = [one["Name"] for one in seen]
        now = serving.get(view["Timestamp"])
        azimuth, elevation = (np.array([one[key] for one in seen]) for key in ("Azimuth", "Elevation"))
        cosine = (_directions(azimuth, elevation) @ arc.T).max(axis=1)
        separation = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
        if now in names:
            kept = np.array([one == before for one in names])
            slots.append(Slot(elevation, separation, kept, names.index(now)))
        before = now
    return slots


def measured_shares(slots: Sequence[Slot]) -> Values:
    """As [`shares`] of measured slots."""
    return [
        float(np.mean([len(slot.elevation_deg) for slot in slots])),
        100 * float(np.mean([slot.elevation_deg.argmax() == slot.chosen for slot in slots])),
        100 * float(np.mean([slot.kept[slot.chosen] for slot in slots])),
        float(np.quantile([slot.separation_deg[slot.chosen] for slot in slots], 0.05)),
    ]


def _features(slot: Slot) -> tuple[Array, int]:
    """Elevation, its square, and whether it serves, of the allowed candidates; which one was chosen."""
    e = slot.elevation_deg / 90
    allowed = slot.allowed()
    return np.stack([e, e * e, slot.kept.astype(float)], axis=1)[allowed], int(allowed[: slot.chosen].sum())


def misfit(weights: Array, slots: Sequence[Slot]) -> float:
    """The negative logarithm of the likelihood of the choices."""
    total = 0.0
    for features, chosen in map(_features, slots):
        utility = features @ weights
        total += float(np.log(np.exp(utility).sum()) - utility[chosen])
    return total


def kept_share(weights: Array, slots: Sequence[Slot]) -> float:
    """How often the weights keep the satellite of the slot before, in percent; the measured one is given."""
    total = 0.0
    for features, _ in map(_features, slots):
        chances = np.exp(features @ weights)
        total += float(chances @ features[:, 2] / chances.sum())
    return 100 * total / len(slots)


def fitted(slots: Sequence[Slot]) -> tuple[Array, Array]:
    """The most likely weights, by Newton's method with halved steps, and their standard errors."""
    weights, choices = np.zeros(3), [_features(slot) for slot in slots]
    while True:
        slope, curve = np.zeros(3), np.zeros((3, 3))
        for features, chosen in choices:
            chances = np.exp(features @ weights)
            chances /= chances.sum()
            mean = chances @ features
            slope += features[chosen] - mean
            curve += (features * chances[:, None]).T @ features - np.outer(mean, mean)
        step = np.linalg.solve(curve, slope)
        now = misfit(weights, slots)
        while misfit(weights + step, slots) > now + 1e-9:
            step = step / 2
        weights = weights + step
        if np.abs(step).max() < 1e-6:
            return weights, np.sqrt(np.diag(np.linalg.inv(curve)))


def usable(slots: Sequence[Slot]) -> list[Slot]:
    """Those whose serving satellite the policy would allow."""
    return [slot for slot in slots if slot.allowed()[slot.chosen]]


def elements_of_the_day(folder: Path, out: Path) -> Path:
    """CelesTrak's element sets of the day, without those for phones, of which one is about to re-enter."""
    lines = [line.rstrip() for line in (folder / "gp.php").read_text(encoding="utf-8").splitlines()]
    sets = [lines[at : at + 3] for at in range(0, len(lines) - 2, 3)]
    file = out / "starlink.tle"
    file.write_text(
        "\n".join(line for one in sets if "DTC" not in one[0] for line in one) + "\n", encoding="utf-8"
    )
    return file


def with_gateways(out: Path) -> dict[str, Any]:
    """Overrides that let only satellites serve that see one of Starlink's gateways."""
    stations = json.loads(GATEWAYS.read_text(encoding="utf-8"))["stations"]
    working = [one for one in stations if (one["type"], one["status"]) == ("gateway", "operational")]
    file = out / "gateways.csv"
    rows = (f"{number},{one['lat']},{one['lon']}" for number, one in enumerate(working))
    file.write_text("name,latitude,longitude\n" + "\n".join(rows) + "\n", encoding="utf-8")
    links = {f"links.{site}.constellation": {"terminal": site} for site in NAMES}
    return links | {"constellation.gateways": None, "constellation.gateway_list": str(file)}


def _print_measured(folder: Path) -> None:
    slots = {site: measured(folder, site) for site in NAMES}
    pooled = measured_shares([slot for each in slots.values() for slot in each])
    row = _row([measured_shares(each) for each in slots.values()], [f"{share:.1f}" for share in pooled[1:3]])
    _print("| measured | " + " | ".join(row) + " |")
    allowed = {site: usable(each) for site, each in slots.items()}
    everywhere = [slot for each in allowed.values() for slot in each]
    _print_fit("together", everywhere)
    together = fitted(everywhere)[0]
    for site in NAMES:
        _print_fit(site, allowed[site])
        share, found = kept_share(together, allowed[site]), measured_shares(slots[site])[2]
        _print(f"    kept with the weights of all sites: {share:.0f} %; measured: {found:.0f} %")
        others = fitted([slot for other in NAMES if other != site for slot in allowed[other]])[0]
        _print(f"    misfit with the weights of the other sites: {misfit(others, allowed[site]):.0f}")
        outside, uniform = (
            -misfit(weights, allowed[site]) / len(allowed[site]) for weights in (others, np.zeros(3))
        )
        _print(f"    log-likelihood per slot with these: {outside:.2f}; of a uniform choice: {uniform:.2f}")


def _print_fit(name: str, slots: Sequence[Slot]) -> None:
    weights, errors = fitted(slots)
    shown = ", ".join(
        f"{weight:.1f} ± {1.96 * error:.1f}" for weight, error in zip(weights, errors, strict=True)
    )
    _print(
        f"{name}: weights {shown}; misfit of {len(slots)} choices {misfit(weights, slots):.0f}, "
        f"with the defaults {misfit(DEFAULTS, slots):.0f}"
    )


def _print_row(name: str, overrides: Mapping[str, Any]) -> None:
    _print(f"| {name} | " + " | ".join(cells(modelled(overrides))) + " |")


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Prints the rows of the table; with a folder of measurements, those of the measurements too."""
    for name, overrides in VARIANTS.items():
        _print_row(name, overrides)
    with tempfile.TemporaryDirectory() as scratch:
        if GATEWAYS.exists():
            _print_row("other weights, gateways", with_gateways(Path(scratch)))
        if len(sys.argv) > 1:
            elements = {"elements": str(elements_of_the_day(Path(sys.argv[1]), Path(scratch)))}
            _print_row("other weights, elements of the day", {"constellation.satellites": elements})
    if len(sys.argv) > 1:
        _print_measured(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
