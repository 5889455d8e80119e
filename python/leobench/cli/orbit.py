"""Shows the constellation of a scenario without a transport: passes, handovers, delays and rates over time.

With `--out`, writes all passes, handovers, samples, slots and routes as CSV, and four figures: the sky over
each terminal, maps of the ground and of routes over satellites, and delay, rate and elevation over time.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from leobench.cli import columns, options, terminal

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from leobench._core import Scenario
    from leobench.orbit import Survey

NAME = "orbit"
HELP = "show the passes, handovers and delays of a scenario's constellation"
EXAMPLE = "leobench orbit scenarios/starlink-hour.toml --out results/sky"

# Seconds between two samples, at least.
SHORTEST_INTERVAL = 0.001
# Rows of a table on the terminal.
_ROWS = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    options.add_scenario(parser, or_stdin=True)
    options.add_overrides(parser)
    options.add_seed(parser)
    parser.add_argument("--out", metavar="DIR", type=options.path, help="folder for tables and figures")
    parser.add_argument("--force", action="store_true", help="replace an existing folder of `orbit`")
    parser.add_argument(
        "--interval",
        metavar="S",
        type=options.seconds,
        default=1.0,
        help="seconds between two samples (default: 1)",
    )
    parser.add_argument(
        "--export",
        metavar="FORMAT",
        action="append",
        default=[],
        choices=("schedule", "mahimahi", "czml"),
        help="also write links as tables of the channel `schedule` or as `mahimahi` traces, or all as `czml`",
    )
    parser.add_argument(
        "--at",
        metavar="S",
        type=options.seconds,
        help="second of the run whose routes the map `routes.png` shows (default: 0)",
    )
    parser.add_argument("--json", action="store_true", help="print the numbers of all links as JSON")


def main(args: argparse.Namespace) -> int:
    """Prints tables, and writes them and figures if there is a folder."""
    from leobench import folder, orbit
    from leobench.errors import InputError
    from leobench.scenario import load

    if not SHORTEST_INTERVAL <= args.interval < math.inf:
        problem = "is not a sampling interval"
        raise InputError(
            f"--interval = {args.interval:g}: {problem}; allowed: {SHORTEST_INTERVAL:g} s or more"
        )
    for name in ("export", "at"):
        if getattr(args, name) not in (None, []) and args.out is None:
            raise InputError(f"--{name}: needs a folder to write to; give --out")
    if args.out is not None:
        folder.refuse_existing(args.out, force=args.force, ours=_is_ours)
    overrides = [*args.overrides, *([("seed", args.seed)] if args.seed is not None else [])]
    scenario = load(args.scenario, None, dict(overrides), flows="optional")
    at_s = args.at or 0.0
    if not 0 <= at_s <= scenario.duration:
        raise InputError(f"--at = {at_s:g}: is no time of the run; allowed: 0 to {scenario.duration:g} s")
    seen = orbit.survey(scenario, args.interval)
    for warning in seen.warnings:
        terminal.warn(warning)
    files = [] if args.out is None else _write(scenario, seen, args, at_s)
    if args.json:
        said = {"start": seen.start, "satellites": seen.satellites, "links": seen.links()}
        terminal.print_json(said | {"files": [str(file) for file in files]})
        return 0
    print(_render(seen, args.out))
    if files:
        print(f"\nWritten to {args.out}/: {', '.join(file.name for file in files)}")
    return 0


def _write(scenario: Scenario, seen: Survey, args: argparse.Namespace, at_s: float) -> list[Path]:
    from leobench import czml, folder, orbit_exports, plots
    from leobench.errors import InputError
    from leobench.plots import orbit, route_map

    target: Path = args.out
    exports = list(dict.fromkeys(args.export))
    if "czml" in exports and seen.satellites is None:
        raise InputError(f"--export czml: {czml.NO_PLACE}")
    with folder.writing(target, force=args.force, ours=_is_ours) as partial:
        files = seen.write(partial)
        figures = {name: draw(seen) for name, draw in orbit.FIGURES.items()}
        figures[route_map.NAME] = route_map.draw(scenario, seen, at_s)
        for name, figure in figures.items():
            if figure is not None:
                plots.save(figure, partial / f"{name}.png")
                files.append(partial / f"{name}.png")
        for form in exports:
            if form == "czml":
                files += czml.write(scenario, seen, partial)
            else:
                files += orbit_exports.write(seen, form, partial)
    return [target / file.name for file in files]


def _is_ours(entry: Path) -> bool:
    """Whether it is something that `orbit` writes."""
    from leobench.orbit import TABLES
    from leobench.plots import orbit, route_map

    table = entry.stem in TABLES and entry.suffix == ".csv"
    figure = entry.stem in (*orbit.FIGURES, route_map.NAME) and entry.suffix == ".png"
    export = entry.name.endswith((".schedule.csv", ".mahimahi", ".czml"))
    return entry.is_file() and not entry.is_symlink() and (table or figure or export)


def _render(seen: Survey, target: Path | None) -> str:
    """The tables for a terminal; `target` is the folder that has them whole, if there is one."""
    count = "a chain of satellites" if seen.satellites is None else _many(seen.satellites, "satellite")
    head = (
        f"{seen.name}: {count}, {_many(len(seen.terminals), 'terminal')}, "
        f"{_many(len(seen.gateways), 'gateway')}; {seen.start}, {seen.duration_s:g} s"
    )
    parts = [head, _links(seen)]
    if seen.passes.height:
        parts.append(_passes(seen.passes, target))
    parts.append(_handovers(seen.handovers, target))
    return "\n\n".join(parts)


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count:,} {what}s"


def _number(value: float | None, digits: int = 1) -> str:
    return columns.NONE if value is None else f"{value:.{digits}f}"


def _share(value: float | None) -> str:
    return columns.NONE if value is None else f"{100 * value:.1f}"


def _links(seen: Survey) -> str:
    head = [
        ("link", ""),
        ("served", "%"),
        ("one-way delay", "p5 ms"),
        ("", "p50 ms"),
        ("", "p95 ms"),
        ("handovers", "per hour"),
        ("slots of 15 s:", "in view"),
        ("", "highest %"),
        ("", "kept %"),
        ("from the arc", "p5 deg"),
    ]
    rows = [
        [
            link["link"],
            _share(link["served"]),
            _number(link["delay_p5_ms"], 2),
            _number(link["delay_p50_ms"], 2),
            _number(link["delay_p95_ms"], 2),
            _number(link["handovers_per_hour"]),
            _number(link["candidates"]),
            _share(link["highest"]),
            _share(link["kept"]),
            _number(link["separation_p5_deg"]),
        ]
        for link in seen.links()
    ]
    return columns.table(head, rows, 1)


def _passes(passes: pl.DataFrame, target: Path | None) -> str:
    head = [
        ("terminal", ""),
        ("satellite", ""),
        ("rise", "s"),
        ("set", "s"),
        ("highest", "deg"),
        ("closest", "km"),
    ]
    ordered = passes.sort("terminal", "rise_s", "satellite", maintain_order=True)
    rows = [
        [
            row["terminal"],
            row["satellite"],
            _number(row["rise_s"]),
            _number(row["set_s"]),
            _number(row["highest_deg"]),
            _number(row["closest_km"], 0),
        ]
        for row in ordered.head(_ROWS).iter_rows(named=True)
    ]
    return _cut(columns.table(head, rows, 2), rows, passes.height, "passes", target)


def _handovers(handovers: pl.DataFrame, target: Path | None) -> str:
    if not handovers.height:
        return "No handovers."
    head = [("link", ""), ("from", ""), ("to", ""), ("time", "s"), ("outage", "ms")]
    rows = [
        [
            row["link"],
            row["from"] or columns.NONE,
            row["to"] or columns.NONE,
            _number(row["t_s"]),
            _number(row["outage_ms"]),
        ]
        for row in handovers.head(_ROWS).iter_rows(named=True)
    ]
    return _cut(columns.table(head, rows, 3), rows, handovers.height, "handovers", target)


def _cut(table: str, rows: Sequence[Sequence[str]], total: int, what: str, target: Path | None) -> str:
    if len(rows) == total:
        return table
    where = "`--out DIR` writes all of them" if target is None else f"all of them are in {target}/{what}.csv"
    return f"{table}\n... {total - len(rows):,} more {what}; {where}"
