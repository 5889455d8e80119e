"""Reproduces figures of papers, and reports which of their claims hold."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from leobench.cli import columns, options
from leobench.cli.progress import CampaignProgress

if TYPE_CHECKING:
    import argparse

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
        help="what to reproduce, such as khan2023 or khan2023/fig4",
    )
    parser.add_argument("--list", action="store_true", help="list what can be reproduced")
    parser.add_argument(
        "--quick", action="store_true", help="a quick look: fewer and shorter runs, weaker verdicts"
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        help="folder of the figures' folders (default: results/reproduce/<paper>)",
    )
    options.add_campaign(parser)
    parser.add_argument("--quiet", action="store_true", help="print no progress and no verdicts")


def main(args: argparse.Namespace) -> int:
    """Reproduces the target; exits 1 if a run failed. Verdicts do not affect the exit code."""
    from leobench import papers
    from leobench.errors import InputError

    if args.list:
        print(_listing(papers.papers()))
        return 0
    if args.target is None:
        raise InputError("nothing to reproduce; give a paper or a figure (see --list)")
    paper, figures = papers.find(args.target)
    folder = args.out or Path("results/reproduce") / (f"{paper.name}-quick" if args.quick else paper.name)
    failed = 0
    for figure in figures:
        done = _reproduce(paper, figure, folder / figure.name, args)
        failed += done.result.failures.height
    if failed:
        print(
            f"leobench: {failed} runs failed; failures.parquet of each campaign has the reasons",
            file=sys.stderr,
        )
    return 1 if failed else 0


def _reproduce(paper: Paper, figure: Figure, folder: Path, args: argparse.Namespace) -> Reproduction:
    """Reproduces a figure and prints its verdicts."""
    from leobench.papers import findings_text, reproduction

    campaign = reproduction.planned(figure, quick=args.quick)
    if not args.quiet:
        changed = "".join(f", {place} = {value}" for place, value in campaign.set.items())
        print(f"{paper.name}/{figure.name}: {findings_text.size(campaign)}{changed}", file=sys.stderr)
    with CampaignProgress(folder, quiet=args.quiet) as progress:
        done = reproduction.reproduce(
            paper,
            figure,
            folder,
            campaign,
            workers=args.workers,
            resume=args.resume,
            force=args.force,
            progress=progress,
        )
    for line in done.result.warning_lines():
        print(f"leobench: warning: {paper.name}/{figure.name}: {line}", file=sys.stderr)
    if not args.quiet:
        print(_render(done, quick=args.quick))
    return done


def _render(done: Reproduction, *, quick: bool) -> str:
    from leobench.papers import findings_text

    head = [("", name) for name in findings_text.HEAD]
    table = columns.table(head, findings_text.rows(done.findings), words=len(head)).lstrip("\n")
    weak = "A quick look: runs are fewer and shorter than the paper's, so the verdicts are weak.\n" * quick
    return (
        f"\n{done.figure.title}\n\n"
        f"{table}\n\n"
        f"{findings_text.tally(done.findings)}\n{weak}"
        f"{done.folder}/: {done.figure.name}.png, .svg, .pdf, claims.md, campaign/\n"
    )


def _listing(papers: tuple[Paper, ...]) -> str:
    lines = []
    for paper in papers:
        lines.append(f"{paper.name}: {paper.citation}")
        for figure in paper.figures:
            alone = " (only if asked for by name)" if figure.extra else ""
            lines.append(f"  {paper.name}/{figure.name}: {figure.title}{alone}")
    return "\n".join(lines)
