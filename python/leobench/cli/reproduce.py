"""Reproduces figures of papers and judges the papers' claims about them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from leobench.cli import options, terminal
from leobench.cli.progress import CampaignProgress

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

    from leobench.papers import Figure, Paper, Reproduction

NAME = "reproduce"
HELP = "reproduce a paper's figures and judge its claims"
EXAMPLE = "leobench reproduce khan2023/fig4 --quick"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "target",
        metavar="PAPER[/FIGURE]",
        nargs="?",
        type=options.text,
        help="paper or figure to reproduce, such as khan2023 or khan2023/fig4",
    )
    parser.add_argument("--list", action="store_true", help="list papers and figures")
    parser.add_argument(
        "--quick", action="store_true", help="use fewer and shorter runs; verdicts are less certain"
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=options.path,
        help="folder for the results, a subfolder per figure (default: results/reproduce/<paper>)",
    )
    parser.add_argument(
        "--no-readings",
        dest="readings",
        action="store_false",
        help="judge claims as written only, and skip the runs for other readings",
    )
    options.add_campaign(parser)
    parser.add_argument("--quiet", action="store_true", help="print no progress and no verdicts")


def main(args: argparse.Namespace) -> int:
    """Reproduces the target; exits 1 if a run failed. Verdicts do not affect the exit code."""
    from leobench import papers
    from leobench.errors import InputError
    from leobench.papers import reproduction

    if args.list:
        print(_listing(papers.papers()))
        return 0
    if args.target is None:
        raise InputError("PAPER[/FIGURE] is missing; allowed: a paper or a figure that --list names")
    paper, figures = papers.find(args.target)
    folder = args.out or reproduction.folder(paper, quick=args.quick)
    failed = 0
    for figure in figures:
        done = _reproduce(paper, figure, folder / figure.name, args)
        failed += sum(result.failures.height for result in done.results)
    _conclude(paper, figures, folder, args)
    if failed:
        print(
            f"leobench: {failed} runs failed; see failures.parquet in each campaign folder",
            file=sys.stderr,
        )
    return 1 if failed else 0


def _reproduce(paper: Paper, figure: Figure, folder: Path, args: argparse.Namespace) -> Reproduction:
    """Reproduces a figure, and prints its totals."""
    from leobench.papers import findings_text, reproduction
    from leobench.papers.settings import settings

    campaign = reproduction.planned(figure, quick=args.quick)
    claims = reproduction.stated_claims(paper, figure, readings=args.readings)
    others = settings(figure, campaign, claims)[1:]
    if not args.quiet:
        changed = "".join(f", {place} = {value}" for place, value in campaign.set.items())
        print(f"{paper.name}/{figure.name}: {findings_text.size(campaign)}{changed}", file=sys.stderr)
        for each in others:
            print(f"  reading {each.name}: {findings_text.size(each.campaign)}", file=sys.stderr)
    with CampaignProgress(folder, quiet=args.quiet) as progress:
        done = reproduction.reproduce(
            paper,
            figure,
            folder,
            campaign,
            readings=args.readings,
            workers=args.workers,
            resume=args.resume,
            force=args.force,
            progress=progress,
        )
    for name, result in {"": done.result, **done.readings}.items():
        of = f"{paper.name}/{figure.name}" + (f", reading {name}" if name else "")
        for line in result.warning_lines():
            terminal.warn(f"{of}: {line}")
    if not args.quiet:
        print(f"{paper.name}/{figure.name}: {findings_text.tally(done.conclusions)}")
    return done


def _conclude(paper: Paper, figures: Sequence[Figure], folder: Path, args: argparse.Namespace) -> None:
    """Writes the summary of all figures in the folder, and prints that of the figures just reproduced."""
    from leobench.papers import summary

    there = summary.read(paper, folder)
    file = summary.write(paper, there, folder)
    if args.quiet:
        return
    names = {figure.name for figure in figures}
    now = [each for each in there if each["figure"] in names]
    for title, claims in summary.told(now):
        print(f"\n{title}:")
        print("\n".join(f"- {claim}" for claim in claims))
    if args.quick:
        print("\nA quick look: fewer or shorter runs than the paper's, so the verdicts are preliminary.")
    print(f"\n{paper.name}: {summary.total(now)}")
    print(f"Results in {folder}/: {file.name}, and claims.md, verdicts.json and the drawing of each figure")


def _listing(papers: tuple[Paper, ...]) -> str:
    lines = []
    for paper in papers:
        lines.append(f"{paper.name}: {paper.citation}")
        for figure in paper.figures:
            alone = " (only on request)" if figure.extra else ""
            lines.append(f"  {paper.name}/{figure.name}: {figure.title}{alone}")
    return "\n".join(lines)
