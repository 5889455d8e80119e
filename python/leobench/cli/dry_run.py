"""Prints the runs of a campaign without running them: variants, their number, and their time if known."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from leobench import durations
from leobench.cli import columns, terminal
from leobench.cli.progress import duration

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from leobench.campaign import Campaign, PlannedRun

_MOST_VARIANTS = 20
_RUNS = "runs"


def show(campaign: Campaign, target: Path, args: argparse.Namespace) -> int:
    """Checks the campaign as a sweep would, and prints what it would run."""
    from leobench.campaign import metrics
    from leobench.campaign.result import read_manifest

    plan = campaign.plan()
    known = metrics.produced(campaign)
    if known is not None:
        metrics.refuse_unknown(campaign, known)
    described = read_manifest(target)
    finished = _finished(plan, target) if args.resume else 0
    left = len(plan) - finished
    seconds, source = _estimate(campaign, described, left)
    if args.json:
        terminal.print_json(
            {
                "campaign": campaign.name,
                "out": str(target),
                "variants": [dict(each.overrides) | {"variant": each.name} for each in campaign.variants],
                "replicates": campaign.replicates,
                "metrics": list(campaign.metrics),
                "seeds": sorted({run.seed for run in plan}),
                "runs": len(plan),
                "finished": finished,
                "estimated_s": None if seconds is None else round(seconds, 1),
            }
        )
        return 0
    replicates = f"{campaign.replicates:,} replicate{'s' * (campaign.replicates != 1)}"
    print(
        f"{campaign.name}: {len(campaign.variants):,} variants of {campaign.scenario}, {replicates} of each"
    )
    print(f"\n{_variants(campaign)}\n")
    print(f"Metrics: {', '.join(campaign.metrics)}")
    kept = f" ({finished:,} of {len(plan):,} are finished)" if finished else ""
    print(f"Runs: {left:,}{kept}, with results in {target}/")
    print(f"Time: {source}" if seconds is None else f"Time: about {duration(seconds)}, {source}")
    return 0


def _finished(plan: list[PlannedRun], target: Path) -> int:
    """Runs that the folder keeps."""
    return sum((target / _RUNS / f"{run.stem}.json").is_file() for run in plan)


def _estimate(campaign: Campaign, described: dict[str, Any] | None, left: int) -> tuple[float | None, str]:
    """Seconds that the runs left take, and why; `None` if that is not known."""
    from leobench.engine import REAL

    scenarios = campaign.scenarios.values()
    if all(scenario["engine"] == REAL for scenario in scenarios):
        once = sum(durations.seconds(scenario["duration"]) for scenario in scenarios)
        return once / len(campaign.variants) * left, "one after the other in real time"
    sessions = [] if described is None else described.get("sessions", [])
    with contextlib.suppress(KeyError, TypeError):
        runs, wall_s = (sum(session[key] for session in sessions) for key in ("runs", "wall_s"))
        if runs:
            pace = duration(wall_s / runs)
            return wall_s / runs * left, f"at the pace of the {runs:,} runs in the folder, {pace} each"
    return (
        None,
        "not known before a run is finished; the progress bar then tells it, and finished runs are kept",
    )


def _variants(campaign: Campaign) -> str:
    """The values of the places that variants replace."""
    from leobench.campaign import dataset
    from leobench.plots import names

    places = campaign.varied
    shown = names.as_text(dataset.variants(campaign), places).head(_MOST_VARIANTS)
    head = [("", "variant"), *(("", names.short(place, places)) for place in places)]
    rows = [list(row) for row in shown.rows()]
    text = columns.table(head, rows, words=len(head)).removeprefix("\n")
    more = len(campaign.variants) - len(rows)
    return text + (f"\n... and {more:,} more" if more else "")
