"""A look at the constellation of a scenario without a transport: passes, handovers, what its links offer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leobench.errors import InputError
from leobench.files import writing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    import polars as pl

    from leobench._core import Scenario

_PASSES = {
    "terminal": "str",
    "satellite": "str",
    "rise_s": "float",
    "set_s": "float",
    "highest_deg": "float",
    "closest_km": "float",
}
_HANDOVERS = {"t_s": "float", "link": "str", "from": "str", "to": "str", "outage_ms": "float"}
_SAMPLES = {
    "t_s": "float",
    "link": "str",
    "satellite": "str",
    "gateway": "str",
    "azimuth_deg": "float",
    "elevation_deg": "float",
    "range_km": "float",
    "hops": "int",
    "delay_ms": "float",
    "uplink_mbps": "float",
    "downlink_mbps": "float",
    "uplink_loss": "float",
    "downlink_loss": "float",
    "uplink_db": "float",
    "downlink_db": "float",
    "latitude": "float",
    "longitude": "float",
}
_SLOTS = {
    "t_s": "float",
    "link": "str",
    "candidates": "int",
    "highest": "bool",
    "kept": "bool",
    "separation_deg": "float",
}
_ROUTES = {
    "t_s": "float",
    "link": "str",
    "direction": "str",
    "from_station": "str",
    "satellites": "str",
    "to_station": "str",
    "hops": "int",
    "delay_ms": "float",
}
# The tables of a survey, a CSV file each.
TABLES = ("passes", "handovers", "samples", "slots", "routes")


@dataclass(frozen=True)
class SkyPart:
    """The part of the sky in which a link uses satellites.

    Attributes:
        terminal: Its terminal.
        lowest_deg: The lowest elevation; `None` of a chain.
        arc_deg: The smallest angle to the arc of the geostationary satellites; `None` if there is none, or if
            the terminal moves, so that the arc is elsewhere at every time.
    """

    terminal: str
    lowest_deg: float | None
    arc_deg: float | None


@dataclass(frozen=True)
class Survey:
    """Passes, handovers, samples and skies of a constellation over the duration of a scenario.

    Attributes:
        name: The name of the scenario.
        start: The instant of UTC at which the run starts.
        duration_s: Seconds from there to the end.
        satellites: Number of satellites; `None` for a chain, which has no end.
        terminals: Terminals, with `name`, `latitude`, `longitude` and `lowest_deg`.
        gateways: Gateways, likewise.
        warnings: Warnings for the user.
        passes: A row per pass of a satellite over a terminal.
        handovers: A row per change of a serving satellite.
        samples: A row per link and sample: satellite, way, delay, rates.
        slots: A row per link and slot of 15 s: the choice and its alternatives.
        routes: A row per change of the satellites that a link's packets pass in a direction; none of a chain.
        skies: For each link, the part of the sky that it uses.
    """

    name: str
    start: str
    duration_s: float
    satellites: int | None
    terminals: list[dict[str, Any]]
    gateways: list[dict[str, Any]]
    warnings: list[str]
    passes: pl.DataFrame
    handovers: pl.DataFrame
    samples: pl.DataFrame
    slots: pl.DataFrame
    routes: pl.DataFrame
    skies: dict[str, SkyPart]

    def links(self) -> list[dict[str, Any]]:
        """For each link: how long it is served, outages aside, its delays, and who serves it."""
        import polars as pl

        names = self.samples["link"].unique(maintain_order=True).to_list()
        return [self._link(name, pl.col("link") == name) for name in names]

    def _link(self, name: str, own: pl.Expr) -> dict[str, Any]:
        import polars as pl

        samples, slots = self.samples.filter(own), self.slots.filter(own)
        changes = self.handovers.filter(own & self.handovers["from"].is_not_null())
        delays = samples["delay_ms"].drop_nulls()
        # A sample stands for the time until the next one: the one at the end of the run stands for none.
        within = samples.filter(pl.col("t_s") < self.duration_s)["delay_ms"]
        outage = float(changes["outage_ms"].sum()) / 1e3 / self.duration_s
        return {
            "link": name,
            "served": max(within.count() / max(within.len(), 1) - outage, 0.0),
            "delay_p5_ms": delays.quantile(0.05, "linear"),
            "delay_p50_ms": delays.median(),
            "delay_p95_ms": delays.quantile(0.95, "linear"),
            "handovers_per_hour": changes.height * 3600 / self.duration_s,
            "candidates": slots["candidates"].mean(),
            "highest": slots["highest"].mean(),
            "kept": slots["kept"].mean(),
            "separation_p5_deg": slots["separation_deg"].quantile(0.05, "linear"),
        }

    def write(self, folder: Path) -> list[Path]:
        """Writes the tables as CSV files into a folder that exists, and returns them."""
        files = []
        for name in TABLES:
            file = folder / f"{name}.csv"
            with writing(file):
                getattr(self, name).write_csv(file, float_precision=6)
            files.append(file)
        return files


def survey(scenario: Scenario, interval_s: float = 1.0) -> Survey:
    """Looks at the constellation of a scenario for its duration.

    Args:
        scenario: The scenario.
        interval_s: Seconds between two samples.

    Raises:
        InputError: If the scenario has no constellation.
    """
    from leobench import _core

    text = _core.orbit(scenario, interval_s)
    if text is None:
        raise InputError(
            f"{scenario.name}: has no constellation; allowed: a scenario with a table `constellation`"
        )
    seen = json.loads(text)
    return Survey(
        name=scenario.name,
        start=seen["start"],
        duration_s=seen["duration_s"],
        satellites=seen["satellites"],
        terminals=seen["terminals"],
        gateways=seen["gateways"],
        warnings=seen["warnings"],
        passes=_frame(seen["passes"], _PASSES),
        handovers=_frame(seen["handovers"], _HANDOVERS),
        samples=_frame(seen["samples"], _SAMPLES),
        slots=_frame(seen["slots"], _SLOTS),
        routes=_frame(seen["routes"], _ROUTES),
        skies=_skies(
            json.loads(scenario.to_json()),
            {each["name"]: each for each in seen["terminals"]},
            dict.fromkeys(each["link"] for each in seen["samples"]),
        ),
    )


def terminal_of(link: str, scenario: dict[str, Any], terminals: Collection[str]) -> str:
    """The terminal of a link through the constellation of a resolved scenario.

    Links of `[traffic]` are not in there; they are named after both places, which are terminals.
    """
    if link in scenario["links"]:
        return str(scenario["links"][link]["constellation"]["terminal"])
    return next(place for place in terminals if link.removeprefix(f"{place}-") in terminals)


def _skies(
    scenario: dict[str, Any], terminals: dict[str, dict[str, Any]], links: Iterable[str]
) -> dict[str, SkyPart]:
    """The part of the sky that each link through the constellation uses, from a resolved scenario."""
    constellation = scenario["constellation"]
    kind = constellation["satellites"]["kind"]
    skies = {}
    for name in links:
        terminal = terminal_of(name, scenario, terminals)
        spec = constellation["terminals"].get(terminal, {})
        own = scenario["links"].get(name, {}).get("constellation", {})
        policy = own.get("policy", constellation["policy"])
        # The forwarding state of Hypatia decides instead of a policy, and a chain passes through the zenith.
        limits = [spec.get("arc"), policy.get("exclusion") if kind not in ("hypatia", "chain") else None]
        known = [float(limit.split()[0]) for limit in limits if limit is not None]
        still = kind != "chain" and "track" not in spec and bool(known)
        lowest = terminals[terminal]["lowest_deg"] if kind != "chain" and terminal in terminals else None
        skies[name] = SkyPart(terminal, lowest, max(known) if still else None)
    return skies


def _frame(rows: list[dict[str, Any]], columns: dict[str, str]) -> pl.DataFrame:
    import polars as pl

    kinds = {"str": pl.String, "float": pl.Float64, "int": pl.Int64, "bool": pl.Boolean}
    return pl.DataFrame(rows, schema={name: kinds[kind]() for name, kind in columns.items()})
