"""Draws a figure from the folder of a run, of several runs, or of a campaign."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from leobench.cli import options

if TYPE_CHECKING:
    import argparse

    from matplotlib.figure import Figure

NAME = "plot"
HELP = "draw a figure from result folders"
EXAMPLE = "leobench plot results/ka-1 --out timeline.pdf --from 10 --to 20"

# Arguments that are of runs only, and of campaigns only, with how they are given.
_OF_RUNS = {"flow": "--flow", "link": "--link", "start_s": "--from", "end_s": "--to"}
_OF_CAMPAIGNS = {"metric": "--metric", "by": "--by"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "folders",
        metavar="DIR",
        type=options.path,
        nargs="+",
        help="result folder of `leobench run`, several of them, or one of `leobench sweep`",
    )
    parser.add_argument(
        "--kind",
        type=options.text,
        help="for runs: call, delays, player, shares, stalls, throughput or timeline (default); "
        "for a campaign: bars, box, ecdf or lines (default: lines over three or more "
        "numbers, otherwise bars)",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=options.path,
        help="PNG, SVG or PDF file (default: DIR/<kind>.png; for several runs <kind>.png)",
    )
    runs = parser.add_argument_group("options for runs")
    runs.add_argument(
        "--flow",
        type=options.text,
        help="flow to show (default: up to five that are not background; for several runs the first)",
    )
    runs.add_argument(
        "--link",
        type=options.text,
        help="direction of a link to show, such as 'up/a->b' (default: the bottleneck on the flows' path)",
    )
    runs.add_argument(
        "--from",
        dest="start_s",
        metavar="S",
        type=options.seconds,
        help="start of the time shown, in seconds",
    )
    runs.add_argument(
        "--to", dest="end_s", metavar="S", type=options.seconds, help="end of the time shown, in seconds"
    )
    campaign = parser.add_argument_group("options for a campaign")
    campaign.add_argument(
        "--metric",
        type=options.text,
        help="metric to show, such as flows.main.goodput_bps, or its last word, such as goodput "
        "(default: the campaign's first)",
    )
    campaign.add_argument(
        "--by",
        type=options.text,
        metavar="PLACE",
        action="append",
        default=[],
        help="place whose values form the x axis, such as links.up.queue.limit or its last word; "
        "a second one selects colours, further ones select panels",
    )


def main(args: argparse.Namespace) -> int:
    """Draws the figure and prints its file."""
    from leobench import plots
    from leobench.campaign.result import read_manifest
    from leobench.errors import InputError

    campaigns = [folder for folder in args.folders if read_manifest(folder) is not None]
    if campaigns and len(args.folders) > 1:
        raise InputError(f"{campaigns[0]}: is a campaign; allowed: one campaign, or folders of runs only")
    foreign = _OF_RUNS if campaigns else _OF_CAMPAIGNS
    for name, option in foreign.items():
        if getattr(args, name) not in (None, []):
            what, other = ("a campaign", "of runs") if campaigns else ("a run", "of campaigns")
            raise InputError(f"{option}: {args.folders[0]} is {what}; {option} is for figures {other}")
    kind, figure = (_campaign if campaigns else _runs)(args)
    file = args.out or _beside(args.folders, kind)
    plots.save(figure, file)
    print(file)
    return 0


def _beside(folders: list[Path], kind: str) -> Path:
    return folders[0] / f"{kind}.png" if len(folders) == 1 else Path(f"{kind}.png")


def _runs(args: argparse.Namespace) -> tuple[str, Figure]:
    """A figure of one run, or of several overlaid."""
    from leobench import api, plots
    from leobench.report.runs import refuse_twice

    refuse_twice(args.folders)
    kind = args.kind or "timeline"
    draw, overlay = plots.kind(kind), plots.overlay(kind) if len(args.folders) > 1 else None
    results = [api.open(folder) for folder in args.folders]
    plots.check_format(args.out or _beside(args.folders, kind))
    shown = {name: getattr(args, name) for name in _OF_RUNS}
    return kind, draw(results[0], **shown) if overlay is None else overlay(results, **shown)


def _campaign(args: argparse.Namespace) -> tuple[str, Figure]:
    """A figure of a campaign."""
    from leobench import plots
    from leobench.campaign import CampaignResult
    from leobench.plots import campaigns

    (folder,) = args.folders
    if args.out is not None:
        plots.check_format(args.out)
    result = CampaignResult.open(folder)
    return campaigns.draw(result, kind=args.kind, metric=args.metric, by=args.by)
