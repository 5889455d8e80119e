"""A line for each flow with several paths of a run: the share of all links that it used, and a command."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from leobench.cli import terminal
from leobench.plots import routes, units

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from leobench.result import Result


def render(result: Result, args: argparse.Namespace) -> str:
    """The lines of a run with these arguments, each after an empty one; none of a run in real time."""
    if "clock" in result.manifest:
        return ""
    rates = {link["name"]: link["mean_rate_bps"] for link in result.summary["links"]}
    lines = []
    for flow in result.summary["flows"]:
        several = result.scenario["flows"][flow["name"]]["transport"].get("multipath") or {}
        if several.get("peer_links") or routes.may_share_satellites(result.scenario, flow["name"]):
            continue  # Paths share links at either end, or satellites: their capacities do not add up.
        ways = routes.of_paths(result.scenario, flow["name"])
        whole = _together_bps(list(ways.values()), rates)
        if whole and flow["goodput_bps"] is not None:
            named = terminal.on_one_line(f"{flow['name']} over {', '.join(ways)}")
            share = f"{units.fixed(flow['goodput_bps'] / 1e6, 2)} of {units.fixed(whole / 1e6, 2)} Mbit/s"
            share += f" ({flow['goodput_bps'] / whole:.1%})"
            lines.append(f"\n{named}: {share}; to explain the rest: {_command(flow, result, args)}")
    return "".join(f"\n{line}" for line in lines)


def _together_bps(ways: Sequence[Sequence[str]], rates: Mapping[str, float | None]) -> float | None:
    """The sum of the mean rates of the paths, those of their narrowest links, within those of shared links.

    `None` if there is one path, or a trace serves a link, of which the summary has no rate.
    """
    known = [[rate for link in way if (rate := rates[link]) is not None] for way in ways]
    if not ways or any(len(each) < len(way) for each, way in zip(known, ways, strict=True)):
        return None
    shared = set(ways[0]).intersection(*ways[1:])
    return min(sum(map(min, known)), *(rates[link] or 0.0 for link in shared), float("inf"))


def _command(flow: Mapping[str, Any], result: Result, args: argparse.Namespace) -> str:
    """The command that explains the flow of this run."""
    words = ["leobench", "why", str(args.scenario)]
    words += [word for place, value in args.overrides for word in ("--set", f"{place}={value}")]
    words += ["--seed", args.seed] if args.seed is not None else []
    words += ["--flow", flow["name"]] if len(result.summary["flows"]) > 1 else []
    return terminal.on_one_line(shlex.join(words))
